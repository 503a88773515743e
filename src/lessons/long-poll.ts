// Long polling: a request waits until something changes for one learner.

import { afterRealTime } from "../kernel/clock.ts";

export interface LearnerUpdates {
  /** Resolves on the next notification for this learner, or after `within` real milliseconds. */
  wait(id: string, within: number): Promise<void>;
  notify(id: string): void;
  /** Resolves all pending waits. */
  stop(): void;
}

export function createLearnerUpdates(): LearnerUpdates {
  const waiting = new Map<string, Set<() => void>>();
  const notify = (id: string) => {
    for (const end of waiting.get(id) ?? []) end();
  };
  return {
    notify,
    wait: (id, within) =>
      new Promise((resolve) => {
        const own = waiting.get(id) ?? new Set();
        waiting.set(id, own);
        const end = () => {
          cancel();
          own.delete(end);
          if (own.size === 0 && waiting.get(id) === own) waiting.delete(id);
          resolve();
        };
        const cancel = afterRealTime(within, end);
        own.add(end);
      }),
    stop() {
      for (const id of [...waiting.keys()]) notify(id);
    },
  };
}
