// Which operations were called, and what they answered: the table that a long run ends with.

import { operations } from "../operations.ts";
import type { Expected } from "../way.ts";

/** Says by name which operations of the sandbox the model does not describe; undefined when it describes all. */
export function lackOf(sandbox: readonly string[]): string | undefined {
  const lacking = sandbox.filter((id) => !operations.some((operation) => operation.id === id));
  return lacking.length === 0 ? undefined : `The reference model lacks ${lacking.join(", ")}: describe it in test/model/operations.ts.`;
}

export interface Coverage {
  steps: number;
  runs: number;
  count(expected: Expected): void;
  /** Something other than a call was done. */
  did(name: string): void;
  /** Operations that were never answered as asked. */
  missing(): string[];
  table(): string;
}

export function openCoverage(): Coverage {
  const counts = new Map<string, Map<string, number>>();
  const deeds = new Map<string, number>();
  const statusesOf = (operation: string) => [...(counts.get(operation) ?? [])].sort(([one], [other]) => (one < other ? -1 : 1));
  return {
    steps: 0,
    runs: 0,
    count({ operation = "(none)", status, headers }) {
      const known = counts.get(operation) ?? new Map<string, number>();
      const name = headers["idempotent-replayed"] === undefined ? String(status) : `${status} again`;
      counts.set(operation, known.set(name, (known.get(name) ?? 0) + 1));
    },
    did: (name) => void deeds.set(name, (deeds.get(name) ?? 0) + 1),
    missing: () => operations.map(({ id }) => id).filter((id) => !statusesOf(id).some(([status]) => /^2\d\d$/.test(status))),
    table() {
      const all = [...operations.map(({ id }) => id), "(none)"];
      const lines = all.map(
        (id) =>
          `${id.padEnd(26)} ${statusesOf(id)
            .map(([status, count]) => `${status}: ${count}`)
            .join("  ")}`,
      );
      const others = [...deeds].sort().map(([name, count]) => `${name}: ${count}`);
      return `${this.runs} runs, ${this.steps} steps\n${lines.join("\n")}\nbeside calls: ${others.join("  ")}`;
    },
  };
}
