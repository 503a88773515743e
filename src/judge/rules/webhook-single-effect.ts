// webhook.single_effect: a receiver processes an event once, even if it arrives twice.
// The judge cannot see what a receiver does internally, only the writes that its merchant sends to the API during a delivery and
// shortly after. If the same write takes effect after each of two deliveries of one event, the receiver processed the event twice. If
// no write precedes the repeat, the rule stays inconclusive.

import type { Rule } from "./rule.ts";

export const webhookSingleEffect: Rule = {
  id: "webhook.single_effect",
  severity: "error",
  provenBy: "time",
  demands: "The receiver processes an event once, however often it arrives.",
  hint: "Save the event's id in the transaction that processes it, or use it as the Idempotency-Key of the calls that it causes.",
  onRepeatDelivery({ first, repeat, writesBefore, writesAfterRepeat }) {
    const attempts = [first, repeat];
    const effects = writesBefore.filter(({ tookEffect }) => tookEffect);
    if (effects.length === 0)
      return {
        verdict: "inconclusive",
        says: `No write took effect between the first delivery of ${first.eventId} and ${repeat.id}, and the judge sees only writes to the API.`,
        attempts,
      };
    const second = writesAfterRepeat.find(
      (call) => call.tookEffect && effects.some((before) => before.fingerprint() === call.fingerprint()),
    );
    const original = effects.find((call) => !second || call.fingerprint() === second.fingerprint()) ?? effects[0];
    return {
      verdict: second ? "fail" : "pass",
      says: second
        ? `${original?.request} followed ${first.id}; ${second.request} did the same again after ${repeat.id}, which delivered the same event.`
        : `${original?.request} followed ${first.id}; no such write followed ${repeat.id}, which delivered the same event.`,
      calls: [original, second].filter((call) => call !== undefined),
      attempts,
    };
  },
};
