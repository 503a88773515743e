// idempotency.body_stable: a retry under the same key has the same body.

import type { Rule } from "./rule.ts";

export const idempotencyBodyStable: Rule = {
  id: "idempotency.body_stable",
  severity: "error",
  demands: "The client retries a write with the body of its first try.",
  hint: "Build the body once, outside the retry loop, without new timestamps, counters or random values in each try.",
  onRetry({ from, to }) {
    if (!from.isWrite || from.key === undefined || to.key !== from.key || !from.hasBody || !to.hasBody) return undefined;
    const same = from.fingerprint() === to.fingerprint();
    return {
      verdict: same ? "pass" : "fail",
      says: `${to.request} retried ${from.request} under the same Idempotency-Key with ${same ? "the same" : "a different"} body.`,
      calls: [from, to],
    };
  },
};
