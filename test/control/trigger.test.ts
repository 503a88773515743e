// Triggered events: each makes the record that it is about, for a merchant with records and for one without.

import { describe, expect, test } from "vitest";
import { eventSources } from "../../src/areas/event-sources.ts";
import { eventTypes } from "../../src/areas/index.ts";
import { type Bench, open, shareForBlock } from "../support/sandbox.ts";

const trigger = (bench: Bench, body: object) => bench.control("POST", "/events", body);

test("every event type has a source", () => {
  expect([...eventSources().keys()].sort()).toEqual([...eventTypes].sort());
});

describe.each(["mer_lodge", "mer_blank"])("for %s", (merchant) => {
  const sandbox = shareForBlock();

  test.each([...eventTypes])("%s is about a record that exists", async (type) => {
    const bench = sandbox();
    const first = await trigger(bench, { type, merchant });
    const { body, record, warnings } = first;
    expect([first.type, first.merchant, first.request, warnings]).toEqual([type, merchant, null, []]);
    expect([body.type, body.data.object, body.data.id]).toEqual([type, record.kind, record.id]);
    // A new merchant owns its own record. A payroll item has no record of its own: it is part of its run.
    const owner = record.kind === "merchant" ? record.id : merchant;
    if (record.kind !== "payroll_item")
      expect(await bench.control("GET", `/records/${record.kind}/${record.id}?merchant=${owner}`)).toMatchObject({
        id: record.id,
      });
    expect((await trigger(bench, { type, merchant })).id).not.toBe(first.id);
  });
});

test("the given data become fields of the record", async () => {
  const bench = await open();
  const { body } = await trigger(bench, { type: "payment.succeeded", data: { amount: 1_250, customerId: "cus_ines" } });
  expect(body.data).toMatchObject({ amount: 1_250, customerId: "cus_ines", status: "succeeded" });
  const part = await trigger(bench, { type: "gov_payment.posted", data: { amount: 900 } });
  expect(part.body.data).toMatchObject({ amount: 900, bookkeeping: { status: "posted" } });
  const created = await trigger(bench, { type: "merchant.created", data: { name: "Casa Nova" } });
  expect(created.body.data).toMatchObject({ name: "Casa Nova" });
});

test("the record passes through the earlier states, and their events are sent", async () => {
  const bench = await open();
  const { record } = await trigger(bench, { type: "payment.refunded" });
  const { data } = await bench.control("GET", "/events?limit=3");
  expect(data.map(({ type, body }: { type: string; body: { data: object } }) => [type, body.data])).toEqual([
    ["payment.refunded", expect.objectContaining({ id: record.id, status: "refunded" })],
    ["payment.succeeded", expect.objectContaining({ id: record.id, status: "succeeded" })],
    ["payment.pending", expect.objectContaining({ id: record.id, status: "pending" })],
  ]);
});

test("a synthetic event changes no record", async () => {
  const bench = await open();
  const { record, warnings, body } = await trigger(bench, {
    type: "payment.succeeded",
    synthetic: true,
    data: { any: "thing" },
  });
  expect([record, warnings, body.data]).toEqual([null, [], { any: "thing" }]);
  expect((await bench.control("GET", "/records/payment?limit=1")).data).toMatchObject([{ id: "pay_pending" }]);
});

test("an unknown type is sent as a synthetic event, with a warning that suggests the closest type", async () => {
  const bench = await open();
  const { type, record, warnings } = await trigger(bench, { type: "paymet.succeeded" });
  expect([type, record]).toEqual(["paymet.succeeded", null]);
  expect(warnings).toEqual([
    "The sandbox never sends paymet.succeeded. Did you mean payment.succeeded? It was sent as a synthetic event.",
  ]);
});

test.each([
  [{ type: "payment.succeeded", data: { amuont: 5 } }, 400, "Did you mean amount?"],
  [{ type: "payment.succeeded", data: { amount: "5" } }, 400, "amount must be an integer"],
  [{ type: "merchant.created", data: { name: 5 } }, 400, "name must be"],
  [{ type: "payroll_item.overridden", data: { items: [] } }, 400, "needs at least one item"],
  [{ type: "payment.succeeded", merchant: "mer_lodg" }, 404, "Did you mean mer_lodge?"],
  [{ type: "Payment Succeeded" }, 400, "type must"],
  [{}, 400, "type is required"],
])("%j is rejected with %i, and emits no event", async (body, status, words) => {
  const bench = await open();
  const answer = await bench.call("POST", "/_sandbox/events", { key: null, body });
  expect([answer.status, answer.body.message]).toEqual([status, expect.stringContaining(words)]);
  expect((await bench.control("GET", "/events")).data).toEqual([]);
});
