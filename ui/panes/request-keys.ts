// The keys of a request: copy it as curl, resend it.

import type { RequestDetail } from "../../src/client/control-plane.generated.ts";
import type { ServiceCall } from "../../src/client/service-call.ts";
import type { RequestMessage } from "../../src/contracts/live-messages.ts";
import { MASK } from "../../src/kernel/mask.ts";
import { requestCall } from "../details/request.ts";
import { callEffect, type KeyBinding, makeCall, type StateUpdate, type UiState, update, withNotice } from "../state/state.ts";
import { curlOf } from "../wire/control-calls.ts";
import { apiKeysOf, copyApiKey } from "./copy-api-key.ts";
import type { Selected } from "./pane.ts";

export const requestKeys = (selected: Selected<RequestMessage>): readonly KeyBinding[] => {
  const isEnabled = (state: UiState) => selected(state) !== undefined;
  return [
    {
      keys: ["y"],
      label: "copy curl",
      help: "copy the request as curl, API key masked",
      isEnabled,
      run: (state) => withRequest(state, selected(state), (later, request) => copyAsCurl(later, request, false)),
    },
    {
      keys: ["Y"],
      help: "copy the request as curl, with its API key",
      isEnabled,
      run: (state) => withRequest(state, selected(state), (later, request) => copyAsCurl(later, request, true)),
    },
    {
      keys: ["r"],
      label: "resend",
      help: "resend the request: same method, path, body and Idempotency-Key",
      isEnabled,
      run: (state) => withRequest(state, selected(state), resend),
    },
    copyApiKey((state) => selected(state)?.merchant),
  ];
};

/** Fetches the request from the journal: rows have no headers and bodies. */
function withRequest(
  state: UiState,
  request: RequestMessage | undefined,
  then: (state: UiState, request: RequestDetail) => StateUpdate,
): StateUpdate {
  if (!request) return update(state);
  const effect = callEffect(requestCall(request.id), (later, { body }) => then(later, body));
  return update(withNotice(state, `Loading ${request.id} …`, "dim"), effect);
}

function copyAsCurl(state: UiState, request: RequestDetail, wantsKey: boolean): StateUpdate {
  const apiKey = apiKeyOf(state, request);
  const masked = hasApiKey(request) ? (request.key ?? MASK) : null;
  const call = callOf(request, wantsKey ? (apiKey ?? masked) : masked, REQUEST_HEADERS);
  const keyNote = !wantsKey ? "API key masked" : apiKey === undefined ? "API key masked: the full key is unknown" : "with its API key";
  const gaps = isComplete(request) ? "" : "; the journal truncated or masked parts of it";
  const copied = withNotice(state, `Copied as curl, ${keyNote}${gaps}`);
  return update({ ...copied, lastCall: call }, { kind: "copy", text: curlOf(state.target, call) });
}

function resend(state: UiState, request: RequestDetail): StateUpdate {
  const { id } = request;
  if (!isComplete(request)) return update(withNotice(state, `Cannot resend ${id}: the journal truncated or masked parts of it`, "yellow"));
  const apiKey = apiKeyOf(state, request);
  if (apiKey === undefined) return update(withNotice(state, `Cannot resend ${id}: its full API key is unknown`, "yellow"));
  return makeCall(state, callOf(request, apiKey, ["idempotency-key", "content-type"]), ({ status }) => `Resent ${id}: ${status}`);
}

const hasApiKey = ({ request }: RequestDetail) => Object.hasOwn(request.headers, "authorization");

/** The API key of a request, found by its last characters, which is all that the journal keeps; null for a request without a key. */
function apiKeyOf(state: UiState, request: RequestDetail): string | null | undefined {
  if (!hasApiKey(request)) return null;
  const ending = request.key?.replace(/^…/, "");
  return ending === undefined ? undefined : apiKeysOf(state, request.merchant).find((key) => key.endsWith(ending));
}

/** The headers that belong to the request itself, not to its connection or client. */
const REQUEST_HEADERS = ["idempotency-key", "content-type", "x-sandbox-inject"];

function callOf({ method, path, query, request }: RequestDetail, key: string | null, wanted: readonly string[]): ServiceCall {
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

/** Whether the journal has the request exactly as it was sent. */
const isComplete = ({ path, query, request }: RequestDetail) =>
  Buffer.byteLength(request.body) === request.bytes && ![path, query, request.body].some((text) => text.includes(MASK));
