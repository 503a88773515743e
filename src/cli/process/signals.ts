// Waits for a signal to stop, sends signals to other processes, and stops the program if its npx has ended.

import { readFileSync } from "node:fs";
import { attempt } from "../../kernel/attempt.ts";
import { afterRealTimeIfRunning } from "../../kernel/clock.ts";

export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

export type Stop = ReturnType<typeof listenForStop>;

/** Listens for signals. Excludes SIGHUP by default, because a listener would undo nohup, which ignores SIGHUP. */
export function listenForStop(signals: readonly StopSignal[] = ["SIGINT", "SIGTERM"]) {
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
    /** Resolves with the first signal. A second signal ends the process at once. */
    received,
    /** From now on, each signal ends the process at once. */
    endAtOnce() {
      isStopping = true;
    },
  };
}

/** Removes the listeners and repeats the signal. Removing them earlier could lose a signal. */
function endBy(signal: StopSignal): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

export const stopSignal = () => listenForStop().received;

/** Sends a signal. Returns false if the process does not exist or belongs to another user. */
export const signal = (pid: number, name: NodeJS.Signals | 0): boolean =>
  attempt(() => process.kill(pid, name)) ?? false;

/** A zombie counts as ended, because in a container its parent may never reap it. */
export function isAlive(pid: number): boolean {
  const status = attempt(() => readFileSync(`/proc/${pid}/status`, "utf8"));
  return signal(pid, 0) && (status === undefined ? process.platform !== "linux" : !/^State:\s+Z/m.test(status));
}

/** Real milliseconds between checks of the parent. */
const CHECK_EVERY = 250;

/**
 * Stops the program when npx is stopped. npx runs `sh -c merchant-sandbox` and sends SIGTERM only to that shell, which
 * does not forward it. So a program under npx checks whether its parent has changed. A detached sandbox, recognised by
 * its IPC channel, outlives its parent.
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
