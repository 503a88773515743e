// webhook.duplicate_acked: a receiver accepts an event again that it has accepted before; otherwise the sender keeps retrying it.

import { isGenuine } from "../tampering.ts";
import type { Rule } from "./rule.ts";

export const webhookDuplicateAcked: Rule = {
  id: "webhook.duplicate_acked",
  severity: "error",
  demands: "The receiver responds with 2xx to an event that it has accepted before.",
  hint: "Look up the event's id before you process the event, and respond with 200 if you know it; a 4xx or 5xx only causes another retry.",
  onDelivery({ attempt, faults, acceptedBefore }) {
    if (!acceptedBefore || !isGenuine(faults)) return undefined;
    const response = attempt.responseStatus === null ? "no response" : `a ${attempt.responseStatus}`;
    return {
      verdict: attempt.status === "succeeded" ? "pass" : "fail",
      says: `The receiver accepted ${attempt.eventId} with ${acceptedBefore.id}; when it was sent again, ${attempt.id} got ${response}.`,
      attempts: [acceptedBefore, attempt],
    };
  },
};
