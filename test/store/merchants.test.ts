// Merchants: the counts of their records and failed deliveries, and the message about an unknown merchant.

import { expect, test } from "vitest";
import type { RunReport } from "../../generated/control-api.ts";
import { unknownMerchant } from "../../src/store/records/tenants.ts";
import { open, RULES, rule } from "../support/sandbox.ts";
import { advance, receive, register, settle, trigger } from "../support/webhooks.ts";

test("a delivery whose last attempt failed counts as failed until its own event is replayed", async () => {
  const bench = await open();
  const failed = async () => (await bench.control("GET", "")).failedDeliveries;
  const receiver = await receive();
  receiver.always({ status: 500 });
  await register(bench, receiver.url);
  const event = await trigger(bench);
  await trigger(bench);
  await settle(bench);
  expect(await failed()).toBe(0);
  await advance(bench, "1h");
  expect(await failed()).toBe(2);
  receiver.always({ status: 200 });
  await bench.control("POST", `/events/${event}/replay`);
  await settle(bench);
  expect(await failed()).toBe(1);
});

test("a removed merchant has no failed deliveries, but the coverage still has its calls and events", async () => {
  const bench = await open({ life: "off" });
  const receiver = await receive();
  receiver.always({ status: 500 });
  const { id: merchant, apiKey: key } = await bench.merchants.add({});
  await register(bench, receiver.url, ["*"], key);
  await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { key, body: {} });
  await advance(bench, "24h");
  expect((await bench.overview()).failedDeliveries).toBe(1);
  await bench.merchants.remove({ id: merchant });
  const { made, kept, failedDeliveries } = await bench.overview();
  expect([failedDeliveries, made.requests, made.attempts, kept.attempts]).toEqual([0, 2, kept.attempts, 6]);
  const { data, events } = await bench.operations();
  expect(data.find(({ id }) => id === "bookings.decline")?.calls).toBe(1);
  expect(events.find(({ type }) => type === "booking.declined")).toMatchObject({ emitted: 1, delivered: 0 });
});

test("a merchant that is removed and added again starts without counts; old failures are shown as erased", async () => {
  const bench = await open();
  const own = { name: "test" };
  let id = "";
  for (let round = 0; round < 2; round++) {
    const { id: merchant, apiKey: key } = await bench.merchants.add(own);
    await bench.faults.add({
      match: { operation: "pricing_rules.create", merchant },
      action: { type: "lost_response" },
    });
    await bench.call("POST", RULES, { key, body: rule }).catch(() => {});
    await bench.call("POST", RULES, { key, body: rule });
    await bench.merchants.remove({ id: merchant });
    id = merchant;
  }
  const report = async () => (await bench.report({ format: "json" })) as RunReport;
  const { totals, verdicts, requests } = await report();
  const { made, kept } = await bench.overview();
  const failed = verdicts.filter(({ verdict }) => verdict === "fail");
  expect(failed.length).toBeGreaterThan(0);
  expect(totals.verdicts).toMatchObject({ fail: failed.length, pass: verdicts.length - failed.length });
  expect([requests.length, made.requests, kept.requests]).toEqual([2, 2, 2]);

  await bench.merchants.add(own);
  const after = await report();
  expect([after.totals.verdicts, after.verdicts]).toEqual([{ pass: 0, fail: 0, inconclusive: 0 }, []]);
  expect((await bench.overview()).made).toMatchObject({ requests: 0, verdicts: { pass: 0, fail: 0, failures: {} } });
  const erased = await bench.verdicts.list({ erased: "1" });
  expect(erased.data).toHaveLength(2 * failed.length);
  for (const { message } of erased.data) expect(message).toMatch(new RegExp(`^Before ${id} was created again: `));
});

test("a merchant's count of records does not contain other merchants' records", async () => {
  const bench = await open();
  const counts = async () =>
    Object.fromEntries((await bench.control("GET", "/merchants")).data.map((one: Counted) => [one.id, one.records]));
  const before = await counts();
  await bench.control("POST", "/records/customer", { merchant: "mer_blank" });
  expect(await counts()).toEqual({ ...before, mer_blank: before.mer_blank + 1 });
});

interface Counted {
  id: string;
  records: number;
}

test.each([
  ["lodg", ["mer_lodge", "mer_market"], "There is no merchant lodg. Did you mean mer_lodge?"],
  ["mer_markt", ["mer_lodge", "mer_market"], "There is no merchant mer_markt. Did you mean mer_market?"],
  ["somewhere", ["mer_lodge", "mer_market"], "There is no merchant somewhere. There are mer_lodge, mer_market."],
  ["lodge", [], "There is no merchant lodge. This sandbox has none."],
])("the message about the unknown merchant %s suggests or lists merchants of %j", (wanted, known, says) => {
  expect(unknownMerchant(wanted, known)).toBe(says);
});

test("the message about an unknown merchant lists ten of many merchants, and counts the others", () => {
  const known = Array.from({ length: 12 }, (_, index) => `mer_${index}`);
  expect(unknownMerchant("somewhere", known)).toMatch(/ There are mer_0, .*mer_9 and 2 more\.$/);
});
