// Business rules: what each operation computes, rejects and emits, beyond its declaration.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { folder } from "../support/program.ts";
import { type Answer, type Bench, NOON_SECONDS, open, shareForBlock } from "../support/sandbox.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
type Some = any;

const LARGEST = Number.MAX_SAFE_INTEGER;

function expectRefusal(answer: Answer, status: number, code: string, details: object = {}) {
  expect([answer.status, answer.body.code], answer.text).toEqual([status, code]);
  expect(answer.body.details).toMatchObject(details);
}

const pointers = ({ body }: Answer) => body.details.errors.map(({ pointer }: Some) => pointer);

describe("a payroll", () => {
  const item = (employeeId: string, grossAmount: number, ...amounts: number[]) => ({
    employeeId,
    grossAmount,
    deductions: amounts.map((amount, index) => ({ code: `deduction_${index}`, amount })),
  });
  const run = (...items: object[]) => ({
    periodStart: "2026-01-01",
    periodEnd: "2026-01-31",
    payDate: "2026-01-28",
    items,
  });
  const create = (bench: Bench, body: object) => bench.call("POST", "/v1/employees/payroll", { body });

  test("is created as a draft with computed net amounts and totals, in the merchant's currency", async () => {
    const bench = await open();
    const answer = await create(
      bench,
      run(item("emp_a", 100_000, 14_000, 11_000), { employeeId: "emp_b", grossAmount: 5, note: "kept" }),
    );
    const { body } = answer;
    expect(body).toMatchObject({ status: "draft", currency: "EUR", created: NOON_SECONDS, merchantId: "mer_lodge" });
    expect(body.totals).toEqual({ employees: 2, grossAmount: 100_005, deductionAmount: 25_000, netAmount: 75_005 });
    const made = { payrollId: body.id, object: "payroll_item", overridden: false, override: null };
    expect(body.items).toMatchObject([
      { ...made, netAmount: 75_000 },
      { ...made, netAmount: 5, deductions: [], employeeName: null, note: "kept" },
    ]);
    expect(new Set(body.items.map(({ id }: Some) => id)).size).toBe(2);
    expect(await bench.events(answer)).toEqual(["payroll.created"]);
  });

  test("has exact totals, or is rejected if a sum is too large or deductions exceed the gross amount", async () => {
    const bench = await open({ rateLimit: "none" });
    const amount = fc.oneof(fc.nat(1_000_000), fc.constantFrom(LARGEST, LARGEST - 1));
    const items = fc.array(fc.tuple(amount, fc.array(amount, { maxLength: 3 })), { minLength: 1, maxLength: 4 });
    const sum = (amounts: number[]) => amounts.reduce((total, one) => total + BigInt(one), 0n);
    await fc.assert(
      fc.asyncProperty(items, async (drawn) => {
        const answer = await create(
          bench,
          run(...drawn.map(([gross, kept], index) => item(`emp_${index}`, gross, ...kept))),
        );
        const gross = sum(drawn.map(([one]) => one));
        const kept = sum(drawn.flatMap(([, deductions]) => deductions));
        if (answer.status === 400) {
          const tooLarge = gross > BigInt(LARGEST) || kept > BigInt(LARGEST);
          const overdrawn = drawn.findIndex(([one, deductions]) => sum(deductions) > BigInt(one));
          const pointer = tooLarge ? "/items" : `/items/${overdrawn}/deductions`;
          expectRefusal(answer, 400, "validation_failed", { errors: [{ pointer, code: "out_of_range" }] });
          return;
        }
        const { totals } = answer.body;
        expect([totals.grossAmount, totals.deductionAmount, totals.netAmount].map(BigInt)).toEqual([
          gross,
          kept,
          gross - kept,
        ]);
      }),
      { numRuns: 60 },
    );
  });

  test("is rejected if its period ends before it starts, it has no items, or an item is invalid", async () => {
    const bench = await open();
    const backwards = await create(bench, { ...run(item("emp_a", 1)), periodEnd: "2025-12-31" });
    expectRefusal(backwards, 400, "validation_failed", { errors: [{ pointer: "/periodEnd", code: "out_of_order" }] });
    expect(pointers(await create(bench, run()))).toEqual(["/items"]);
    expect(pointers(await create(bench, run(item("emp_a", -1))))).toEqual(["/items/0/grossAmount"]);
    expect(pointers(await create(bench, {}))).toEqual(["/periodStart", "/periodEnd", "/payDate", "/items"]);
  });

  const override = (bench: Bench, run: string, item: string, netAmount: number) =>
    bench.call("PATCH", `/v1/employees/payroll/${run}/items/${item}/override`, {
      body: { netAmount, reason: "Counted twice" },
    });
  const runs = (bench: Bench) => bench.control("PATCH", "/records/payroll/pyr_draft", {});

  test.each([1.5, -1, "10"])(
    "with open bodies can have an override with the amount %j set twice, and can then become pending",
    async (sent) => {
      const bench = await open({ bodies: "open", life: "off" });
      for (const [item, amount] of Object.entries({ pyi_draft_marta: sent, pyi_draft_joao: 100_000 }))
        for (let times = 0; times < 2; times++) {
          expect(await override(bench, "pyr_draft", item, amount as number)).toMatchObject({
            status: 200,
            body: { netAmount: amount },
          });
          await runs(bench);
        }
      const moved = await bench.control("PATCH", "/records/payroll/pyr_draft", { status: "pending" });
      expect(moved).toMatchObject({
        status: "pending",
        items: [{ netAmount: sent }, { netAmount: 100_000 }, {}, {}, {}],
      });
    },
  );

  test("rejects an override with 404 for another payroll's item, and with 409 if it is not a draft", async () => {
    const bench = await open();
    expectRefusal(await override(bench, "pyr_draft", "pyi_paid_marta", 1), 404, "resource_not_found", {
      resource: "payroll_item",
    });
    expectRefusal(await override(bench, "pyr_paid", "pyi_draft_marta", 1), 404, "resource_not_found");
    expectRefusal(await override(bench, "pyr_nobody", "pyi_draft_marta", 1), 404, "resource_not_found", {
      resource: "payroll",
    });
    const paid = await override(bench, "pyr_paid", "pyi_paid_marta", 1);
    expectRefusal(paid, 409, "invalid_state", { currentStatus: "paid", allowedFrom: ["draft"] });
  });
});

