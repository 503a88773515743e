// retry.bounded: a client stops retrying at some point.

import { firstCall, type RetryChain, type Rule } from "./rule.ts";

/** With pauses that double from half a second, the tenth try comes after more than four minutes: its caller has stopped waiting. */
const MAX_CALLS = 10;

const says = (chain: RetryChain) => `${firstCall(chain).request} was sent ${chain.calls.length} times; the limit is ${MAX_CALLS}.`;

export const retryBounded: Rule = {
  id: "retry.bounded",
  severity: "error",
  demands: `The client sends a call at most ${MAX_CALLS} times.`,
  hint: "Limit the number of tries or set a deadline, and report the failure to the caller once it is reached.",
  onRetry({ chain }) {
    if (chain.calls.length !== MAX_CALLS + 1) return undefined;
    return { verdict: "fail", says: says(chain), calls: chain.calls };
  },
  onChainEnd(chain) {
    if (chain.calls.length === 1 || chain.calls.length > MAX_CALLS) return undefined;
    return { verdict: "pass", says: says(chain), calls: [firstCall(chain), ...chain.calls.slice(-1)] };
  },
};
