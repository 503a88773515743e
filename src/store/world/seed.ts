// Seeding: brings the merchant of a fixture into being with everything it has, in silence: no event tells of it.

import type { Resource } from "../../contracts/resource.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Collections, Scope } from "../records/collection.ts";
import type { Counters } from "../records/id-counters.ts";
import type { Tenants } from "../records/tenants.ts";
import type { Database } from "../sqlite/database.ts";
import type { Fixture } from "./fixtures.ts";

export interface Seeder {
  /**
   * The merchant of a fixture under this identity, with everything it has. Records keep their ids, and so their references to
   * each other: an id belongs to its merchant. Only inside a transaction.
   */
  seed(fixture: Fixture, identity: SeededIdentity): void;
}

export interface SeededIdentity {
  id: string;
  key: string;
  /** No two merchants share one. */
  email: string;
  /** Where it stands among the others; null for the end. */
  place: number | null;
}

interface Stores {
  database: Database;
  collections: Collections;
  counters: Counters;
  tenants: Tenants;
}

export function openSeeder({ database, collections, counters, tenants }: Stores, resources: readonly Resource[], clock: Clock): Seeder {
  const kinds = new Map(resources.map((resource) => [resource.kind, resource]));
  const noteOrigin = database.sql.prepare(
    "insert into origins (place, merchant, fixture, key, email) values (@place, @id, @fixture, @key, @email)",
  );
  return {
    seed(fixture, identity) {
      const { id, key, email } = identity;
      const { apiKey: _, password, ...profile } = fixture.merchant;
      const now = profile.created ?? clock.seconds();
      // The file was held against the kinds when it was read.
      const scope: Scope = { merchant: id, now, mint: (prefix) => counters.mint(id, prefix), emit: () => {}, checkRecord: () => {} };
      const all = { merchant: [{ ...profile, id, email }], ...fixture.records };
      for (const [kind, records] of Object.entries(all)) {
        const collection = collections(kinds.get(kind) as Resource, scope);
        for (const record of records) collection.create(record);
      }
      tenants.addKey(id, key);
      tenants.addLogin(email, id, password);
      noteOrigin.run({ ...identity, fixture: fixture.name });
    },
  };
}
