// Measures how busy the event loop is: how late its timers run, and the longest time for which it was blocked.

import { afterRealTimeIfRunning, realNow } from "./clock.ts";
import { once } from "./once.ts";

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
    /** The sum of all lag between two real times. Neither side of a connection in this process could make progress during it. */
    total: (from: number, to: number) => lagsBetween(from, to).reduce((sum, lag) => sum + lag, 0),
  };
}

export type StallGauge = ReturnType<typeof createStallGauge>;

/** Milliseconds between ticks. A stall is measured too short by at most one tick. The timer is native, so a tick runs no JavaScript. */
const RESOLUTION = 5;
const WATCH = 1_000;
const NANOSECONDS = 1_000_000;

export function createStallGauge(milliseconds = WATCH) {
  // Loaded on first use, to keep startup fast.
  const delays = once(() => process.getBuiltinModule("node:perf_hooks").monitorEventLoopDelay({ resolution: RESOLUTION }));
  let isMeasuring = false;
  let isUsed = false;
  let longest = 0;
  const read = () => {
    if (isMeasuring) longest = Math.max(longest, delays().max / NANOSECONDS - RESOLUTION);
    return longest;
  };
  const stopIfUnused = () => {
    read();
    if (isUsed) afterRealTimeIfRunning(milliseconds, stopIfUnused);
    else {
      delays().disable();
      isMeasuring = false;
    }
    isUsed = false;
  };
  return {
    /** Measures for a while (default: one second). */
    watch() {
      isUsed = true;
      if (isMeasuring) return;
      isMeasuring = true;
      // Without a reset, the unmeasured time since the last tick would count as a stall.
      delays().reset();
      delays().enable();
      stopIfUnused();
    },
    /** The longest stall in real milliseconds. */
    longest: read,
  };
}
