// The pane of API requests and their responses.

import { controlCalls } from "../../src/client/control-call.ts";
import type { RequestMessage } from "../../src/contracts/live-messages.ts";
import { requestFacts, requestVocabulary } from "../../src/contracts/live-rows.ts";
import { requestCall, requestDetail, requestRow } from "../details/request.ts";
import { shortMerchant, type UiState } from "../state/state.ts";
import { symbols } from "../terminal/style.ts";
import { duration, timeOfDay } from "../view/format.ts";
import { methodStyles, statusLabel, statusStyles } from "../view/status-colours.ts";
import { curlOf } from "../wire/control-calls.ts";
import { IDS_FROM } from "./columns.ts";
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
  columns(request, { theme }, width) {
    const { id, at, method, path, query, operation, status, durationMs, merchant, replayOf, fault } = request;
    const mark = replayOf ? symbols(theme).replayed : fault ? "*" : "";
    return [
      { heading: "time", text: timeOfDay(at), width: 12, styles: ["dim"], hideBelow: 64 },
      { heading: "id", text: id, width: 8, truncate: "middle", styles: ["dim"], hideBelow: IDS_FROM },
      { heading: "method", text: method, width: 6, styles: methodStyles(method) },
      { heading: "path", text: query === "" ? path : `${path}?${query}`, truncate: "middle" },
      { heading: "operation", text: operation ?? "", width: 24, truncate: "middle", styles: ["dim"], hideBelow: 107 },
      { heading: "code", text: statusLabel(theme, status), width: 4, styles: statusStyles(status) },
      { text: mark, width: 1, styles: fault ? ["magenta"] : [] },
      { heading: "took", text: duration(durationMs), width: 8, align: "right", styles: ["dim"], hideBelow: 56 },
      { heading: "merchant", text: shortMerchant(merchant), width: width < 80 ? 8 : 12, truncate: "middle", hideBelow: 50 },
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
