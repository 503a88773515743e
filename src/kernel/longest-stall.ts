// Measures the longest time for which the event loop was blocked while the sandbox was in use: it serves no request meanwhile.

import { afterRealTimeIfRunning } from "./clock.ts";
import { once } from "./once.ts";

export interface StallGauge {
  /** Measures for a while (default: one second). */
  watch(): void;
  /** Real milliseconds. */
  longest(): number;
}

/** Milliseconds: a stall is measured too short by at most this. The timer is native, so a tick costs no JavaScript. */
const RESOLUTION = 5;
const WATCH = 1_000;
const NANOSECONDS = 1_000_000;

export function createStallGauge(milliseconds = WATCH): StallGauge {
  // Loaded at the first use, so that a start does not wait for it.
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
    watch() {
      isUsed = true;
      if (isMeasuring) return;
      isMeasuring = true;
      // Otherwise the time since the last tick, in which nothing was measured, would count as a stall.
      delays().reset();
      delays().enable();
      stopIfUnused();
    },
    longest: read,
  };
}
