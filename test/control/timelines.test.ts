// The timeline of a record: every request, event, delivery and change of the record, and which record an id means.

import { expect, test } from "vitest";
import { type Bench, DECLINE, open } from "../support/sandbox.ts";
import { openRegistered, settle } from "../support/webhooks.ts";

const lines = async (bench: Bench, id: string) => {
  const { steps } = await bench.timelines.get({ id, limit: 100 });
  return steps.map(({ kind, text, result }) => [kind, text.replace(/ to http.*/, ""), result].join(": "));
};

test("a timeline has requests, events and deliveries, newest first, even if all have the same time", async () => {
  const { bench, receiver } = await openRegistered();
  receiver.always({ status: 500, body: "database is down" });
  await bench.call("POST", DECLINE, { body: {} });
  await settle(bench);
  await bench.call("POST", DECLINE, { body: {} });
  await bench.call("GET", "/v1/payments");
  await bench.control("PATCH", "/records/booking/bkg_pending", { merchant: "mer_lodge", guests: 1 });
  await bench.control("POST", "/clock/advance", { by: "1s" });
  await settle(bench);
  expect(await lines(bench, "bkg_pending")).toEqual([
    "delivery: attempt 2 of 6: 500 database is down",
    "delivery: attempt 2 of 6: 500 database is down",
    "delivery: attempt 1 of 6: 500 database is down",
    "event: booking.updated: 1 pending",
    expect.stringMatching(/^request: POST .*decline: 409 invalid_state: Booking bkg_pending is already declined/),
    "delivery: attempt 1 of 6: 500 database is down",
    "event: booking.declined: 1 pending",
    `request: POST ${DECLINE}: 200 bkg_pending declined`,
  ]);
  const { record, merchant, references } = await bench.timelines.get({ id: "bkg_pending" });
  expect([record?.status, merchant, references]).toEqual(["declined", "mer_lodge", { customerId: "cus_zoe" }]);
});

test("a timeline names a replay, which is a delivery of its own with one attempt", async () => {
  const { bench } = await openRegistered();
  await bench.call("POST", DECLINE, { body: {} });
  await settle(bench);
  const [{ id }] = (await bench.control("GET", "/deliveries")).data;
  await bench.control("POST", `/deliveries/${id}/replay`, {});
  await settle(bench);
  const deliveries = (await lines(bench, "bkg_pending")).filter((line) => line.startsWith("delivery: "));
  expect(deliveries).toEqual(["delivery: replay: 200", "delivery: attempt 1 of 6: 200"]);
});

test("a timeline names the changes that the clock made, and the next change", async () => {
  const bench = await open();
  const { next } = await bench.timelines.get({ id: "po_pending" });
  expect(next?.status).toBe("in_transit");
  const { happened } = await bench.control("POST", "/clock/advance", { by: "240h" });
  const own = happened.filter((change: { id: string }) => change.id === "po_pending");
  expect(own.map(({ to }: { to: string }) => to)).toEqual(["in_transit", "paid"]);
  const { steps, next: last } = await bench.timelines.get({ id: "po_pending" });
  expect(steps.map(({ kind, text, at }) => [kind, text, at])).toEqual(
    own.toReversed().map(({ event, at }: { event: string; at: string }) => ["clock", event, at]),
  );
  expect(last).toBeNull();
  expect((await bench.events.get({ id: steps[0]?.id ?? "" })).cause).toBe("clock");
});

test("a timeline leaves out longer ids that begin with the record's id, and lists with the record", async () => {
  const bench = await open();
  for (const path of ["cus_ines", "cus_ines2", "cus_ines-3"]) await bench.call("GET", `/v1/customers/${path}`);
  await bench.call("GET", "/v1/payments?customer=cus_ines");
  expect(await lines(bench, "cus_ines")).toEqual([
    expect.stringMatching(/^request: GET \/v1\/payments\?customer=cus_ines: /),
    expect.stringMatching(/^request: GET \/v1\/customers\/cus_ines: 200/),
  ]);
});

test("for an id of several merchants, the timeline is the first merchant's unless a merchant is named", async () => {
  const bench = await open();
  const minted = await bench.control("POST", "/merchants", { fixture: "lodge" });
  await bench.call("GET", "/v1/customers/cus_ines", { key: minted.apiKey });
  const first = await bench.timelines.get({ id: "cus_ines" });
  expect([first.merchant, first.others, first.steps]).toEqual(["mer_lodge", [minted.id], []]);
  const other = await bench.timelines.get({ id: "cus_ines", merchant: minted.id });
  expect([other.merchant, other.others, other.steps.length]).toEqual([minted.id, ["mer_lodge"], 1]);
});

test("the timeline of a record that a reset removed is rejected with the reason", async () => {
  const bench = await open();
  const { id } = await bench.control("POST", "/records/payment", { merchant: "mer_lodge" });
  expect((await bench.timelines.get({ id })).steps.map(({ kind }) => kind)).toContain("event");
  await bench.control("POST", "/reset", {});
  await expect(bench.timelines.get({ id })).rejects.toThrow(
    `No merchant has a record ${id}, and no request or event in the logs names it. A reset removes records`,
  );
});

test("a timeline of many requests has as many steps as the limit, and says that there are more", async () => {
  const bench = await open();
  for (let number = 0; number < 30; number++) await bench.call("GET", "/v1/customers/cus_ines");
  const { steps, has_more: hasMore } = await bench.timelines.get({ id: "cus_ines", limit: 20 });
  const { data } = await bench.requests.list({ limit: 20 });
  expect([steps.map(({ id }) => id), hasMore]).toEqual([data.map(({ id }) => id), true]);
  expect((await bench.timelines.get({ id: "cus_ines", limit: 30 })).has_more).toBe(false);
});
