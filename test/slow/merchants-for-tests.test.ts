// Creates and removes merchants for tests during other traffic. All records stay consistent, and no row of a removed
// merchant remains.

import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { folder } from "../support/program.ts";
import { type Bench, open, RULES } from "../support/sandbox.ts";
import { receive, register } from "../support/webhooks.ts";
import { violations } from "../support/world-file.ts";

/** `npm run world` sets WORLD_STEPS; the test then creates 1,000 merchants. */
const MERCHANTS = process.env.WORLD_STEPS === undefined ? 100 : 1_000;
const WORKERS = 8;
const FIXTURES = ["lodge", "market", "stage", "blank"];

/**
 * Acts as one test of a suite: creates a merchant with an endpoint, makes some calls, and removes the merchant. Keeps
 * every fiftieth merchant, and returns its id.
 */
async function runTest(bench: Bench, hooks: string, number: number): Promise<string | undefined> {
  const fixture = FIXTURES[number % FIXTURES.length] as string;
  const { id: merchant, apiKey: key } = await bench.merchants.add({ fixture, name: `test ${number}` });
  await register(bench, hooks, ["*"], key);
  const made = await bench.call("POST", RULES, {
    key,
    body: { name: "Summer", adjustmentType: "fixed", adjustmentValue: number },
  });
  const { body: list } = await bench.call("GET", "/v1/payments?limit=100", { key });
  const foreign = list.data.filter(({ merchantId }: { merchantId: string }) => merchantId !== merchant);
  expect([made.status, made.body.merchantId, foreign]).toEqual([200, merchant, []]);
  if (number % 50 === 0) return merchant;
  await bench.merchants.remove({ id: merchant });
  return undefined;
}

test("many merchants are created and removed during other traffic, and leave only consistent records", async () => {
  const db = join(folder(), "data.db");
  const bench = await open({ memory: false, db });
  const receiver = await receive();
  const kept: string[] = [];
  let next = 0;
  const work = async () => {
    while (next < MERCHANTS) {
      const merchant = await runTest(bench, receiver.url, next++);
      if (merchant !== undefined) kept.push(merchant);
    }
  };
  const beside = async () => {
    while (next < MERCHANTS) {
      await bench.call("POST", RULES, { body: { name: "Beside", adjustmentType: "fixed", adjustmentValue: next } });
      await bench.call("GET", "/v1/payouts");
    }
  };
  await Promise.all([beside(), ...Array.from({ length: WORKERS }, work)]);
  expect(await violations(bench)).toEqual([]);
  const seeded = ["mer_blank", "mer_lodge", "mer_market", "mer_stage"];
  const { file } = await bench.snapshots.save({ name: "end" });
  const sql = new Sqlite(file, { readonly: true });
  for (const table of ["documents", "uniques", "counters", "keys", "logins", "subscriptions", "seeded_merchants"]) {
    const owners = sql
      .prepare<[], string>(`select distinct merchant from ${table} where merchant <> 'sandbox'`)
      .pluck();
    const strangers = owners.all().filter((owner) => ![...seeded, ...kept].includes(owner));
    expect([table, strangers]).toEqual([table, []]);
  }
  expect(sql.pragma("integrity_check", { simple: true })).toBe("ok");
  expect(sql.prepare("select count(*) from deliveries where state in ('pending', 'sending')").pluck().get()).toBe(0);
  sql.close();
  expect(kept).toHaveLength(MERCHANTS / 50);
});
