// Records made over the control API: complete in every state and for every merchant, and consistent with other records.

import { describe, expect, test } from "vitest";
import { resources } from "../../src/areas/index.ts";
import { type Bench, open, shareForBlock } from "../support/sandbox.ts";

const make = (bench: Bench, kind: string, fields: object = {}) => bench.control("POST", `/records/${kind}`, fields);

/** The fields that a record of each kind must have. */
const ESSENTIAL: Readonly<Record<string, readonly string[]>> = {
  customer: ["name", "email", "phone"],
  payment: ["amount", "currency", "method", "reference"],
  payout: ["amount", "currency"],
  payout_method: ["type", "last4", "accountName", "bankName", "country", "currency"],
  marketplace_order: ["number", "channel", "amount", "currency"],
  pricing_rule: ["name", "adjustmentType", "adjustmentValue"],
  booking: ["guestName", "roomTypeId", "checkIn", "checkOut", "amount", "currency"],
  payroll: ["periodStart", "periodEnd", "payDate", "currency"],
  disciplinary_record: ["employeeId", "type", "category", "description", "incidentDate", "issuedDate"],
  appraisal: ["employeeId", "reviewerId", "cycle", "periodStart", "periodEnd"],
  membership_renewal: ["membershipId", "plan", "amount", "currency", "dueDate", "periodStart", "periodEnd"],
  event_organizer: ["name", "description", "email"],
  sync_log: ["integration", "entity", "direction", "startedAt"],
  product: ["name", "description"],
  product_variant: ["productId", "sku", "name", "price", "currency", "stockQuantity"],
  remittance: ["scheme", "agency", "period", "amount", "employeeAmount", "employerAmount", "currency", "dueDate"],
  statutory_settings: ["country", "currency", "payFrequency", "remittanceDueDay"],
  gov_payment: ["agency", "purpose", "reference", "amount", "currency"],
};

const kinds = resources.filter(({ kind }) => kind !== "merchant");

/** A merchant has one settings record, so the test makes one only if the fixture has none. */
const isMadeFor = (kind: string, merchant: string) => kind !== "statutory_settings" || merchant !== "mer_lodge";

describe.each(["mer_lodge", "mer_market", "mer_stage", "mer_blank"])("records made for %s", (merchant) => {
  const made = kinds.filter(({ kind }) => isMadeFor(kind, merchant));
  const sandbox = shareForBlock();

  test.each(made.map((resource) => [resource.kind, resource] as const))(
    "of the kind %s have all required fields, in every state",
    async (kind, { states }) => {
      const bench = sandbox();
      const { currency } = await bench.control("GET", `/records/merchant/${merchant}`);
      const statuses = Object.keys(states).length === 0 ? [undefined] : Object.keys(states);
      for (const status of statuses) {
        const record = await make(bench, kind, { merchant, status });
        expect([record.object, record.merchantId, record.status]).toEqual([kind, merchant, status]);
        const missing = ESSENTIAL[kind]?.filter(
          (field) => record[field] == null || (field === "amount" && record[field] === 0),
        );
        expect([kind, status, missing]).toEqual([kind, status, []]);
        if ("currency" in record) expect(record.currency).toBe(currency);
      }
    },
  );
});

test("every kind of record is tested here", () => {
  expect(Object.keys(ESSENTIAL).sort()).toEqual(kinds.map(({ kind }) => kind).sort());
});

test("a made payout contains the payments that no other payout contains, unless an amount is given", async () => {
  const bench = await open();
  const given = await make(bench, "payout", { amount: 1_000 });
  expect(given).toMatchObject({ amount: 1_000, payments: [] });
  const payment = await make(bench, "payment", { status: "succeeded", amount: 70_000 });
  const { payments } = await make(bench, "payout");
  expect(payments.map(({ paymentId }: { paymentId: string }) => paymentId)).toContain(payment.id);
  const next = await make(bench, "payout");
  expect(next.payments).toEqual([]);
  expect(next.amount).toBeGreaterThan(0);
});

