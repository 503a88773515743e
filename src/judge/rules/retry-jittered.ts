// retry.jittered: calls that failed together do not all come back together.

import { type Rule, rounded } from "./rule.ts";

/** What timers add to equal pauses: so much, and so much of the pause. */
const NOISE = 8;
const NOISE_SHARE = 0.01;
/** Shorter pauses than this are none, however they vary. */
const NONE = 30;
/** A machine that was later than this, or than such a share of the pause, tells nothing of pauses that look equal. */
const LATE = 30;
const LATE_SHARE = 0.1;

const sorted = (values: number[]) => values.sort((one, other) => one - other);
const middleOf = (values: readonly number[]) => values[Math.ceil(values.length / 2) - 1] ?? 0;

export const retryJittered: Rule = {
  id: "retry.jittered",
  severity: "warning",
  demands: "Where no Retry-After says how long, draw the pause at random around its mean.",
  hint: "Multiply each pause by a random factor, or draw it from 0 up to the pause: otherwise everybody who failed at once returns at once.",
  paced(sample) {
    const waits = sorted(sample.map(({ waited }) => waited));
    // A busy machine makes pauses longer and never shorter: where they are equal, the shorter half still lies close together.
    const low = waits[0] ?? 0;
    const middle = middleOf(waits);
    const noise = NOISE + NOISE_SHARE * middle;
    const lates = sorted(sample.map((pace) => pace.late));
    const late = lates.at(-1) ?? 0;
    const isNone = middle < NONE;
    const isEqual = isNone || middle - low <= noise;
    // Lateness makes nothing shorter: no pause at all stays none. Equal pauses it can only make where it is there for most of them.
    const isPunctual = middleOf(lates) <= Math.max(LATE, LATE_SHARE * middle);
    const canTell = isNone || (isEqual ? isPunctual : middle - low > noise + late);
    return {
      verdict: !canTell ? "inconclusive" : isEqual ? "fail" : "pass",
      says: `The shorter half of ${waits.length} first pauses was between ${rounded(low)} and ${rounded(middle)} ms${
        canTell ? "" : `, and this machine was late by up to ${rounded(late)} ms, which hides what the client chose`
      }.`,
      calls: sample.map(({ call }) => call),
      milliseconds: { low: rounded(low), middle: rounded(middle), noise: rounded(noise), late: rounded(late) },
    };
  },
};
