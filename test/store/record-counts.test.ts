// The record counts of GET /_sandbox/merchants: kept from the first listing on, and equal to a count of the file after every kind of change.

import { join } from "node:path";
import { expect, test } from "vitest";
import { look } from "../support/counted-writes.ts";
import { ORDER } from "../support/insist.ts";
import { folder } from "../support/program.ts";
import { open } from "../support/sandbox.ts";

const RULES = "/v1/hospitality/pricing-rules";
const VARIANT = { sku: "counted", options: { lot: "counted" }, price: 100 };

test("the counts of records follow every change, and a change that is rolled back does not count", async () => {
  const db = join(folder(), "counts.db");
  const bench = await open({ memory: false, db });
  const expectCounts = async () => {
    const { data } = (await bench.control("GET", "/merchants")) as { data: { id: string; records: number }[] };
    const stored = look(db, (rows) =>
      rows<{ merchant: string; records: number }>("select merchant, count(*) as records from documents group by 1"),
    );
    const listed = data.map(({ id, records }) => ({ merchant: id, records }));
    const byMerchant = (one: { merchant: string }, other: { merchant: string }) => one.merchant.localeCompare(other.merchant);
    expect(listed.sort(byMerchant)).toEqual(stored.sort(byMerchant));
    return data.reduce((sum, { records }) => sum + records, 0);
  };
  const seeded = await expectCounts();
  await bench.control("PUT", "/snapshots/seeded");
  const { body: endpoint } = await bench.call("POST", "/v1/webhooks", { body: { url: "http://localhost:3000/hooks", events: ["*"] } });
  await bench.call("POST", RULES, { body: ORDER });
  expect(await expectCounts()).toBe(seeded + 2);
  expect((await bench.call("DELETE", `/v1/webhooks/${endpoint.id}`)).status).toBe(200);
  expect(await expectCounts()).toBe(seeded + 1);

  // Concurrent calls share a transaction. Those that are rejected for their equal SKU are rolled back, and the others are carried out again.
  const variant = () => bench.call("POST", "/v1/retail/products/prod_honey/variants", { body: VARIANT });
  const answers = await Promise.all([variant(), variant(), variant(), bench.call("POST", RULES, { body: ORDER })]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 409, 409]);
  expect(await expectCounts()).toBe(seeded + 3);
  const { merchant } = await bench.control("POST", "/merchants", {});
  expect(await expectCounts()).toBeGreaterThan(seeded + 3);
  await bench.control("DELETE", `/merchants/${merchant}`);
  await expectCounts();
  await bench.control("POST", "/snapshots/seeded/restore");
  expect(await expectCounts()).toBe(seeded);
  await bench.call("POST", RULES, { body: ORDER });
  await bench.control("POST", "/reset");
  expect(await expectCounts()).toBe(seeded);
});
