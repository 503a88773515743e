// The pane of webhook deliveries: one row per attempt, with its result and the next attempt.

import type { AttemptMessage } from "../../src/contracts/live-messages.ts";
import { attemptFacts, attemptVocabulary } from "../../src/contracts/live-rows.ts";
import { attemptCall, attemptRow, attemptsCall, deliveryDetail, isSameDelivery } from "../details/delivery.ts";
import { outcomeOf, resultOf, resultStyles } from "../details/row-lines.ts";
import { listOf, type UiState } from "../state/state.ts";
import { count, duration } from "../view/format.ts";
import { failureMark } from "../view/status-colours.ts";
import { curlOf } from "../wire/control-calls.ts";
import { IDS_FROM } from "./columns.ts";
import { deliveryKeys, laterThan } from "./delivery-keys.ts";
import { listPane, logOf, rowFetch } from "./pane.ts";
import { firstApiKey } from "./requests.ts";

/** In a narrower list a URL is shortened. */
const WHOLE_URL_FROM = 100;

/** `:3000/hooks` for `http://localhost:3000/hooks`. */
const shortUrl = (url: string) => url.replace(/^http:\/\/(?:(?:localhost|127\.0\.0\.1)(?=:))?/, "");

export const deliveries = listPane<AttemptMessage>({
  name: "deliveries",
  title: "Deliveries",
  rowId: ({ id }) => id,
  filterBy: attemptFacts,
  vocabulary: attemptVocabulary,
  stream: "attempt",
  log: logOf(
    ({ before, filter }) => attemptsCall({ starting_after: before, filter: filter || undefined }),
    ({ data, has_more }) => ({ values: data.map(attemptRow), hasMore: has_more }),
    { order: ({ sequence }) => sequence },
  ),
  titleNote({ sandbox }) {
    const failed = sandbox?.failedDeliveries ?? 0;
    return failed === 0 ? "" : `${count(failed)} failed`;
  },
  alarm: (state) => failureMark(state.theme, state.sandbox?.failedDeliveries ?? 0),
  columns(attempt, state, width) {
    const { eventType, eventId, url, durationMs } = attempt;
    const [outcome, styles] = outcomeOf(state, attempt, laterThan(listOf(state, "deliveries").rows, attempt));
    return [
      { heading: "event", text: eventType, width: width < WHOLE_URL_FROM ? 17 : 24, truncate: "middle" },
      { heading: "event id", text: eventId, width: width < IDS_FROM ? 9 : 14, truncate: "middle", styles: ["dim"], hideBelow: 64 },
      { heading: "endpoint", text: width < WHOLE_URL_FROM ? shortUrl(url) : url, truncate: "middle" },
      { heading: "try", text: `${attempt.attempt}/${attempt.maxAttempts}`, width: 5, align: "right" },
      { heading: "result", text: resultOf(attempt), width: 8, align: "right", styles: resultStyles(attempt) },
      { text: attempt.fault === null ? "" : "*", width: 1, styles: ["magenta"], hideBelow: 74 },
      { heading: "took", text: durationMs === null ? "" : duration(durationMs), width: 9, align: "right", styles: ["dim"], hideBelow: 100 },
      { heading: "outcome", text: outcome, width: 15, styles },
    ];
  },
  emptyText: (state) => [
    "No deliveries yet. Register an endpoint, then trigger an event:",
    "",
    ...exampleCalls(state).map((call) => curlOf(state.target, call)),
  ],
  detail: deliveryDetail,
  fetchRow: (id) => rowFetch(attemptCall(id), ({ attempt }) => attemptRow(attempt)),
  isRelated: isSameDelivery,
  keys: deliveryKeys,
});

const exampleCalls = (state: UiState) =>
  [
    { method: "POST", path: "/v1/webhooks", key: firstApiKey(state), body: { url: "http://localhost:3000/hooks", events: ["*"] } },
    {
      method: "POST",
      path: "/v1/webhook-events/test",
      key: firstApiKey(state),
      body: { type: "payment.succeeded", data: { amount: 1250 } },
    },
  ] as const;
