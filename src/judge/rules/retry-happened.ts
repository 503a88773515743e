// retry.happened: a client retries a call that failed temporarily.

import { firstCall, type RetryChain, type Rule } from "./rule.ts";

/** A write without an Idempotency-Key cannot be retried safely, and a call that the client abandoned does not need a retry. */
const needsRetry = (chain: RetryChain) => {
  const { failure, isWrite, acceptsKey } = firstCall(chain);
  return failure !== "abandoned" && (!isWrite || acceptsKey);
};

const FAILURES = {
  rate_limited: "got a 429",
  unavailable: "got a 503",
  failed: "failed",
  lost: "lost its response",
  abandoned: "was abandoned",
} as const;

const failed = (chain: RetryChain) => `${firstCall(chain).request} ${FAILURES[firstCall(chain).failure ?? "failed"]}`;

export const retryHappened: Rule = {
  id: "retry.happened",
  severity: "warning",
  demands: "The client retries a call that got a 429 or a 503, or whose response was lost.",
  hint: "Retry such calls a few times before you report a failure. Retrying a write requires an Idempotency-Key.",
  onChainEnd(chain, gaveUp) {
    if (!needsRetry(chain)) return undefined;
    const [call, retry] = chain.calls;
    if (call && retry) return { verdict: "pass", says: `${failed(chain)} and was retried as ${retry.request}.`, calls: [call, retry] };
    if (!gaveUp) return undefined;
    return { verdict: "fail", says: `${failed(chain)} and was never retried, although the client sent other calls.`, calls: chain.calls };
  },
  whilePending(chain, waited) {
    if (!needsRetry(chain) || chain.calls.length > 1) return undefined;
    return {
      verdict: "inconclusive",
      says: `${failed(chain)}, and in the ${Math.round(waited)} ms since then no call from the client shows whether it retries.`,
      calls: chain.calls,
      milliseconds: { since: Math.round(waited) },
    };
  },
};
