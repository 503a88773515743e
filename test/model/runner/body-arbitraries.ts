// Arbitraries for request bodies: changes of the example of an operation to valid and invalid values.

import fc from "fast-check";
import type { Fields } from "../record-kinds.ts";

const MOST = Number.MAX_SAFE_INTEGER;
const texts = ["", "Something", null, 7];
const days = ["2026-01-10", "2026-07-01", "2026-02-30", "tomorrow", null];
const amounts = [0, 4_200, -1, MOST, MOST + 1, 1.5, "10", null];
const metadata = [{ order: "7" }, {}, [], "x", null];
const currency = ["EUR", "KES", "eur", "EURO", null];
const country = ["PT", "CH", "pt", null];
const emails = ["one@cafe.example", "two@cafe.example", "ola@lodge.example", "mado@stage.example", "nobody", null];
const counts = [0, 1, 3, -1, 2.5, null];

/** Values to try, by field name. */
const VALUES: Record<string, readonly unknown[]> = {
  name: texts,
  adjustmentType: ["fixed", "percentage", "share", null],
  adjustmentValue: amounts,
  roomTypeId: texts,
  startDate: days,
  endDate: days,
  daysOfWeek: [["monday", "friday"], [], ["someday"], "monday", null],
  minNights: counts,
  maxNights: counts,
  priority: counts,
  metadata,
  reason: texts,
  periodStart: days,
  periodEnd: days,
  payDate: days,
  currency,
  items: [
    [{ employeeId: "emp_a", grossAmount: 100 }],
    [{ employeeId: "emp_a", grossAmount: 100, note: "kept" }],
    [{ employeeId: "", grossAmount: 100 }],
    [
      { employeeId: "emp_a", grossAmount: MOST },
      { employeeId: "emp_b", grossAmount: 1 },
    ],
    [{ employeeId: "emp_a", grossAmount: 5, deductions: [{ code: "tax", amount: 9 }] }],
    [{ employeeId: "emp_a", grossAmount: 5, deductions: null }],
    [{ employeeId: "emp_a", grossAmount: 5, deductions: [{ amount: 9 }] }],
    [],
    null,
  ],
  netAmount: amounts,
  type: ["mobile_money", "bank_account", "payment.succeeded", "booking.declined", "made.up", "none", null],
  accountNumber: ["PT50 0000-1111", "+254 700 900300", "1234", "1234 5678!", null],
  accountName: texts,
  bankName: texts,
  bankCode: texts,
  country,
  isDefault: [true, false, "yes", null],
  email: emails,
  password: ["lodge-password", "cafe-password", "stage-password", "wrong", "", null],
  phone: texts,
  sku: ["A-1", "A-2", "HONEY-250", "", null],
  price: amounts,
  stockQuantity: counts,
  barcode: texts,
  options: [
    { size: "L" },
    { size: "M" },
    { size: "250 g" },
    { colour: "red", size: "L" },
    { size: "L", colour: "red" },
    {},
    { size: 7 },
    null,
  ],
  receiptNumber: texts,
  confirmedDate: days,
  note: texts,
  ledgerAccount: ["2450 Value added tax", "", null],
  memo: texts,
  payFrequency: ["weekly", "monthly", "daily", null],
  remittanceDueDay: [1, 15, 28, 0, 29, null],
  autoRemit: [true, false, 1, null],
  schemes: [
    [],
    [{ scheme: "pension", enabled: true, registrationNumber: null, employeeRateBps: 100, employerRateBps: 10_000 }],
    [{ scheme: "pension", enabled: true, employeeRateBps: 100, employerRateBps: 0 }],
    null,
  ],
  events: [
    ["*"],
    ["booking.declined"],
    ["payment.succeeded", "pricing_rule.created", "payment.succeeded"],
    ["made.up"],
    [],
    ["None"],
    null,
  ],
  data: [{}, { amount: 7, of: { what: [1] } }, [], null],
  // Fields that no operation accepts, or that only the service sets.
  note2: ["kept", { deep: [1, null] }, null],
  id: ["chosen_by_client"],
  status: ["paid", "declined"],
  created: [1],
  merchantId: ["mer_market"],
};

const EXTRA = ["note2", "id", "status", "created", "merchantId"];

/** Endpoint addresses that are rejected. */
export const ADDRESSES = [
  "http://example.com/ok",
  "ftp://localhost/ok",
  "http://user:word@localhost:3000/ok",
  "http://localhost:3000/ok#here",
  "http://127.0.0.1:25/ok",
  "http://127.0.0.1.nip.io:3000/ok",
  "localhost:3000/ok",
  "http://0.0.0.0:3000/ok",
];

export interface Change {
  name: string;
  /** If absent, the field is removed. */
  value?: unknown;
}

const changeOf = (names: readonly string[]): fc.Arbitrary<Change> =>
  fc.constantFrom(...names).chain((name) =>
    fc.oneof(
      {
        weight: 6,
        arbitrary: fc.constantFrom(...(VALUES[name] ?? [null])).map((value): Change => ({ name, value })),
      },
      { weight: 1, arbitrary: fc.constant<Change>({ name }) },
    ),
  );

/** Changes to a valid body. Half of the bodies get none, and most changes are to fields that the operation accepts. */
export function changesOf(fields: readonly string[]): fc.Arbitrary<Change[]> {
  const some = fc.oneof(...(fields.length > 0 ? [{ weight: 4, arbitrary: changeOf(fields) }] : []), {
    weight: 1,
    arbitrary: changeOf(EXTRA),
  });
  return fc.oneof(
    { weight: 5, arbitrary: fc.constant<Change[]>([]) },
    { weight: 4, arbitrary: fc.array(some, { minLength: 1, maxLength: 2 }) },
    { weight: 1, arbitrary: fc.array(some, { maxLength: 5 }) },
  );
}

export function changed(usual: Fields, changes: readonly Change[]): Fields {
  const body = { ...usual };
  for (const change of changes) {
    if ("value" in change) body[change.name] = change.value;
    else delete body[change.name];
  }
  return body;
}
