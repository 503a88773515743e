// The operations that the runs covered, and the operations that the model lacks.

import type { Expected } from "../call-outcome.ts";
import { operations, runs } from "../operations.ts";

/** Names the operations that the model lacks; undefined if the model has all operations. */
export function describeMissingOperations(sandbox: readonly string[]): string | undefined {
  const lacking = sandbox.filter((id) => !(id in runs));
  return lacking.length === 0
    ? undefined
    : `The reference model lacks ${lacking.join(", ")}: describe it in test/model/operations.ts.`;
}

export interface Coverage {
  commands: number;
  runs: number;
  count(expected: Expected): void;
  /** Operations that never succeeded. */
  missing(): string[];
}

export function createCoverage(): Coverage {
  const succeeded = new Set<string | undefined>();
  return {
    commands: 0,
    runs: 0,
    count({ operation, status }) {
      if (Number(status) < 300) succeeded.add(operation);
    },
    missing: () => operations.map(({ id }) => id).filter((id) => !succeeded.has(id)),
  };
}
