// Measures how late the event loop runs its timers: durations measured meanwhile are no more accurate than this lag.

import { afterRealTimeIfRunning, realNow } from "./clock.ts";

export interface EventLoopLag {
  /** Measures at least until this real time. */
  watch(until: number): void;
  /** The longest lag between two real times, in milliseconds. */
  worst(from: number, to: number): number;
  /** The sum of all lag between two real times: for so long neither side of a connection in this process could make progress. */
  total(from: number, to: number): number;
}

const SAMPLE_INTERVAL = 25;
const MAX_SAMPLES = 500;
/** Milliseconds by which any timer may be late. */
const TOLERANCE = 2;

export function createEventLoopLag(): EventLoopLag {
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
    // A sample that is overdue because this turn of the event loop still runs counts too.
    const pending = due === undefined ? [] : [{ due, lag: Math.max(0, realNow() - due) }];
    return [...samples, ...pending].filter((one) => one.due <= to && one.due + one.lag >= from).map(({ lag }) => lag);
  };
  return {
    watch(moment) {
      until = Math.max(until, moment);
      schedule();
    },
    worst: (from, to) => Math.max(0, ...lagsBetween(from, to)),
    total: (from, to) => lagsBetween(from, to).reduce((sum, lag) => sum + lag, 0),
  };
}
