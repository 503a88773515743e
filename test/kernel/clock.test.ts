// The clock: its alarm, its advances, and delays in real time.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  afterPromises,
  afterRealTime,
  afterThisTurn,
  createClock,
  type DueWork,
  parseTime,
  realDelay,
} from "../../src/kernel/clock.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

test("setting the alarm again for many due times leaks no memory", async () => {
  const clock = createClock();
  let due = Date.now() + 86_400_000;
  clock.watch({ nextDue: () => due, run: () => {} });
  const setAgain = async (times: number) => {
    for (let time = 0; time < times; time++) {
      due += 7;
      clock.wake();
      await new Promise<void>(afterPromises);
    }
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = await setAgain(1_000);
  const after = await setAgain(30_000);
  clock.stop();
  expect(after - before).toBeLessThan(1_048_576);
});

/** Work that is due now, until its `run` has been called. */
function workDueNow(run: () => void): DueWork & { runs: number } {
  const work = {
    runs: 0,
    nextDue: () => (work.runs === 0 ? Date.now() : null),
    run() {
      work.runs++;
      run();
    },
  };
  return work;
}

test.each<[string, DueWork]>([
  ["run", { nextDue: () => 0, run: () => fails() }],
  ["nextDue", { nextDue: () => fails(), run: () => {} }],
])("work whose %s throws is reported and pauses, and other work still runs", async (_, failing) => {
  const clock = createClock();
  const failures: unknown[] = [];
  const sound = workDueNow(() => {});
  clock.onFailure((error) => failures.push((error as Error).message));
  clock.watch(failing);
  clock.watch(sound);
  clock.wake();
  for (let turn = 0; turn < 5; turn++) await new Promise<void>(afterThisTurn);
  clock.stop();
  expect([failures, sound.runs]).toEqual([["The disk is full."], 1]);
});

function fails(): never {
  throw new Error("The disk is full.");
}

test("an advance that is ended stops at its current time, without waiting for work in flight", async () => {
  const clock = createClock(0);
  let due: number | null = 5;
  clock.watch({
    nextDue: () => due,
    run() {
      due = null;
    },
    settled: () => (due === null ? new Promise(() => {}) : Promise.resolve()),
  });
  const client = new AbortController();
  const [first, second, third] = [
    clock.advance(() => 10, client.signal),
    clock.advance(() => 20),
    clock.advance(() => 30),
  ];
  await new Promise<void>(afterThisTurn);
  client.abort();
  expect([await first, clock.now()]).toEqual(["gone", 5]);
  await new Promise<void>(afterThisTurn);
  clock.set("frozen", 7);
  expect([await second, clock.now()]).toEqual(["set", 7]);
  clock.endAdvances();
  expect([await third, await clock.advance(() => 40), clock.now()]).toEqual(["closing", "closing", 7]);
});

test("a delay longer than Node's longest timer is split into several", async () => {
  const start = globalThis.setTimeout;
  const spans: number[] = [];
  // Long timers fire at once. With fake timers, the timers of other files in this process would run too, a second at a
  // time for a month.
  const spy = vi.spyOn(globalThis, "setTimeout").mockImplementation(((callback: () => void, span = 0) => {
    if (span < 86_400_000) return start(callback, span);
    spans.push(span);
    return start(callback, 0);
  }) as typeof setTimeout);
  onTestFinished(() => spy.mockRestore());
  const month = 30 * 86_400_000;
  const cancelled = vi.fn();
  afterRealTime(2 * month, cancelled)();
  spans.length = 0;
  await realDelay(month);
  expect(spans).toEqual([2 ** 31 - 1, month - (2 ** 31 - 1)]);
  expect(cancelled).not.toHaveBeenCalled();
});

test.each([
  "2026-02-30",
  "2026-02-29T12:00:00Z",
  "2026-04-31T00:00:00+02:00",
  "2100-02-29",
  "2026-13-01",
  "2026-00-10",
  "2026-01-00",
])("%s is not a time, because the calendar has no such day", (text) => {
  expect(parseTime(text)).toBeUndefined();
});

test("the last day of a month is a valid day, including 29 February", () => {
  expect(["2024-02-29", "2026-02-28T23:59:59Z", "2026-12-31"].map(parseTime)).toEqual([
    1_709_164_800_000, 1_772_323_199_000, 1_798_675_200_000,
  ]);
});
