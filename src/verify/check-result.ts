// The result of checking one expectation once: whether it holds now, the evidence, what came closest, and whether
// waiting can still change the result.

import type { NearMiss, VerificationResult } from "../contracts/expectations.ts";
import type { Verdict } from "../contracts/verdict.ts";
import { type Condition, type Count, compareCount, describeCount, meetsCondition } from "../schema/conditions.ts";

export interface CheckResult extends Omit<VerificationResult, "expectation"> {
  /** The ids of all events whose effects were counted. */
  counted?: readonly string[];
  /** Whether the expectation can still become true. */
  open: boolean;
  /** Whether the result may still change by itself within seconds. If so, verification waits longer than `within`. */
  settles: boolean;
}

/** Checks one expectation. `elapsed` is the real time in milliseconds since verification began. */
export type Check = (elapsed: number) => CheckResult;

export const MAX_EVIDENCE = 20;

export const result = (verdict: Verdict, message: string, rest: Partial<CheckResult> = {}): CheckResult => ({
  verdict,
  message,
  found: 0,
  evidence: [],
  closest: [],
  open: false,
  settles: false,
  ...rest,
});

/** Compares the number of ids found with the expected count. */
export function resultOfCount(
  ids: readonly string[],
  count: Count = { atLeast: 1 },
  [singular, plural]: readonly [singular: string, plural: string],
  closest: () => NearMiss[] = () => [],
): CheckResult {
  const compared = compareCount(count, ids.length);
  const seen = { found: ids.length, evidence: ids.slice(-MAX_EVIDENCE) };
  const matched = `${ids.length} ${ids.length === 1 ? singular : plural} matched`;
  if (compared === "right") return result("pass", `${matched}; expected ${describeCount(count)}.`, seen);
  const isMissing = compared === "too few";
  const message = `${matched}; expected ${describeCount(count)}.`;
  return result("fail", message, { ...seen, closest: isMissing ? closest() : [], open: isMissing });
}

export interface ConditionResult {
  field: string;
  expected: unknown;
  received: unknown;
  met: boolean;
}

const MAX_SHOWN = 3;

/** Checks each condition of a set; `prefix` is put before the name or pointer. */
export const conditionResults = (
  prefix: string,
  conditions: Record<string, Condition> = {},
  received: (name: string) => unknown,
): ConditionResult[] =>
  Object.entries(conditions).map(([name, expected]) => {
    const value = received(name);
    return { field: `${prefix}${name}`, expected, received: value, met: meetsCondition(expected, value) };
  });

/**
 * The candidates that miss the fewest conditions; ties keep their order. A candidate that misses every one of several
 * conditions is left out.
 */
export function nearestOf<T>(
  candidates: Iterable<T>,
  check: (candidate: T) => ConditionResult[],
  describe: (candidate: T) => { id: string; what: string },
): NearMiss[] {
  const missed = [...candidates]
    .map((candidate) => ({ candidate, results: check(candidate) }))
    .map(({ candidate, results }) => ({ candidate, wrong: results.filter(({ met }) => !met), tried: results.length }))
    .filter(({ wrong, tried }) => wrong.length > 0 && (wrong.length < tried || tried === 1));
  missed.sort((one, other) => one.wrong.length - other.wrong.length);
  return missed.slice(0, MAX_SHOWN).map(({ candidate, wrong }) => ({
    ...describe(candidate),
    differs: wrong.map(({ field, expected, received }) => ({ field, expected, received: received ?? null })),
  }));
}
