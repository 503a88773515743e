// retry.jittered: calls that failed together do not all come back together.

import { type Rule, rounded } from "./rule.ts";

/** What timers and a busy machine add to equal pauses: so much, and so much of the pause. */
const NOISE = 15;
const NOISE_SHARE = 0.01;
/** Shorter pauses than this are none, however they vary. */
const NONE = 30;

export const retryJittered: Rule = {
  id: "retry.jittered",
  severity: "warning",
  demands: "Where no Retry-After says how long, draw the pause at random around its mean.",
  hint: "Multiply each pause by a random factor, or draw it from 0 up to the pause: otherwise everybody who failed at once returns at once.",
  paced(sample) {
    const waits = sample.map(({ waited }) => waited).sort((one, other) => one - other);
    // The shortest and the longest are left out: one hiccup of the machine is no jitter.
    const [low, high] = [waits[1] ?? 0, waits.at(-2) ?? 0];
    const middle = waits[Math.floor(waits.length / 2)] ?? 0;
    const noise = NOISE + NOISE_SHARE * high;
    return {
      verdict: high - low <= noise || middle < NONE ? "fail" : "pass",
      says: `Of ${waits.length} first pauses all but the extremes were between ${rounded(low)} and ${rounded(high)} ms.`,
      calls: sample.map(({ call }) => call),
      milliseconds: { low: rounded(low), high: rounded(high), noise: rounded(noise) },
    };
  },
};
