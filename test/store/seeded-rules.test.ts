// The seeded world keeps the declared rules at any time: each record its own, and references that exist.

import { expect, test } from "vitest";
import { eventTypes, resources } from "../../src/areas/index.ts";
import type { RecordBase } from "../../src/contracts/resource.ts";
import { createClock, isoTime } from "../../src/kernel/clock.ts";
import { createRandom } from "../../src/kernel/random.ts";
import { packageFile } from "../../src/sandbox/package-files.ts";
import { openStores } from "../../src/store/stores.ts";
import { readFixtures } from "../../src/store/world/fixtures.ts";
import { openSeeder } from "../../src/store/world/seed.ts";

const DAY = 86_400_000;
const fixtures = await readFixtures(packageFile("fixtures/merchants"));

/** The problems of all records of a world that is seeded at a time. */
function problemsAt(time: number): string[] {
  const clock = createClock(time);
  const stores = openStores({ clock, random: createRandom(1), webhooks: { gaps: [0], checkTarget: () => {}, eventTypes } });
  const seeder = openSeeder(stores, resources, clock);
  stores.database.transaction(() => {
    for (const fixture of fixtures) {
      const { id, apiKey, email } = fixture.merchant;
      seeder.seed(fixture, { id, key: apiKey, email, place: null });
    }
  });
  const problems = fixtures.flatMap(({ merchant: { id: merchant } }) => {
    const { own } = stores.createOperationContext(merchant, clock.seconds(), undefined);
    return resources.flatMap((resource) =>
      own(resource)
        .all()
        .flatMap((record: RecordBase) => {
          const found = resource.rules.map((rule) => rule(record as never, { before: record as never, now: record.created, own }));
          const missing = Object.entries(resource.references).filter(([field, kind]) => {
            const reference = (record as never)[field] as string | null;
            return reference !== null && !resources.some((other) => other.kind === kind && own(other).find(reference));
          });
          return [
            ...found
              .filter((problem) => problem !== undefined)
              .map(({ field, message }) => `${merchant} ${record.id} ${field}: ${message}`),
            ...missing.map(([field]) => `${merchant} ${record.id} ${field} refers to nothing`),
          ];
        }),
    );
  });
  stores.close();
  return problems;
}

test("at any time each seeded record keeps the rules of its kind, and refers to records that exist", () => {
  for (let day = 0; day < 731; day += 23)
    expect(problemsAt(Date.UTC(2026, 0, 1) + day * DAY), isoTime(Date.UTC(2026, 0, 1) + day * DAY)).toEqual([]);
});
