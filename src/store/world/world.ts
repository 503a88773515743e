// The seeded world: seeds an empty database, resets it, and creates and removes merchants for tests.

import { didYouMean } from "../../kernel/did-you-mean.ts";
import { fail } from "../../kernel/errors.ts";
import { type Random, randomText } from "../../kernel/random.ts";
import type { Database } from "../sqlite/database.ts";
import type { Stores } from "../stores.ts";
import type { Fixture } from "./fixtures.ts";
import type { SeededIdentity, Seeder } from "./seed.ts";
import type { SeedImage } from "./seed-image.ts";

export type World = ReturnType<typeof openWorld>;

interface MerchantOrigin extends SeededIdentity {
  fixture: string;
}

/** The owner of the counters that belong to no merchant. */
const SANDBOX = "sandbox";
const KEY_LENGTH = 24;

interface WorldOptions {
  stores: Stores;
  seeder: Seeder;
  fixtures(): readonly Fixture[];
  /** The fixtures as they are seeded now. */
  image(): SeedImage;
  random: Random;
  /** Clears the caches after the rows of one merchant, or of all, were deleted. */
  renew(merchant?: string): void;
}

export function openWorld({ stores, seeder, fixtures, image, random, renew }: WorldOptions) {
  const { database, counters, requestLog, tenants } = stores;
  const eraser = openEraser(database);
  const isEmpty = database.sql.prepare<[], number>("select not exists (select 1 from documents where kind = 'merchant')").pluck();
  const originOf = database.sql.prepare<[string], MerchantOrigin>(
    "select merchant as id, fixture, key, email, place from origins where merchant = ?",
  );
  const reseed = (merchant: string) => {
    const origin = originOf.get(tenants.require(merchant));
    if (!origin)
      fail("validation_failed", `${merchant} was created through the API and came from no fixture. Reset everything, or remove it.`);
    const { fixture, ...identity } = origin;
    eraser.merchant(merchant);
    seeder.seed(named(fixtures(), fixture), identity);
  };
  const reseedAll = () => {
    eraser.everything();
    image().copyInto(database);
  };
  /** Creates a merchant from a fixture, with a new id and a key made for it. */
  const create = (fixture: Fixture, secretOf: (id: string) => string) =>
    database.transaction(() => {
      const id = counters.mint(SANDBOX, "mer");
      const key = `sk_test_${secretOf(id)}`;
      const email = fixture.merchant.email.replace("@", `+${id.slice("mer_".length)}@`);
      seeder.seed(fixture, { id, key, email, place: null });
      return { merchant: id, apiKey: key };
    });
  const forget = (merchant?: string) => {
    requestLog.forget(merchant);
    renew(merchant);
  };

  return {
    /** Seeds the fixtures into a database that has no merchant yet. */
    fill() {
      if (isEmpty.get() === 1) database.transaction(reseedAll);
    },
    /** Restores everything, or one merchant, to the fixtures with the same ids. */
    reset(merchant?: string) {
      database.transaction(() => (merchant === undefined ? reseedAll() : reseed(merchant)));
      forget(merchant);
    },
    /** Creates a merchant with all records of a fixture and a new identity, which is the same in every sandbox with this seed. */
    mint: (fixture: string) => create(named(fixtures(), fixture), (id) => random.text(KEY_LENGTH, "key", id)),
    /** Creates a merchant that other users of a shared sandbox cannot act as: no seed predicts its key, and it has no password. */
    mintPrivate(fixture: string) {
      const { merchant, ...found } = named(fixtures(), fixture);
      const { password: _, ...profile } = merchant;
      return create({ ...found, merchant: profile }, () => randomText(KEY_LENGTH));
    },
    remove(merchant: string) {
      database.transaction(() => eraser.merchant(tenants.require(merchant)));
      forget(merchant);
    },
  };
}

function named(fixtures: readonly Fixture[], name: string): Fixture {
  const names = fixtures.map((fixture) => fixture.name);
  const found = fixtures.find((fixture) => fixture.name === name);
  return found ?? fail("validation_failed", `There is no fixture ${name}.${didYouMean(name, names) || ` There are ${names.join(", ")}.`}`);
}

/** Every table whose rows belong to a merchant; tables that refer to others come first. */
const TABLES = [
  "attempts",
  "deliveries",
  "events",
  "let_go",
  "subscriptions",
  "replies",
  "documents",
  "logins",
  "keys",
  "counters",
  "request_log",
  "left_steps",
  "learners",
  "origins",
];

/** The conditions for tables that have no index starting with the merchant. */
const CONDITIONS: Readonly<Record<string, string>> = {
  attempts: "delivery in (select sequence from deliveries where event in (select sequence from events where merchant = ?))",
  deliveries: "event in (select sequence from events where merchant = ?)",
};

/** Deletes one merchant with all its rows, or everything. */
function openEraser({ sql }: Database) {
  const perMerchant = TABLES.map((table) => sql.prepare(`delete from ${table} where ${CONDITIONS[table] ?? "merchant = ?"}`));
  const all = [...TABLES.map((table) => `delete from ${table}`), "delete from sqlite_sequence"].map((text) => sql.prepare(text));
  // Stored replies to logins as this merchant that other merchants' calls made. The tokens in them are deleted with this merchant's keys.
  const loginReplies = sql.prepare(`delete from replies where exists (select 1 from keys where merchant = @id and kind = 'session')
    and case when body like '{"object":"session",%' then body ->> '$.merchant.id' = @id end`);
  return {
    /** Call inside a transaction. */
    merchant(id: string) {
      loginReplies.run({ id });
      for (const statement of perMerchant) statement.run(id);
    },
    /** Also restarts all counts at one. Call inside a transaction. */
    everything() {
      for (const statement of all) statement.run();
    },
  };
}
