// A test can construct any record: the control API warns of unlikely values, and refuses only what is
// malformed, unknown or impossible.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { resources } from "../../src/areas/index.ts";
import { runs } from "../support/fuzzing.ts";
import { type Bench, open, shareForBlock } from "../support/sandbox.ts";
import { violations } from "../support/world-file.ts";

const write = (bench: Bench, method: string, path: string, fields: object) =>
  bench.call(method, `/_sandbox/records/${path}`, { key: null, body: { merchant: "mer_lodge", ...fields } });

const make = (bench: Bench, kind: string, fields: object) => write(bench, "POST", kind, fields);

const item = (employeeId: string, grossAmount: number, deducted: number, more: object = {}) => ({
  id: `pyi_${employeeId}`,
  object: "payroll_item",
  payrollId: "pyr_own",
  employeeId,
  employeeName: null,
  grossAmount,
  deductions: [{ code: "income_tax", amount: deducted }],
  netAmount: grossAmount - deducted,
  overridden: false,
  override: null,
  ...more,
});

const payroll = (...items: object[]) => ({ id: "pyr_own", items, offCycle: true });

const posting = { status: "posted", journalEntryId: "jrn_1", debitAccount: "Bank", creditAccount: "Bank" };

test.each([
  ["payment", { amount: 100, fee: 200 }, "The fee, 200, exceeds the amount, 100."],
  [
    "payout",
    { payments: [{ paymentId: "pay_succeeded", amount: 1 }] },
    /^The payout contains 1 of pay_succeeded, of which -?\d+ is in no payout\.$/,
  ],
  [
    "pricing_rule",
    { adjustmentType: "percentage", adjustmentValue: -10_001 },
    "adjustmentValue -10001 is below -10000, a discount of 100 %, so the nights cost nothing.",
  ],
  ["payroll", payroll(item("emp_a", 10, 0), item("emp_a", 10, 0)), 'More than one item pays "emp_a".'],
  ["payroll", payroll(item("emp_a", 10, 15)), 'The gross pay of "emp_a" is 10, and the net pay -5.'],
  [
    "payroll",
    payroll(item("emp_a", 10, 0, { netAmount: 21, overridden: true })),
    'The gross pay of "emp_a" is 10, and the net pay 21.',
  ],
  ["payroll", { payDate: "2080-01-05" }, "payDate is 2080-01-05, more than ten years from the sandbox clock."],
  [
    "gov_payment",
    { status: "paid", bookkeeping: { ...posting, memo: null, postedAt: null } },
    'The posting debits and credits the same account, "Bank".',
  ],
  [
    "marketplace_order",
    {
      status: "accepted",
      items: [2, 90].map((quantity) => ({
        ...{ productId: "prod_honey", variantId: "var_honey_250", sku: null, name: "Honey" },
        ...{ quantity, unitAmount: 5 },
      })),
    },
    /^The order takes 92 of var_honey_250; \d+ are in stock\.$/,
  ],
])("a %s with %j is made with a warning", async (kind, fields, warning) => {
  const bench = await open();
  const answer = await make(bench, kind, fields);
  expect(answer.body, answer.text).toMatchObject({ ...fields, warnings: [expect.stringMatching(warning)] });
  expect(answer.status).toBe(201);
  expect(await violations(bench)).toEqual([]);
});

test("an order beyond the stock makes the stock negative, and canceling the order restores it", async () => {
  const bench = await open();
  const variant = async () => (await bench.control("GET", "/records/product_variant/var_honey_250")).stockQuantity;
  const before = await variant();
  const items = [
    { productId: null, variantId: "var_honey_250", sku: null, name: "Honey", quantity: before + 5, unitAmount: 1 },
  ];
  const { body } = await make(bench, "marketplace_order", { items, status: "accepted" });
  expect(await variant()).toBe(-5);
  await write(bench, "PATCH", `marketplace_order/${body.id}`, { status: "canceled" });
  expect(await variant()).toBe(before);
});

