// webhook.forgery_rejected: what is not signed as it should be is not taken.

import { isForged } from "../tampering.ts";
import type { Rule } from "./rule.ts";

export const webhookForgeryRejected: Rule = {
  id: "webhook.forgery_rejected",
  severity: "error",
  demands: "Answer a delivery whose signature does not match with 4xx.",
  hint: "Compute HMAC-SHA256 over the raw body with the whole secret, compare in constant time, and answer 401 where it differs or is missing.",
  delivered({ attempt, faults }) {
    if (!isForged(faults)) return undefined;
    const { id, responseStatus: status } = attempt;
    const refused = status !== null && status >= 400 && status < 500;
    const taken = status !== null && status >= 200 && status < 300;
    const answer = status === null ? "got no answer" : `was answered ${status}`;
    return {
      verdict: refused ? "pass" : taken ? "fail" : "inconclusive",
      says: `${id} was not signed as it should be, and ${answer}.`,
      attempts: [attempt],
    };
  },
};
