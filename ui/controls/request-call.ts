// The call that a logged request made, to copy, resend or export it.

import type { RequestDetail } from "../../generated/control-api.ts";
import type { ServiceCall } from "../../src/client/service-call.ts";
import { byteLength } from "../../src/kernel/byte-length.ts";
import { MASK } from "../../src/kernel/mask.ts";
import { apiKeysOf, type UiState } from "../state/state.ts";

const hasApiKey = ({ request }: RequestDetail) => Object.hasOwn(request.headers, "authorization");

/** The API key of a request, found by its last characters, which is all that the request log keeps; null for a request without a key. */
export function apiKeyOf(state: UiState, request: RequestDetail): string | null | undefined {
  if (!hasApiKey(request)) return null;
  const ending = request.key?.replace(/^…/, "");
  return ending === undefined ? undefined : apiKeysOf(state, request.merchant).find((key) => key.endsWith(ending));
}

/** The part of the API key that the request log keeps; null for a request without one. */
export const maskedKeyOf = (request: RequestDetail): string | null => (hasApiKey(request) ? (request.key ?? MASK) : null);

/** The headers that belong to the request itself, not to its connection or client. */
export const REQUEST_HEADERS = ["idempotency-key", "content-type", "x-sandbox-inject"];

export function callOf({ method, path, query, request }: RequestDetail, key: string | null, wanted: readonly string[]): ServiceCall {
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
