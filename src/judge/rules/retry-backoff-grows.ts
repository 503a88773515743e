// retry.backoff_grows: each pause that the client chooses is longer than the one before.

import { type Rule, rounded } from "./rule.ts";

/** Shorter pauses than this are none: the machine's own noise is as long. */
const NONE = 30;

/** From the first pause to the last. */
const GROWTH = 1.5;

/**
 * Full jitter draws from a span that grows, so that one pause may well be shorter than the one before. Flat is what is alike
 * from end to end: two pauses that are none, three within a quarter of each other, or four and more within half that do not grow on average.
 */
function isFlat(waits: readonly number[]): boolean {
  const paused = waits.map((wait) => Math.max(wait, NONE));
  const spread = Math.max(...paused) / Math.min(...paused);
  if (waits.length === 2) return Math.max(...waits) <= NONE;
  if (waits.length === 3) return spread <= 1.25;
  const middle = Math.floor(paused.length / 2);
  return waits.length > 3 && spread <= 2 && mean(paused.slice(-middle)) <= 1.25 * mean(paused.slice(0, middle));
}

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

const hasGrown = (waits: readonly number[]) => (waits.at(-1) ?? 0) >= GROWTH * Math.max(waits[0] ?? 0, NONE);

export const retryBackoffGrows: Rule = {
  id: "retry.backoff_grows",
  severity: "warning",
  demands: "Where no Retry-After says how long, wait longer before each further retry.",
  hint: "Double the pause with each try (0.5 s, 1 s, 2 s, …) up to a ceiling: a service in trouble recovers only when it is asked less.",
  ended({ calls, ownWaits }) {
    if (ownWaits.length < 2) return undefined;
    const flat = isFlat(ownWaits);
    if (!flat && !hasGrown(ownWaits)) return undefined;
    const said = ownWaits.map((wait) => `${rounded(wait)} ms`).join(", ");
    return {
      verdict: flat ? "fail" : "pass",
      says: `The pauses before the retries of ${calls[0]?.request} were ${said}.`,
      calls,
      milliseconds: Object.fromEntries(ownWaits.map((wait, index) => [`pause${index + 1}`, rounded(wait)])),
    };
  },
};
