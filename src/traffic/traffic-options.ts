// Reads and validates a traffic request: its rate, its duration and its mix of kinds.

import type { TrafficOptions } from "../contracts/traffic.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { tryParseDuration } from "../kernel/duration.ts";
import { fail } from "../kernel/errors.ts";
import { kinds } from "./step.ts";

export interface TrafficPlan {
  rate: string;
  for: string | null;
  mix: Record<string, number>;
  /** Average milliseconds between two steps, possibly a fraction. */
  gap: number;
  /** The number of steps in all. */
  count: number;
}

const DEFAULT_RATE = "2/s";
const MIN_GAP = 10;
const MAX_GAP = 86_400_000;
/** Traffic without a duration ends here, so that advancing the clock by years ends too. */
const MAX_STEPS = 100_000;
const MAX_WEIGHT = 1_000_000;

export function parseTrafficOptions({ rate = DEFAULT_RATE, for: span, mix }: TrafficOptions): TrafficPlan {
  const { times, per } = readRate(rate);
  const weights = readMix(mix);
  return { rate, for: span ?? null, mix: weights, gap: per / times, count: span === undefined ? MAX_STEPS : countSteps(span, times, per) };
}

function readRate(text: string): { times: number; per: number } {
  const [, times = "", length = "", unit = ""] = /^(\d{1,9})\/(\d{0,9})(ms|s|m|h|d)$/.exec(text) ?? [];
  const per = tryParseDuration((length || "1") + unit);
  if (per === undefined || per === 0 || Number(times) === 0)
    fail("validation_failed", `rate must be so many in a span, such as 2/s, 30/m or 1/10s; received ${JSON.stringify(text)}.`);
  const gap = per / Number(times);
  if (gap < MIN_GAP || gap > MAX_GAP) fail("validation_failed", `rate must lie between 1/d and 100/s; received ${text}.`);
  return { times: Number(times), per };
}

function countSteps(text: string, times: number, per: number): number {
  const span =
    tryParseDuration(text) ?? fail("validation_failed", `for must be a span such as 30s, 5m or 24h; received ${JSON.stringify(text)}.`);
  const count = Math.floor((span * times) / per);
  if (count === 0) fail("validation_failed", `for must be long enough for at least one step; no step fits into ${text}.`);
  if (count > MAX_STEPS) fail("validation_failed", `${count} steps in ${text} are too many: ${MAX_STEPS} at most. Use a lower rate.`);
  return count;
}

function readMix(mix: unknown): Record<string, number> {
  if (mix === undefined || mix === null) return Object.fromEntries(Object.entries(kinds).map(([name, { weight }]) => [name, weight]));
  if (typeof mix !== "object" || Array.isArray(mix))
    fail("validation_failed", `mix must be an object of weights, such as {"payment": 3, "booking": 1}; received ${JSON.stringify(mix)}.`);
  const known = Object.keys(kinds);
  const weights = Object.entries(mix).map(([name, weight]) => {
    if (!known.includes(name))
      fail(
        "validation_failed",
        `mix names ${name}, which traffic does not generate.${didYouMean(name, known) || ` It knows ${known.join(", ")}.`}`,
      );
    if (typeof weight !== "number" || !(weight >= 0 && weight <= MAX_WEIGHT))
      fail("validation_failed", `mix.${name} must be a number from 0 to ${MAX_WEIGHT}; received ${JSON.stringify(weight)}.`);
    return [name, weight] as const;
  });
  if (!weights.some(([, weight]) => weight > 0)) fail("validation_failed", "mix must give at least one kind of record a weight above 0.");
  return Object.fromEntries(weights);
}

/** Chooses a kind in proportion to its weight; `chance` is in [0, 1). */
export function drawKind(mix: Readonly<Record<string, number>>, chance: number): string {
  const weights = Object.entries(mix).filter(([, weight]) => weight > 0);
  let left = chance * weights.reduce((sum, [, weight]) => sum + weight, 0);
  const drawn = weights.find(([, weight]) => {
    left -= weight;
    return left < 0;
  });
  return (drawn ?? (weights.at(-1) as [string, number]))[0];
}
