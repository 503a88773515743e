// Test merchants, and the Vitest fixture and matchers for them, which the tests below use themselves.

import { afterAll, beforeAll, describe, expect as plain, vi } from "vitest";
import { ownMerchant } from "../../src/client/test-merchant.ts";
import { connect, type Expectation } from "../../src/index.ts";
import { createTest, expect, type SandboxFixtures, test } from "../../src/vitest.ts";
import { call } from "../support/sandbox.ts";
import { receive } from "../support/webhooks.ts";

const payments = (merchant: { baseUrl: string; apiKey: string }, query = "") =>
  fetch(`${merchant.baseUrl}/payments${query}`, { headers: { Authorization: `Bearer ${merchant.apiKey}` } });

const atNoon = createTest({ clock: "2026-01-05T12:00:00Z" });
const onlyMarket = createTest({ fixtures: "fixtures/merchants/market.json" });

describe("each test", () => {
  const seen: { merchant: string; url: string }[] = [];

  test("gets its own merchant", async ({ merchant, sandbox }) => {
    seen.push({ merchant: merchant.id, url: sandbox.url });
    plain(merchant.baseUrl).toBe(sandbox.baseUrl);
    plain((await payments(merchant)).status).toBe(200);
    plain(await merchant.requests()).toHaveLength(1);
    plain(await merchant.requests({ operation: "payouts.list" })).toEqual([]);
    plain(await merchant.events()).toEqual([]);
  });

  test("shares the sandbox of its file, and its merchant is deleted afterwards", async ({ merchant, sandbox }) => {
    const [earlier] = seen;
    plain(sandbox.url).toBe(earlier?.url);
    plain(merchant.id).not.toBe(earlier?.merchant);
    plain(await merchant.requests()).toEqual([]);
    plain((await sandbox.merchants.list()).data.map(({ id }) => id)).not.toContain(earlier?.merchant);
  });

  test("makes and moves records and triggers events of its own merchant", async ({ merchant }) => {
    const payment = await merchant.make("payment", { status: "succeeded", amount: 1_250 });
    plain(payment).toMatchObject({ merchantId: merchant.id, status: "succeeded", amount: 1_250, currency: "EUR" });
    plain(await merchant.move("payment", String(payment.id), { status: "refunded" })).toMatchObject({
      id: payment.id,
      status: "refunded",
    });
    const { record, body } = await merchant.trigger("payment.failed", { amount: 5 });
    plain(body).toMatchObject({ merchantId: merchant.id, data: { id: record?.id, amount: 5, status: "failed" } });
    plain((await merchant.events()).every((event) => event.merchant === merchant.id)).toBe(true);
  });

  atNoon("can have a sandbox with its own options", async ({ sandbox, merchant }) => {
    plain(await sandbox.clock.get()).toMatchObject({ mode: "frozen", unix: 1_767_614_400 });
    plain(sandbox.url).not.toBe(seen[0]?.url);
    plain((await payments(merchant)).status).toBe(200);
  });
});

describe("the merchant of a test has the records of", () => {
  const nameOf = async ({ merchant, sandbox }: SandboxFixtures) =>
    (await sandbox.merchants.list({ merchant: merchant.id })).data[0]?.name;
  beforeAll(() => void vi.stubEnv("MERCHANT_API_KEY", "sk_test_stage"));
  afterAll(() => void vi.unstubAllEnvs());

  test("the fixture of the app's own merchant", async ({ merchant, sandbox }) => {
    plain(await nameOf({ merchant, sandbox })).toContain("Hoshizora Stage");
  });

  onlyMarket("the first fixture, if the app's merchant is not in the sandbox", async ({ merchant, sandbox }) => {
    plain(await nameOf({ merchant, sandbox })).toBe("Soko la Baraka");
  });
});

describe("a test merchant", () => {
  test("arms faults only for itself, even if a fault names another merchant", async ({ merchant, sandbox }) => {
    await using other = await ownMerchant(sandbox, { fixture: "market" });
    await merchant.faults.add({
      match: { operation: "payments.list", merchant: other.id },
      action: { type: "status", status: 500 },
    });
    plain((await payments(other)).status).toBe(200);
    plain((await payments(merchant)).status).toBe(500);
    plain(await other.faults.clear()).toEqual({ removed: 0 });
    plain(await merchant.faults.clear()).toEqual({ removed: 1 });
  });

  test("ignores other merchants in verify", async ({ merchant, sandbox }) => {
    await using other = await ownMerchant(sandbox);
    await payments(other);
    const once: Expectation = { requests: { match: { operation: "payments.list" }, count: { exactly: 1 } } };
    plain((await merchant.verify([once])).verdict).toBe("fail");
    plain((await other.verify({ within: "30s", all: [once] })).verdict).toBe("pass");
  });

  test("created over HTTP is deleted at the end of its `await using` block", async ({ sandbox }) => {
    let id: string;
    {
      await using merchant = await ownMerchant(connect(sandbox.url), { fixture: "stage" });
      id = merchant.id;
      plain((await payments(merchant)).status).toBe(200);
    }
    plain((await sandbox.merchants.list()).data.map((one) => one.id)).not.toContain(id);
  });
});

