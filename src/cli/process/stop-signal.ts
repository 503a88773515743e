// Waits for the signal that stops the program.

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
