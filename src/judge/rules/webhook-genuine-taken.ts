// webhook.genuine_taken: what is signed as it should be is taken, whenever and in whatever order it comes.

import { isGenuine } from "../tampering.ts";
import type { Rule } from "./rule.ts";

/** A receiver that answers so says that it may be told again, or that it wants to hear no more: neither is a refusal of this event. */
const NO_REFUSAL = new Set([408, 410, 429]);

export const webhookGenuineTaken: Rule = {
  id: "webhook.genuine_taken",
  severity: "error",
  demands:
    "Answer an event that is signed as it should be with 2xx, also before its call has returned, out of order, or around a rotation.",
  hint: "Store what you cannot place yet and answer 200; verify the raw body, and for some minutes after a rotation with either secret.",
  delivered({ attempt, faults, taken }) {
    const { id, eventType, responseStatus: status } = attempt;
    if (taken || status === null || !isGenuine(faults)) return undefined;
    const refused = status >= 300 && status < 500 && !NO_REFUSAL.has(status);
    if (!refused && attempt.status !== "succeeded") return undefined;
    return {
      verdict: refused ? "fail" : "pass",
      says: `${id}, ${eventType}, was signed as it should be, and was answered ${status}.`,
      attempts: [attempt],
    };
  },
};
