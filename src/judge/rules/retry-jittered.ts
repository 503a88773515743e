// retry.jittered: calls that failed at the same time are not all retried at the same time.

import type { Rule } from "./rule.ts";

/** How much timers vary equal pauses: a fixed part, and a share of the pause. */
const NOISE = 8;
const NOISE_SHARE = 0.01;
/** Shorter pauses count as no pause, however much they vary. */
const MIN_PAUSE = 30;
/** With more event loop lag than this, or than this share of the pause, pauses that look equal prove nothing. */
const MAX_LAG = 30;
const MAX_LAG_SHARE = 0.1;

const sorted = (values: number[]) => values.sort((one, other) => one - other);
const medianOf = (values: readonly number[]) => values[Math.ceil(values.length / 2) - 1] ?? 0;

export const retryJittered: Rule = {
  id: "retry.jittered",
  severity: "warning",
  provenBy: "time",
  demands: "Without a Retry-After, the client draws each pause at random around its mean.",
  hint: "Multiply each pause by a random factor, or draw it from the range 0 to the pause: otherwise all clients that failed together retry together.",
  onPauseSample(sample) {
    const waits = sorted(sample.map(({ waited }) => waited));
    // A busy machine makes pauses longer, never shorter, so the shorter half of equal pauses stays close together.
    const low = waits[0] ?? 0;
    const middle = medianOf(waits);
    const noise = NOISE + NOISE_SHARE * middle;
    const lags = sorted(sample.map(({ lag }) => lag));
    const worstLag = lags.at(-1) ?? 0;
    const isNone = middle < MIN_PAUSE;
    const isEqual = isNone || middle - low <= noise;
    // Lag cannot shorten a pause, so missing pauses are always conclusive; it can make pauses equal only if it affects most of them.
    const isPunctual = medianOf(lags) <= Math.max(MAX_LAG, MAX_LAG_SHARE * middle);
    const isConclusive = isNone || (isEqual ? isPunctual : middle - low > noise + worstLag);
    return {
      verdict: !isConclusive ? "inconclusive" : isEqual ? "fail" : "pass",
      says: `The shorter half of ${waits.length} first pauses was between ${Math.round(low)} and ${Math.round(middle)} ms${
        isConclusive ? "" : `, but this machine lagged by up to ${Math.round(worstLag)} ms, which hides the pauses that the client chose`
      }.`,
      calls: sample.map(({ call }) => call),
      milliseconds: { low: Math.round(low), middle: Math.round(middle), noise: Math.round(noise), late: Math.round(worstLag) },
    };
  },
};
