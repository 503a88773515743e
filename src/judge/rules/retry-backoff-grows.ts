// retry.backoff_grows: the pauses that the client chooses grow with each retry.

import type { Rule } from "./rule.ts";

/** Shorter pauses count as no pause: they do not exceed the machine's own noise. */
const MIN_PAUSE = 30;

/** The last pause must be this many times as long as the first. */
const GROWTH = 1.5;

/**
 * Full jitter draws from a growing range, so a single pause may well be shorter than the one before. Flat are therefore only: two pauses
 * of no length; three within 25 % of each other; four or more within a factor of two whose average does not grow.
 */
function isFlat(waits: readonly number[]): boolean {
  const pauses = waits.map((wait) => Math.max(wait, MIN_PAUSE));
  const spread = Math.max(...pauses) / Math.min(...pauses);
  if (waits.length === 2) return Math.max(...waits) <= MIN_PAUSE;
  if (waits.length === 3) return spread <= 1.25;
  const middle = Math.floor(pauses.length / 2);
  return waits.length > 3 && spread <= 2 && mean(pauses.slice(-middle)) <= 1.25 * mean(pauses.slice(0, middle));
}

/** Pauses within this factor of each other are equal, unless more than this share of one is lag. */
const EQUAL = 1.25;
const MAX_LAG = 0.4;

/** Lag makes pauses longer and so more alike, but only much lag hides that they grow; lag in the middle of a pause does not change it. */
function mayHaveGrown(waits: readonly number[], lags: readonly number[]): boolean {
  const isLate = waits.some((wait, index) => (lags[index] ?? 0) > MAX_LAG * wait);
  const areEqual = Math.max(...waits) <= EQUAL * Math.min(...waits);
  return (isLate || !areEqual) && !isFlat(withoutLag(waits, lags));
}

const withoutLag = (waits: readonly number[], lags: readonly number[]) => waits.map((wait, index) => wait - (lags[index] ?? 0));

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

const hasGrown = (waits: readonly number[]) => (waits.at(-1) ?? 0) >= GROWTH * Math.max(waits[0] ?? 0, MIN_PAUSE);

export const retryBackoffGrows: Rule = {
  id: "retry.backoff_grows",
  severity: "warning",
  provenBy: "time",
  demands: "Without a Retry-After, the client waits longer before each further retry.",
  hint: "Double the pause with each try (0.5 s, 1 s, 2 s, …) up to a maximum: an overloaded service recovers only when it gets fewer requests.",
  onChainEnd({ calls, ownWaits, lags }) {
    if (ownWaits.length < 2) return undefined;
    const flat = isFlat(ownWaits);
    if (!flat && !hasGrown(ownWaits)) return undefined;
    const isBlurred = flat ? mayHaveGrown(ownWaits, lags) : isFlat(withoutLag(ownWaits, lags));
    const pauses = ownWaits.map((wait) => `${Math.round(wait)} ms`).join(", ");
    return {
      verdict: isBlurred ? "inconclusive" : flat ? "fail" : "pass",
      says: `The pauses before the retries of ${calls[0]?.request} were ${pauses}${
        isBlurred
          ? `, but this machine lagged for ${lags.map((lag) => `${Math.round(lag)} ms`).join(", ")} of them: the client may have chosen equal pauses or growing ones`
          : ""
      }.`,
      calls,
      milliseconds: Object.fromEntries(ownWaits.map((wait, index) => [`pause${index + 1}`, Math.round(wait)])),
    };
  },
};
