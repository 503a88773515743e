// The gauge of stalls: the longest time for which the event loop was blocked.

import { expect, test } from "vitest";
import { blockThread, realDelay } from "../../src/kernel/clock.ts";
import { createStallGauge } from "../../src/kernel/event-loop.ts";

/** Real milliseconds: the native timer of the gauge ticks at least once meanwhile, and a stall is measured between two ticks. */
const TICK = 20;

test("the gauge keeps the longest time for which the event loop was blocked", async () => {
  const gauge = createStallGauge();
  expect(gauge.longest()).toBe(0);
  gauge.watch();
  // A machine that is busy may delay the tick before a stall, which then goes unmeasured: block again.
  const stall = async () => {
    await realDelay(TICK);
    blockThread(100);
    await realDelay(TICK);
    return gauge.longest();
  };
  await expect.poll(stall, { timeout: 10_000 }).toBeGreaterThan(90);
  const longest = gauge.longest();
  await realDelay(TICK);
  expect(gauge.longest()).toBeGreaterThanOrEqual(longest);
});

test("the time in which nothing was measured is no stall", async () => {
  const gauge = createStallGauge(TICK);
  gauge.watch();
  // Long beside any stall of the machine that runs the tests; the gauge stops after 20 ms of it.
  await realDelay(1_000);
  gauge.watch();
  await realDelay(TICK);
  expect(gauge.longest()).toBeLessThan(900);
});
