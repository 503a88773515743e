// webhook.forgery_rejected: a receiver rejects a delivery with an invalid signature.

import { isForged } from "../tampering.ts";
import type { Rule } from "./rule.ts";

export const webhookForgeryRejected: Rule = {
  id: "webhook.forgery_rejected",
  severity: "error",
  demands: "The receiver responds with 4xx to a delivery whose signature does not match.",
  hint: "Compute HMAC-SHA256 over the raw body with the whole secret, compare in constant time, and respond with 401 if the signature differs or is missing.",
  onDelivery({ attempt, faults }) {
    if (!isForged(faults)) return undefined;
    const { id, responseStatus: status } = attempt;
    const rejected = status !== null && status >= 400 && status < 500;
    const accepted = status !== null && status >= 200 && status < 300;
    return {
      verdict: rejected ? "pass" : accepted ? "fail" : "inconclusive",
      says: `${id} had no valid signature and got ${status === null ? "no response" : `a ${status}`}.`,
      attempts: [attempt],
    };
  },
};
