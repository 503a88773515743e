// The keys of a request: copy it as curl, resend it as it is or edited, compare it, export the listed ones.

import type { RequestDetail } from "../../generated/control-api.ts";
import type { RequestMessage } from "../../src/contracts/live-messages.ts";
import { editRequest } from "../controls/edit-request.ts";
import { exportKeys } from "../controls/export-requests.ts";
import { apiKeyOf, callOf, isComplete, maskedKeyOf, REQUEST_HEADERS } from "../controls/request-call.ts";
import { comparison, triesToCompare } from "../details/compare.ts";
import { requestCall } from "../details/request.ts";
import { openDetail } from "../overlays/detail.ts";
import {
  callEffect,
  copyText,
  type KeyBinding,
  makeCall,
  openOverlay,
  type StateUpdate,
  type UiState,
  update,
  withNotice,
} from "../state/state.ts";
import { curlOf } from "../wire/control-calls.ts";
import { copyApiKey } from "./copy-api-key.ts";
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
    {
      keys: ["E"],
      help: "edit the request and resend it",
      isEnabled,
      run: (state) => withRequest(state, selected(state), (later, request) => editRequest({ ...later, notice: undefined }, request)),
    },
    {
      keys: ["="],
      help: "compare the request with the first of its retries: the same call with the same Idempotency-Key",
      isEnabled,
      run: (state) => compare(state, selected(state)),
    },
    copyApiKey((state) => selected(state)?.merchant),
    ...exportKeys,
  ];
};

function compare(state: UiState, request: RequestMessage | undefined): StateUpdate {
  const [first, second] = (request && triesToCompare(state, request)) ?? [];
  if (!first || !second) return update(withNotice(state, "No other request here has the same path and Idempotency-Key", "yellow"));
  const { overlay, effects } = openDetail(comparison(first, second), { pane: "requests", id: second.id, value: second }, []);
  return update(openOverlay(state, overlay), ...effects);
}

/** Fetches the request from the request log: rows have no headers and bodies. */
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
  const masked = maskedKeyOf(request);
  const call = callOf(request, wantsKey ? (apiKey ?? masked) : masked, REQUEST_HEADERS);
  const keyNote = !wantsKey ? "API key masked" : apiKey === undefined ? "API key masked: the full key is unknown" : "with its API key";
  const gaps = isComplete(request) ? "" : "; the request log truncated or masked parts of it";
  return copyText(state, curlOf(state.target, call), `the request as curl (${keyNote}${gaps})`);
}

function resend(state: UiState, request: RequestDetail): StateUpdate {
  const { id } = request;
  if (!isComplete(request))
    return update(withNotice(state, `Cannot resend ${id}: the request log truncated or masked parts of it`, "yellow"));
  const apiKey = apiKeyOf(state, request);
  if (apiKey === undefined) return update(withNotice(state, `Cannot resend ${id}: its full API key is unknown`, "yellow"));
  return makeCall(state, callOf(request, apiKey, ["idempotency-key", "content-type"]), ({ status }) => `Resent ${id}: ${status}`);
}
