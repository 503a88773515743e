// effect.single: what was done once is not done again because its answer was lost.

import type { Rule } from "./rule.ts";

export const effectSingle: Rule = {
  id: "effect.single",
  severity: "error",
  demands: "Have each write take effect once, however often it is sent.",
  hint: "Repeat it under the same Idempotency-Key; where an operation takes no key, as those under /webhooks, list what is there before you repeat.",
  retried({ chain, to }) {
    const done = chain.calls.find((call) => call !== to && call.effect);
    if (!done || (to.failure !== undefined && !to.effect)) return undefined;
    return {
      verdict: to.effect ? "fail" : "pass",
      says: to.effect
        ? `${done.request} took effect though its answer was lost, and ${to.request} did the same once more.`
        : `${done.request} took effect though its answer was lost; ${to.request} asked again and changed nothing.`,
      calls: [done, to],
    };
  },
};
