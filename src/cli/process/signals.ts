// Signals: waits for the one that stops the program, sends one to another process, and ends the program with the npx that started it.

import { readFileSync } from "node:fs";
import { afterRealTimeIfRunning } from "../../kernel/clock.ts";

export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

export interface Stop {
  /** Resolves with the first signal; a second one ends the process at once. */
  received: Promise<StopSignal>;
  /** From now on, each signal ends the process at once. */
  endAtOnce(): void;
}

/** Not SIGHUP by default: nohup ignores it, and a listener would undo that. */
export function listenForStop(signals: readonly StopSignal[] = ["SIGINT", "SIGTERM"]): Stop {
  let isStopping = false;
  const received = new Promise<StopSignal>((resolve) => {
    for (const signal of signals)
      process.on(signal, () => {
        if (isStopping) endBy(signal);
        isStopping = true;
        resolve(signal);
      });
  });
  return {
    received,
    endAtOnce() {
      isStopping = true;
    },
  };
}

/** Repeats the signal without listeners. Removing them earlier could lose a signal that arrives in between. */
function endBy(signal: StopSignal): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

export const stopSignal = () => listenForStop().received;

/** Returns false if there is no such process, or it belongs to another user. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

/** A zombie counts as ended: in a container, its parent may never collect it. */
export function isAlive(pid: number): boolean {
  if (!signal(pid, 0)) return false;
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return process.platform !== "linux";
  }
}

/** Real milliseconds. */
const CHECK_EVERY = 250;

/**
 * npx runs `sh -c merchant-sandbox` and sends a SIGTERM to that shell only, which ends without passing it on. So a program under npx looks
 * whether its parent is still the same. A detached sandbox, which has a channel to its parent at first, outlives it on purpose.
 */
export function endWithNpx(): void {
  if (process.env.npm_lifecycle_event !== "npx" || process.send !== undefined) return;
  const parent = process.ppid;
  const check = () => {
    if (process.ppid !== parent) process.kill(process.pid, "SIGTERM");
    else afterRealTimeIfRunning(CHECK_EVERY, check);
  };
  afterRealTimeIfRunning(CHECK_EVERY, check);
}