describe("toHaveRequested", () => {
  test("counts requests", async ({ merchant }) => {
    await expect(merchant).not.toHaveRequested({ operation: "payments.list" });
    await payments(merchant);
    await payments(merchant);
    await expect(merchant).toHaveRequested({ operation: "payments.list" });
    await expect(merchant).toHaveRequested({ operation: "payments.list", status: 200 }, { times: 2 });
    await expect(merchant).toHaveRequested({ operation: "payments.*" }, { atLeast: 1, atMost: 2 });
    await expect(merchant).not.toHaveRequested({ operation: "payments.list" }, { times: 3 });
    // @ts-expect-error: a mistyped operation does not compile
    await expect(expect(merchant).toHaveRequested({ operation: "payment.list" })).rejects.toThrow(
      "Did you mean payments.list?",
    );
  });

  test("waits for requests that have not arrived yet", async ({ merchant }) => {
    const waiting = expect(merchant).toHaveRequested({ operation: "payments.list" }, { times: 1, within: "30s" });
    await payments(merchant);
    await waiting;
  });

  test("shows the closest request and its differences", async ({ merchant }) => {
    await payments(merchant, "?limit=0");
    const [request] = await merchant.requests();
    await plain(
      expect(merchant).toHaveRequested({ operation: "payments.list", status: 200 }, { times: 1 }),
    ).rejects.toThrow(
      [
        `${merchant.id}: 0 requests matched; expected exactly 1.`,
        "Closest:",
        `  ${request?.id} GET /v1/payments 400: status is 400, expected 200`,
      ].join("\n"),
    );
  });

  test("lists the requests that matched although none should", async ({ merchant }) => {
    await payments(merchant);
    const [request] = await merchant.requests();
    await plain(expect(merchant).not.toHaveRequested({ operation: "payments.list" })).rejects.toThrow(
      `Matched: ${request?.id}`,
    );
  });
});

describe("toHaveDelivered", () => {
  test("waits for the delivery, and checks attempts and result", async ({ merchant, sandbox, onTestFinished }) => {
    const receiver = await receive();
    onTestFinished(() => receiver.close());
    const asked = { key: merchant.apiKey, body: { url: receiver.url, events: ["*"] } };
    await call(sandbox.url, "POST", "/v1/webhooks", asked);
    await expect(merchant).not.toHaveDelivered({ event: "booking.declined" });
    await call(sandbox.url, "POST", "/v1/hospitality/bookings/bkg_pending/decline", { key: merchant.apiKey, body: {} });
    await expect(merchant).toHaveDelivered(
      { event: "booking.declined" },
      { times: 1, attempts: { exactly: 1 }, final: "succeeded" },
    );
    plain((await merchant.events()).map(({ type }) => type)).toEqual(["booking.declined"]);
    const missed = expect(merchant).toHaveDelivered({ event: "booking.declined" }, { times: 2, within: "1ms" });
    await plain(missed).rejects.toThrow("1 delivery matched; expected exactly 2.");
  });

  test("shows the mistake of a receiver that rejected the delivery", async ({ merchant, sandbox, onTestFinished }) => {
    const receiver = await receive();
    onTestFinished(() => receiver.close());
    receiver.always(401);
    const asked = { key: merchant.apiKey, body: { url: receiver.url, events: ["*"] } };
    await call(sandbox.url, "POST", "/v1/webhooks", asked);
    await merchant.trigger("payment.succeeded");
    await merchant.verify({ all: [{ verdicts: { rules: ["webhook.*"], fail: { atLeast: 1 } } }], within: "4s" });
    const missed = expect(merchant).toHaveDelivered({ event: "payment.*" }, { final: "succeeded", within: "1ms" });
    await plain(missed).rejects.toThrow(/webhook\.genuine_taken.* got a 401\..*Check the secret first/);
  });
});

describe("toHaveNoFailedVerdicts", () => {
  test("passes until the judge finds a mistake, and then shows what happened, how to fix it, and the evidence", async ({
    merchant,
  }) => {
    await expect(merchant).toHaveNoFailedVerdicts();
    await merchant.faults.add({
      match: { operation: "pricing_rules.create" },
      action: { type: "lost_response", as: "502" },
    });
    for (const key of ["first", "second"])
      await fetch(`${merchant.baseUrl}/hospitality/pricing-rules`, {
        method: "POST",
        headers: {
          Authorization: `Bearer ${merchant.apiKey}`,
          "Content-Type": "application/json",
          "Idempotency-Key": key,
        },
        body: JSON.stringify({ name: "Harvest", adjustmentType: "fixed", adjustmentValue: 5 }),
      });
    await expect(merchant).toHaveNoFailedVerdicts("webhook.*");
    await expect(merchant).not.toHaveNoFailedVerdicts(["webhook.*", "effect.*"]);
    const [retry, lost] = (await merchant.requests()).map(({ id }) => id);
    await plain(expect(merchant).toHaveNoFailedVerdicts("effect.single")).rejects.toThrow(
      new RegExp(
        `^${merchant.id}: .* 1 failed, .*\neffect\\.single pricing_rules\\.create: ${lost} took effect.* ${retry} .* ` +
          `Retry under the same Idempotency-Key.*\\(${lost} on connection`,
      ),
    );
  });
});

test("a matcher fails before the timeout of its test, so that its message is seen", { timeout: 2_000 }, async ({
  merchant,
}) => {
  await plain(
    expect(merchant).toHaveDelivered({ event: "payment.succeeded" }, { times: 1, within: "1h" }),
  ).rejects.toThrow("0 deliveries matched; expected exactly 1.");
});
