// Processes that are not ours to ask: what Linux says of them.

import { readdirSync, readFileSync } from "node:fs";

const MILLISECONDS_A_TICK = 10;

/** The milliseconds of CPU time that a process has used, and those of the processes it started. */
export const cpuOfProcess = (pid) => familyOf(pid).reduce((sum, one) => sum + ticksOf(one), 0) * MILLISECONDS_A_TICK;

/** A process, and those it started. */
export const familyOf = (pid) => [pid, ...childrenOf(pid).flatMap(familyOf)];

function ticksOf(pid) {
  const [, user, system] = /^\d+ \(.*\) (?:\S+ ){11}(\d+) (\d+) /s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
  return Number(user) + Number(system);
}

/** Each thread of a process has children of its own. */
function childrenOf(pid) {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
}
