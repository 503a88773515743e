// Checks across several fields, which a schema cannot express: a period must not end before it starts, a sum must be exact.

import { fail } from "../kernel/errors.ts";

/** Rejects a period whose end is before its start. A start or end that is absent or null is not checked. */
export function requireOrder<V extends string | number>(
  from: V | null | undefined,
  to: V | null | undefined,
  field: string,
  other: string,
): void {
  if (from == null || to == null || from <= to) return;
  refuse(field, "out_of_order", `${field} must not come before ${other}; received ${to} and ${from}.`);
}

/** The sum of amounts; rejects a sum beyond the integers that a number holds exactly. */
export function exactSum(amounts: readonly number[], field: string): number {
  let sum = 0;
  for (const amount of amounts) {
    sum += amount;
    if (!Number.isSafeInteger(sum))
      refuse(field, "out_of_range", `The sum of the amounts in ${field} exceeds ${Number.MAX_SAFE_INTEGER}, the largest that is exact.`);
  }
  return sum;
}

function refuse(field: string, code: string, message: string): never {
  fail("validation_failed", message, { errors: [{ pointer: `/${field}`, field, code, message }] });
}
