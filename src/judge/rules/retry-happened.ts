// retry.happened: what could be done a moment later is not given up at once.

import { type Chain, first, type Rule, rounded } from "./rule.ts";

/** A write without Idempotency-Key must be looked up before it is repeated; a call that the client abandoned was given up by it. */
const shouldReturn = (chain: Chain) => {
  const { failure, writes, takesKeys } = first(chain);
  return failure !== "abandoned" && (!writes || takesKeys);
};

const FAILURES = {
  limited: "was answered 429",
  unavailable: "was answered 503",
  failed: "failed",
  lost: "lost its answer",
  abandoned: "was abandoned",
} as const;

const failed = (chain: Chain) => `${first(chain).request} ${FAILURES[first(chain).failure ?? "failed"]}`;

export const retryHappened: Rule = {
  id: "retry.happened",
  severity: "warning",
  demands: "Repeat a call that was answered 429 or 503, or whose answer was lost.",
  hint: "Retry such calls a few times before you report them as failed. A write needs an Idempotency-Key for that.",
  ended(chain, gaveUp) {
    if (!shouldReturn(chain)) return undefined;
    const [, retry] = chain.calls;
    if (retry) return { verdict: "pass", says: `${failed(chain)} and came again as ${retry.request}.`, calls: [first(chain), retry] };
    if (!gaveUp) return undefined;
    return { verdict: "fail", says: `${failed(chain)} and never came again, though the client went on calling.`, calls: chain.calls };
  },
  waiting(chain, waited) {
    if (!shouldReturn(chain) || chain.calls.length > 1) return undefined;
    return {
      verdict: "inconclusive",
      says: `${failed(chain)}, and nothing came from the client in the ${rounded(waited)} ms since that could tell.`,
      calls: chain.calls,
      milliseconds: { since: rounded(waited) },
    };
  },
};
