// The values that a recording shows for assumptions that can be set, in the form of the option `assumptions`.

import type { FactBound, FactValue, ServiceFact } from "../contracts/fact.ts";
import { matchesSchema } from "../schema/validator.ts";
import type { Assumptions } from "../store/assumptions.ts";

/** A number that limits the value of a fact without confirming or contradicting it. */
export interface Hint {
  fact: string;
  bound: FactBound;
  value: number;
}

interface SeenValue {
  value: FactValue;
  bound?: FactBound;
}

interface Result {
  fact: ServiceFact;
  confirmed: number;
  seen: readonly SeenValue[];
}

/** Suggests values. Leaves out a fact for which calls show different values, or that only one bound limits. */
export function suggestedAssumptions(results: readonly Result[], hints: readonly Hint[]): Assumptions {
  const found = results.flatMap(({ fact, confirmed, seen }): [string, FactValue][] => {
    if (!fact.settable || seen.length === 0) return [];
    const value = shownValue(fact, confirmed, seen, hints);
    return value !== undefined && matchesSchema(fact.settable, value) ? [[fact.id, value]] : [];
  });
  return Object.fromEntries(found);
}

function shownValue(
  { id, kind }: ServiceFact,
  confirmed: number,
  seen: readonly SeenValue[],
  hints: readonly Hint[],
): FactValue | undefined {
  if (kind === "schedule") return longest(seen.map(({ value }) => value as readonly number[]));
  const exact = seen.filter(({ bound }) => bound === undefined);
  if (exact.length > 0) return exact.length === 1 && confirmed === 0 ? exact[0]?.value : undefined;
  const all = [
    ...seen.map(({ bound, value }) => ({ bound, value: Number(value) })),
    ...hints.filter(({ fact }) => fact === id),
  ];
  const least = Math.max(...all.filter(({ bound }) => bound === "at_least").map(({ value }) => value));
  const below = Math.min(...all.filter(({ bound }) => bound === "below").map(({ value }) => value));
  return least === below - 1 ? least : undefined;
}

/** The longest schedule, if all other schedules equal its beginning. */
function longest(schedules: readonly (readonly number[])[]): readonly number[] | undefined {
  const [most = []] = schedules.toSorted((one, other) => other.length - one.length);
  return schedules.every((one) => one.every((gap, index) => gap === most[index])) ? most : undefined;
}
