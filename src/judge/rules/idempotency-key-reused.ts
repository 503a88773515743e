// idempotency.key_reused: each retry carries the key of the first try.

import { otherStory, type Rule } from "./rule.ts";

export const idempotencyKeyReused: Rule = {
  id: "idempotency.key_reused",
  severity: "error",
  demands: "The client retries a write under the Idempotency-Key of its first try.",
  hint: "Create the key outside the retry loop: with a new key for each try, the service treats each try as a new order.",
  onRetry(retry) {
    const { from, to, isCertain } = retry;
    if (!from.isWrite || !from.acceptsKey || from.key === undefined) return undefined;
    const same = to.key === from.key;
    const how = to.key === undefined ? "without a key" : `under ${same ? "the same" : "another"} Idempotency-Key`;
    return {
      verdict: same ? "pass" : isCertain ? "fail" : "inconclusive",
      says: `${to.request} retried ${from.request} ${how}${isCertain ? "" : otherStory(retry)}.`,
      isOpen: !same && !isCertain,
      calls: [from, to],
    };
  },
};
