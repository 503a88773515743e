// idempotency.present: a write that the client retries carries an Idempotency-Key from its first try on.

import { firstCall, type Rule } from "./rule.ts";

export const idempotencyPresent: Rule = {
  id: "idempotency.present",
  severity: "error",
  demands: "The client sends an Idempotency-Key with every POST and PATCH that it may retry.",
  hint: "Create one key (a UUID) per user action before the first try, and send it with every try.",
  onRetry({ chain, to }) {
    const call = firstCall(chain);
    if (!call.isWrite || !call.acceptsKey) return undefined;
    const present = call.key !== undefined;
    return {
      verdict: present ? "pass" : "fail",
      says: `${call.request} was sent with${present ? " an" : "out an"} Idempotency-Key and retried as ${to.request}.`,
      calls: [call, to],
    };
  },
};
