// All records of the seeded merchants are consistent after every step of a random walk over real sockets.

import { expect, test } from "vitest";
import { walk } from "../support/world-walk.ts";

const LENGTH = 100;
const STEPS = Number(process.env.WORLD_STEPS ?? 200);
/** Random walks of this many steps cause most types of event. */
const LONG = 20_000;
const SEED = Number(process.env.WORLD_SEED ?? 20_260_105);

test(
  `random walks of ${STEPS} steps in total leave all records consistent`,
  async () => {
    const events = new Set<string>();
    let [steps, accepted] = [0, 0];
    for (let start = 0; start < STEPS; start += LENGTH) {
      const result = await walk(SEED + start, Math.min(LENGTH, STEPS - start));
      expect(result.violations).toEqual([]);
      steps += result.steps;
      accepted += result.accepted;
      for (const event of result.events) events.add(event);
    }
    if (process.env.WORLD_STEPS !== undefined)
      process.stdout.write(`${steps} steps, ${accepted} accepted, ${events.size} types of event\n`);
    expect(accepted).toBeGreaterThan(STEPS / 5);
    expect(events.size).toBeGreaterThan(STEPS >= LONG ? 80 : 50);
  },
  60_000 + STEPS * 100,
);
