// webhook.duplicate_acked: an event that was taken is taken again, or the sender goes on sending it.

import { isGenuine } from "../tampering.ts";
import type { Rule } from "./rule.ts";

export const webhookDuplicateAcked: Rule = {
  id: "webhook.duplicate_acked",
  severity: "error",
  demands: "Answer an event that you have taken before with 2xx, as the first time.",
  hint: "Look the event's id up before you act on it, and answer 200 when you know it already; 4xx or 5xx only brings it back.",
  delivered({ attempt, faults, taken }) {
    if (!taken || !isGenuine(faults)) return undefined;
    const acked = attempt.status === "succeeded";
    return {
      verdict: acked ? "pass" : "fail",
      says: `${attempt.eventId} was taken as ${taken.id}; sent again as ${attempt.id} it was answered ${attempt.responseStatus ?? "not at all"}.`,
      attempts: [taken, attempt],
    };
  },
};
