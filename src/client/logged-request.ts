// A logged request as a call: to send it again, or as curl.

import type { ListedMerchant, RequestDetail } from "../../generated/control-api.ts";
import { MASK } from "../kernel/mask.ts";
import { byteLength } from "../kernel/text.ts";
import { curlOf } from "./curl.ts";
import type { HttpTarget, ServiceCall } from "./http-transport.ts";

type Merchants = readonly Pick<ListedMerchant, "id" | "apiKeys">[];

/**
 * The API key of a request, found by its last characters, because the request log keeps no more; null for a request
 * without a key.
 */
export function apiKeyOf(
  { key, merchant, request }: RequestDetail,
  merchants: Merchants = [],
): string | null | undefined {
  if (!Object.hasOwn(request.headers, "authorization")) return null;
  const ending = key?.replace(/^…/, "");
  if (ending === undefined) return undefined;
  return merchants.find(({ id }) => id === merchant)?.apiKeys.find((one) => one.endsWith(ending));
}

/** The curl command that repeats a request, with its API key. The key of an unknown merchant stays masked. */
export function curlOfRequest(target: HttpTarget, request: RequestDetail, merchants: Merchants = []): string {
  const key = apiKeyOf(request, merchants);
  return curlOf(target, callOf(request, key === undefined ? (request.key ?? MASK) : key, REQUEST_HEADERS));
}

/** The headers that belong to the request itself, not to its connection or client. */
const REQUEST_HEADERS = ["idempotency-key", "content-type", "x-sandbox-inject"];

export function callOf(
  { method, path, query, request }: RequestDetail,
  key: string | null,
  wanted: readonly string[],
): ServiceCall {
  const headers = Object.fromEntries(
    Object.entries(request.headers)
      .filter(([name]) => wanted.includes(name.toLowerCase()))
      .map(([name, value]) => [name.replace(/\b[a-z]/g, (letter) => letter.toUpperCase()), String(value)]),
  );
  const hasBody = request.body !== "" && method !== "GET" && method !== "HEAD";
  return {
    method,
    path: query === "" ? path : `${path}?${query.replace(/^\?/, "")}`,
    key,
    headers,
    ...(hasBody && { body: request.body }),
  };
}

/** Whether the request log has the request exactly as it was sent. */
export const isComplete = ({ path, query, request }: RequestDetail) =>
  byteLength(request.body) === request.bytes && ![path, query, request.body].some((text) => text.includes(MASK));
