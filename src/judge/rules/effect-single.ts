// effect.single: retrying a write whose response was lost must not make it take effect twice.

import { otherStory, type Rule } from "./rule.ts";

export const effectSingle: Rule = {
  id: "effect.single",
  severity: "error",
  provenBy: "store",
  demands: "Each write takes effect once, however often the client sends it.",
  hint: "Retry under the same Idempotency-Key. Where an operation accepts no key, such as those under /webhooks, list the existing records before you retry.",
  onRetry(retry) {
    const { chain, to, isCertain } = retry;
    const done = chain.calls.find((call) => call !== to && call.tookEffect);
    if (!done || (to.failure !== undefined && !to.tookEffect)) return undefined;
    return {
      verdict: !to.tookEffect ? "pass" : isCertain ? "fail" : "inconclusive",
      says: `${done.request} took effect, but its response was lost; ${to.request} retried it and ${
        to.tookEffect ? "took effect again" : "changed nothing"
      }${isCertain || !to.tookEffect ? "" : otherStory(retry)}.`,
      isOpen: to.tookEffect && !isCertain,
      calls: [done, to],
    };
  },
};