test("made records refer to the merchant's own customers, rooms, products and staff", async () => {
  const bench = await open();
  const has = async (kind: string, id: string) =>
    (await bench.control("GET", `/records/${kind}/${id}?merchant=mer_lodge`)).id === id;
  const payment = await make(bench, "payment");
  const booking = await make(bench, "booking");
  const order = await make(bench, "marketplace_order");
  const payroll = await make(bench, "payroll");
  for (const { customerId } of [payment, booking, order]) expect(await has("customer", customerId)).toBe(true);
  for (const { productId, variantId } of order.items)
    expect([await has("product", productId), await has("product_variant", variantId)]).toEqual([true, true]);
  expect(booking.roomTypeId).toMatch(/^room_/);
  expect(payroll.items.map(({ employeeId }: { employeeId: string }) => employeeId)).toContain("emp_marta");
});

const any = expect.anything();

test.each([
  ["booking", { checkIn: "2026-05-01", checkOut: "2026-05-03", guestName: "Ana" }, { customerId: null }],
  [
    "marketplace_order",
    { customerId: "cus_renee" },
    { shippingAddress: { name: "Renée O'Neill", city: "Serra Alta" } },
  ],
  ["marketplace_order", { amount: 5_000, shippingAmount: 400 }, { items: [{ unitAmount: 4_600 }] }],
  ["payment", { description: "Picnic basket", customerId: null }, { currency: "EUR", reference: "QR-0147" }],
  ["payment", { amount: 1 }, { description: null }],
  ["remittance", { amount: 5_000, employeeAmount: 2_000 }, { employerAmount: 3_000 }],
  ["remittance", { status: "confirmed" }, { paymentReference: "REM-0010", receiptNumber: "R-0006" }],
  [
    "remittance",
    { scheme: "housing_fund", period: "2025-10" },
    {
      payrollId: "pyr_4",
      employeeAmount: 0,
      employerAmount: 9_700,
      dueDate: "2025-11-20",
      agency: expect.stringMatching(/^Fundo/),
    },
  ],
  ["product_variant", { productId: "prod_honey" }, { options: { size: "700 g" }, name: "Heather honey, 700 g" }],
  [
    "membership_renewal",
    { plan: "Amigos do Vinho", dueDate: "2026-01-31" },
    { amount: 7_900, periodEnd: "2027-01-30" },
  ],
  ["appraisal", { status: "completed", cycle: "2024" }, { periodStart: "2024-01-01", finalScore: any }],
  ["payroll", { periodStart: "2026-03-01" }, { periodEnd: "2026-03-31", payDate: "2026-03-13" }],
] as const)("%s made with %j gets the other values that follow from these", async (kind, given, follows) => {
  const bench = await open();
  expect(await make(bench, kind, given)).toMatchObject({ ...given, ...follows });
});

test("a rate that was given for one stay is not used for other stays", async () => {
  const bench = await open();
  await make(bench, "booking", { roomTypeId: "room_double", nightlyRate: 1 });
  expect((await make(bench, "booking", { roomTypeId: "room_double" })).nightlyRate).toBe(11_000);
});

test("reference numbers continue, and a new record is the newest, even after the clock was set back", async () => {
  const bench = await open();
  const references = [
    (await make(bench, "payment")).reference,
    (await make(bench, "payment", { reference: "QR-0200" })).reference,
  ];
  await bench.control("PUT", "/clock", { mode: "frozen", now: "2025-06-01T12:00:00Z" });
  for (const status of ["pending", "succeeded"]) {
    const { id, reference } = await make(bench, "payment", { status });
    references.push(reference);
    expect((await bench.call("GET", "/v1/payments?limit=1")).body.data[0].id).toBe(id);
  }
  expect(references).toEqual(["QR-0147", "QR-0200", "QR-0201", "QR-0202"]);
  expect((await make(bench, "payment", { merchant: "mer_blank" })).reference).toBe("TR-0001");
});

