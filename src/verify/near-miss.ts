// Finds the candidates that come closest to a missing match, and where they differ.

import type { NearMiss } from "../contracts/expectations.ts";
import { type Condition, meetsCondition } from "../schema/conditions.ts";

/** The result of one condition on a candidate. */
export interface ConditionResult {
  field: string;
  wanted: unknown;
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
  Object.entries(conditions).map(([name, wanted]) => {
    const value = received(name);
    return { field: `${prefix}${name}`, wanted, received: value, met: meetsCondition(wanted, value) };
  });

const differencesOf = (results: readonly ConditionResult[]): NearMiss["differs"] =>
  results.filter(({ met }) => !met).map(({ field, wanted, received }) => ({ field, wanted, received: received ?? null }));

/** The few candidates that differ least; of equal ones, the first. A candidate that meets no condition at all is left out. */
export function nearestOf<T>(
  candidates: Iterable<T>,
  check: (candidate: T) => ConditionResult[],
  describe: (candidate: T) => { id: string; what: string },
): NearMiss[] {
  const missed = [...candidates]
    .map((candidate) => ({ candidate, results: check(candidate) }))
    .map(({ candidate, results }) => ({ candidate, differs: differencesOf(results), wanted: results.length }))
    .filter(({ differs, wanted }) => differs.length > 0 && (differs.length < wanted || wanted === 1));
  missed.sort((one, other) => one.differs.length - other.differs.length);
  return missed.slice(0, MAX_SHOWN).map(({ candidate, differs }) => ({ ...describe(candidate), differs }));
}
