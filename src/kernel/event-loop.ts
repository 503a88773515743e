// Measures how busy the event loop is: how late its timers run.

import { afterRealTimeIfRunning, realNow } from "./clock.ts";

export type EventLoopLag = ReturnType<typeof createEventLoopLag>;

const SAMPLE_INTERVAL = 25;
const MAX_SAMPLES = 500;
/** Milliseconds by which any timer may be late. */
const TOLERANCE = 2;

/** Measures how late the event loop runs its timers, which limits the accuracy of every real duration. */
export function createEventLoopLag() {
  const samples: { due: number; lag: number }[] = [];
  let until = 0;
  let due: number | undefined;
  const sample = () => {
    const lag = realNow() - (due ?? realNow());
    if (lag > TOLERANCE) samples.push({ due: due ?? 0, lag });
    if (samples.length > MAX_SAMPLES) samples.shift();
    due = undefined;
    schedule();
  };
  const schedule = () => {
    const now = realNow();
    if (due !== undefined || now >= until) return;
    due = now + SAMPLE_INTERVAL;
    afterRealTimeIfRunning(SAMPLE_INTERVAL, sample);
  };
  const lagsBetween = (from: number, to: number) => {
    // Includes a sample that is overdue because the current turn of the event loop has not ended.
    const pending = due === undefined ? [] : [{ due, lag: Math.max(0, realNow() - due) }];
    return [...samples, ...pending].filter((one) => one.due <= to && one.due + one.lag >= from).map(({ lag }) => lag);
  };
  return {
    /** Measures at least until this real time. */
    watch(moment: number) {
      until = Math.max(until, moment);
      schedule();
    },
    /** The longest lag between two real times, in milliseconds. */
    worst: (from: number, to: number) => Math.max(0, ...lagsBetween(from, to)),
    /**
     * The sum of all lag between two real times. Neither side of a connection in this process could make progress
     * during it.
     */
    total: (from: number, to: number) => lagsBetween(from, to).reduce((sum, lag) => sum + lag, 0),
  };
}
