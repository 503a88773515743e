// Creates merchants as copies of a fixture. Each process seeds a fixture once; a new merchant gets a copy of the seeded
// rows with another id and e-mail address. Trick. Reason: seeding composes and checks each record. Figure: seeding a
// merchant of lodge, with 339 records, takes six times as long as copying it.

import type { Resource } from "../../contracts/resource.ts";
import type { Clock } from "../../kernel/clock.ts";
import { once } from "../../kernel/once.ts";
import { type Random, sortKeyOf } from "../../kernel/random.ts";
import type { Stores } from "../stores.ts";
import { shiftTo } from "./date-shift.ts";
import type { Fixture } from "./fixtures.ts";
import { openIdentities, openSeeder, type SeededIdentity } from "./seed.ts";

interface DocumentRow extends Record<"kind" | "id" | "body", string> {
  created: number;
  status: string | null;
  due: number | null;
  outstanding: 1 | null;
}

/** The rows of a fixture's seeded merchant, from which other merchants are copied. */
interface SeededRows {
  documents: readonly DocumentRow[];
  /** `place` is the position of the record among the documents, from 1. */
  uniques: readonly (Record<"kind" | "field" | "value", string> & { place: number })[];
  counters: readonly { name: string; value: number }[];
  password: string | null;
  /** The ids that the fixture left out. Each copy replaces them with ids derived from its own merchant. */
  generated: readonly { prefix: string; count: number; id: string }[];
  /**
   * Seeding makes the same rows at any time from `from` to `until`, when the first record is due, if the dates then
   * move by `days`.
   */
  from: number;
  until: number;
  days: number;
}

/** A text that no fixture contains. */
const ORIGINAL = { id: "mer_0riginalOfTheCopies", email: "original@0riginalOfTheCopies.example" };
const KEY = "sk_test_0riginalOfTheCopies";

/** The rows that were seeded last from each fixture. */
const seededRows = new WeakMap<Fixture, SeededRows>();

const daysAt = ({ asOf }: Fixture, now: number) => (asOf === undefined ? 0 : shiftTo(asOf, now).days);

interface FixtureCopiesOptions {
  stores: Stores;
  resources: readonly Resource[];
  clock: Clock;
  random: Random;
  /** Opens empty stores in memory that work with this seed and this clock. */
  open(): Stores;
}

export type FixtureCopies = ReturnType<typeof openFixtureCopies>;

export function openFixtureCopies({ stores, resources, clock, random, open }: FixtureCopiesOptions) {
  const { database, counters, dueRecords } = stores;
  const identities = openIdentities(stores);
  const loaded = new Map<string, SeededRows>();
  let copier = once(() => openCopier(database));
  database.onReplaced(() => {
    loaded.clear();
    copier = once(() => openCopier(database));
  });
  const rowsNow = (fixture: Fixture) => {
    const now = clock.now();
    const known = seededRows.get(fixture);
    if (known && known.from <= now && now < known.until && known.days === daysAt(fixture, now)) return known;
    const made = seedRows(fixture, { resources, clock, random, open });
    seededRows.set(fixture, made);
    return made;
  };
  return {
    /**
     * Seeds the fixture if its rows are missing or out of date. Call outside a transaction, because a rollback would
     * undo the seeding.
     */
    prepare(fixture: Fixture) {
      const rows = rowsNow(fixture);
      if (loaded.get(fixture.name) === rows) return;
      database.transaction(() => copier().load(fixture.name, rows));
      loaded.set(fixture.name, rows);
    },
    /** Creates the merchant of a prepared fixture with this identity. Call it inside a transaction. */
    insert(fixture: Fixture, identity: SeededIdentity) {
      const rows = loaded.get(fixture.name) as SeededRows;
      identities.insert(fixture, identity, rows.password);
      const renamed = rows.generated.map(
        ({ prefix, count, id }) => [id, random.sortableId(sortKeyOf(count), prefix, identity.id, count)] as const,
      );
      copier().copy(fixture.name, identity, renamed);
      for (const { name, value } of rows.counters) counters.raise(identity.id, name, value);
      dueRecords.changed();
      clock.wake();
    },
  };
}

