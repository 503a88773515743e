// Time-driven changes: 30 days in several advances change the same records as one advance, and 500 changes fall due
// while requests are served.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { LifeChange } from "../../src/contracts/life.ts";
import { createSandbox } from "../../src/sandbox/create.ts";
import { inputs } from "../support/fuzzing.ts";
import { folder } from "../support/program.ts";
import { type Bench, call, NOON, share } from "../support/sandbox.ts";

const MINUTES = 30 * 24 * 60;
const MERCHANTS = ["mer_lodge", "mer_market", "mer_stage", "mer_blank"];
const TIMED = [
  "payout",
  "payout_method",
  "payroll",
  "remittance",
  "membership_renewal",
  "booking",
  "sync_log",
  "marketplace_order",
];

/** Advances the clock by each number of minutes. Returns the changes of all advances, and the records afterwards. */
async function advanceBy(clock: string, pieces: readonly number[]) {
  const bench = await share({ clock });
  for (const merchant of MERCHANTS) {
    await bench.control("POST", "/records/sync_log", { merchant });
    await bench.control("POST", "/records/payout", {
      merchant,
      status: "pending",
      amount: 100,
      arrivalDate: "2026-03-30",
    });
  }
  const happened: LifeChange[] = [];
  for (const minutes of pieces)
    happened.push(...(await bench.control("POST", "/clock/advance", { by: `${minutes}m` })).happened);
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

/** The minutes between these points of the 30 days. */
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
    if (!whole.has(start)) whole.set(start, await advanceBy(start, [MINUTES]));
    expect(await advanceBy(start, between(points))).toEqual(whole.get(start));
  });
  await fc.assert(property, { numRuns: inputs(3), examples: [["2026-01-05T12:00:00Z", [9 * 60, 21 * 60]]] });
});

/** The number of due records. An advance changes them in five transactions. */
const RECORDS = 500;
const START = Date.parse(NOON) / 1000;

/** A folder with one merchant and a synchronization started at each of these times. Each ends after two minutes. */
function fixturesWith(startedAt: readonly number[]): string {
  const fixtures = folder();
  const log = { status: "running", integration: "ledger", entity: "payments", direction: "outbound" };
  const records = { sync_log: startedAt.map((time, index) => ({ ...log, id: `syl_${index}`, startedAt: time })) };
  const merchant = { id: "mer_shop", name: "Shop", email: "a@b.example", apiKey: "sk_test_shop" };
  writeFileSync(join(fixtures, "shop.json"), JSON.stringify({ merchant, records }));
  return fixtures;
}

test("one advance changes 500 due records in order, while requests are served", async () => {
  // Half of the records are due at the same moment, the others one after another.
  const fixtures = fixturesWith(
    Array.from({ length: RECORDS }, (_, index) => (index % 2 === 0 ? START : START + index)),
  );
  await using sandbox = await createSandbox({ fixtures, memory: false, db: join(folder(), "life.db"), clock: NOON });
  let isOver = false;
  const advance = sandbox.clock.advance({ by: "1d" }).finally(() => {
    isOver = true;
  });
  let served = 0;
  while (!isOver) {
    expect((await call(sandbox.url, "GET", "/v1/integrations/sync-logs?limit=1", { key: "sk_test_shop" })).status).toBe(
      200,
    );
    served++;
  }
  expect(served).toBeGreaterThan(1);
  const { happened, omitted } = await advance;
  expect(omitted + happened.length).toBe(RECORDS);
  const times = happened.map(({ at }) => at);
  expect(times).toEqual(times.toSorted());
  // Records that are due at the same time change in the order in which they were created.
  const ties = happened.filter(({ at }) => at === "2026-01-05T12:02:00.000Z").map(({ id }) => Number(id.slice(4)));
  expect(ties.length).toBeGreaterThanOrEqual(RECORDS / 2);
  expect(ties).toEqual(ties.toSorted((one, other) => one - other));
  const { data } = await sandbox.records.list({ kind: "sync_log", merchant: "mer_shop", status: "running", limit: 1 });
  expect(data).toEqual([]);
});

test("a record that falls due before the first call is changed when a list is read", async () => {
  const startedAt = Math.floor(Date.now() / 1000) - 119;
  await using sandbox = await createSandbox({ fixtures: fixturesWith([startedAt]) });
  // Waits until a second after the record is due, in real time. A call before that would create the engine.
  await setTimeout((startedAt + 120) * 1_000 - Date.now() + 1_000);
  const list = async () =>
    (await call(sandbox.url, "GET", "/v1/integrations/sync-logs", { key: "sk_test_shop" })).body.data;
  // On a busy machine, the change may come late.
  await expect.poll(list).toMatchObject([{ id: "syl_0", status: "succeeded" }]);
});
