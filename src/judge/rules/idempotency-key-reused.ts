// idempotency.key_reused: each retry carries the key of the first try.

import type { Rule } from "./rule.ts";

export const idempotencyKeyReused: Rule = {
  id: "idempotency.key_reused",
  severity: "error",
  demands: "Repeat a write under the Idempotency-Key of its first try.",
  hint: "Make the key outside the loop that retries: a new key for each try makes each try a new order.",
  retried({ from, to }) {
    if (!from.writes || !from.takesKeys || from.key === undefined) return undefined;
    const same = to.key === from.key;
    const other = to.key === undefined ? "without a key" : "under another key";
    return {
      verdict: same ? "pass" : "fail",
      says: `${from.request} was repeated as ${to.request} ${same ? "under the same key" : other}.`,
      calls: [from, to],
    };
  },
};
