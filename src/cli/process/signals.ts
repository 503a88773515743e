// Other processes: telling them something, and whether they are still there.

import { readFileSync } from "node:fs";

/** False where there is no such process, or it is not ours to tell. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/** A process that has ended stays in the table until its parent asks for it, which in a container may be never. */
export function isAlive(pid: number): boolean {
  if (!signal(pid, 0)) return false;
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return process.platform !== "linux";
  }
}
