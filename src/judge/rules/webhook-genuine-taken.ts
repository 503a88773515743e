// webhook.genuine_taken: a receiver accepts each delivery with a valid signature, whenever and in whatever order it arrives.

import { isGenuine } from "../tampering.ts";
import type { Rule } from "./rule.ts";

/** These statuses ask for another attempt, or unsubscribe the endpoint; they do not reject the event. */
const NOT_REJECTED = new Set([408, 410, 429]);

export const webhookGenuineTaken: Rule = {
  id: "webhook.genuine_taken",
  severity: "error",
  demands:
    "The receiver responds with 2xx to an event with a valid signature, even if it arrives before the call that caused it returns, out of order, or around a rotation of the secret.",
  hint: "Store events that you cannot process yet and respond with 200. Verify the raw body, and accept both secrets for some minutes after a rotation.",
  onDelivery({ attempt, faults, acceptedBefore }) {
    const { id, eventType, responseStatus: status } = attempt;
    if (acceptedBefore || status === null || !isGenuine(faults)) return undefined;
    const rejected = status >= 300 && status < 500 && !NOT_REJECTED.has(status);
    if (!rejected && attempt.status !== "succeeded") return undefined;
    return {
      verdict: rejected ? "fail" : "pass",
      says: `${id} (${eventType}) had a valid signature and got a ${status}.`,
      attempts: [attempt],
    };
  },
};
