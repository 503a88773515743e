// Rules between fields, which the schema of one field cannot state: a span that runs forward, a sum that stays exact.

import { fail } from "../kernel/errors.ts";

/** Refuses a span whose end comes before its start; an end that is absent or null bounds nothing. */
export function requireOrder<V extends string | number>(
  from: V | null | undefined,
  to: V | null | undefined,
  field: string,
  other: string,
): void {
  if (from == null || to == null || from <= to) return;
  refuse(field, "out_of_order", `${field} must not come before ${other}; received ${to} and ${from}.`);
}

/** The sum of amounts, refused where it would leave the range in which integers are exact. */
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
