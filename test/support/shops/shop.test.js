// The tests of the shop under Vitest. With MERCHANT "own", each test has its own merchant from the Vitest fixture;
// otherwise all tests use the merchant of `exec`.

import { readFileSync } from "node:fs";
import { connect } from "merchant-sandbox";
import { test as ofSandbox } from "merchant-sandbox/vitest";
import { test as base, expect } from "vitest";
import { createClient, openReceiver } from "./shop.js";

const { MERCHANT, FAULTS, MERCHANT_BASE_URL: baseUrl, MERCHANT_API_KEY: apiKey, MERCHANT_SANDBOX_URL } = process.env;
const { faults } = JSON.parse(readFileSync("faults.json", "utf8"));

const own = ofSandbox.extend({
  shop: async ({ merchant }, use) => {
    if (FAULTS) for (const rule of faults) await merchant.faults.add(rule);
    await use({ client: createClient(merchant), trigger: merchant.trigger });
  },
});

const shared = base.extend({
  sandbox: connect(MERCHANT_SANDBOX_URL),
  shop: async ({ sandbox }, use) =>
    use({ client: createClient({ baseUrl, apiKey }), trigger: (type) => sandbox.events.trigger({ type }) }),
});

const test = MERCHANT === "own" ? own : shared;

test("lists payments", async ({ shop }) => {
  expect((await shop.client.get("/payments?limit=3")).data).toHaveLength(3);
});

test("creates a rule", async ({ shop }) => {
  const rule = { name: "Harvest", adjustmentType: "percentage", adjustmentValue: 1_500 };
  expect((await shop.client.post("/hospitality/pricing-rules", rule)).name).toContain("Harvest");
});

test("survives an outage", async ({ shop }) => {
  await shop.client.get("/payouts").catch(() => {});
});

test("receives a webhook", async ({ shop, sandbox }) => {
  const receiver = await openReceiver();
  const { secret } = await shop.client.post("/webhooks", { url: receiver.url, events: ["payment.succeeded"] });
  receiver.trust(secret);
  await shop.trigger("payment.succeeded");
  expect((await sandbox.drain()).settled).toBe(true);
  receiver.close();
});
