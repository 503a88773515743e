// The pane of deliveries: every attempt to deliver a webhook, how it ended, and when the next one is due.

import { attemptFacts } from "../../src/kernel/live-rows.ts";
import type { AttemptMessage } from "../../src/kernel/messages.ts";
import { deliveryDetail } from "../details/delivery.ts";
import { listOf, type State, sandboxNow } from "../state/state.ts";
import { signs, type Tone } from "../terminal/style.ts";
import { pane } from "./pane.ts";

export const deliveries = pane<AttemptMessage>({
  name: "deliveries",
  title: "Deliveries",
  id: ({ id }) => id,
  facts: attemptFacts,
  hears: { kind: "attempt", value: (item) => (item.kind === "attempt" ? item.attempt : undefined) },
  mark(state) {
    const dead = listOf(state, "deliveries").rows.filter(({ value }) => isDead(value as AttemptMessage)).length;
    return dead === 0 ? "" : `${dead} given up`;
  },
  cells(attempt, state) {
    const { eventType, eventId, url, responseStatus, errorCode, durationMs } = attempt;
    const [words, tones] = endingOf(attempt, state);
    return [
      { text: eventType, width: 22 },
      { text: eventId, width: 14, tones: ["dim"], from: 120 },
      { text: url },
      { text: `${attempt.attempt}/${attempt.maxAttempts}`, width: 5, align: "right" },
      { text: String(responseStatus ?? errorCode ?? ""), width: 9, align: "right" },
      { text: durationMs === null ? "" : `${Math.round(durationMs)} ms`, width: 8, align: "right", tones: ["dim"], from: 76 },
      { text: words, width: 17, tones },
    ];
  },
  empty: () => [
    "No deliveries yet. Register an endpoint and trigger an event:",
    "",
    "merchant-sandbox receive",
    "merchant-sandbox trigger payment.succeeded",
  ],
  detail: deliveryDetail,
});

const isDead = ({ status, nextAttemptAt }: AttemptMessage) => status !== "succeeded" && nextAttemptAt === null;

/** How an attempt ended, in a word and a sign. */
function endingOf(attempt: AttemptMessage, state: State): [words: string, tones: Tone[]] {
  const { good, bad, unsure } = signs(state.look);
  if (attempt.status === "succeeded") return [`${good} delivered`, ["green"]];
  if (attempt.nextAttemptAt === null) return [`${bad} given up`, ["red"]];
  const wait = Math.ceil(attempt.nextAttemptAt - sandboxNow(state) / 1_000);
  return [wait > 0 ? `${unsure} next in ${wait} s` : `${unsure} tried again`, ["yellow"]];
}
