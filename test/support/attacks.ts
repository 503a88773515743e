// Counts the attacks that tests attempt, by their row in SECURITY.md. `npm run attack` prints the sums.

import { TestRunner } from "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Attempts by row. */
    attacks?: Record<string, number>;
  }
}

/** Counts attempts of the attack that a row of SECURITY.md names. They were all refused if the test passes. */
export function attempted(row: string, count = 1): void {
  const test = TestRunner.getCurrentTest();
  if (!test) throw new Error("attempted() is called outside a test.");
  test.meta.attacks ??= {};
  test.meta.attacks[row] = (test.meta.attacks[row] ?? 0) + count;
}
