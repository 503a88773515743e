// The pane of API requests and their responses.

import { controlCalls } from "../../src/client/control-call.ts";
import type { RequestMessage } from "../../src/contracts/live-messages.ts";
import { requestFacts, requestVocabulary } from "../../src/contracts/live-rows.ts";
import { requestCall, requestDetail, requestRow } from "../details/request.ts";
import { shortMerchant, type UiState } from "../state/state.ts";
import { symbols } from "../terminal/style.ts";
import { duration, timeOfDay } from "../view/format.ts";
import { statusStyles } from "../view/status-colours.ts";
import { curlOf } from "../wire/control-calls.ts";
import { listPane, logOf, rowFetch } from "./pane.ts";
import { requestKeys } from "./request-keys.ts";

export const requests = listPane<RequestMessage>({
  name: "requests",
  title: "Requests",
  rowId: ({ id }) => id,
  filterBy: requestFacts,
  vocabulary: requestVocabulary,
  stream: "request",
  log: logOf(
    ({ before, filter }) => controlCalls.requests.list({ limit: 100, starting_after: before, filter: filter || undefined }),
    ({ data, has_more }) => ({ values: data.map(requestRow), hasMore: has_more }),
    { order: ({ id }) => Number(id.slice("req_".length)) },
  ),
  columns(request, { theme }) {
    const { at, method, path, query, status, durationMs, merchant, replayOf, fault } = request;
    const mark = replayOf ? symbols(theme).replayed : fault ? "*" : "";
    return [
      { text: timeOfDay(at), width: 12, styles: ["dim"], hideBelow: 64 },
      { text: method, width: 6 },
      { text: query === "" ? path : `${path}?${query}`, truncate: "middle" },
      { text: status === 0 ? "cut" : String(status), width: 3, styles: statusStyles(status) },
      { text: mark, width: 1, styles: fault ? ["magenta"] : [] },
      { text: duration(durationMs), width: 8, align: "right", styles: ["dim"], hideBelow: 56 },
      { text: shortMerchant(merchant), width: 8, truncate: "middle", hideBelow: 50 },
    ];
  },
  emptyText: (state) => ["No requests yet. Try:", "", curlOf(state.target, exampleCall(state))],
  detail: requestDetail,
  fetchRow: (id) => rowFetch(requestCall(id), requestRow),
  isRelated: (one, other) => one.operation === other.operation,
  keys: requestKeys,
});

const exampleCall = (state: UiState) => ({ method: "GET", path: "/v1/payments?limit=1", key: firstApiKey(state) }) as const;

/** An API key for example calls. */
export const firstApiKey = ({ sandbox }: UiState) => sandbox?.merchants[0]?.apiKeys[0] ?? "sk_test_lodge";
