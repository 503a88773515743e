// idempotency.body_stable: what is sent again under a key is what was sent before.

import type { Rule } from "./rule.ts";

export const idempotencyBodyStable: Rule = {
  id: "idempotency.body_stable",
  severity: "error",
  demands: "Repeat a write with the body of its first try.",
  hint: "Build the body once, outside the loop that retries: no fresh time stamps, counters or random values in it.",
  retried({ from, to }) {
    if (!from.writes || from.key === undefined || to.key !== from.key || !from.isWhole || !to.isWhole) return undefined;
    const same = from.print() === to.print();
    return {
      verdict: same ? "pass" : "fail",
      says: `${to.request} repeats ${from.request} under the same key with ${same ? "the same" : "another"} body.`,
      calls: [from, to],
    };
  },
};
