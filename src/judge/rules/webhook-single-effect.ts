// webhook.single_effect: an event that comes twice is acted on once.
// What a receiver does in its own house is not seen from here. What is seen are the writes that it sends to the service under
// its own merchant's key, during a delivery and shortly after: the same write after each of two deliveries of one event,
// taking effect both times, is the event acted on twice. A receiver that writes nothing leaves the question open.

import type { Rule } from "./rule.ts";

export const webhookSingleEffect: Rule = {
  id: "webhook.single_effect",
  severity: "error",
  demands: "Act on an event once, however often it arrives.",
  hint: "Note the event's id in the transaction that acts on it, or use it as the Idempotency-Key of the calls that it leads to.",
  echoed({ first, again, wroteFirst, wroteAgain }) {
    const attempts = [first, again];
    const effects = wroteFirst.filter(({ effect }) => effect);
    if (effects.length === 0)
      return { verdict: "inconclusive", says: `Nothing that the receiver did about ${first.eventId} was seen from here.`, attempts };
    const twice = wroteAgain.find((call) => call.effect && effects.some((before) => before.print() === call.print()));
    const once = effects.find((call) => !twice || call.print() === twice.print()) ?? effects[0];
    return {
      verdict: twice ? "fail" : "pass",
      says: twice
        ? `${once?.request} followed on ${first.id}, and ${twice.request} did the same once more after ${again.id}, the same event.`
        : `${once?.request} followed on ${first.id}; nothing of the kind followed on ${again.id}, the same event.`,
      calls: [once, twice].filter((call) => call !== undefined),
      attempts,
    };
  },
};
