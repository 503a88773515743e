// Property of life on the clock: 30 days in any pieces change the same records, with the same events, as 30 days at once.

import fc from "fast-check";
import { expect, test } from "vitest";
import type { LifeChange } from "../../src/contracts/life.ts";
import { inputs } from "../support/fuzzing.ts";
import { type Bench, share } from "../support/sandbox.ts";

const MINUTES = 30 * 24 * 60;
const MERCHANTS = ["mer_lodge", "mer_market", "mer_stage", "mer_blank"];
const TIMED = ["payout", "payout_method", "payroll", "remittance", "membership_renewal", "booking", "sync_log", "marketplace_order"];

/** The records after all pieces, with everything that happened on the way. */
async function play(clock: string, pieces: readonly number[]) {
  const bench = await share({ clock });
  for (const merchant of MERCHANTS) {
    await bench.control("POST", "/records/sync_log", { merchant });
    await bench.control("POST", "/records/payout", { merchant, status: "pending", amount: 100, arrivalDate: "2026-03-30" });
  }
  const happened: LifeChange[] = [];
  for (const minutes of pieces) happened.push(...(await bench.control("POST", "/clock/advance", { by: `${minutes}m` })).happened);
  const state = await stateOf(bench);
  await bench.close();
  return { happened, ...state };
}

async function stateOf(bench: Bench) {
  const { now } = await bench.control("GET", "/clock");
  const paths = MERCHANTS.flatMap((merchant) => [
    `/events?limit=100&merchant=${merchant}`,
    ...TIMED.map((kind) => `/records/${kind}?limit=100&merchant=${merchant}`),
  ]);
  return { now, lists: await Promise.all(paths.map((path) => bench.control("GET", path))) };
}

/** The pieces between these points of the span. */
function between(points: readonly number[]): number[] {
  const all = [0, ...points.toSorted((one, other) => one - other), MINUTES];
  return all.slice(1).map((point, index) => point - (all[index] as number));
}

test("any split of 30 days gives the same records and events as one advance", async () => {
  // Summer time begins in Portugal and Switzerland within the second span.
  const starts = fc.constantFrom("2026-01-05T12:00:00Z", "2026-03-16T23:30:00Z");
  const splits = fc.array(fc.integer({ min: 0, max: MINUTES }), { minLength: 1, maxLength: 12 });
  const whole = new Map<string, unknown>();
  const property = fc.asyncProperty(starts, splits, async (start, points) => {
    if (!whole.has(start)) whole.set(start, await play(start, [MINUTES]));
    expect(await play(start, between(points))).toEqual(whole.get(start));
  });
  await fc.assert(property, { numRuns: inputs(5), examples: [["2026-01-05T12:00:00Z", [9 * 60, 21 * 60]]] });
});
