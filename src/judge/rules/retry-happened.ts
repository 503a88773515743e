// retry.happened: a client retries a call that failed temporarily.

import { type Finding, firstCall, type RetryChain, type Rule } from "./rule.ts";

/** A write without an Idempotency-Key cannot be retried safely, and a call that the client abandoned does not need a retry. */
const needsRetry = (chain: RetryChain) => {
  const { failure, isWrite, acceptsKey, key } = firstCall(chain);
  return failure !== "abandoned" && (!isWrite || (acceptsKey && key !== undefined));
};

function failed(chain: RetryChain): string {
  const { request, failure, status } = firstCall(chain);
  if (failure === "rate_limited" || failure === "unavailable") return `${request} got a ${status}`;
  return `${request} ${failure === "lost" ? "lost its response" : failure === "abandoned" ? "was abandoned" : "failed"}`;
}

/** Equal calls may be its retry, or calls of another worker or program that shares the key. */
const unclear = (chain: RetryChain): Finding => ({
  verdict: "inconclusive",
  says: `${failed(chain)}; ${chain.lookalikes[0]?.request} may be its retry, or an equal call of another worker with the same API key.`,
  calls: [...chain.calls, ...chain.lookalikes],
});

export const retryHappened: Rule = {
  id: "retry.happened",
  severity: "warning",
  demands: "The client retries a call that got a 429 or a 503, or whose response was lost.",
  hint: "Retry such calls a few times before you report a failure. A write can only be retried with its Idempotency-Key.",
  onRetry({ chain, from, to }) {
    if (!needsRetry(chain) || from !== firstCall(chain)) return undefined;
    return { verdict: "pass", says: `${failed(chain)} and was retried as ${to.request}.`, calls: [from, to] };
  },
  onChainEnd(chain, gaveUp) {
    if (!needsRetry(chain) || !gaveUp || chain.calls.length > 1) return undefined;
    if (chain.lookalikes.length > 0) return unclear(chain);
    return { verdict: "fail", says: `${failed(chain)} and was not retried in time.`, calls: chain.calls };
  },
  whilePending(chain, waited) {
    if (!needsRetry(chain) || chain.calls.length > 1) return undefined;
    if (chain.lookalikes.length > 0) return unclear(chain);
    return {
      verdict: "inconclusive",
      says: `${failed(chain)}, and in the ${Math.round(waited)} ms since then no call from the client shows whether it retries.`,
      calls: chain.calls,
      milliseconds: { since: Math.round(waited) },
    };
  },
};
