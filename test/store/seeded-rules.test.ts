// The seeded world contradicts itself at no time: rules, references and the sums between records.

import { expect, test } from "vitest";
import { eventTypes, resources } from "../../src/areas/index.ts";
import { createClock, isoTime } from "../../src/kernel/clock.ts";
import { createRandom } from "../../src/kernel/random.ts";
import { packageFile } from "../../src/sandbox/package-files.ts";
import { openStores } from "../../src/store/stores.ts";
import { checkWorld } from "../../src/store/world/check-world.ts";
import { readFixtures } from "../../src/store/world/fixtures.ts";
import { openSeeder } from "../../src/store/world/seed.ts";

const DAY = 86_400_000;
const fixtures = await readFixtures(packageFile("fixtures/merchants"));

/** Violations in a world that is seeded at a time. */
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
  const problems = fixtures.flatMap(({ merchant: { id } }) => {
    const { own } = stores.createOperationContext(id, clock.seconds(), undefined);
    return checkWorld({ resources, own, now: clock.seconds() }).map((violation) => `${id} ${violation.id}: ${violation.message}`);
  });
  stores.close();
  return problems;
}

test("at any time the seeded world of each merchant is coherent", () => {
  for (let day = 0; day < 731; day += 23)
    expect(problemsAt(Date.UTC(2026, 0, 1) + day * DAY), isoTime(Date.UTC(2026, 0, 1) + day * DAY)).toEqual([]);
});
