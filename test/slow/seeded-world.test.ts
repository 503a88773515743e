// At many times, the seeded records are consistent, complete and dated around the present. The checker that the test
// uses finds each contradiction.

import { describe, expect, test } from "vitest";
import { eventTypes, resources } from "../../src/areas/index.ts";
import type { AnyRecord, RecordsByKind } from "../../src/contracts/resource.ts";
import { createClock, isoTime, LATEST_TIME, parseTime } from "../../src/kernel/clock.ts";
import { oncePerKey } from "../../src/kernel/once.ts";
import { createRandom } from "../../src/kernel/random.ts";
import { packageFile } from "../../src/sandbox/package-files.ts";
import { openStores } from "../../src/store/stores.ts";
import { checkWorld } from "../../src/store/world/check-world.ts";
import { fixtureAt } from "../../src/store/world/date-shift.ts";
import { type Fixture, readFixtures } from "../../src/store/world/fixtures.ts";
import { openSeeder } from "../../src/store/world/seed.ts";
import { askedOf } from "../support/books.ts";
import { daysBetween } from "../support/fuzzing.ts";
import { NOON_SECONDS, open } from "../support/sandbox.ts";

const DAY = 86_400_000;
const fixtures = readFixtures(packageFile("fixtures/merchants"));

/** The seeded records of each merchant at a time. */
function worldsAt(time: number): Map<string, RecordsByKind> {
  const clock = createClock(time);
  const stores = openStores({
    clock,
    random: createRandom(1),
    webhooks: { gaps: [0], writeEvent: JSON.stringify, checkTarget: () => {}, eventTypes },
  });
  const seeder = openSeeder(stores, resources, clock);
  stores.database.transaction(() => {
    for (const fixture of fixtures) {
      const { id, apiKey, email } = fixture.merchant;
      seeder.seed(fixture, { id, key: apiKey, email, place: null });
    }
  });
  const worlds = fixtures.map(({ merchant: { id } }) => {
    const { own } = stores.createOperationContext(id, clock.seconds(), undefined);
    return [id, new Map(resources.map((resource) => [resource.kind, own(resource).all() as AnyRecord[]]))] as const;
  });
  stores.close();
  return new Map(worlds);
}

const problemsOf = (world: RecordsByKind, now: number) => [
  ...checkWorld({ resources, world, now }).map(({ id, message }) => `${id}: ${message}`),
  ...askedOf(world, now),
];

test("at any time the seeded records of each merchant are consistent", () => {
  for (let day = 0; day < 731; day += daysBetween(73, 7)) {
    const time = Date.UTC(2026, 0, 1) + day * DAY;
    for (const [merchant, world] of worldsAt(time))
      expect([merchant, isoTime(time), problemsOf(world, time / 1_000)]).toEqual([merchant, isoTime(time), []]);
  }
});

const noon = worldsAt(NOON_SECONDS * 1_000);

// biome-ignore lint/suspicious/noExplicitAny: the test looks into records of every kind.
const first = (kind: string, status: string, merchant = "mer_lodge"): any =>
  noon
    .get(merchant)
    ?.get(kind)
    ?.find((record) => record.status === status);
const payment = () => first("payment", "succeeded");
const order = () => first("marketplace_order", "accepted", "mer_market");

test.each([
  ["a field of the wrong type", payment(), { amount: "much" }, "amount must be an integer or null"],
  [
    "a refund of more than the payment",
    payment(),
    { refundedAmount: 99_999_999 },
    "refundedAmount must not exceed the amount",
  ],
  [
    "a reference to a missing record",
    payment(),
    { customerId: "cus_nobody" },
    "customerId is cus_nobody, which is no customer",
  ],
  [
    "a paid-out amount that no payout contains",
    payment(),
    { paidOutAmount: 5 },
    "paidOutAmount is 5; its payouts contain",
  ],
  [
    "an unreturned deposit of a declined booking",
    first("booking", "declined"),
    { paymentId: payment().id },
    `its deposit ${payment().id} is not refunded`,
  ],
  [
    "a missing default payout method",
    first("payout_method", "verified"),
    { isDefault: false },
    "0 of 1 payout methods are the default",
  ],
  [
    "a remittance of an unpaid payroll",
    first("remittance", "pending"),
    { payrollId: first("payroll", "draft").id },
    `is of the payroll ${first("payroll", "draft").id}, which is not paid`,
  ],
  [
    "an unknown product",
    order(),
    { items: [{ ...order().items[0], productId: "prod_9" }] },
    "items.0.productId must be the id of a product of yours",
  ],
  [
    "an unknown variant",
    order(),
    { items: [{ ...order().items[0], variantId: "var_9" }] },
    "items.0.variantId must be the id of a product_variant of yours",
  ],
])("the checker finds %s", (_, record: AnyRecord, changes, message) => {
  const world = new Map(noon.get(record.merchantId));
  const records = world.get(record.object) as readonly AnyRecord[];
  world.set(
    record.object,
    records.map((one) => (one === record ? { ...one, ...changes } : one)),
  );
  expect(problemsOf(world, NOON_SECONDS)).toContainEqual(expect.stringContaining(message));
});

// biome-ignore lint/suspicious/noExplicitAny: tests look into records of every kind.
type Some = any;
const FIRST_DAY = Date.UTC(2026, 0, 1);
const kinds = new Map(resources.map((resource) => [resource.kind, resource]));

const STEP = daysBetween(15, 1);
/**
 * Days of two years, with a time of day that changes from day to day. Every tenth day adds the start of the day and the
 * millisecond before.
 */
const times = Array.from({ length: Math.ceil(731 / STEP) }, (_, index) => index * STEP).flatMap((day) => {
  const start = FIRST_DAY + day * DAY;
  const time = start + ((day * 7_919_000) % DAY);
  return day % 10 === 0 ? [time, start, start - 1] : [time];
});

