// When to paint: a key at once, the stream at a pace that leaves the machine to those who work on it.

import { afterRealTime, realNow, stopwatch } from "../src/kernel/clock.ts";

export interface Pace {
  /** Something was pressed. */
  now(): void;
  /** Something happened. */
  soon(): void;
  stop(): void;
}

interface Work {
  paint(): void;
  /** Called every second. */
  second(): void;
}

const SECOND = 1_000;
const LEAST_GAP = 100;
/** Painting what happened takes at most one part in so many of the time. */
const SHARE = 25;

export function createPace({ paint, second }: Work): Pace {
  let painted = 0;
  let cost = 0;
  let cancel: (() => void) | undefined;
  let cancelSecond: () => void;

  const now = () => {
    cancel?.();
    cancel = undefined;
    const elapsed = stopwatch();
    paint();
    cost = elapsed();
    painted = realNow();
  };
  const tick = () => {
    cancelSecond = afterRealTime(SECOND, tick);
    second();
  };
  cancelSecond = afterRealTime(SECOND, tick);
  return {
    now,
    soon() {
      const gap = Math.max(LEAST_GAP, cost * SHARE);
      cancel ??= afterRealTime(Math.max(0, gap - (realNow() - painted)), now);
    },
    stop() {
      cancel?.();
      cancel = () => {};
      cancelSecond();
    },
  };
}
