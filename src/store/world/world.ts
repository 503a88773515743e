// Seeds an empty database with the fixtures, resets it, and creates and removes merchants for tests.

import { nearestOrAll } from "../../kernel/did-you-mean.ts";
import { fail } from "../../kernel/errors.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import type { Random } from "../../kernel/random.ts";
import { SANDBOX } from "../records/id-counters.ts";
import type { Database } from "../sqlite/database.ts";
import type { Stores } from "../stores.ts";
import type { FixtureCopies } from "./fixture-copies.ts";
import type { Fixture } from "./fixtures.ts";
import type { SeededIdentity } from "./seed.ts";
import type { SeedImage } from "./seed-image.ts";

export type World = ReturnType<typeof openWorld>;

const KEY_LENGTH = 24;
/**
 * The length of a named merchant's id. Counted ids have another length, because those in a file raise the counters; see
 * raise-counts.ts.
 */
const NAMED_LENGTH = 12;

interface WorldOptions {
  stores: Stores;
  copies: FixtureCopies;
  fixtures(): readonly Fixture[];
  /** The image of the fixtures, seeded for the present time. */
  image(): SeedImage;
  random: Random;
  /** Clears the caches after `event` (default: a reset) deleted the rows of one merchant, or of all. */
  dataReplaced(merchant?: string, event?: string): void;
  /** Clears the state in memory of a merchant that was removed, except for its logs. */
  removed(merchant: string): void;
}

export function openWorld({ stores, copies, fixtures, image, random, dataReplaced, removed }: WorldOptions) {
  const { database, requestLog, runSummary, tenants, heldEndpoints } = stores;
  const eraser = openEraser(database);
  const isEmpty = database.sql
    .prepare<[], number>("select not exists (select 1 from documents where kind = 'merchant')")
    .pluck();
  const seededMerchant = database.sql.prepare<[string], SeededIdentity & { fixture: string }>(
    "select merchant as id, fixture, key, email, place from seeded_merchants where merchant = ?",
  );
  const seededFrom = (merchant: string, remedy: string) =>
    seededMerchant.get(tenants.require(merchant)) ??
    fail("validation_failed", `${merchant} was created through the API and came from no fixture. ${remedy}`);
  /** The fixture of this name; otherwise the fixture from which this merchant, such as lodge, was created. */
  const fixtureFor = (wanted: string) => {
    const isFixture = fixtures().some(({ name }) => name === wanted);
    const merchant = isFixture ? undefined : [wanted, `mer_${wanted}`].find(tenants.has);
    const remedy = `Save it as one with \`${PROGRAM} fixture save ${merchant} mine.json\`, and start with --fixtures.`;
    return fixtureNamed(fixtures(), merchant === undefined ? wanted : seededFrom(merchant, remedy).fixture);
  };
  const reseed = (merchant: string) => {
    const { fixture: name, ...identity } = seededFrom(merchant, "Reset everything, or remove it.");
    const fixture = fixtureNamed(fixtures(), name);
    copies.prepare(fixture);
    runSummary.keepEventCountsOf(merchant);
    database.transaction(() => {
      eraser.merchant(merchant);
      copies.insert(fixture, identity);
    });
  };
  const reseedAll = (replaced: () => void) =>
    database.replaceWith({ content: image(), isTrusted: true, keepsLog: false }, replaced);
  const newMerchants = createNewMerchants({ stores, copies, random, eraser });
  return {
    /** Seeds the fixtures into a database that has no merchant yet. */
    async fill() {
      if (isEmpty.get() === 1) await reseedAll(() => {});
    },
    /**
     * Resets everything, or one merchant, to the fixtures, with the same ids. Resetting everything removes created
     * merchants.
     */
    reset: (merchant?: string) =>
      database.oneAtATime(async () => {
        const erased = merchant === undefined ? runSummary.keepEventCounts() : () => {};
        const forget = () => {
          erased();
          requestLog.forget(merchant);
          heldEndpoints.forget(merchant);
          dataReplaced(merchant);
        };
        if (merchant === undefined) return reseedAll(forget);
        reseed(merchant);
        forget();
      }),
    /**
     * Creates a merchant with all records of a fixture and a new identity. `wanted` names the fixture, or a merchant
     * that came from it (default: the first fixture). The identity is derived from the seed and the name; without a
     * name, from the seed and the number of merchants created without one.
     */
    add(wanted?: string, name?: string) {
      const fixture = fixtureFor(wanted ?? fixtures()[0]?.name ?? "");
      copies.prepare(fixture);
      if (name === undefined) return database.transaction(() => newMerchants.numbered(fixture));
      const { isLogged, ...created } = database.transaction(() => newMerchants.named(fixture, name));
      if (isLogged) {
        requestLog.forget(created.id);
        dataReplaced(created.id, `${created.id} was created again`);
      }
      return created;
    },
    /**
     * Removes a merchant with its data. Its requests, events and deliveries stay in the logs for the report of the run;
     * the size of the logs is bounded.
     */
    remove(merchant: string) {
      database.transaction(() => eraser.data(tenants.require(merchant)));
      heldEndpoints.forget(merchant);
      requestLog.numbers.removed(merchant);
      removed(merchant);
    },
  };
}