describe("an unknown value is rejected with the name of its field:", () => {
  const shared = shareForBlock();

  test.each([
    [
      "booking",
      { roomTypeId: "room_duoble" },
      'roomTypeId "room_duoble" is not in the profile of mer_lodge. Did you mean room_double?',
    ],
    ["pricing_rule", { roomTypeId: "penthouse" }, / There are room_single, room_double, room_suite, room_annex\./],
    [
      "payment",
      { customerId: "cus_nobody" },
      'customerId must be the id of a customer of yours; received "cus_nobody".',
    ],
    ["payout", { payoutMethodId: "pom_nobody" }, "payoutMethodId must be the id of a payout_method"],
    [
      "payout",
      { payments: [{ paymentId: "pay_nobody", amount: 1 }] },
      "payments.0.paymentId must be the id of a payment",
    ],
    ["booking", { paymentId: "pay_nobody" }, "paymentId must be the id of a payment"],
    ["booking", { balancePaymentId: "pay_nobody" }, "balancePaymentId must be the id of a payment"],
    ["booking", { customerId: "cus_nobody" }, "customerId must be the id of a customer"],
    ["marketplace_order", { customerId: "cus_nobody" }, "customerId must be the id of a customer"],
    ["membership_renewal", { customerId: "cus_nobody" }, "customerId must be the id of a customer"],
    ["membership_renewal", { paymentId: "pay_nobody" }, "paymentId must be the id of a payment"],
    ["product_variant", { productId: "prod_nobody" }, "productId must be the id of a product"],
    ["remittance", { payrollId: "pyr_nobody" }, "payrollId must be the id of a payroll"],
    ["payroll", { items: [item("emp_a", 10, 0)] }, "items.0.payrollId must be the id of a payroll"],
  ])("a %s with %j", async (kind, fields, message) => {
    const answer = await make(shared(), kind, fields);
    expect([answer.status, answer.body.code, answer.body.message]).toEqual([
      400,
      "validation_failed",
      expect.stringMatching(message),
    ]);
  });

  test("a change of a record", async () => {
    const { status } = await write(shared(), "PATCH", "booking/bkg_pending", { roomTypeId: "room_duoble" });
    expect(status).toBe(400);
  });

  test("but every room type is accepted if the profile of the merchant lists none", async () => {
    const { body } = await make(shared(), "booking", { merchant: "mer_market", roomTypeId: "tent" });
    expect(body).toMatchObject({ merchantId: "mer_market", roomTypeId: "tent", warnings: [] });
  });
});

test("every field that names a record is checked", () => {
  // These fields name no records: the service has no records of employees and memberships.
  const free = ["employeeId", "reviewerId", "membershipId"];
  const unchecked = resources.flatMap(({ kind, schema, references, listed, derived, hidden }) =>
    Object.keys(schema.properties)
      .filter((field) => field.endsWith("Id") && field !== "merchantId" && hidden.length === 0)
      .filter((field) => ![...free, ...derived].includes(field))
      .filter((field) => references[field] === undefined && listed[field] === undefined)
      .map((field) => `${kind}.${field}`),
  );
  expect(unchecked).toEqual([]);
});

/** Any valid amount, for the fields that bookkeeping rules constrain. */
const amounts = fc.integer({ min: 0, max: 100_000 });
const days = fc.integer({ min: 1, max: 28 }).map((day) => `2026-0${1 + (day % 4)}-${String(day).padStart(2, "0")}`);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const staff = fc.constantFrom("emp_marta", "emp_joao", "emp_new");
const items = fc
  .array(
    fc
      .record({ employeeId: staff, gross: amounts, deducted: amounts })
      .map(({ employeeId, gross, deducted }) => item(employeeId, gross, deducted, { payrollId: "pyr_draft" })),
    { minLength: 1, maxLength: 3 },
  )
  .map((list) => list.map((one, index) => ({ ...one, id: `${one.id}_${index}` })));
