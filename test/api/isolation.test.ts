// Isolation: calls that name the merchant of a test in their baggage header, and the webhooks of such a merchant.

import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { createTestMerchant, type OwnMerchant, ownMerchant, verifySignature, withMerchant } from "../../src/index.ts";
import { folder } from "../support/program.ts";
import { type Bench, open } from "../support/sandbox.ts";
import { receive } from "../support/webhooks.ts";

const me = async (bench: Bench, baggage?: string | string[], key = "sk_test_lodge") => {
  const { status, body } = await bench.call("GET", "/v1/merchants/me", { key, headers: baggage ? { baggage } : {} });
  return status === 200 ? body.id : `${status} ${body.code}`;
};

describe("the merchant of a call", () => {
  test("is the key's own merchant without --isolation, whatever the header says", async () => {
    const bench = await open();
    const { baggage } = await ownMerchant(bench);
    expect(await me(bench, baggage)).toBe("mer_lodge");
  });

  test("is the merchant that the header names, with its own data, if the call has the app's key", async () => {
    const bench = await open({ isolation: "on" });
    const [one, other] = [await ownMerchant(bench), await ownMerchant(bench)];
    const named = [one.baggage, `user=7, ${other.baggage};ttl=5 ,x=1`, ["a=b", one.baggage], "a=b", undefined];
    expect(await Promise.all(named.map((baggage) => me(bench, baggage)))).toEqual([
      ...[one.id, other.id, one.id],
      ...["mer_lodge", "mer_lodge"],
    ]);
    expect([(await one.requests()).length, (await other.requests()).length]).toEqual([2, 1]);
    await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { headers: { baggage: one.baggage } });
    const statusOf = async (merchant: string) =>
      (await bench.control("GET", `/records/booking?merchant=${merchant}`)).data.find(
        ({ id }: { id: string }) => id === "bkg_pending",
      ).status;
    expect(await Promise.all([one.id, other.id, "mer_lodge"].map(statusOf))).toEqual([
      "declined",
      "pending",
      "pending",
    ]);
  });

  test("must be the key's own merchant or a merchant that was created from it", async () => {
    const bench = await open({ isolation: "on" });
    const [mine, markets] = [await ownMerchant(bench), await ownMerchant(bench, { fixture: "market" })];
    const { body } = await bench.call("POST", "/v1/merchants", { body: { name: "New", email: "new@example.com" } });
    const refused = "403 test_merchant_refused";
    const calls = [
      me(bench, markets.baggage),
      me(bench, mine.baggage, "sk_test_market"),
      me(bench, mine.baggage, markets.apiKey),
      ...["mer_market", "mer_none", "", body.id].map((id) => me(bench, `merchant-sandbox=${id}`)),
    ];
    expect(await Promise.all(calls)).toEqual(calls.map(() => refused));
    expect(await me(bench, mine.baggage, "sk_test_nobody")).toBe("401 invalid_api_key");
    expect(await me(bench, mine.baggage, mine.apiKey)).toBe(mine.id);
    await mine.remove();
    expect(await me(bench, mine.baggage)).toBe(refused);
  });

  test("must be named in the header if --isolation is strict, unless the key is the merchant's own", async () => {
    const bench = await open({ isolation: "strict" });
    const merchant = await ownMerchant(bench);
    expect([await me(bench), await me(bench, "a=b"), await me(bench, merchant.baggage)]).toEqual([
      ...["403 test_merchant_missing", "403 test_merchant_missing"],
      merchant.id,
    ]);
    expect(await me(bench, undefined, merchant.apiKey)).toBe(merchant.id);
  });
});

