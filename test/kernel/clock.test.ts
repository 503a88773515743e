// The clock's alarm.

import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { afterPromises, createClock } from "../../src/kernel/clock.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

test("the alarm does not leak memory when it is set again for each of many expiries", async () => {
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