test("a booking of a full room or for too many guests is made with a warning", async () => {
  const bench = await open();
  const stay = { roomTypeId: "room_annex", checkIn: "2026-05-01", checkOut: "2026-05-04" };
  const first = await make(bench, "booking", { ...stay, status: "confirmed", guests: 2 });
  expect(first.warnings).toEqual([]);
  const second = await make(bench, "booking", { ...stay, checkIn: "2026-05-03", checkOut: "2026-05-05", guests: 1 });
  expect(second.warnings).toEqual([]);
  const move = async (id: string, fields: object) =>
    (await bench.control("PATCH", `/records/booking/${id}`, { merchant: "mer_lodge", ...fields })).warnings;
  const full = "room_annex has one room, which is taken on 2026-05-03.";
  expect(await move(second.id, { status: "confirmed" })).toEqual([full]);
  expect(await move(second.id, { metadata: { note: "sorry" } })).toEqual([]);
  expect(await move(first.id, { guests: 5 })).toEqual(["room_annex sleeps 4; the booking has 5 guests.", full]);
  expect((await make(bench, "booking", { ...stay, status: "confirmed", guests: 2 })).warnings).toEqual([
    "room_annex has one room, which is taken on 2026-05-01.",
  ]);
});

test("a stay is paid by two payments, the first of which is a fifth of the amount", async () => {
  const bench = await open();
  const payment = (id: string) => bench.control("GET", `/records/payment/${id}?merchant=mer_lodge`);
  const paid = await make(bench, "booking", { status: "checked_out" });
  const parts = [await payment(paid.paymentId), await payment(paid.balancePaymentId)];
  expect(parts.map(({ amount, customerId }) => [amount, customerId])).toEqual([
    [Math.ceil(paid.amount / 5), paid.customerId],
    [paid.amount - Math.ceil(paid.amount / 5), paid.customerId],
  ]);
});

test("a partly refunded payment has a refund time, and names its last payout that was not canceled", async () => {
  const bench = await open();
  const change = (kind: string, id: string, fields: object) =>
    bench.control("PATCH", `/records/${kind}/${id}`, { merchant: "mer_blank", ...fields });
  const made = await make(bench, "payment", {
    merchant: "mer_blank",
    status: "succeeded",
    amount: 1_000,
    fee: 0,
    refundedAmount: 100,
  });
  expect(made.refundedAt).toBe(made.paidAt);
  const first = await make(bench, "payout", { merchant: "mer_blank" });
  await change("payment", made.id, { refundedAmount: 300 });
  await make(bench, "payment", { merchant: "mer_blank", status: "succeeded", amount: 1_000 });
  const second = await make(bench, "payout", { merchant: "mer_blank" });
  const payoutId = async () => (await bench.control("GET", `/records/payment/${made.id}`)).payoutId;
  expect(await payoutId()).toBe(second.id);
  await change("payout", second.id, { status: "canceled" });
  expect(await payoutId()).toBe(first.id);
});

test("a variant of a merchant without products gets a new product", async () => {
  const bench = await open();
  const { productId } = await make(bench, "product_variant", { merchant: "mer_blank" });
  const { data } = await bench.control("GET", "/records/product?merchant=mer_blank");
  expect(data.map(({ id }: { id: string }) => id)).toEqual([productId]);
});

test("a remittance that is confirmed without a receipt number has none", async () => {
  const { body } = await (await open()).call("POST", "/v1/statutory/remittances/rem_overdue/confirm", { body: {} });
  expect(body).toMatchObject({ status: "confirmed", receiptNumber: null, paymentReference: "REM-0010" });
});

test("a made remittance is for the next month without one; a second one for a month gets a warning", async () => {
  const bench = await open();
  const made = [];
  for (let count = 0; count < 3; count++) made.push(await make(bench, "remittance", { scheme: "income_tax" }));
  expect(made.map(({ period, warnings }) => [period, warnings])).toEqual([
    ["2026-01", []],
    ["2026-02", []],
    ["2026-03", []],
  ]);
  expect(await make(bench, "remittance", { scheme: "income_tax", period: "2026-02" })).toMatchObject({
    period: "2026-02",
    warnings: [`${made[1].id} remits income_tax of 2026-02 too.`],
  });
});

