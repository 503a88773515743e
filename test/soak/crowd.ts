// Opens thousands of idle connections, from several processes.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export interface Crowd {
  /** The number of connections that were opened. */
  opened: number;
  /** Closes the connections. */
  leave(): Promise<void>;
}

/** Connections per process, below what most systems allow. */
const MOST_EACH = 5_000;
const CROWD = `${import.meta.dirname}/crowd.js`;

export async function gather(port: number, wanted: number): Promise<Crowd> {
  const children: ChildProcess[] = [];
  let opened = 0;
  for (let left = wanted; left > 0; left -= MOST_EACH) {
    const child = spawn(process.execPath, [CROWD, String(port), String(Math.min(left, MOST_EACH))], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    children.push(child);
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    opened += Number(line);
  }
  return {
    opened,
    async leave() {
      const gone = children.map((child) => once(child, "exit"));
      for (const child of children) child.stdin?.end();
      await Promise.all(gone);
    },
  };
}

/** The number of connections that a process may have open, at most `wanted`. Leaves 500 descriptors for other uses. */
export function mostConnections(wanted: number): number {
  const { userLimits } = process.report.getReport() as { userLimits?: { open_files?: { hard: number | "unlimited" } } };
  const hard = userLimits?.open_files?.hard ?? 1_024;
  return Math.max(100, Math.min(wanted, hard === "unlimited" ? wanted : hard - 500));
}
