// The counts that the control API shows: failed deliveries, and the records of a merchant.

import { expect, test } from "vitest";
import { open } from "../support/sandbox.ts";
import { advance, receive, register, settle, trigger } from "../support/webhooks.ts";

test("a delivery that failed for good counts, until the event is replayed; the delivery of another event still counts", async () => {
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

test("the records of a merchant are counted, without those of the others", async () => {
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
