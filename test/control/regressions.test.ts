// Regression tests, each a minimal case of a defect that the model test or random changes of the seeded data found.

import { expect, test } from "vitest";
import { type Answer, type Bench, open } from "../support/sandbox.ts";

test("a fault rule without a delay fires even after the clock was set back", async () => {
  const bench = await open();
  await bench.control("POST", "/faults", { action: { type: "rate_limit" } });
  await bench.control("PUT", "/clock", { mode: "frozen", now: "2026-01-04T12:00:00Z" });
  expect((await bench.call("GET", "/v1/payments")).body.code).toBe("injected_rate_limit");
});

test("an expired fault rule fires again once the clock is set back before its end, and the list shows it", async () => {
  const bench = await open();
  await bench.control("POST", "/faults", { action: { type: "rate_limit" }, trigger: { for: "5s" } });
  await bench.control("POST", "/clock/advance", { by: "10m" });
  expect((await bench.call("GET", "/v1/payments")).status).toBe(200);
  await bench.control("PUT", "/clock", { mode: "frozen", now: "2026-01-04T12:00:00Z" });
  expect((await bench.control("GET", "/faults")).data).toMatchObject([{ status: "armed" }]);
  expect((await bench.call("GET", "/v1/payments")).body.code).toBe("injected_rate_limit");
});

test("a merchant that was reset can create another merchant, and the merchant created before remains", async () => {
  const bench = await open();
  const create = (email: string) => bench.call("POST", "/v1/merchants", { body: { name: "Café", email } });
  const one = await create("one@cafe.example");
  await bench.control("POST", "/reset", { merchant: "mer_lodge" });
  const other = await create("other@cafe.example");
  expect([one.status, other.status]).toEqual([200, 200]);
  expect(other.body.id).not.toBe(one.body.id);
  expect((await bench.call("GET", "/v1/merchants/me", { key: one.body.apiKey })).body.email).toBe("one@cafe.example");
});

const make = (bench: Bench, kind: string, fields: object) =>
  bench.call("POST", `/_sandbox/records/${kind}`, { key: null, body: { merchant: "mer_market", ...fields } });
const change = (bench: Bench, kind: string, id: string, fields: object) =>
  bench.call("PATCH", `/_sandbox/records/${kind}/${id}`, { key: null, body: { merchant: "mer_market", ...fields } });

const expectProblem = ({ status, body }: Answer, field: string, code: string) =>
  expect([status, body.details.errors]).toMatchObject([400, [{ field, code }]]);

const item = (fields: object) => ({
  productId: null,
  variantId: null,
  sku: null,
  name: "Tea",
  quantity: 1,
  unitAmount: 100,
  ...fields,
});

test("canceling an order cannot set acceptedAt, because it would return stock that the order never took", async () => {
  const bench = await open();
  const items = [item({ productId: "prod_chai", variantId: "var_chai_250", quantity: 2 })];
  const { body: pending } = await make(bench, "marketplace_order", { items });
  const cancelled = await change(bench, "marketplace_order", pending.id, {
    status: "canceled",
    acceptedAt: pending.created,
  });
  expectProblem(cancelled, "acceptedAt", "out_of_order");
});

test("the variant of an order's item must belong to the item's product", async () => {
  const bench = await open();
  const items = [item({ productId: "prod_kiondo", variantId: "var_chai_250" })];
  expectProblem(await make(bench, "marketplace_order", { items }), "items.0.variantId", "wrong_product");
});

test("a price beyond the exact integers is rejected", async () => {
  const bench = await open();
  const items = [item({ quantity: Number.MAX_SAFE_INTEGER, unitAmount: 2 })];
  expectProblem(await make(bench, "marketplace_order", { items, amount: 1 }), "items", "out_of_range");
  const stay = { checkIn: "2026-02-01", checkOut: "2026-02-05", nightlyRate: Number.MAX_SAFE_INTEGER };
  expectProblem(await make(bench, "booking", stay), "nightlyRate", "out_of_range");
});

