// Waits for the user to say that it is enough.

export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

export interface Stop {
  /** Resolves with the first of the signals; from then on each of them ends the process at once. */
  told: Promise<StopSignal>;
  /** It was said in another way: each signal ends the process at once. */
  letGo(): void;
}

/** SIGHUP is left alone unless it is asked for: who was started to outlive the terminal ignores it. */
export function listenForStop(signals: readonly StopSignal[] = ["SIGINT", "SIGTERM"]): Stop {
  let isSaid = false;
  const told = new Promise<StopSignal>((resolve) => {
    for (const signal of signals)
      process.on(signal, () => {
        if (isSaid) endBy(signal);
        isSaid = true;
        resolve(signal);
      });
  });
  return {
    told,
    letGo() {
      isSaid = true;
    },
  };
}

/** As if nobody had listened. To stop listening beforehand would lose a signal that is under way just then. */
function endBy(signal: StopSignal): void {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
}

export const stopSignal = () => listenForStop().told;
