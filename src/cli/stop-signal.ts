// Waits for the user to say that it is enough.

import { afterThisTurn } from "../kernel/clock.ts";

export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

export interface Stop {
  /** Resolves with the first of the signals; from then on each of them ends the process at once. */
  told: Promise<StopSignal>;
  /** It was said in another way: each signal ends the process at once. */
  letGo(): void;
}

/** SIGHUP is left alone unless it is asked for: who was started to outlive the terminal ignores it. */
export function listenForStop(signals: readonly StopSignal[] = ["SIGINT", "SIGTERM"]): Stop {
  let letGo = () => {};
  const told = new Promise<StopSignal>((resolve) => {
    const listeners = signals.map((signal) => {
      const heard = () => {
        resolve(signal);
        // Once everybody has heard it: whoever else listens may take a signal that nobody waits for as the end.
        afterThisTurn(letGo);
      };
      process.on(signal, heard);
      return () => process.off(signal, heard);
    });
    letGo = () => {
      for (const stop of listeners) stop();
    };
  });
  return { told, letGo };
}

export const stopSignal = () => listenForStop().told;