/** Seeds a fixture in stores of its own, and returns its rows. */
function seedRows(
  fixture: Fixture,
  { resources, clock, random, open }: Omit<FixtureCopiesOptions, "stores">,
): SeededRows {
  const stores = open();
  try {
    const { sql } = stores.database;
    const now = clock.now();
    const seeder = openSeeder(stores, resources, clock);
    stores.database.transaction(() => seeder.seed(fixture, { ...ORIGINAL, key: KEY, place: null }));
    const documents = sql
      .prepare<[], DocumentRow>(
        "select kind, id, created, status, body, due, outstanding from documents order by sequence",
      )
      .all();
    const uniques = sql
      .prepare<[], SeededRows["uniques"][number]>(
        `select kind, field, value,
           (select count(*) from documents where sequence <= uniques.document) as place from uniques`,
      )
      .all();
    const counters = sql.prepare<[], SeededRows["counters"][number]>("select name, value from counters").all();
    const due = documents.flatMap((row) => row.due ?? []);
    return {
      documents,
      uniques,
      counters,
      password: sql.prepare<[], string | null>("select password from logins").pluck().get() ?? null,
      generated: counters.flatMap(({ name, value }) => generatedIds(random, name, value)),
      from: now,
      // A merchant without `created` in its fixture gets the present time, so its rows are valid for this millisecond
      // only.
      until: fixture.merchant.created === undefined ? now + 1 : Math.min(...due),
      days: daysAt(fixture, now),
    };
  } finally {
    stores.close();
  }
}

/** The ids that a counter has made. A counter with a space in its name counts a series of numbers, not ids. */
const generatedIds = (random: Random, prefix: string, value: number): SeededRows["generated"] =>
  prefix.includes(" ")
    ? []
    : Array.from({ length: value }, (_, index) => index + 1).map((count) => ({
        prefix,
        count,
        id: random.sortableId(sortKeyOf(count), prefix, ORIGINAL.id, count),
      }));

const TABLES = `
create temp table fixture_documents (
  fixture text, place integer, kind text, id text, created integer, status text, head text, tail text, due integer,
  outstanding integer, primary key (fixture, place)
) without rowid;
create temp table fixture_uniques (
  fixture text, place integer, kind text, field text, value text, primary key (fixture, place, field)
) without rowid`;

/**
 * Copies rows within SQLite, because inserting each row from JavaScript takes twice as long. Most bodies contain the
 * merchant's id once, and are stored as the text before and after it. Joining these takes 0.8 of the time of `replace`,
 * which compares every character.
 */
function openCopier({ sql }: Stores["database"]) {
  sql.exec(TABLES);
  const clear = ["fixture_documents", "fixture_uniques"].map((table) =>
    sql.prepare<[string]>(`delete from temp.${table} where fixture = ?`),
  );
  const loadDocument = sql.insert(
    "insert into temp.fixture_documents",
    "fixture, place, kind, id, created, status, head, tail, due, outstanding",
  );
  const loadUnique = sql.insert("insert into temp.fixture_uniques", "fixture, place, kind, field, value");
  const copyDocuments = sql.prepare<[Record<string, string>]>(
    `insert into main.documents (merchant, kind, id, created, status, body, due, outstanding)
     select @id, kind, replace(id, @fromId, @id), created, status, iif(tail is null,
       replace(iif(kind = 'merchant', replace(head, @fromEmail, @email), head), @fromId, @id),
       head || @id || tail), due, outstanding
     from temp.fixture_documents where fixture = @fixture order by place`,
  );
  const copyUniques = sql.prepare<[Record<string, string | number>]>(
    `insert into main.uniques (merchant, kind, field, value, document)
     select @id, kind, field, replace(value, @fromId, @id), @before + place
     from temp.fixture_uniques where fixture = @fixture`,
  );
  const rename = ["documents set body = replace(body, @from, @to), id", "uniques set value"].map((set) => {
    const [, column] = /(\w+)$/.exec(set) as unknown as [string, string];
    return sql.prepare<[Record<string, string>]>(
      `update main.${set} = replace(${column}, @from, @to) where merchant = @id`,
    );
  });
  return {
    load(fixture: string, { documents, uniques }: SeededRows) {
      for (const statement of clear) statement.run(fixture);
      for (const [index, { body, ...row }] of documents.entries())
        loadDocument({ ...row, ...aroundId(row.kind, body), fixture, place: index + 1 });
      for (const row of uniques) loadUnique({ ...row, fixture });
    },
    copy(fixture: string, { id, email }: SeededIdentity, renamed: readonly (readonly [from: string, to: string])[]) {
      const from = { fixture, id, fromId: ORIGINAL.id };
      const emails = { fromEmail: inJson(ORIGINAL.email), email: inJson(email) };
      const { lastInsertRowid, changes } = copyDocuments.run({ ...from, ...emails });
      copyUniques.run({ ...from, before: Number(lastInsertRowid) - changes });
      for (const [before, after] of renamed)
        for (const statement of rename) statement.run({ id, from: before, to: after });
    },
  };
}

/** The text before and after the only id of the merchant; otherwise `head` is the whole body. */
function aroundId(kind: string, body: string): { head: string; tail: string | null } {
  const [head = "", tail, ...more] = body.split(ORIGINAL.id);
  return kind === "merchant" || tail === undefined || more.length > 0 ? { head: body, tail: null } : { head, tail };
}

/** A text as JSON contains it, without the quotes. */
const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
