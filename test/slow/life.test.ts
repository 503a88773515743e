// Life on the clock with many records: 2,000 due in one advance, while requests are served.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { createSandbox } from "../../src/sandbox/create.ts";
import { folder } from "../support/program.ts";
import { call, NOON } from "../support/sandbox.ts";

const RECORDS = 2_000;

test.each([true, false])("changes 2,000 due records in one advance, in order (in memory: %s)", async (memory) => {
  await using sandbox = await createSandbox({ memory, db: join(folder(), "life.db"), clock: NOON });
  const start = Date.parse(NOON) / 1000;
  for (let first = 0; first < RECORDS; first += 500) {
    const batch = Array.from({ length: 500 }, (_, index) => first + index);
    // Half are due at the same moment, the others one after another.
    const startedAt = (index: number) => (index % 2 === 0 ? start : start + index);
    await Promise.all(
      batch.map((index) =>
        sandbox.records.create({ kind: "sync_log", merchant: "mer_blank", id: `syl_${index}`, startedAt: startedAt(index) }),
      ),
    );
  }
  let isOver = false;
  const advance = sandbox.clock.advance({ by: "1d" }).finally(() => {
    isOver = true;
  });
  let served = 0;
  while (!isOver) {
    expect((await call(sandbox.url, "GET", "/v1/integrations/sync-logs?limit=1", { key: "sk_test_blank" })).status).toBe(200);
    served++;
  }
  expect(served).toBeGreaterThan(1);
  const { happened, omitted } = await advance;
  expect(omitted + happened.length).toBeGreaterThanOrEqual(RECORDS);
  const own = happened.filter(({ merchant }) => merchant === "mer_blank");
  const times = own.map(({ at }) => at);
  expect(times).toEqual(times.toSorted());
  // Ties are played in the order in which the records were made.
  const ties = own.filter(({ at }) => at === "2026-01-05T12:02:00.000Z").map(({ id }) => Number(id.slice(4)));
  expect(ties.length).toBeGreaterThanOrEqual(RECORDS / 2);
  expect(ties).toEqual(ties.toSorted((one, other) => one - other));
  const { data } = await sandbox.records.list({ kind: "sync_log", merchant: "mer_blank", status: "running", limit: 1 });
  expect(data).toEqual([]);
});

test("a record changes on its date before the first call", async () => {
  const fixtures = folder();
  const startedAt = Math.floor(Date.now() / 1000) - 119;
  const log = { id: "syl_1", status: "running", integration: "ledger", entity: "payments", direction: "outbound", startedAt };
  const merchant = { id: "mer_shop", name: "Shop", email: "a@b.example", apiKey: "sk_test_shop" };
  writeFileSync(join(fixtures, "shop.json"), JSON.stringify({ merchant, records: { sync_log: [log] } }));
  await using sandbox = await createSandbox({ fixtures });
  // The record falls due within a second of real time. A call before that would make the engine.
  await setTimeout(2_000);
  const { body } = await call(sandbox.url, "GET", "/v1/integrations/sync-logs", { key: "sk_test_shop" });
  expect(body.data).toMatchObject([{ id: "syl_1", status: "succeeded" }]);
});
