// Tests the shop against the sandbox. Each test has its own merchant.

import { test as base, expect } from "merchant-sandbox/vitest";
import { openShop } from "../src/shop.ts";

const test = base.extend<{ shop: Awaited<ReturnType<typeof openShop>> }>({
  shop: async ({ merchant }, use) => {
    const shop = await openShop(merchant);
    await use(shop);
    await shop.close();
  },
});

test("the turnover includes all pages, also after a 429", async ({ shop, merchant }) => {
  await merchant.faults.add({
    match: { operation: "payments.list" },
    action: { type: "rate_limit", retryAfter: "zero" },
  });
  expect(await shop.turnover()).toBeGreaterThan(0);
  await expect(merchant).toHaveRequested({ operation: "payments.list", status: 429 }, { times: 1 });
  await expect(merchant).toHaveRequested({ operation: "payments.list", status: 200 }, { times: 2 });
});

test("prices are raised once, although a response is lost", async ({ shop, merchant }) => {
  await merchant.faults.add({
    match: { operation: "pricing_rules.create" },
    action: { type: "lost_response", as: "reset" },
  });
  await shop.raisePrices("Late summer", 1_500);
  const { verdict, results } = await merchant.verify([
    { records: { kind: "pricing_rule", where: { "/name": "Late summer" }, count: { exactly: 1 } } },
    { verdicts: { rules: ["idempotency.*", "effect.single"], pass: { atLeast: 1 } } },
  ]);
  expect(verdict, JSON.stringify(results)).toBe("pass");
});

test("the shop receives the event of a declined booking", async ({ shop, merchant }) => {
  await shop.decline("bkg_pending", "No room");
  await expect(merchant).toHaveDelivered({ event: "booking.declined" }, { times: 1, final: "succeeded" });
  expect(shop.declined).toEqual(["bkg_pending"]);
});

test("the shop rejects a forged event, and accepts the genuine one", async ({ shop, merchant, sandbox }) => {
  await merchant.faults.add({
    match: { event: "booking.declined" },
    action: { type: "signature", as: "wrong_secret" },
  });
  await shop.decline("bkg_pending", "No room");
  await sandbox.drain();
  expect(shop.declined).toEqual([]);
  await sandbox.clock.advance({ by: "1m" });
  await expect(merchant).toHaveDelivered(
    { event: "booking.declined" },
    { attempts: { exactly: 2 }, final: "succeeded" },
  );
  expect(shop.declined).toEqual(["bkg_pending"]);
});

test("each test has its own merchant", async ({ merchant, sandbox }) => {
  expect(await merchant.requests()).toEqual([]);
  await expect(merchant).not.toHaveRequested({ operation: "*" });
  expect((await sandbox.merchants.list()).data.map(({ id }) => id)).toContain(merchant.id);
});