describe("the payout method", () => {
  const NUMBER = "PT50 0002 0123 1234 5678 9015 4";
  test("replaces the previous one; its account number is neither returned nor stored anywhere", async () => {
    const home = folder();
    const bench = await open({ memory: false, db: join(home, "secretive", "world.db") });
    const body = {
      type: "bank_account",
      accountNumber: NUMBER,
      bankName: "Banco",
      iban: NUMBER,
      nested: { account_number: NUMBER },
    };
    const answer = await bench.call("POST", "/v1/merchants/payout-method", {
      body,
      headers: { "idempotency-key": "once" },
    });
    expect(answer.body).toMatchObject({
      object: "payout_method",
      status: "pending_verification",
      type: "bank_account",
      last4: "0154",
      currency: "EUR",
      isDefault: true,
    });
    expect(answer.body).not.toHaveProperty("accountNumber");
    expect(await bench.events(answer)).toEqual(["payout_method.updated", "payout_method.replaced", "payout.updated"]);
    const second = await bench.call("POST", "/v1/merchants/payout-method", {
      body: { type: "mobile_money", accountNumber: "+1 202 555 0177" },
    });
    expect(second.body).toMatchObject({ last4: "0177", bankName: null });
    expect(
      (await bench.control("PATCH", `/records/payout_method/${second.body.id}`, { status: "verified" })).status,
    ).toBe("verified");
    for (const id of [answer.body.id, "pom_lodge"])
      expect(await bench.control("GET", `/records/payout_method/${id}?merchant=mer_lodge`)).toMatchObject({
        status: "replaced",
        isDefault: false,
      });
    const payouts = (await bench.call("GET", "/v1/payouts")).body.data.filter(
      ({ status }: Some) => status === "pending",
    );
    expect(payouts.map(({ payoutMethodId }: Some) => payoutMethodId)).toEqual([second.body.id]);
    await bench.close();
    const kept = readdirSync(join(home, "secretive"), { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    expect(kept.length).toBeGreaterThan(0);
    for (const entry of kept) {
      const bytes = readFileSync(join(entry.parentPath, entry.name), "latin1");
      for (const secret of [NUMBER, NUMBER.replaceAll(" ", ""), "202 555 0177", "2025550177"])
        expect(bytes.includes(secret), entry.name).toBe(false);
    }
  });

  test.each([undefined, "", "1234", "12 34", "a b c d", "12345678901234567890123456789012345", "1234--5678"])(
    "is rejected with the number %j",
    async (accountNumber) => {
      const bench = await open();
      const answer = await bench.call("POST", "/v1/merchants/payout-method", {
        body: { type: "bank_account", accountNumber },
      });
      expectRefusal(answer, 400, "validation_failed", { errors: [{ pointer: "/accountNumber" }] });
      if (accountNumber) expect(answer.text).not.toContain(accountNumber);
    },
  );
});

describe("a created merchant", () => {
  const profile = {
    name: "Café Ñandú",
    email: "cafe@nandu.example",
    password: "not-a-real-one",
    country: "UY",
    currency: "UYU",
    motto: "Rico",
  };

  test("has separate data, and a key that is only in the response to its creation", async () => {
    const bench = await open();
    const answer = await bench.call("POST", "/v1/merchants", { body: profile });
    const { apiKey, ...merchant } = answer.body;
    expect(apiKey).toMatch(/^sk_test_[0-9A-Za-z]{24,}$/);
    expect(merchant).toMatchObject({
      object: "merchant",
      merchantId: merchant.id,
      status: "active",
      name: profile.name,
      motto: "Rico",
      created: NOON_SECONDS,
    });
    expect(answer.text).not.toContain(profile.password);
    expect((await bench.call("GET", "/v1/merchants/me", { key: apiKey })).body).toEqual(merchant);
    expect((await bench.call("GET", "/v1/payments", { key: apiKey })).body).toEqual({
      object: "list",
      data: [],
      has_more: false,
    });
    const { body: settings } = await bench.call("GET", "/v1/statutory/settings", { key: apiKey });
    expect(settings).toMatchObject({
      merchantId: merchant.id,
      country: "UY",
      currency: "UYU",
      schemes: [],
      updated: null,
    });
    const session = await bench.call("POST", "/v1/merchants/login", {
      body: { email: profile.email, password: profile.password },
    });
    expect(session.body).toMatchObject({ object: "session", tokenType: "Bearer", expiresIn: 3_600, merchant });
    expect((await bench.call("GET", "/v1/merchants/me", { key: session.body.accessToken })).body).toEqual(merchant);
  });

  test("has an e-mail address that is compared without regard to case and returned as it was sent", async () => {
    const bench = await open();
    const email = "Bom.Dia@Lusiada.example";
    const { body } = await bench.call("POST", "/v1/merchants", { body: { ...profile, email } });
    expect(body.email).toBe(email);
    const again = await bench.call("POST", "/v1/merchants", { body: { ...profile, email: "BOM.DIA@lusiada.example" } });
    expectRefusal(again, 409, "already_exists", { fields: ["email"], values: { email: "BOM.DIA@lusiada.example" } });
    const session = await bench.call("POST", "/v1/merchants/login", {
      body: { email: "bom.dia@LUSIADA.example", password: profile.password },
    });
    expect(session.body.merchant).toMatchObject({ id: body.id, email });
    const seeded = await bench.call("POST", "/v1/merchants/login", {
      body: { email: "OLA@Lodge.example", password: "lodge-password" },
    });
    expect(seeded.body.merchant.email).toBe("ola@lodge.example");
  });

  test("can log in only with its own password", async () => {
    const bench = await open();
    const login = (email: string, password: string) =>
      bench.call("POST", "/v1/merchants/login", { body: { email, password } });
    const wrong = await login("ola@lodge.example", "market-password");
    const unknown = await login("nobody@lodge.example", "lodge-password");
    expectRefusal(wrong, 401, "invalid_credentials");
    expect(unknown.body.message).toBe(wrong.body.message);
    await bench.call("POST", "/v1/merchants", { body: { name: "Silent", email: "silent@quiet.example" } });
    expectRefusal(await login("silent@quiet.example", "x"), 401, "invalid_credentials");
    expect((await login("ola@lodge.example", "lodge-password")).headers["cache-control"]).toBe("no-store");
  });
});

describe("a pricing rule", () => {
  test("may start and end on one day, or have no end, but not end before it starts", async () => {
    const bench = await open();
    const body = {
      name: "Spring",
      adjustmentType: "fixed",
      adjustmentValue: -500,
      startDate: "2026-03-01",
      minNights: 2,
    };
    for (const span of [{ endDate: "2026-03-01", maxNights: 2 }, { endDate: null, maxNights: null }, {}]) {
      const answer = await bench.call("POST", "/v1/hospitality/pricing-rules", { body: { ...body, ...span } });
      expect(answer.body, answer.text).toMatchObject({ status: "active", priority: 0, ...body });
    }
    for (const [field, end] of Object.entries({ endDate: "2026-02-28", maxNights: 1 })) {
      const answer = await bench.call("POST", "/v1/hospitality/pricing-rules", { body: { ...body, [field]: end } });
      expectRefusal(answer, 400, "validation_failed", { errors: [{ pointer: `/${field}`, code: "out_of_order" }] });
    }
  });
});

describe("variants", () => {
  const shared = shareForBlock();
  const create = (body: object, product = "prod_honey") =>
    shared().call("POST", `/v1/retail/products/${product}/variants`, { body });

  test("must have a SKU that no other variant of the merchant has", async () => {
    const answer = await create({ sku: "SOAP-1", price: 1 });
    expectRefusal(answer, 409, "already_exists", { fields: ["sku"], values: { sku: "SOAP-1" } });
    expect((await shared().call("GET", "/v1/merchants/me")).status).toBe(200);
  });

  test.each([undefined, {}])("without options (%j) are limited to one per product", async (options) => {
    const bench = await open();
    const make = (sku: string, product: string) =>
      bench.call("POST", `/v1/retail/products/${product}/variants`, { body: { sku, price: 1, options } });
    expect((await make("H-7", "prod_honey")).body.options).toEqual({});
    expectRefusal(await make("H-8", "prod_honey"), 409, "already_exists", {
      fields: ["productId", "options"],
      values: { productId: "prod_honey", options: {} },
    });
    expect((await make("H-8", "prod_oil")).status).toBe(200);
  });

  test("must not have a negative price, and must belong to an existing product", async () => {
    expectRefusal(await create({ sku: "H-6", price: -1 }), 400, "validation_failed", {
      errors: [{ pointer: "/price", code: "out_of_range" }],
    });
    expectRefusal(await create({ sku: "H-6", price: 1 }, "prod_nobody"), 404, "resource_not_found", {
      resource: "product",
    });
  });
});

describe("government payments", () => {
  const post = (bench: Bench, id: string, body?: object) =>
    bench.call("POST", `/v1/gov-payments/${id}/post-to-books`, { body });

  test("that are paid can be posted to the books only once", async () => {
    const bench = await open();
    const answer = await post(bench, "gov_paid", { ledgerAccount: "2450", memo: "Third quarter" });
    expect(answer.body.status).toBe("paid");
    const { journalEntryId, ...entry } = answer.body.bookkeeping;
    expect(journalEntryId).toMatch(/^jrn_/);
    expect(entry).toEqual({
      status: "posted",
      debitAccount: "2450",
      creditAccount: "Bank",
      memo: "Third quarter",
      postedAt: NOON_SECONDS,
    });
    expect(await bench.events(answer)).toEqual(["gov_payment.posted"]);
    const again = await post(bench, "gov_paid");
    expectRefusal(again, 409, "invalid_state", {
      reason: "already_posted",
      currentStatus: "posted",
      allowedFrom: ["unposted"],
    });
    expect(again.body.message).toContain(journalEntryId);
    expect((await post(bench, "gov_paid_2")).body.bookkeeping).toMatchObject({ status: "posted", memo: null });
  });

  test("cannot be posted if they are already posted in the fixture, or if they are not paid", async () => {
    const bench = await open();
    expectRefusal(await post(bench, "gov_posted"), 409, "invalid_state", { reason: "already_posted" });
    expectRefusal(await post(bench, "gov_pending"), 409, "invalid_state", {
      currentStatus: "pending",
      allowedFrom: ["paid"],
    });
  });
});

test.each([
  [{ remittanceDueDay: 29 }, "/remittanceDueDay"],
  [{ country: "pt" }, "/country"],
  [{ schemes: [{ scheme: "pension" }] }, "/schemes/0/enabled"],
])("statutory settings reject %j", async (body, pointer) => {
  const bench = await open();
  expect(pointers(await bench.call("PATCH", "/v1/statutory/settings", { body }))).toContain(pointer);
});

test("null sets a statutory setting to null or to its default, and removes an unknown field", async () => {
  const bench = await open();
  const change = async (body: object) => (await bench.call("PATCH", "/v1/statutory/settings", { body })).body;
  const before = await change({});
  await change({ autoRemit: true, metadata: { a: 1 }, house: "rule" });
  const cleared = await change({ payFrequency: null, autoRemit: null, metadata: null, schemes: null, house: null });
  expect(cleared).toEqual({ ...before, payFrequency: null, schemes: [], updated: NOON_SECONDS });
});

test("a customer without a phone has no `phone` in the response; setting `name` to null is rejected", async () => {
  const fixtures = folder();
  const merchant = { id: "mer_shop", name: "Shop", email: "shop@shop.example", apiKey: "sk_test_shop" };
  const id = "cus_short";
  const customer = [{ id, name: "Ana", email: "ana@mail.example" }];
  writeFileSync(join(fixtures, "shop.json"), JSON.stringify({ merchant, records: { customer } }));
  const bench = await open({ fixtures });
  const { body } = await bench.call("GET", `/v1/customers/${id}`, { key: "sk_test_shop" });
  expect(Object.keys(body)).toEqual(["id", "object", "merchantId", "email", "name", "metadata", "created"]);
  const cleared = await bench.call("PATCH", `/_sandbox/records/customer/${id}`, { body: { name: null } });
  expectRefusal(cleared, 400, "validation_failed");
});

test.each([
  [
    "POST",
    "/employees/payroll",
    {
      ...{ periodStart: "2026-01-01", periodEnd: "2026-01-31", payDate: "2066-01-28" },
      items: [1, 2].map((grossAmount) => ({ employeeId: "emp_zoë", grossAmount })),
    },
    'payDate is 2066-01-28, more than ten years from the sandbox clock. More than one item pays "emp_zo?".',
  ],
  [
    "PATCH",
    "/employees/payroll/pyr_draft/items/pyi_draft_marta/override",
    { netAmount: 9_999_999, reason: "In cents" },
    'The gross pay of "emp_marta" is 260000, and the net pay 9999999.',
  ],
  [
    "POST",
    "/hospitality/pricing-rules",
    { name: "Free", adjustmentType: "fixed", adjustmentValue: -1, roomTypeId: "penthouse" },
    'The rule applies to no booking: the merchant has no room type "penthouse".',
  ],
  [
    "POST",
    "/gov-payments/gov_paid/post-to-books",
    { ledgerAccount: "Bank" },
    'The posting debits and credits the same account, "Bank".',
  ],
])("%s %s with unlikely values succeeds, and a header says what is unlikely", async (method, path, body, warning) => {
  const answer = await (await open()).call(method, `/v1${path}`, { body });
  expect([answer.status, answer.headers["x-sandbox-warning"]]).toEqual([200, warning]);
});