/** Creates merchants from fixtures with new identities. Call its functions inside a transaction. */
function createNewMerchants({
  stores: { counters, tenants, runSummary },
  copies,
  random,
  eraser,
}: Pick<WorldOptions, "stores" | "copies" | "random"> & { eraser: Eraser }) {
  /** The ids of merchants that were created with a name. Some of these merchants may have been removed. */
  const names = new Set<string>();
  /** The id for a merchant with this name. If a merchant has that id, the id for `name #2`, and so on. */
  const idOf = (name: string, number = 1): string => {
    const id = `mer_${random.text(NAMED_LENGTH, "merchant", number === 1 ? name : `${name} #${number}`)}`;
    return tenants.has(id) ? idOf(name, number + 1) : id;
  };
  const create = (fixture: Fixture, id: string) => {
    const key = `sk_test_${random.text(KEY_LENGTH, "key", id)}`;
    const email = fixture.merchant.email.replace("@", `+${id.slice("mer_".length)}@`);
    copies.insert(fixture, { id, key, email, place: null });
    return { id, apiKey: key };
  };
  return {
    numbered: (fixture: Fixture) => create(fixture, counters.mint(SANDBOX, "mer")),
    /** `isLogged`: an earlier merchant of this name was removed, and memory may still have state of its logs. */
    named(fixture: Fixture, name: string) {
      const id = idOf(name);
      runSummary.keepEventCountsOf(id);
      const isLogged = eraser.merchant(id) > 0 || names.has(id);
      names.add(id);
      return { ...create(fixture, id), isLogged };
    },
  };
}

function fixtureNamed(fixtures: readonly Fixture[], name: string): Fixture {
  const names = fixtures.map((fixture) => fixture.name);
  const found = fixtures.find((fixture) => fixture.name === name);
  return found ?? fail("validation_failed", `There is no fixture ${name}.${nearestOrAll(name, names)}`);
}

/**
 * The tables whose rows belong to a merchant: the logs of a run, each before the tables that it refers to, and the
 * merchant's data.
 */
const LOGS = ["attempts", "deliveries", "events", "deleted_event_counts", "request_log"];
const DATA = [
  ...["subscriptions", "replies", "uniques", "documents", "logins", "keys", "counters"],
  ...["finished_steps", "learners", "seeded_merchants", "request_numbers"],
];

/** The conditions for tables that have no index starting with the merchant. */
const CONDITIONS: Readonly<Record<string, string>> = {
  attempts:
    "delivery in (select sequence from deliveries where event in (select sequence from events where merchant = ?))",
  deliveries: "event in (select sequence from events where merchant = ?)",
};

/**
 * Cancels the open deliveries of a merchant. Adds its counts of deleted events to the counts without a merchant, so
 * that there is one row for each type.
 */
const CLOSE_LOGS = [
  "update attempts set nextDue = null where merchant = ? and nextDue is not null",
  `update deliveries set state = 'cancelled', due = null
   where merchant = ? and (state = 'pending' or state = 'sending')`,
  // Without its merchant, a failed delivery cannot be replayed.
  "update deliveries set failed = null where failed = 1 and event in (select sequence from events where merchant = ?)",
  `insert into deleted_event_counts (merchant, type, emitted, delivered)
   select '', type, emitted, delivered from deleted_event_counts where merchant = ?
     on conflict do update set emitted = emitted + excluded.emitted, delivered = delivered + excluded.delivered`,
  "delete from deleted_event_counts where merchant = ?",
];

type Eraser = ReturnType<typeof openEraser>;

/** Deletes the rows of one merchant. */
function openEraser({ sql }: Database) {
  const prepareAll = (texts: readonly string[]) => texts.map((text) => sql.prepare(text));
  const eraseOf = (tables: readonly string[]) =>
    prepareAll(tables.map((table) => `delete from ${table} where ${CONDITIONS[table] ?? "merchant = ?"}`));
  const [logs, data, closeLogs] = [eraseOf(LOGS), eraseOf(DATA), prepareAll(CLOSE_LOGS)];
  // Another merchant's call may have logged in as this merchant. Its stored reply contains a session token, which is
  // deleted with this merchant's keys.
  const loginReplies =
    sql.prepare(`delete from replies where exists (select 1 from keys where merchant = @id and kind = 'session')
    and case when body like '{"object":"session",%' then body ->> '$.merchant.id' = @id end`);
  return {
    /** Deletes a merchant with its logs, and returns how many rows it had. Call inside a transaction. */
    merchant(id: string) {
      loginReplies.run({ id });
      return [...logs, ...data].reduce((rows, statement) => rows + statement.run(id).changes, 0);
    },
    /** Deletes a merchant, but not its logs. Call inside a transaction. */
    data(id: string) {
      loginReplies.run({ id });
      for (const statement of [...closeLogs, ...data]) statement.run(id);
    },
  };
}