const recordsOf = (fixture: Fixture): Some[] =>
  Object.entries(fixture.records).flatMap(([kind, records]) => records.map((record) => ({ kind, ...record })));

/** Dates that may be in the future, because they are planned. */
const PLANNED = new Set([
  "checkIn",
  "checkOut",
  "dueDate",
  "payDate",
  "arrivalDate",
  "periodStart",
  "periodEnd",
  "startDate",
  "endDate",
  "expectedDelivery",
  "graceUntil",
]);

/** Fields that refer to an older record. */
const REFERENCES = ["customerId", "payoutMethodId", "productId"];

/** Each time in a record, with the name of its field. */
function timesOf(value: unknown, name = ""): { name: string; time: number }[] {
  if (Array.isArray(value)) return value.flatMap((one) => timesOf(one, name));
  if (typeof value === "object" && value !== null)
    return Object.entries(value).flatMap(([key, one]) => timesOf(one, key));
  if (typeof value === "number" && /^(created|updated|at|\w+At)$/.test(name)) return [{ name, time: value * 1_000 }];
  const day = typeof value === "string" && /^\d{4}-\d\d-\d\d$/.test(value) ? parseTime(value) : undefined;
  return day === undefined ? [] : [{ name, time: day }];
}

/** The seeded records of a fixture at each of these times. */
const worldsOf = oncePerKey((fixture: Fixture) => times.map((now) => ({ now, dated: fixtureAt(fixture, kinds, now) })));

/** The properties of a fixture that the tests check, computed once for all times that give it the same dates. */
const summaryOf = oncePerKey((fixture: Fixture) => {
  const records = [{ kind: "merchant", ...fixture.merchant }, ...recordsOf(fixture)] as Some[];
  const created = new Map(records.map((record) => [record.id, record.created]));
  const past = records
    .flatMap(({ metadata: _, ...record }) => timesOf(record))
    .filter(({ name }) => !PLANNED.has(name));
  const tooEarly = (record: Some) =>
    record.created < (fixture.merchant.created ?? 0) ||
    REFERENCES.some((field) => created.get(record[field]) > record.created);
  return {
    newest: Math.max(...records.map((record) => record.created)) * 1_000,
    latest: Math.max(...past.map(({ time }) => time)),
    createdBeforeWhatTheyReferTo: records.filter(tooEarly).map(({ id }) => id),
  };
});

describe.each(fixtures.map((fixture) => [fixture.name, fixture] as const))("the fixture %s", (_, fixture) => {
  test("has its newest record in the eight days before the present, and only planned dates later", () => {
    for (const { now, dated } of worldsOf(fixture)) {
      const { newest, latest } = summaryOf(dated);
      expect(newest, isoTime(now)).toBeGreaterThan(now - 8 * DAY);
      expect(latest, isoTime(now)).toBeLessThanOrEqual(now);
    }
  });

  test("has records that refer only to older records", () => {
    for (const { now, dated } of worldsOf(fixture))
      expect(summaryOf(dated).createdBeforeWhatTheyReferTo, isoTime(now)).toEqual([]);
  });

  test("keeps the weekdays of its dates at every time", () => {
    const written = daysOf(fixture);
    const daysAt = oncePerKey(daysOf);
    for (const { now, dated } of worldsOf(fixture)) expect(daysAt(dated), isoTime(now)).toEqual(written);
  });
});

/** The weekdays of stays, weekly payouts and renewals. */
function daysOf(fixture: Fixture) {
  const weekday = (day: string | undefined) => day && new Date(day).getUTCDay();
  return recordsOf(fixture).map(({ id, checkIn, arrivalDate, metadata, periodStart, plan }) =>
    [id, weekday(checkIn), metadata?.schedule === "daily" || weekday(arrivalDate), plan && weekday(periodStart)].join(),
  );
}

const byId = oncePerKey((fixture: Fixture) => new Map(recordsOf(fixture).map((record) => [record.id, record])));

test("at every time, the lodge's upcoming stays, pay days and due days lie in the future", () => {
  const lodge = fixtures.find(({ name }) => name === "lodge") as Fixture;
  for (const { now, dated } of worldsOf(lodge)) {
    const records = byId(dated);
    const isAhead = (id: string, field: string) =>
      expect(parseTime(records.get(id)[field]), `${id} ${isoTime(now)}`).toBeGreaterThan(now);
    for (const id of ["bkg_pending", "bkg_pending_2", "bkg_pending_3", "bkg_confirmed", "bkg_confirmed_2"])
      isAhead(id, "checkIn");
    isAhead("bkg_checked_in", "checkOut");
    for (const id of ["pyr_draft", "pyr_pending", "pyr_processing"]) isAhead(id, "payDate");
    for (const id of ["rem_pending", "rem_pending_2", "ren_pending", "ren_pending_2"]) isAhead(id, "dueDate");
    for (const id of ["po_pending", "po_in_transit"]) isAhead(id, "arrivalDate");
    expect(parseTime(records.get("rem_overdue").dueDate)).toBeLessThan(now);
  }
});

test.each(["1970-01-01T00:00:00Z", "9999-11-01T00:00:00Z", "9999-12-31T23:00:00Z"])(
  "a sandbox starts at %s, and its clock advances by 30 days or to the end of the calendar",
  async (clock) => {
    const bench = await open({ clock });
    const left = LATEST_TIME - (parseTime(clock) ?? 0);
    await bench.control("POST", "/clock/advance", { by: `${Math.floor(Math.min(30 * DAY, left) / 1_000)}s` });
    expect((await bench.call("GET", "/v1/payments?limit=1")).body.data).toHaveLength(1);
  },
);
