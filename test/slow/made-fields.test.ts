// A record that is created with one given field keeps that field. The record's other fields fit that field and the
// merchant's other records, so the checks of test/support/books.ts find nothing.

import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { resources } from "../../src/areas/index.ts";
import type { AnyRecord, RecordsByKind, Resource } from "../../src/contracts/resource.ts";
import { grouped } from "../../src/kernel/grouped.ts";
import { isTimestamp } from "../../src/schema/shapes.ts";
import { optionalFields } from "../../src/store/records/record-fields.ts";
import { askedOf } from "../support/books.ts";
import { folder } from "../support/program.ts";
import { NOON_SECONDS, open } from "../support/sandbox.ts";
import { contradictionsIn, openWorldFile } from "../support/world-file.ts";

const seriesOf = (value: unknown) => String(value).split("-")[0];
const keysOf = (value: unknown) => Object.keys(value as object).join();

/**
 * For each kind and field, the dependent fields. If a seeded record has the same value in that field, a new record
 * takes the values of the dependent fields from such a record.
 */
const FOLLOWS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  payment: { description: ["method", "currency"] },
  payout_method: { type: ["bankName", "country"] },
  marketplace_order: { channel: ["number"], number: ["channel"] },
  booking: { roomTypeId: ["nightlyRate"], guestName: ["customerId"], customerId: ["guestName"] },
  payroll: { periodStart: ["periodEnd"], periodEnd: ["periodStart"] },
  appraisal: {
    cycle: ["periodStart", "periodEnd"],
    periodStart: ["cycle", "periodEnd"],
    periodEnd: ["cycle", "periodStart"],
  },
  membership_renewal: {
    plan: ["amount"],
    membershipId: ["customerId", "plan"],
    periodEnd: ["periodStart"],
    periodStart: ["periodEnd"],
  },
  sync_log: { integration: ["direction"], entity: ["integration", "direction"] },
  product_variant: { productId: ["options"] },
  remittance: {
    scheme: ["agency"],
    agency: ["scheme"],
    payrollId: ["period", "dueDate"],
    period: ["dueDate"],
    dueDate: ["period"],
  },
  gov_payment: { agency: ["reference"], reference: ["agency"], purpose: ["agency"] },
};

function essence(field: string, value: unknown): unknown {
  if (field === "number" || field === "reference") return seriesOf(value);
  return field === "options" ? keysOf(value) : value;
}

/** The expected errors: the value exists already, the product is archived, or the value contradicts another field. */
const REFUSED =
  /exists already|is archived|must be the sum of the items|(acceptedAt|verifiedAt) must not come before created/;

/**
 * Fields whose given value may contradict other records, such as another record's payment id, a paid tax period, a
 * number out of sequence, or a guest with another booking. The record is created as given.
 */
const CLAIMS =
  /^(gov_payment purpose|payroll metadata|booking (customerId|guestName)|\w+ (reference|number|receiptNumber|paymentReference|paymentId|balancePaymentId))$/;

const kinds = resources.filter(({ kind, hidden }) => kind !== "merchant" && hidden.length === 0);

/**
 * For each status, and without a status: the status alone, and the status with one field. The value of the field is
 * copied from the newest record with that status. Of a reference or number, only the series is copied.
 */
function* givenFields(resource: Resource, donors: readonly AnyRecord[]) {
  const fields = Object.keys(optionalFields(resource).properties).filter(
    (field) => !["id", "status", "created"].includes(field),
  );
  for (const status of [undefined, ...Object.keys(resource.states)]) {
    yield { field: "status", status, given: { status } };
    for (const field of fields) {
      const value = donors.findLast((one) => one.status === status && one[field] != null)?.[field];
      const isNumber = field === "reference" || field === "number";
      if (value !== undefined)
        yield { field, status, given: { status, [field]: isNumber ? `${seriesOf(value)}-9999` : value } };
    }
  }
}

/**
 * The cases of each merchant. `npm run fuzz` tries all. `npm test` tries each status alone and one third of the
 * combinations of field and status, spread evenly. It tries each case once, for the merchant with the fewest cases.
 */
