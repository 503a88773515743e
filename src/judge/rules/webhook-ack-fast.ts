// webhook.ack_fast: a receiver answers first and works afterwards.

import { isGenuine } from "../tampering.ts";
import { type Rule, rounded } from "./rule.ts";

const LONGEST = 5_000;

export const webhookAckFast: Rule = {
  id: "webhook.ack_fast",
  severity: "warning",
  demands: `Answer a delivery within ${LONGEST / 1_000} seconds.`,
  hint: "Store the event, answer 200, and do the work afterwards: a sender that waits too long takes it for lost and sends it again.",
  delivered({ attempt, faults }) {
    const { durationMs, responseStatus, errorCode } = attempt;
    const waited = responseStatus !== null || errorCode === "timeout";
    if (!waited || durationMs === null || !isGenuine(faults)) return undefined;
    // Where less time was left to the receiver, that it used it up tells nothing.
    if (errorCode === "timeout" && durationMs <= LONGEST) return undefined;
    return {
      verdict: durationMs <= LONGEST ? "pass" : "fail",
      says: `The receiver took ${rounded(durationMs)} ms over ${attempt.id}${errorCode === "timeout" ? " and did not answer in time" : ""}.`,
      attempts: [attempt],
      milliseconds: { took: rounded(durationMs), longest: LONGEST },
    };
  },
};