describe("webhooks of a test's merchant", () => {
  test("go to the endpoints of the app's merchant, with their signature, and name the test's merchant", async () => {
    const receiver = await receive();
    const events = ["booking.declined", "payment.succeeded"];
    const endpoints = [{ url: receiver.url, secret: "whsec_local", events }];
    const bench = await open({ isolation: "on", endpoints });
    const merchant = await ownMerchant(bench);
    await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", {
      headers: { baggage: merchant.baggage },
    });
    await merchant.trigger("payment.succeeded");
    await bench.drain();
    const own = await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline");
    await bench.drain();
    expect(own.status).toBe(200);
    const arrivals = receiver.arrivals.map(({ headers, body, event }) => {
      const signature = headers["x-webhook-signature"];
      return [
        event.type,
        event.merchantId,
        headers.baggage,
        verifySignature({ body, signature, secret: "whsec_local" }),
      ];
    });
    expect(arrivals).toEqual([
      ["booking.declined", merchant.id, merchant.baggage, true],
      ["payment.succeeded", merchant.id, merchant.baggage, true],
      ["booking.declined", "mer_lodge", undefined, true],
    ]);
    const deliveries = { match: { event: "booking.declined" }, count: { exactly: 1 }, final: "succeeded" } as const;
    expect((await merchant.verify([{ deliveries }])).verdict).toBe("pass");
    expect((await bench.control("GET", `/deliveries?merchant=${merchant.id}`)).data).toHaveLength(2);
  });

  test("go to its own endpoints if it has any, and without --isolation never to the app's endpoints", async () => {
    const [shared, own] = [await receive(), await receive()];
    const bench = await open({ isolation: "on", endpoints: [{ url: shared.url }] });
    const merchant = await ownMerchant(bench);
    await bench.endpoints.register({ url: own.url, merchant: merchant.id, events: ["payment.succeeded"] });
    await merchant.trigger("payment.succeeded");
    await bench.drain();
    expect([shared.arrivals.length, own.arrivals.length, own.arrivals[0]?.headers.baggage]).toEqual([0, 1, undefined]);
    const usual = await open({ endpoints: [{ url: shared.url }] });
    await (await ownMerchant(usual)).trigger("payment.succeeded");
    await usual.drain();
    expect(shared.arrivals).toEqual([]);
  });

  test("stop for every test's merchant once the shared endpoint answers 410", async () => {
    const receiver = await receive();
    const bench = await open({ isolation: "on", endpoints: [{ url: receiver.url }] });
    const [one, other] = [await ownMerchant(bench), await ownMerchant(bench)];
    receiver.script(410);
    await one.trigger("payment.succeeded");
    await bench.drain();
    await other.trigger("payment.succeeded");
    await bench.drain();
    expect([receiver.arrivals.length, (await bench.endpoints.list()).data[0]?.status]).toEqual([1, "disabled"]);
  });
});

test("a test's merchant is created from the merchant of MERCHANT_API_KEY, and this key can name it", async () => {
  const bench = await open({ isolation: "on" });
  vi.stubEnv("MERCHANT_API_KEY", "sk_test_market");
  const merchant = await createTestMerchant(bench, "a test").finally(vi.unstubAllEnvs);
  expect(await me(bench, merchant.baggage, "sk_test_market")).toBe(merchant.id);
});

test("a test's merchant has the records of the app's merchant, whatever the name of its fixture file", async () => {
  const fixtures = join(folder(), "mine.json");
  copyFileSync("fixtures/merchants/market.json", fixtures);
  const bench = await open({ fixtures });
  const nameOf = async ({ id }: OwnMerchant) => (await bench.merchants.list({ merchant: id })).data[0]?.name;
  for (const key of ["sk_test_market", "sk_test_elsewhere", ""]) {
    vi.stubEnv("MERCHANT_API_KEY", key);
    const merchant = await createTestMerchant(bench, "a test").finally(vi.unstubAllEnvs);
    expect([key, await nameOf(merchant)]).toEqual([key, "Soko la Baraka"]);
  }
  for (const fixture of ["mine", "mer_market", "market", undefined])
    expect(await nameOf(await ownMerchant(bench, { fixture }))).toBe("Soko la Baraka");
  const asked = { body: { name: "New", email: "new@example.com" }, key: "sk_test_market" };
  const { body: made } = await bench.call("POST", "/v1/merchants", asked);
  await expect(ownMerchant(bench, { fixture: made.id })).rejects.toThrow(
    `${made.id} was created through the API and came from no fixture. Save it as one`,
  );
});

test("withMerchant passes a merchant, and the arguments of the runner, to a test of any runner", async () => {
  const bench = await open();
  vi.stubEnv("MERCHANT_SANDBOX_URL", bench.url);
  const ids: string[] = [];
  const declared = withMerchant(async ({ merchant, sandbox }, context: { name: string }) => {
    ids.push(merchant.id, context.name);
    expect((await sandbox.merchants.list({ merchant: merchant.id })).data[0]?.id).toBe(merchant.id);
  });
  // Jest passes a `done` callback to a test that declares parameters, and waits for the call.
  expect(declared).toHaveLength(0);
  await declared({ name: "pays once" });
  await declared({ name: "pays once" });
  expect(ids).toEqual([ids[0], "pays once", ids[0], "pays once"]);
  expect((await bench.merchants.list()).data).toHaveLength(4);
  vi.unstubAllEnvs();
});
