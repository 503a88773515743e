// The pane of deliveries: every attempt to deliver a webhook, how it ended, and when the next one is due.

import type { AttemptMessage } from "../../src/contracts/live-messages.ts";
import { attemptFacts } from "../../src/contracts/live-rows.ts";
import { endingOf, resultOf } from "../details/attempt-line.ts";
import { deliveryDetail, isSame } from "../details/delivery.ts";
import { count, duration } from "../format-numbers.ts";
import { listOf, type State } from "../state/state.ts";
import { curlOf } from "../wire/control-calls.ts";
import { deliveryActions, givenUp, isLast } from "./delivery-actions.ts";
import { pane } from "./pane.ts";
import { firstKey } from "./requests.ts";

export const deliveries = pane<AttemptMessage>({
  name: "deliveries",
  title: "Deliveries",
  id: ({ id }) => id,
  facts: attemptFacts,
  hears: { kind: "attempt", value: (item) => (item.kind === "attempt" ? item.attempt : undefined) },
  mark(state) {
    const dead = givenUp(listOf(state, "deliveries").rows).length;
    return dead === 0 ? "" : `${count(dead)} given up`;
  },
  cells(attempt, state, width) {
    const { eventType, eventId, url, durationMs } = attempt;
    const [words, tones] = endingOf(state, attempt, isLast(listOf(state, "deliveries").rows, attempt));
    return [
      { text: eventType, width: width < 100 ? 18 : 24, ends: true },
      { text: eventId, width: width < 100 ? 10 : 14, ends: true, tones: ["dim"], from: 64 },
      { text: url, ends: true },
      { text: `${attempt.attempt}/${attempt.maxAttempts}`, width: 5, align: "right" },
      { text: resultOf(attempt), width: 8, align: "right" },
      { text: durationMs === null ? "" : duration(durationMs), width: 9, align: "right", tones: ["dim"], from: 100 },
      { text: words, width: 15, tones },
    ];
  },
  empty: (state) => [
    "No deliveries yet. Register an endpoint, then make an event:",
    "",
    ...firstCalls(state).map((call) => curlOf(state.target, call)),
  ],
  detail: deliveryDetail,
  kin: isSame,
  actions: deliveryActions,
});

const firstCalls = (state: State) =>
  [
    { method: "POST", path: "/v1/webhooks", key: firstKey(state), body: { url: "http://localhost:3000/hooks", events: ["*"] } },
    {
      method: "POST",
      path: "/v1/webhook-events/test",
      key: firstKey(state),
      body: { type: "payment.succeeded", data: { amount: 1250 } },
    },
  ] as const;
