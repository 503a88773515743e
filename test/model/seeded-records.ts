// The records with which a merchant begins. They are data, not behaviour, so the model takes them from the sandbox's
// seeder.

import { join } from "node:path";
import { eventTypes, resources } from "../../src/areas/index.ts";
import { createClock } from "../../src/kernel/clock.ts";
import { createRandom } from "../../src/kernel/random.ts";
import { openStores } from "../../src/store/stores.ts";
import { readFixtures } from "../../src/store/world/fixtures.ts";
import { openSeeder } from "../../src/store/world/seed.ts";
import type { KindName } from "./record-kinds.ts";
import type { Entry } from "./world.ts";

export const FIXTURES = join(import.meta.dirname, "../../fixtures/merchants");

const files = readFixtures(FIXTURES);
const random = createRandom(1);
const webhooks = { gaps: [0], writeEvent: JSON.stringify, checkTarget: () => {}, eventTypes };

/** Caches the records by fixture, merchant and time, because shrinking seeds the same merchants many times. */
const cache = new Map<string, [KindName, Entry][]>();

/** The records of a fixture for a merchant with this id and email, at a time in milliseconds; the oldest first. */
export function seededRecords(
  fixture: string,
  { id, email }: { id: string; email: string },
  now: number,
): [KindName, Entry][] {
  const name = `${fixture} ${id} ${now}`;
  const records = cache.get(name) ?? seed(fixture, id, email, now);
  cache.set(name, records);
  return structuredClone(records);
}

function seed(name: string, id: string, email: string, now: number): [KindName, Entry][] {
  const fixture = files.find((file) => file.name === name);
  if (!fixture) throw new Error(`There is no fixture ${name}.`);
  const clock = createClock(now);
  const stores = openStores({ clock, random, webhooks });
  try {
    const { database } = stores;
    database.transaction(() =>
      openSeeder(stores, resources, clock).seed(fixture, { id, email, key: "sk_test_model", place: null }),
    );
    const rows = database.sql
      .prepare<[], { kind: KindName; body: string }>("select kind, body from documents order by created, sequence")
      .all();
    return rows.map(({ kind, body }) => [kind, JSON.parse(body) as Entry]);
  } finally {
    stores.close();
  }
}
