// Waiting for something to happen to one who learns.

import { afterRealTime } from "../kernel/clock.ts";

export interface News {
  /** Resolves when there is something, or after so many real milliseconds. */
  wait(id: string, within: number): Promise<void>;
  ring(id: string): void;
  /** Ends all waiting. */
  stop(): void;
}

export function createNews(): News {
  const waiting = new Map<string, Set<() => void>>();
  const ring = (id: string) => {
    for (const end of waiting.get(id) ?? []) end();
  };
  return {
    ring,
    wait: (id, within) =>
      new Promise((resolve) => {
        const mine = waiting.get(id) ?? new Set();
        waiting.set(id, mine);
        const end = () => {
          cancel();
          mine.delete(end);
          if (mine.size === 0 && waiting.get(id) === mine) waiting.delete(id);
          resolve();
        };
        const cancel = afterRealTime(within, end);
        mine.add(end);
      }),
    stop() {
      for (const id of [...waiting.keys()]) ring(id);
    },
  };
}
