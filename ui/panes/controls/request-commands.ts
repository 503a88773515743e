// Commands for logged requests: the call of one, to copy, resend or edit it.

import type { ListedMerchant, RequestDetail } from "../../../generated/control-api.ts";
import type { HttpTarget, ServiceCall } from "../../../src/client/http-transport.ts";
import { MASK } from "../../../src/kernel/mask.ts";
import { byteLength } from "../../../src/kernel/text.ts";
import { curlOf } from "../../connection/calls.ts";
import type { StateUpdate, UiState } from "../../state/state.ts";
import { openForm } from "../overlays/form.ts";
import { type Form, submission } from "../overlays/form-view.ts";
import { allApiKeys, toOptions } from "./form-fields.ts";

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

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"];

export function editRequest(state: UiState, request: RequestDetail): StateUpdate {
  const sent = callOf(request, null, ["content-type"]);
  const initial = {
    method: request.method,
    path: sent.path,
    body: request.request.body.replace(/\s*\n\s*/g, " "),
    idempotencyKey: request.idempotencyKey ?? "",
    key: apiKeyOf(request, state.sandbox?.merchants) ?? "",
  };
  return openForm(state, editForm(request, sent, initial), initial);
}

const editForm = (request: RequestDetail, sent: ServiceCall, initial: Readonly<Record<string, string>>): Form => ({
  title: `Edit and resend ${request.id}`,
  fields: (_, { state }) => [
    { name: "body", help: "The body, on one line" },
    { name: "path", help: "The path with its query, such as /v1/payments?limit=3" },
    { name: "method", help: "The method", options: toOptions([...new Set([request.method, ...METHODS])]) },
    {
      name: "idempotencyKey",
      label: "Idempotency-Key",
      help: "The same key with another body gets 422; an empty one sends none",
    },
    {
      name: "key",
      label: "API key",
      help: "The API key to send it with",
      options: [...toOptions(allApiKeys(state)), { value: "", label: "none" }],
      allowOther: true,
    },
  ],
  confirm: (values) =>
    Object.values(values).some((text) => text.includes(MASK))
      ? `Send it with ${MASK} where the request log has masked a secret? Press n, and write the real value there.`
      : undefined,
  submission({ method = "", path = "", body = "", idempotencyKey = "", key = "" }) {
    const { "Content-Type": contentType = "application/json" } = sent.headers ?? {};
    // A body that was not edited is sent unchanged, with its line breaks.
    const text = body === initial.body ? request.request.body : body;
    const hasBody = text !== "" && method !== "GET" && method !== "HEAD";
    const headers = {
      ...(idempotencyKey !== "" && { "Idempotency-Key": idempotencyKey }),
      ...(hasBody && { "Content-Type": contentType }),
    };
    const call: ServiceCall = {
      ...{ method, path: path.replace(/^\/?/, "/"), key: key === "" ? null : key, headers },
      ...(hasBody && { body: text }),
    };
    return submission(call, () => ({ message: `Sent the edited ${request.id}` }));
  },
});
