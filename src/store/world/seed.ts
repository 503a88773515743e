// Seeds the merchant of a fixture with all its records, without emitting events.

import type { OwnRecords, Resource } from "../../contracts/resource.ts";
import type { Clock } from "../../kernel/clock.ts";
import { seriesFor } from "../operation-context.ts";
import type { Scope } from "../records/collection.ts";
import type { Stores } from "../stores.ts";
import { fixtureAt, startsOfFixture } from "./date-shift.ts";
import type { Fixture, FixtureRecord } from "./fixtures.ts";
import { countIn } from "./raise-counts.ts";

export interface SeededIdentity {
  id: string;
  key: string;
  /** Unique among all merchants. */
  email: string;
  /** Its position in the list of merchants; null for the end. */
  place: number | null;
}

type SeederStores = Pick<Stores, "database" | "collections" | "dueRecords" | "counters" | "tenants">;

/** Stores the key and the login of a seeded merchant, and what a reset needs to restore it. */
export function openIdentities({ database, tenants }: Pick<Stores, "database" | "tenants">) {
  const insertSeeded = database.sql.prepare(
    `insert into seeded_merchants (place, merchant, fixture, key, email, still)
     values (@place, @id, @fixture, @key, @email, @still)`,
  );
  return {
    /**
     * Call before records are added, because it stores which kinds the fixture exempts from time. `stored` is the hash
     * of the fixture's password, which is expensive to compute.
     */
    insert({ name, life, merchant: { password } }: Fixture, identity: SeededIdentity, stored?: string | null) {
      const still = life === "off" ? ["*"] : Object.keys(life ?? {});
      insertSeeded.run({ ...identity, fixture: name, still: JSON.stringify(still) });
      tenants.addKey(identity.id, identity.key);
      tenants.addLogin(identity.email, identity.id, password, stored);
    },
  };
}

export function openSeeder(stores: SeederStores, resources: readonly Resource[], clock: Clock) {
  const { collections, counters } = stores;
  const kinds = new Map(resources.map((resource) => [resource.kind, resource]));
  const identities = openIdentities(stores);
  const keepCount = (merchant: string, { prefix }: Resource, { id }: FixtureRecord) => {
    const count = typeof id === "string" ? countIn(id, prefix) : undefined;
    if (count !== undefined) counters.raise(merchant, prefix, count);
  };
  return {
    /**
     * Creates the merchant of a fixture with this identity and all its records, and carries out the changes that have
     * fallen due since the day that the fixture was written for. Returns the number of these changes. Ids are unique
     * within a merchant, so records keep their ids and their references to each other. Call inside a transaction.
     */
    seed(fixture: Fixture, identity: SeededIdentity): number {
      const { id, email } = identity;
      const now = clock.now();
      const { merchant, records: given } = fixtureAt(fixture, kinds, now);
      const { apiKey: _, password: __, ...profile } = merchant;
      const scope: Omit<Scope, "dueFrom"> = {
        merchant: id,
        now: profile.created ?? clock.seconds(),
        mint: (prefix) => counters.mint(id, prefix),
        series: seriesFor(counters, id),
        emit: () => {},
        // The file was validated when it was read.
        checkRecord: () => {},
      };
      identities.insert(fixture, identity);
      const all = { merchant: [{ ...profile, id, email }], ...given };
      const startOf = startsOfFixture(fixture, now);
      for (const [kind, records] of Object.entries(all)) {
        const resource = kinds.get(kind) as Resource;
        for (const record of records) {
          // Changes that were due before the day of the fixture are not carried out: its author left them out.
          const dueFrom = (startOf(resource, record) ?? now) + 1;
          collections(resource, { ...scope, dueFrom }).seed(record);
          // The ids of a fixture that was saved from this merchant came from its counters, which continue after them.
          if (id === merchant.id) keepCount(id, resource, record);
        }
      }
      return catchUp(stores, kinds, scope, now);
    },
  };
}

/** Carries out the changes of the merchant's records that have fallen due by `now`, each as of its own time. */
function catchUp(
  { collections, dueRecords }: SeederStores,
  kinds: ReadonlyMap<string, Resource>,
  scope: Omit<Scope, "dueFrom">,
  now: number,
) {
  let changes = 0;
  for (let due = dueRecords.firstOf(scope.merchant, now); due; due = dueRecords.firstOf(scope.merchant, now)) {
    const at = { ...scope, now: Math.floor(due.due / 1_000), dueFrom: 0 };
    const own: OwnRecords = (resource) => collections(resource, at);
    const resource = kinds.get(due.kind) as Resource;
    const record = own(resource).require(due.id);
    const next = resource.states[record.status ?? ""]?.next?.({ record, own });
    dueRecords.set(due, null);
    if (next) own(resource).move(record, next.status);
    changes++;
  }
  return changes;
}