describe("a made payroll", () => {
  const settle = (bench: Bench, fields: object) =>
    make(bench, "statutory_settings", { merchant: "mer_market", ...fields });
  const run = (bench: Bench, fields: object = {}) => make(bench, "payroll", { merchant: "mer_market", ...fields });

  test("is for the month after the latest run, and is paid on a business day", async () => {
    const bench = await open();
    const months = [];
    for (const fields of [{}, { periodStart: "2026-06-01", status: "pending" }, {}]) {
      const { periodStart, payDate } = await run(bench, fields);
      months.push(periodStart);
      expect([payDate, [0, 6].includes(new Date(payDate).getUTCDay())]).toEqual([payDate, false]);
    }
    expect(months).toEqual(["2026-01-01", "2026-06-01", "2026-07-01"]);
    const twice = { periodStart: "2026-06-01", status: "pending" };
    expect((await run(bench, twice)).warnings).toEqual([
      expect.stringMatching(/^pyr_\w+ also pays "emp_\w+" for 2026-06-01 to 2026-06-30: set offCycle for a bonus\.$/),
    ]);
    for (const fields of [
      { ...twice, offCycle: true },
      { ...twice, status: "draft" },
    ])
      expect(await run(bench, fields)).toMatchObject({ ...fields, warnings: [] });
  });

  test("that is paid covers a period whose pay day has come, or is off-cycle if no such period is left", async () => {
    const bench = await open();
    const paid = [await run(bench, { status: "paid" }), await run(bench, { status: "paid" })];
    expect(paid.map(({ periodStart, offCycle }) => [periodStart, offCycle])).toEqual([
      ["2025-12-01", false],
      ["2026-01-01", true],
    ]);
    expect(await run(bench, { status: "paid", periodStart: "2026-02-01" })).toMatchObject({
      periodStart: "2026-02-01",
      payDate: "2026-01-05",
      offCycle: false,
      warnings: ["payDate 2026-01-05 comes before the period, which begins on 2026-02-01."],
    });
  });

  test.each([
    ["weekly", "2026-01-05", "2026-01-11", "2026-01-12", 240_000 / (52 / 12)],
    ["biweekly", "2026-01-05", "2026-01-18", "2026-01-19", 240_000 / (26 / 12)],
    ["semimonthly", "2026-01-01", "2026-01-15", "2026-01-16", 120_000],
    ["monthly", "2026-01-01", "2026-01-31", "2026-02-01", 240_000],
  ])(
    "of a merchant whose payFrequency is %s covers one period, with the pay for that period",
    async (payFrequency, periodStart, periodEnd, after, gross) => {
      const bench = await open();
      await settle(bench, { payFrequency });
      const first = await run(bench);
      expect(first).toMatchObject({ periodStart, periodEnd });
      const again = await run(bench);
      expect(again.periodStart).toBe(after);
      for (const { items } of [first, again]) expect(items[0].grossAmount).toBeCloseTo(gross, -1);
    },
  );

  test("makes the deductions of the merchant's schemes, or without settings of its country's schemes", async () => {
    const bench = await open();
    const shares = ({ items }: { items: { grossAmount: number; deductions: { code: string; amount: number }[] }[] }) =>
      items[0]?.deductions.map(({ code, amount }) => [
        code,
        Math.round((amount * 10_000) / (items[0]?.grossAmount ?? 1)),
      ]);
    expect(shares(await run(bench))).toEqual([
      ["income_tax", 1_500],
      ["pension", 600],
      ["health_insurance", 275],
      ["housing_fund", 150],
    ]);
    expect(shares(await make(bench, "payroll", { merchant: "mer_blank" }))).toEqual([
      ["social_security", 640],
      ["pension", 700],
    ]);
    const scheme = {
      scheme: "other",
      enabled: true,
      registrationNumber: null,
      employeeRateBps: 8_000,
      employerRateBps: 0,
    };
    await settle(bench, {
      schemes: [scheme, { ...scheme, scheme: "pension" }, { ...scheme, scheme: "income_tax", enabled: false }],
    });
    expect(shares(await run(bench))).toEqual([
      ["other", 8_000],
      ["pension", 2_000],
    ]);
  });
});

test("a payout that is created as paid has an arrival date that is not in the future", async () => {
  const bench = await open();
  for (const merchant of ["mer_lodge", "mer_stage"])
    expect(await make(bench, "payout", { merchant, status: "paid" })).toMatchObject({
      arrivalDate: "2026-01-05",
      status: "paid",
    });
});
