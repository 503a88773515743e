// Seeding: brings the merchant of a fixture into being with everything it has, in silence: no event tells of it.

import type { Clock } from "../kernel/clock.ts";
import type { Resource } from "../kernel/resource.ts";
import type { Collections, Scope } from "./collection.ts";
import type { Counters } from "./counters.ts";
import type { Database } from "./database.ts";
import type { Fixture } from "./fixtures.ts";
import type { Tenants } from "./tenants.ts";

export interface Seeder {
  /**
   * The merchant of a fixture under this identity, with everything it has. Records keep their ids, and so their references to
   * each other: an id belongs to its merchant. Either all of it comes into being, or nothing.
   */
  seedMerchant(fixture: Fixture, identity: SeededIdentity): void;
}

export interface SeededIdentity {
  id: string;
  key: string;
  /** No two merchants share one. */
  email: string;
}

interface Stores {
  database: Database;
  collections: Collections;
  counters: Counters;
  tenants: Tenants;
}

export function openSeeder(stores: Stores, resources: readonly Resource[], clock: Clock): Seeder {
  const { database, collections, counters, tenants } = stores;
  const kinds = new Map(resources.map((resource) => [resource.kind, resource]));

  const bring = (fixture: Fixture, { id, key, email }: SeededIdentity) => {
    const { apiKey: _, password, ...profile } = fixture.merchant;
    const now = profile.created ?? clock.seconds();
    const scope: Scope = { merchant: id, now, mint: (prefix) => counters.mint(id, prefix), emit: () => {} };
    const all = { merchant: [{ ...profile, id, email }], ...fixture.records };
    for (const [kind, records] of Object.entries(all)) {
      const collection = collections(kinds.get(kind) as Resource, scope);
      for (const record of records) collection.create(record);
    }
    tenants.addKey(id, key);
    tenants.addLogin(email, id, password);
  };

  return { seedMerchant: (fixture, identity) => database.commitNow(() => bring(fixture, identity)) };
}
