// The seeded world contradicts itself at no time: rules, references and the sums between records. The checker that says so finds each contradiction.

import { expect, test } from "vitest";
import { eventTypes, resources } from "../../src/areas/index.ts";
import type { AnyRecord, RecordsByKind } from "../../src/contracts/resource.ts";
import { createClock, isoTime } from "../../src/kernel/clock.ts";
import { createRandom } from "../../src/kernel/random.ts";
import { packageFile } from "../../src/sandbox/package-files.ts";
import { openStores } from "../../src/store/stores.ts";
import { checkWorld } from "../../src/store/world/check-world.ts";
import { readFixtures } from "../../src/store/world/fixtures.ts";
import { openSeeder } from "../../src/store/world/seed.ts";
import { askedOf } from "../support/books.ts";
import { daysBetween } from "../support/fuzzing.ts";
import { NOON_SECONDS } from "../support/sandbox.ts";

const DAY = 86_400_000;
const fixtures = readFixtures(packageFile("fixtures/merchants"));

/** The records of each merchant in a world that is seeded at a time. */
function worldsAt(time: number): Map<string, RecordsByKind> {
  const clock = createClock(time);
  const stores = openStores({ clock, random: createRandom(1), webhooks: { gaps: [0], checkTarget: () => {}, eventTypes } });
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

test("at any time the seeded world of each merchant is coherent", () => {
  for (let day = 0; day < 731; day += daysBetween(31, 7)) {
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
  ["a field of another type", payment(), { amount: "much" }, "amount must be an integer or null"],
  ["a rule of the kind", payment(), { refundedAmount: 99_999_999 }, "refundedAmount must not exceed the amount"],
  ["a reference", payment(), { customerId: "cus_nobody" }, "customerId is cus_nobody, which is no customer"],
  ["an amount paid out that no payout contains", payment(), { paidOutAmount: 5 }, "paidOutAmount is 5; its payouts contain"],
  ["a kept deposit", first("booking", "declined"), { paymentId: payment().id }, `its deposit ${payment().id} is not refunded`],
  ["no default payout method", first("payout_method", "verified"), { isDefault: false }, "0 of 1 payout methods are the default"],
  [
    "an early remittance",
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
