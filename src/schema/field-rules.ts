// Checks and errors for fields that a schema cannot express, such as an exact sum.

import { fail } from "../kernel/errors.ts";

/** The sum of amounts; rejects a sum beyond the integers that a number holds exactly. */
export function exactSum(amounts: readonly number[], field: string): number {
  const message = `The sum of the amounts in ${field} exceeds ${Number.MAX_SAFE_INTEGER}, the largest that is exact.`;
  let sum = 0;
  for (const amount of amounts) {
    sum += amount;
    if (!Number.isSafeInteger(sum)) refuseField(field, "out_of_range", message);
  }
  return sum;
}

/** Rejects a request because of one field. */
export function refuseField(field: string, code: string, message: string): never {
  fail("validation_failed", message, { errors: [{ pointer: `/${field}`, field, code, message }] });
}