test("an order cannot be cancelled if returning its items would raise a stock beyond the exact integers", async () => {
  const bench = await open();
  const items = [item({ productId: "prod_chai", variantId: "var_chai_250" })];
  const { body: order } = await make(bench, "marketplace_order", { items, status: "accepted" });
  await change(bench, "product_variant", "var_chai_250", { stockQuantity: Number.MAX_SAFE_INTEGER });
  const answer = await change(bench, "marketplace_order", order.id, { status: "canceled" });
  expect([answer.status, answer.body.code]).toEqual([409, "invalid_state"]);
});

test("a payment's payout and paid-out amount cannot be set, because they follow from the payouts", async () => {
  const bench = await open();
  for (const fields of [{ paidOutAmount: 0 }, { payoutId: null }]) {
    const answer = await change(bench, "payment", "pay_001", fields);
    expect([answer.status, answer.body.message]).toEqual([
      400,
      expect.stringMatching(/^(paidOutAmount|payoutId) cannot be set on a payment/),
    ]);
  }
});

test("a payout contains every payment in its currency not paid out yet, however old, and none in another", async () => {
  const bench = await open();
  const own = { merchant: "mer_blank", status: "succeeded", fee: 0 };
  const { body: old } = await make(bench, "payment", { ...own, amount: 100, currency: "CHF" });
  for (let count = 0; count < 1_010; count++)
    await bench.records.make({ kind: "payment", merchant: "mer_blank", status: "failed" });
  const { body: foreign } = await make(bench, "payment", { ...own, amount: 900, currency: "USD" });
  const { body: wrong } = await make(bench, "payout", {
    merchant: "mer_blank",
    payments: [{ paymentId: foreign.id, amount: 900 }],
    currency: "CHF",
  });
  expect(wrong.message).toBe(`${foreign.id} is in USD; the payout is in CHF.`);
  const { body: home } = await make(bench, "payout", { merchant: "mer_blank" });
  expect(home).toMatchObject({ amount: 100, currency: "CHF", payments: [{ paymentId: old.id, amount: 100 }] });
  const { body: abroad } = await make(bench, "payout", { merchant: "mer_blank", currency: "USD" });
  expect(abroad).toMatchObject({ amount: 900, currency: "USD", payments: [{ paymentId: foreign.id, amount: 900 }] });
  for (const [kind, { id }] of [
    ["payout", abroad],
    ["payment", foreign],
  ] as const)
    expectProblem(await change(bench, kind, id, { merchant: "mer_blank", currency: "EUR" }), "currency", "fixed");
});

test("exactly one payout method is the default, even after another method was made the default", async () => {
  const bench = await open();
  const { body: second } = await make(bench, "payout_method", { isDefault: false });
  await change(bench, "payout_method", second.id, { isDefault: true });
  await change(bench, "payout_method", "pom_market", { isDefault: true });
  const { data } = await bench.control("GET", "/records/payout_method?merchant=mer_market");
  expect(data.map(({ id, isDefault }: { id: string; isDefault: boolean }) => [id, isDefault])).toEqual([
    [second.id, true],
    ["pom_market_new", false],
    ["pom_market", false],
  ]);
});

test("a payout stops before its sum exceeds the exact integers; the next payout has the other payments", async () => {
  const bench = await open();
  const most = Number.MAX_SAFE_INTEGER;
  const pay = (amount: number) =>
    make(bench, "payment", { merchant: "mer_blank", status: "succeeded", amount, fee: 0 });
  const [{ body: one }, { body: other }] = [await pay(most), await pay(most - 1)];
  for (const { id, amount } of [one, other])
    expect((await make(bench, "payout", { merchant: "mer_blank" })).body).toMatchObject({
      amount,
      payments: [{ paymentId: id, amount }],
    });
});

test("a payment that was paid out and refunded keeps the currency of its payouts", async () => {
  const bench = await open();
  const own = { merchant: "mer_blank", status: "succeeded", fee: 0 };
  const { body: refunded } = await make(bench, "payment", { ...own, amount: 1_000 });
  await make(bench, "payout", { merchant: "mer_blank" });
  await change(bench, "payment", refunded.id, { merchant: "mer_blank", status: "refunded" });
  await make(bench, "payment", { ...own, amount: 1_500 });
  expect((await make(bench, "payout", { merchant: "mer_blank" })).body.amount).toBe(500);
  expectProblem(
    await change(bench, "payment", refunded.id, { merchant: "mer_blank", currency: "USD" }),
    "currency",
    "fixed",
  );
});
