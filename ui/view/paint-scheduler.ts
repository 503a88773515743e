// Schedules painting: at once after a key, and at a limited rate for the stream.

import { afterRealTime, realNow, stopwatch } from "../../src/kernel/clock.ts";

const SECOND = 1_000;
/** At most ten frames per second. */
const MIN_GAP_MS = 100;
/**
 * Limits the share of time for painting to 1/25, so a slow machine paints less often. For the page it is 1/200, because
 * the browser's own drawing takes longer and is not measured.
 */
const COST_FACTOR = { terminal: 25, page: 200 };
/**
 * Bounds the pause after a slow frame. The first one takes a hundred milliseconds, because V8 has not compiled its code
 * yet; without a bound, the second would wait for seconds.
 */
const MAX_GAP_MS = { terminal: 500, page: SECOND };

export function createPaintScheduler(
  face: keyof typeof COST_FACTOR,
  { paint, everySecond }: { paint(): void; everySecond(): void },
) {
  let paintedAt = 0;
  let cost = 0;
  let cancelPaint: (() => void) | undefined;

  const paintNow = () => {
    cancelPaint?.();
    cancelPaint = undefined;
    const elapsed = stopwatch();
    paint();
    cost = elapsed();
    paintedAt = realNow();
  };
  function tick() {
    cancelSecond = afterRealTime(SECOND, tick);
    everySecond();
  }
  let cancelSecond = afterRealTime(SECOND, tick);
  return {
    /** Call after a key or a resize. */
    paintNow,
    /** Call after a change that the user did not make. */
    paintSoon(): void {
      const gap = Math.min(MAX_GAP_MS[face], Math.max(MIN_GAP_MS, cost * COST_FACTOR[face]));
      cancelPaint ??= afterRealTime(Math.max(0, gap - (realNow() - paintedAt)), paintNow);
    },
    stop(): void {
      cancelPaint?.();
      // `paintSoon` schedules nothing while `cancelPaint` is set.
      cancelPaint = () => {};
      cancelSecond();
    },
  };
}
