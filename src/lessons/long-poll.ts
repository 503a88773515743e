// Long polling: a request waits until something changes for one learner.

import { afterRealTime } from "../kernel/clock.ts";

export type LearnerUpdates = ReturnType<typeof createLearnerUpdates>;

export function createLearnerUpdates() {
  const waiting = new Map<string, Set<() => void>>();
  const notify = (id: string) => {
    for (const end of waiting.get(id) ?? []) end();
  };
  return {
    notify,
    /** Resolves on the next notification for this learner, or after `within` real milliseconds. */
    wait: (id: string, within: number) =>
      new Promise<void>((resolve) => {
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
    /** Resolves all pending waits. */
    stop() {
      for (const id of [...waiting.keys()]) notify(id);
    },
  };
}