const ordered = fc.array(
  fc.record({
    variantId: fc.constantFrom("var_honey_250", "var_honey_500"),
    quantity: fc.integer({ min: 1, max: 500 }),
    unitAmount: amounts,
  }),
  { minLength: 1, maxLength: 3 },
);
const FIELDS: Readonly<Record<string, fc.Arbitrary<object>>> = {
  booking: fc
    .record({
      roomTypeId: fc.constantFrom("room_single", "room_annex"),
      checkIn: days,
      guests: fc.integer({ min: 0, max: 30 }),
      amount: maybe(amounts),
    })
    .map((stay) => ({ ...stay, checkOut: stay.checkIn.replace("2026", "2027") })),
  remittance: fc.record({
    scheme: fc.constantFrom("income_tax", "social_security", "other"),
    period: fc.constantFrom("2025-11", "2025-12", "2026-01"),
    payrollId: maybe(fc.constantFrom("pyr_paid", "pyr_4")),
  }),
  payroll: fc.record({
    periodStart: maybe(fc.constantFrom("2025-12-01", "2026-01-01")),
    payDate: maybe(fc.constantFrom("2026-01-28", "1990-01-01", "2090-01-01")),
    offCycle: maybe(fc.boolean()),
    items: maybe(items),
  }),
  payment: fc.record({ amount: amounts, fee: maybe(amounts), currency: maybe(fc.constantFrom("EUR", "USD")) }),
  payout: fc.record({
    payments: maybe(
      fc.array(fc.record({ paymentId: fc.constantFrom("pay_succeeded", "pay_refunded"), amount: amounts }), {
        minLength: 1,
        maxLength: 3,
      }),
    ),
  }),
  pricing_rule: fc.record({
    adjustmentType: fc.constantFrom("percentage", "fixed"),
    adjustmentValue: fc.integer({ min: -50_000, max: 50_000 }),
  }),
  marketplace_order: fc.record({
    items: ordered.map((list) => list.map((one) => ({ ...one, productId: "prod_honey", sku: null, name: "Honey" }))),
  }),
  membership_renewal: fc.record({ customerId: maybe(fc.constantFrom("cus_ines", "cus_renee")), dueDate: maybe(days) }),
  gov_payment: fc.record({ amount: maybe(amounts), agency: maybe(fc.constantFrom("Revenue Office", "Port")) }),
};

const kinds = new Map(resources.map((one) => [one.kind, one]));

/** A record with valid fields, the state in which it is made, and numbers that choose the states that follow. */
const anyRecord = fc.constantFrom(...Object.keys(FIELDS)).chain((kind) =>
  fc.record({
    kind: fc.constant(kind),
    fields: FIELDS[kind] as fc.Arbitrary<object>,
    status: maybe(fc.constantFrom(...Object.keys(kinds.get(kind)?.states ?? {}))),
    ways: fc.array(fc.nat(), { maxLength: 3 }),
  }),
);

describe("a record with any valid values", () => {
  const shared = shareForBlock();

  test("can be made and taken through its states, whatever other records exist", async () => {
    const tried = async (kind: string, fields: object, status: string | undefined, ways: number[]) => {
      const bench = shared();
      const made = await make(bench, kind, { ...fields, ...(status !== undefined && { status }) });
      expect(made.status, `${kind} ${JSON.stringify(fields)}: ${made.text}`).toBe(201);
      let state: string = made.body.status;
      for (const way of ways) {
        const next = kinds.get(kind)?.transitions[state] ?? [];
        if (next.length === 0) return;
        const to = next[way % next.length] as string;
        const moved = await write(bench, "PATCH", `${kind}/${made.body.id}`, { status: to });
        expect(moved.status, `${kind} ${state} to ${to}: ${moved.text}`).toBe(200);
        state = to;
      }
    };
    await fc.assert(
      fc.asyncProperty(anyRecord, ({ kind, fields, status, ways }) => tried(kind, fields, status, ways)),
      runs(150),
    );
    expect(await violations(shared())).toEqual([]);
  });
});
