// CPU time and memory of processes that cannot report their own, read from /proc.

import { readdirSync, readFileSync } from "node:fs";

const MILLISECONDS_A_TICK = 10;

/** CPU time of a process and its descendants, in milliseconds. */
export const cpuOfProcess = (pid) => familyOf(pid).reduce((sum, one) => sum + ticksOf(one), 0) * MILLISECONDS_A_TICK;

/** A process and all its descendants. */
export const familyOf = (pid) => [pid, ...childrenOf(pid).flatMap(familyOf)];

/** The memory of a process in bytes. Memory that several processes share is divided among them. */
export const memoryOfProcess = (pid) =>
  Number(/^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1]) * 1_024;

function ticksOf(pid) {
  const [, user, system] =
    /^\d+ \(.*\) (?:\S+ ){11}(\d+) (\d+) /s.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
  return Number(user) + Number(system);
}

/** Each thread of a process has its own list of children. */
function childrenOf(pid) {
  return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
}