function queuesOf<Case extends { merchant: string; resource: Resource; field: string; status: string | undefined }>(
  cases: readonly Case[],
): Case[][] {
  if (process.env.FUZZ_RUNS !== undefined) return [...grouped(cases, ({ merchant }) => merchant).values()];
  const queues = new Map(cases.map(({ merchant }) => [merchant, [] as Case[]]));
  const lengthOf = ({ merchant }: Case) => queues.get(merchant)?.length ?? 0;
  const byField = [...grouped(cases, ({ resource, field }) => `${resource.kind} ${field}`).values()];
  for (const [nth, ofField] of byField.entries()) {
    const byStatus = [...grouped(ofField, ({ status }) => `${status}`).values()];
    const isTried = (_: unknown, index: number) =>
      ofField[0]?.field === "status" || index % 3 === nth % Math.min(3, byStatus.length);
    for (const alike of byStatus.filter(isTried)) {
      const [shortest] = alike.sort((one, other) => lengthOf(one) - lengthOf(other));
      if (shortest) queues.get(shortest.merchant)?.push(shortest);
    }
  }
  return [...queues.values()];
}

test("a created record keeps the given field and is consistent, for every kind and merchant", async () => {
  const file = join(folder(), "made.db");
  const bench = await open({ memory: false, db: file });
  const worlds = openWorldFile(file);
  const cases = ["mer_lodge", "mer_market", "mer_stage", "mer_blank"].flatMap((merchant) => {
    const seeded = worlds.records(merchant);
    const donorsOf = ({ kind }: Resource) => (seeded.get(kind) ?? []).filter(({ offCycle }) => offCycle !== true);
    return kinds.flatMap((resource) =>
      Array.from(givenFields(resource, donorsOf(resource)), (given) => ({ merchant, seeded, resource, ...given })),
    );
  });
  const queues = queuesOf(cases);
  // A reset takes longer than a case, and merchants do not share records. So one case of each merchant runs before each
  // reset.
  for (let round = 0; queues.some((queue) => queue.length > round); round++) {
    for (const { merchant, seeded, resource, field, given } of queues.flatMap((queue) => queue[round] ?? [])) {
      const { status, body } = await bench.call("POST", `/_sandbox/records/${resource.kind}`, {
        key: null,
        body: { merchant, ...given },
      });
      const isMade = status === 200 || status === 201;
      const problems = isMade
        ? problemsOf(body, field, { given, resource, seeded, world: worlds.records(merchant) })
        : [body.message];
      const found = problems.filter((one) => isMade || !REFUSED.test(one));
      expect([merchant, resource.kind, given, found]).toEqual([merchant, resource.kind, given, []]);
    }
    await bench.control("POST", "/reset");
  }
  worlds.close();
});

interface Made {
  given: Record<string, unknown>;
  resource: Resource;
  seeded: RecordsByKind;
  world: RecordsByKind;
}

function problemsOf(
  record: AnyRecord & { warnings: string[] },
  field: string,
  { given, resource: { kind, schema }, seeded, world }: Made,
): string[] {
  const isLike = (other: AnyRecord, name: string) => essence(name, other[name]) === essence(name, record[name]);
  const same = (seeded.get(kind) ?? []).filter((one) => isLike(one, field));
  const strange = (FOLLOWS[kind]?.[field] ?? []).filter(
    (name) => same.length > 0 && !same.some((one) => isLike(one, name)),
  );
  const lost = Object.keys(given).filter(
    (name) => given[name] !== undefined && !isDeepStrictEqual(record[name], given[name]),
  );
  // A given timestamp may contradict the times of other records, so their checks may fail.
  const isAsked =
    record.warnings.length === 0 &&
    // Drafts pay nobody, so two drafts may have the same period and pay day.
    !(kind === "payroll" && record.status === "draft" && /^(period|payDate)/.test(field)) &&
    !isTimestamp(schema.properties[field] ?? {}) &&
    !CLAIMS.test(`${kind} ${field}`);
  return [
    ...[...lost, ...strange].map((name) => `${name} is ${JSON.stringify(record[name])}`),
    ...contradictionsIn(world, NOON_SECONDS),
    ...(isAsked ? askedOf(world, NOON_SECONDS) : []),
  ];
}
