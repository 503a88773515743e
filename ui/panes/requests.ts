// The pane of API requests and their responses, and the keys that copy, resend, edit, compare and export them.

import type { RequestDetail } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import { apiKeyOf, callOf, curlOfRequest, isComplete } from "../../src/client/logged-request.ts";
import { requestFacts, requestVocabulary } from "../../src/client/row-filter.ts";
import type { RequestMessage } from "../../src/contracts/live-messages.ts";
import { type StateUpdate, shortMerchant, type UiState } from "../state/state.ts";
import { copyText, loadThen, makeCall, openOverlay, update, withNotice } from "../state/updates.ts";
import { duration, statusLabel, statusStyles, timeOfDay } from "../text/format.ts";
import { symbols } from "../text/style.ts";
import { editRequest } from "./controls/request-commands.ts";
import { copyApiKey } from "./controls/sandbox-forms.ts";
import { comparedRequest, comparison, triesToCompare } from "./details/compare.ts";
import { requestCall, requestDetail, requestRow } from "./details/request.ts";
import { openDetail } from "./overlays/detail.ts";
import { confirmCall } from "./overlays/text-view.ts";
import { listPane, readAs } from "./pane.ts";

/** The least width, in cells, of a list that shows milliseconds. */
const WHOLE_TIME_FROM = 100;
/** On a page with a narrower list, such as on a phone, paths are cut to leave room for the reason of a failure. */
const WHOLE_PATH_FROM = 52;
/** A narrower list has no room for long paths and error codes, so it cuts the paths first. */
const PATH_AND_RESULT_FROM = 84;

function pathClaim(width: number, isPage: boolean): number {
  if (isPage && width < WHOLE_PATH_FROM) return 20;
  return width < PATH_AND_RESULT_FROM ? 36 : 44;
}

export const requests = listPane<RequestMessage>({
  name: "requests",
  title: "Requests",
  rowId: ({ id }) => id,
  filterBy: requestFacts,
  vocabulary: requestVocabulary,
  stream: "request",
  log: {
    page: ({ before, filter }) =>
      readAs(
        controlCalls.requests.list({ limit: 100, starting_after: before, filter: filter || undefined }),
        ({ data, has_more }) => ({
          rows: data.map(requestRow),
          hasMore: has_more,
        }),
      ),
    order: ({ sequence }) => sequence,
  },
  columns(request, { theme, isPage }, width) {
    const { id, at, method, path, query, operation, status, durationMs, merchant, replayOf, fault, ignored } = request;
    const note = fault ? "*" : ignored && "!";
    const time = timeOfDay(at);
    const mark = replayOf ? symbols(theme).replayed : (note ?? "");
    return [
      { heading: "time", text: width < WHOLE_TIME_FROM ? time.slice(0, 8) : time, rank: 3, styles: ["dim"] },
      { heading: "id", text: id, rank: 6, truncate: "middle", styles: ["dim"] },
      { heading: "method", text: method, width: 6 },
      {
        heading: "path",
        text: query === "" ? path : `${path}?${query}`,
        width: 20,
        claim: pathClaim(width, isPage),
        rank: 1,
        truncate: "middle",
        grows: true,
      },
      { heading: "code", text: statusLabel(theme, status), width: 4, styles: statusStyles(status) },
      { text: mark, width: 1, styles: fault ? ["magenta"] : [] },
      {
        heading: "result",
        text: request.summary ?? operation ?? "",
        width: 24,
        claim: 24,
        rank: 2,
        grows: true,
        styles: status === 0 || status >= 400 ? statusStyles(status) : ["dim"],
      },
      { heading: "took", text: duration(durationMs), width: 8, rank: 5, align: "right", styles: ["dim"] },
      { heading: "merchant", text: shortMerchant(merchant), rank: 4, truncate: "middle" },
    ];
  },
  emptyText: (state) => [
    "No requests yet. Try:",
    "",
    `curl ${state.target.url}/v1/payments --oauth2-bearer ` +
      `${state.sandbox?.merchants[0]?.apiKeys[0] ?? "sk_test_lodge"}`,
  ],
  legend: (theme) =>
    `* changed by a fault  ${symbols(theme).replayed} replayed  ! ` +
    `sent input without effect  ${statusLabel(theme, 0)} got no response`,
  failureOf: ({ status, summary }) =>
    status === 0 || status >= 400 ? [status || "no response", summary].filter(Boolean).join(" ") : undefined,
  detail: requestDetail,
  fetchRow: (id) => readAs(requestCall(id), requestRow),
  isRelated: (one, other) => one.operation === other.operation,
  keys: [
    {
      keys: ["y"],
      label: "copy curl",
      help: "copy the request as curl, with its API key",
      run: (state, { id }) => loadThen(state, id, requestCall(id), copyAsCurl),
    },
    {
      keys: ["r"],
      label: "resend",
      help: "resend the request: same method, path, body and Idempotency-Key",
      run: (state, { id }) => loadThen(state, id, requestCall(id), resend),
    },
    {
      keys: ["Y"],
      label: "copy body",
      help: "copy the body of the response",
      run: (state, { id }) =>
        loadThen(state, id, requestCall(id), (later, { response }) =>
          copyText(later, response.body, "the body of the response"),
        ),
    },
    {
      keys: ["E"],
      help: "edit the request and resend it",
      run: (state, { id }) =>
        loadThen(state, id, requestCall(id), (later, request) => editRequest({ ...later, notice: undefined }, request)),
    },
    {
      keys: ["="],
      help: "compare the request with the first try of the same call: same path and same Idempotency-Key",
      run: compare,
    },
    copyApiKey(({ merchant }) => merchant),
  ],
});

function compare(state: UiState, request: RequestMessage): StateUpdate {
  const [first, second] = triesToCompare(state, request) ?? [];
  if (!first || !second)
    return update(withNotice(state, "No other request here has the same path and Idempotency-Key", "yellow"));
  const { overlay, effects } = openDetail(
    comparison([first.id, second.id], requestCall, comparedRequest),
    { pane: "requests", id: second.id, value: second },
    [],
  );
  return update(openOverlay(state, overlay), ...effects);
}

function copyAsCurl(state: UiState, request: RequestDetail): StateUpdate {
  const merchants = state.sandbox?.merchants;
  const gaps = [
    ...(apiKeyOf(request, merchants) === undefined ? ["its full API key is unknown"] : []),
    ...(isComplete(request) ? [] : ["the request log truncated or masked parts of it"]),
  ].join("; ");
  return copyText(state, curlOfRequest(state.target, request, merchants), `the request as curl${gaps && ` (${gaps})`}`);
}

function resend(state: UiState, request: RequestDetail): StateUpdate {
  const { id } = request;
  if (!isComplete(request))
    return update(withNotice(state, `Cannot resend ${id}: the request log truncated or masked parts of it`, "yellow"));
  const apiKey = apiKeyOf(request, state.sandbox?.merchants);
  if (apiKey === undefined)
    return update(withNotice(state, `Cannot resend ${id}: its full API key is unknown`, "yellow"));
  const call = callOf(request, apiKey, ["idempotency-key", "content-type"]);
  const resultOf = (_: unknown, status: number) => ({ message: `Resent ${id}: ${status}` });
  if (request.operation !== "webhooks.rotate_secret") return makeCall(state, call, resultOf);
  const confirmation = {
    question: "Rotate the secret again? The endpoint's receiver then has to verify with the new one.",
    action: "Rotate the secret",
  };
  return confirmCall(state, confirmation, call, resultOf);
}
