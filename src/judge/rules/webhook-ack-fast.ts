// webhook.ack_fast: a receiver responds before it processes the event.

import { isGenuine } from "../tampering.ts";
import type { Rule } from "./rule.ts";

const MAX_DURATION = 5_000;

export const webhookAckFast: Rule = {
  id: "webhook.ack_fast",
  severity: "warning",
  provenBy: "time",
  demands: `The receiver responds to a delivery within ${MAX_DURATION / 1_000} seconds.`,
  hint: "Store the event, respond with 200, then process it: after a timeout, the sender treats the delivery as failed and sends it again.",
  onDelivery({ attempt, faults, lag }) {
    const { durationMs, responseStatus, errorCode } = attempt;
    const waited = responseStatus !== null || errorCode === "timeout";
    if (!waited || durationMs === null || !isGenuine(faults)) return undefined;
    // A timeout shorter than the limit proves nothing.
    if (errorCode === "timeout" && durationMs <= MAX_DURATION) return undefined;
    const isSlow = durationMs > MAX_DURATION;
    const late = isSlow ? lag() : 0;
    const isBlurred = isSlow && durationMs - late <= MAX_DURATION;
    const took =
      errorCode === "timeout"
        ? `The receiver did not respond to ${attempt.id} within ${Math.round(durationMs)} ms`
        : `The receiver took ${Math.round(durationMs)} ms to respond to ${attempt.id}`;
    return {
      verdict: isBlurred ? "inconclusive" : isSlow ? "fail" : "pass",
      says: isBlurred ? `${took}, but this machine was busy for ${Math.round(late)} ms of them: the response may have waited.` : `${took}.`,
      attempts: [attempt],
      milliseconds: { took: Math.round(durationMs), longest: MAX_DURATION, ...(isBlurred ? { late: Math.round(late) } : {}) },
    };
  },
};
