// Seeds the merchant of a fixture with all its records, without emitting events.

import type { Resource } from "../../contracts/resource.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Collections, Scope } from "../records/collection.ts";
import type { Counters } from "../records/id-counters.ts";
import type { Tenants } from "../records/tenants.ts";
import type { Database } from "../sqlite/database.ts";
import { fixtureAt } from "./dated-fixture.ts";
import type { Fixture } from "./fixtures.ts";

export type Seeder = ReturnType<typeof openSeeder>;

export interface SeededIdentity {
  id: string;
  key: string;
  /** Unique among all merchants. */
  email: string;
  /** Its position in the list of merchants; null for the end. */
  place: number | null;
}

interface SeederStores {
  database: Database;
  collections: Collections;
  counters: Counters;
  tenants: Tenants;
}

export function openSeeder({ database, collections, counters, tenants }: SeederStores, resources: readonly Resource[], clock: Clock) {
  const kinds = new Map(resources.map((resource) => [resource.kind, resource]));
  const noteOrigin = database.sql.prepare(
    "insert into origins (place, merchant, fixture, key, email) values (@place, @id, @fixture, @key, @email)",
  );
  return {
    /**
     * Creates the merchant of a fixture with this identity and all its records. Ids are unique within a merchant, so records keep their ids
     * and their references to each other. To be called inside a transaction.
     */
    seed(fixture: Fixture, identity: SeededIdentity) {
      const { id, key, email } = identity;
      const { merchant, records: given } = fixtureAt(fixture, kinds, clock.now());
      const { apiKey: _, password, ...profile } = merchant;
      const now = profile.created ?? clock.seconds();
      const scope: Scope = {
        merchant: id,
        now,
        mint: (prefix) => counters.mint(id, prefix),
        emit: () => {},
        // What lies in the past is over.
        dueFrom: clock.now() + 1,
        // The file was validated when it was read.
        checkRecord: () => {},
      };
      const all = { merchant: [{ ...profile, id, email }], ...given };
      for (const [kind, records] of Object.entries(all)) {
        const collection = collections(kinds.get(kind) as Resource, scope);
        for (const record of records) collection.seed(record);
      }
      tenants.addKey(id, key);
      tenants.addLogin(email, id, password);
      noteOrigin.run({ ...identity, fixture: fixture.name });
    },
  };
}
