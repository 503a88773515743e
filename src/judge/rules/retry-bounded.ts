// retry.bounded: a client gives up some time.

import { type Chain, first, type Rule } from "./rule.ts";

/** With waits that double from half a second, the tenth try comes after more than four minutes: nobody waits for it any more. */
const MOST_CALLS = 10;

const says = ({ calls }: Chain) => `${calls[0]?.request} was sent ${calls.length} times; ${MOST_CALLS} are enough.`;

export const retryBounded: Rule = {
  id: "retry.bounded",
  severity: "error",
  demands: `Send one call ${MOST_CALLS} times at most.`,
  hint: "Count the tries, or set a deadline, and report the failure to whoever asked once it is reached.",
  retried({ chain }) {
    if (chain.calls.length !== MOST_CALLS + 1) return undefined;
    return { verdict: "fail", says: says(chain), calls: chain.calls };
  },
  ended(chain) {
    if (chain.calls.length === 1 || chain.calls.length > MOST_CALLS) return undefined;
    return { verdict: "pass", says: says(chain), calls: [first(chain), ...chain.calls.slice(-1)] };
  },
};
