// Counts the commands and the responses of each operation, and prints them as a table.

import type { Expected } from "../call-outcome.ts";
import { operations } from "../operations.ts";

/** Names the operations that the model lacks; undefined when it has all of them. */
export function describeMissingOperations(sandbox: readonly string[]): string | undefined {
  const lacking = sandbox.filter((id) => !operations.some((operation) => operation.id === id));
  return lacking.length === 0 ? undefined : `The reference model lacks ${lacking.join(", ")}: describe it in test/model/operations.ts.`;
}

export interface Coverage {
  commands: number;
  runs: number;
  count(expected: Expected): void;
  /** Counts a command that is not a call. */
  onAction(name: string): void;
  /** Operations that never succeeded. */
  missing(): string[];
  table(): string;
}

export function createCoverage(): Coverage {
  const counts = new Map<string, Map<string, number>>();
  const controlCommands = new Map<string, number>();
  const statusesOf = (operation: string) => [...(counts.get(operation) ?? [])].sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    commands: 0,
    runs: 0,
    count({ operation = "(none)", status, headers }) {
      const known = counts.get(operation) ?? new Map<string, number>();
      const name = headers["idempotent-replayed"] === undefined ? String(status) : `${status} again`;
      counts.set(operation, known.set(name, (known.get(name) ?? 0) + 1));
    },
    onAction: (name) => void controlCommands.set(name, (controlCommands.get(name) ?? 0) + 1),
    missing: () => operations.map(({ id }) => id).filter((id) => !statusesOf(id).some(([status]) => /^2\d\d$/.test(status))),
    table() {
      const all = [...operations.map(({ id }) => id), "(none)"];
      const lines = all.map(
        (id) =>
          `${id.padEnd(26)} ${statusesOf(id)
            .map(([status, count]) => `${status}: ${count}`)
            .join("  ")}`,
      );
      const others = [...controlCommands].sort().map(([name, count]) => `${name}: ${count}`);
      return `${this.runs} runs, ${this.commands} commands\n${lines.join("\n")}\nbeside calls: ${others.join("  ")}`;
    },
  };
}
