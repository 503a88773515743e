// Finds what came nearest to a match that is missing, and says where the two differ.

import { type Condition, meetsCondition } from "../schema/conditions.ts";
import type { Difference, NearMiss } from "./check-result.ts";

/** One thing that is wanted of a value. */
export interface Demand {
  field: string;
  wanted: unknown;
  received: unknown;
  met: boolean;
}

const MOST_SHOWN = 3;

/** A demand for each condition of a set, by name or pointer. */
export const demandsOf = (prefix: string, conditions: Record<string, Condition> = {}, received: (name: string) => unknown): Demand[] =>
  Object.entries(conditions).map(([name, wanted]) => {
    const value = received(name);
    return { field: `${prefix}${name}`, wanted, received: value, met: meetsCondition(wanted, value) };
  });

const differencesOf = (demands: readonly Demand[]): Difference[] =>
  demands.filter(({ met }) => !met).map(({ field, wanted, received }) => ({ field, wanted, received: received ?? null }));

/** Keeps the few that differ least; of two that differ as much, the one that came first here. */
export function nearestOf<T>(
  candidates: Iterable<T>,
  demands: (candidate: T) => Demand[],
  describe: (candidate: T) => { id: string; what: string },
): NearMiss[] {
  const missed = [...candidates]
    .map((candidate) => ({ candidate, differs: differencesOf(demands(candidate)), wanted: demands(candidate).length }))
    .filter(({ differs, wanted }) => differs.length > 0 && (differs.length < wanted || wanted === 1));
  missed.sort((one, other) => one.differs.length - other.differs.length);
  return missed.slice(0, MOST_SHOWN).map(({ candidate, differs }) => ({ ...describe(candidate), differs }));
}
