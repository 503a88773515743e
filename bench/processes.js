// The CPU time of processes that are not ours to ask: what Linux says of them.

import { readdirSync, readFileSync } from "node:fs";

const MILLISECONDS_A_TICK = 10;

/** The milliseconds of CPU time that a process has used, and those of the processes it started. */
export const cpuOfProcess = (pid) => ticksOf(pid) * MILLISECONDS_A_TICK;

function ticksOf(pid) {
  const [, user, system] = /^\d+ \(.*\) (?:\S+ ){11}(\d+) (\d+) /s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
  return childrenOf(pid).reduce((sum, child) => sum + ticksOf(child), Number(user) + Number(system));
}

/** Each thread of a process has children of its own. */
function childrenOf(pid) {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean),
  );
}
