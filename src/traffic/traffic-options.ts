// Reads and validates a traffic request: its rate, its duration and its mix of kinds.

import { MIX, type TrafficOptions } from "../contracts/traffic.ts";
import { durationProblem, tryParseDuration } from "../kernel/duration.ts";
import { fail } from "../kernel/errors.ts";
import { Type } from "../schema/shapes.ts";
import { fieldErrors } from "../schema/validator.ts";
import { kinds } from "./kinds.ts";

export type TrafficPlan = ReturnType<typeof parseTrafficOptions>;

const DEFAULT_RATE = "2/s";
const MIN_GAP = 10;
const MAX_GAP = 86_400_000;
const MAX_WEIGHT = 1_000_000;

export const trafficMixSchema = Type.Optional(
  Type.Object(
    Object.fromEntries(
      Object.keys(kinds).map((kind) => [kind, Type.Optional(Type.Number({ minimum: 0, maximum: MAX_WEIGHT }))]),
    ),
    { description: MIX, additionalProperties: false },
  ),
);

/** `own` says which kinds of record the merchant has. */
export function parseTrafficOptions(
  { rate = DEFAULT_RATE, for: span, mix }: TrafficOptions,
  own: { merchant: string; has(kind: string): boolean },
) {
  const { times, per } = readRate(rate);
  /** Infinity: until it is stopped. */
  const count = span === undefined ? Infinity : countSteps(span, times, per);
  /** Average milliseconds between two steps, possibly a fraction. */
  const gap = per / times;
  return { rate, for: span ?? null, mix: mix === undefined || mix === null ? usualMix(own) : readMix(mix), gap, count };
}

function readRate(text: string): { times: number; per: number } {
  const [, times = "", length = "", unit = ""] = /^(\d{1,9})\/(\d{0,9})(ms|s|m|h|d)$/.exec(text) ?? [];
  const per = tryParseDuration((length || "1") + unit);
  if (per === undefined || per === 0 || Number(times) === 0)
    fail(
      "validation_failed",
      `rate must be a number per unit of time, such as 2/s, 30/m or 1/10s; received ${JSON.stringify(text)}.`,
    );
  const gap = per / Number(times);
  if (gap < MIN_GAP || gap > MAX_GAP)
    fail("validation_failed", `rate must lie between 1/d and 100/s; received ${text}.`);
  return { times: Number(times), per };
}

function countSteps(text: string, times: number, per: number): number {
  const span =
    tryParseDuration(text) ??
    fail("validation_failed", `for ${durationProblem(text)}; received ${JSON.stringify(text)}.`);
  const count = Math.floor((span * times) / per);
  if (count === 0)
    fail("validation_failed", `for must be long enough for at least one step; no step fits into ${text}.`);
  return count;
}

/** The kinds of traffic that fit the merchant's records, with their usual weights. */
function usualMix({ merchant, has }: { merchant: string; has(kind: string): boolean }): Record<string, number> {
  const usual = Object.entries(kinds).filter(([kind, { basedOn = [kind] }]) => basedOn.some(has));
  if (usual.length === 0)
    fail(
      "validation_failed",
      `${merchant} has no records yet from which traffic could learn its business. Make one, such as a payment, or name kinds in mix, such as {"payment": 3}, or --mix payment=3 on the command line.`,
    );
  return Object.fromEntries(usual.map(([kind, { weight }]) => [kind, weight]));
}

function readMix(mix: unknown): Record<string, number> {
  const [error] = fieldErrors(Type.Object({ mix: trafficMixSchema }), { mix });
  if (error) fail("validation_failed", error.message);
  const weights = mix as Record<string, number>;
  if (!Object.values(weights).some((weight) => weight > 0))
    fail("validation_failed", "mix must give at least one kind of record a weight above 0.");
  return weights;
}

/** Shuffles the kinds; kinds with a higher weight tend to come earlier. `chance` returns numbers in [0, 1). */
export function kindsInTurn(mix: Readonly<Record<string, number>>, chance: (word: string) => number): string[] {
  const weighted = Object.entries(mix).filter(([, weight]) => weight > 0);
  // Each kind draws an exponential waiting time, so the probability that a kind comes first is proportional to its
  // weight.
  const turns = weighted.map(([kind, weight]) => ({ kind, wait: -Math.log1p(-chance(`kind ${kind}`)) / weight }));
  return turns.sort((one, other) => one.wait - other.wait).map(({ kind }) => kind);
}
