// Time-driven changes of many records: 2,000 due in one advance, while requests are served.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { createSandbox } from "../../src/sandbox/create.ts";
import { folder } from "../support/program.ts";
import { call, NOON } from "../support/sandbox.ts";

const RECORDS = 2_000;
const START = Date.parse(NOON) / 1000;

/** A folder with one merchant and these synchronizations, each of which ends after two minutes. */
function fixturesWith(startedAt: readonly number[]): string {
  const fixtures = folder();
  const log = { status: "running", integration: "ledger", entity: "payments", direction: "outbound" };
  const records = { sync_log: startedAt.map((time, index) => ({ ...log, id: `syl_${index}`, startedAt: time })) };
  const merchant = { id: "mer_shop", name: "Shop", email: "a@b.example", apiKey: "sk_test_shop" };
  writeFileSync(join(fixtures, "shop.json"), JSON.stringify({ merchant, records }));
  return fixtures;
}

test("changes 2,000 due records in one advance, in order", async () => {
  // Half are due at the same moment, the others one after another.
  const fixtures = fixturesWith(Array.from({ length: RECORDS }, (_, index) => (index % 2 === 0 ? START : START + index)));
  await using sandbox = await createSandbox({ fixtures, memory: false, db: join(folder(), "life.db"), clock: NOON });
  let isOver = false;
  const advance = sandbox.clock.advance({ by: "1d" }).finally(() => {
    isOver = true;
  });
  let served = 0;
  while (!isOver) {
    expect((await call(sandbox.url, "GET", "/v1/integrations/sync-logs?limit=1", { key: "sk_test_shop" })).status).toBe(200);
    served++;
  }
  expect(served).toBeGreaterThan(1);
  const { happened, omitted } = await advance;
  expect(omitted + happened.length).toBe(RECORDS);
  const times = happened.map(({ at }) => at);
  expect(times).toEqual(times.toSorted());
  // Ties are played in the order in which the records were made.
  const ties = happened.filter(({ at }) => at === "2026-01-05T12:02:00.000Z").map(({ id }) => Number(id.slice(4)));
  expect(ties.length).toBeGreaterThanOrEqual(RECORDS / 2);
  expect(ties).toEqual(ties.toSorted((one, other) => one - other));
  const { data } = await sandbox.records.list({ kind: "sync_log", merchant: "mer_shop", status: "running", limit: 1 });
  expect(data).toEqual([]);
});

test("a record changes on its date before the first call", async () => {
  const startedAt = Math.floor(Date.now() / 1000) - 119;
  await using sandbox = await createSandbox({ fixtures: fixturesWith([startedAt]) });
  // A second after the record falls due, in real time. A call before that would make the engine.
  await setTimeout((startedAt + 120) * 1_000 - Date.now() + 1_000);
  const list = async () => (await call(sandbox.url, "GET", "/v1/integrations/sync-logs", { key: "sk_test_shop" })).body.data;
  // A busy machine plays it after it is due.
  await expect.poll(list).toMatchObject([{ id: "syl_0", status: "succeeded" }]);
});
