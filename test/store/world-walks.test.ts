// The whole world of a merchant holds together after every step of a random walk, and each rule refuses what it says.

import { expect, test } from "vitest";
import { walk } from "../support/world-walk.ts";

const LENGTH = 60;
const STEPS = Number(process.env.WORLD_STEPS ?? 1_800);
const SEED = Number(process.env.WORLD_SEED ?? 20_260_105);

test(`violates nothing in ${STEPS} steps`, () => {
  const events = new Set<string>();
  let accepted = 0;
  for (let start = 0; start < STEPS; start += LENGTH) {
    const result = walk(SEED + start, LENGTH);
    expect([SEED + start, result.violations]).toEqual([SEED + start, []]);
    accepted += result.accepted;
    for (const event of result.events) events.add(event);
  }
  expect(accepted).toBeGreaterThan(STEPS / 5);
  expect(events.size).toBeGreaterThan(50);
});
