// One merchant's records of one kind: reads and writes them as JSON documents, takes them through their states, and
// emits the event of each change.

import type { OwnRecords, RecordBase, RecordFields, Records, Resource } from "../../contracts/resource.ts";
import { fail } from "../../kernel/errors.ts";
import { pick } from "../../kernel/pick.ts";
import { PreserializedJson } from "../../kernel/reply-bodies.ts";
import { usable, withChanges } from "../../schema/as-sent.ts";
import type { Behaviour } from "../../schema/assumed.ts";
import { isRequired } from "../../schema/walk.ts";
import type { Database } from "../sqlite/database.ts";
import { openArrivals } from "./arrivals.ts";
import { type DueRecords, dueTimeOf, type RecordKey } from "./due-records.ts";
import { openRecordPages, type Page, type RecordPosition, type RecordQuery } from "./record-pages.ts";
import { checkRules } from "./record-rules.ts";
import type { StoredCheck } from "./stored-record.ts";
import { type Writing, writtenJson } from "./written-record.ts";

/** The operation that reads and changes records. */
export interface Scope extends Writing {
  merchant: string;
  /** Unix seconds on the sandbox clock. */
  now: number;
  /** A new id of this kind for this merchant. */
  mint(prefix: string): string;
  /** The counts of the merchant's series of numbers, by name. */
  series: { next(name: string): number; raise(name: string, value: number): void };
  emit(type: string, data: unknown): void;
  /**
   * Receives warnings about unlikely values of written records. Without it, the check for unlikely values is skipped.
   */
  warn?: ((text: string) => void) | undefined;
  /** The earliest date, in sandbox milliseconds, that still changes a record that the operation writes. */
  dueFrom: number;
  /** Throws for a record that does not match its schema: stored records are sent without another check. */
  checkRecord(resource: Resource, record: RecordBase): void;
}

export interface Collection<R extends RecordBase> extends Records<R> {
  page(query: RecordQuery): Page<R>;
  /** The stored JSON of the record that `require` returns. An operation can respond with it without parsing it. */
  show(id: string): PreserializedJson<R>;
  /** The page that `page` returns, as JSON. The stored records are not parsed. */
  list(query: RecordQuery): PreserializedJson<Page<R>>;
  /** Stores a record of a fixture as given, without rules, consequences or events. */
  seed(fields: RecordFields<R>): void;
  /** The record that `create` would make of these fields, without storing it. */
  draft(fields: RecordFields<R>): R;
  /**
   * Removes a record. Only for kinds without `unique` fields, because the values of such fields would stay reserved.
   */
  remove(record: R): void;
}

interface RecordRow extends RecordKey {
  created: number;
  status: string | null;
  body: string;
  outstanding: 1 | null;
}

/** The statements that all collections of a database share. */
function prepare(database: Database) {
  const { sql } = database;
  const ofMerchant = "merchant = @merchant and kind = +@kind";
  const byId = `${ofMerchant} and id = @id`;
  return {
    get: sql.prepare<[RecordKey], string>(`select body from documents where ${byId}`).pluck(),
    pages: openRecordPages(database),
    all: sql
      .prepare<[{ merchant: string; kind: string }], string>(
        `select body from documents where ${ofMerchant} order by created, sequence`,
      )
      .pluck(),
    outstanding: sql
      .prepare<[{ merchant: string; kind: string }], string>(
        `select body from documents indexed by documents_outstanding
        where ${ofMerchant} and outstanding = 1 order by created, sequence`,
      )
      .pluck(),
    insert: sql.insert("insert into documents", "merchant, kind, id, created, status, body, outstanding"),
    // Lists are ordered by this column. The clock may have been set back, so a new record gets at least the time of the
    // newest one.
    append: sql.prepare<[RecordRow]>(
      `insert into documents (merchant, kind, id, created, status, body, outstanding) values (@merchant, @kind, @id,
         max(@created, coalesce((select created from documents where ${ofMerchant} order by created desc limit 1), 0)),
         @status, @body, @outstanding)`,
    ),
    update: sql.prepare<[Omit<RecordRow, "created">]>(
      `update documents set status = @status, body = @body, outstanding = @outstanding where ${byId}`,
    ),
    remove: sql.prepare<[RecordKey]>(`delete from documents where ${byId}`),
    claim: sql.insert("insert or ignore into uniques", "merchant, kind, field, value, document"),
    release: sql.prepare<[number | bigint]>("delete from uniques where document = ?"),
  };
}

type Statements = ReturnType<typeof prepare> & {
  setDue: DueRecords["set"];
  storedCheck: StoredCheck;
};

export type Collections = <R extends RecordBase>(resource: Resource<R>, scope: Scope) => Collection<R>;

export function openCollections(database: Database, dueRecords: DueRecords, storedCheck: StoredCheck): Collections {
  const statements = { ...prepare(database), setDue: dueRecords.set, storedCheck };
  return (resource, scope) => collection(statements, resource, scope);
}

function collection<R extends RecordBase>(statements: Statements, resource: Resource<R>, scope: Scope): Collection<R> {
  const { kind } = resource;
  const { merchant } = scope;
  const checked = (body: string) => {
    statements.storedCheck()?.(resource, merchant, body);
    return body;
  };
  const parsed = (body: string) => parse(resource, checked(body));
  const read = (body: string | undefined) => (body === undefined ? undefined : parsed(body));
  const stored = (id: string) => statements.get.get({ merchant, kind, id });
  const pageOf = (query: RecordQuery) => {
    const page = statements.pages.read(kind, merchant, query);
    if (statements.storedCheck()) page.data.forEach(checked);
    return page;
  };
  const find = (id: string) => read(stored(id));
  const changes = () => changer(statements, resource, scope);
  return {
    find,
    require: (id) => find(id) ?? failUnknown(kind, id),
    page(query) {
      const page = pageOf(query);
      return { ...page, data: page.data.map((body) => withoutHidden(resource, JSON.parse(body) as R)) };
    },
    show: (id) => new PreserializedJson(visibleJson(resource, checked(stored(id) ?? failUnknown(kind, id)))),
    list(query) {
      const { data: bodies, has_more } = pageOf(query);
      let data = "";
      // V8 copies this text once, when the page is sent; `join` would add a copy.
      for (const body of bodies) data += `${data === "" ? "" : ","}${visibleJson(resource, body)}`;
      return new PreserializedJson(`{"object":"list","data":[${data}],"has_more":${has_more}}`);
    },
    newest: () => read(statements.pages.newest(kind, merchant)),
    newestOf: (limit) => statements.pages.read(kind, merchant, { limit }).data.map(parsed),
    all: () => statements.all.all({ merchant, kind }).map(parsed),
    outstanding: () => statements.outstanding.all({ merchant, kind }).map(parsed),
    create: (fields) => changes().create(fields),
    seed: (fields) => changes().seed(fields),
    draft: (fields) => compose(resource, scope, fields),
    update: (record, values, event) => changes().update(record, values, event),
    move: (record, status, values) => changes().move(record, status, values),
    remove: (record) => void statements.remove.run({ merchant, kind, id: record.id }),
  };
}

/** Creates and changes records of one kind. Built for each change, because most collections only read. */
function changer<R extends RecordBase>(statements: Statements, resource: Resource<R>, scope: Scope) {
  const { merchant, now, dueFrom, warn } = scope;
  const { kind } = resource;
  const own: OwnRecords = (other) => collection(statements, other, scope);
  const claimUnique = (record: R, document: number | bigint) => {
    for (const fields of resource.unique) {
      const value = uniqueValue(record, fields);
      if (value === undefined) continue;
      const { changes } = statements.claim({ merchant, kind, field: fields.join(), value, document });
      if (changes === 0) failDuplicate(resource, record, fields);
    }
  };
  const keepDue = (record: R, before?: R) => {
    if (!resource.changesWithTime) return record;
    const due = dueTimeOf({ resource, own, now, dueFrom }, record, before);
    const isKept = due === undefined || (before === undefined && due === null);
    if (!isKept) statements.setDue({ merchant, kind, id: record.id }, due);
    return record;
  };
  const emit = (event: string | null | undefined, record: R) => {
    if (event != null) scope.emit(event, withoutHidden(resource, record));
  };
  const exists = (other: string, id: string) => statements.pages.position(other, merchant, id) !== undefined;
  const check = (given: R, before?: R) => {
    const context = { before, now, own, exists, warn };
    const corrections = resource.corrects?.(given, context);
    const record = corrections === undefined ? given : withChanges(given, corrections);
    scope.checkRecord(resource, record);
    checkRules(resource, record, context);
    return record;
  };
  const number = seriesOf(resource, scope, own);
  const change = (given: R, before: R, changes?: RecordFields<R>) => {
    const record = check(given.status === before.status ? given : number.give(given, given.status, changes), before);
    number.keep(record);
    if (statements.update.run(rowOf(resource, scope, record)).changes === 0)
      throw new Error(`${kind} ${record.id} no longer exists: it cannot be changed`);
    if (resource.unique.length > 0) {
      const { sequence } = statements.pages.position(kind, merchant, record.id) as RecordPosition;
      statements.release.run(sequence);
      claimUnique(record, sequence);
    }
    return keepDue(record, before);
  };
  const add = (record: R, insert: Statements["insert"]) => {
    claimUnique(record, insert({ ...rowOf(resource, scope, record), created: record.created }).lastInsertRowid);
    number.keep(record);
    return keepDue(record);
  };
  const insertNew = (record: R) =>
    add(check(record), record.created === now ? (row) => statements.append.run(row as RecordRow) : statements.insert);
  const arrivals = openArrivals({ resource, now, own, insert: insertNew, write: change, emit });
  return {
    create: (fields: RecordFields<R>) =>
      arrivals.create(number.give(compose(resource, scope, fields), undefined, fields), fields),
    seed: (fields: RecordFields<R>) =>
      void add(arrivals.seeded(compose(resource, scope, fields), fields), statements.insert),
    update(record: R, changes: RecordFields<R>, event?: string | null) {
      const updated = change(withChanges(record, changes), record);
      emit(event === undefined ? updateEvent(resource, record, updated) : event, updated);
      resource.changed?.({ record: updated, now, own });
      return updated;
    },
    move: arrivals.move,
  };
}

const updateEvent = <R extends RecordBase>({ updates }: Resource<R>, before: R, after: R): string | undefined =>
  Object.keys(updates).find((type) => updates[type]?.when?.(before, after) !== false);

/** The columns of a record, without the time of its creation. */
const rowOf = <R extends RecordBase>(resource: Resource<R>, scope: Scope, record: R) => ({
  merchant: scope.merchant,
  kind: resource.kind,
  id: record.id,
  status: stateOf(resource, record),
  body: writtenJson(scope, resource, record),
  outstanding: resource.outstanding?.(record) ? (1 as const) : null,
});

/** Numbers the records of a kind that declares series, such as QR-0147 after QR-0146. */
function seriesOf<R extends RecordBase>({ kind, series }: Resource<R>, scope: Scope, own: OwnRecords) {
  return {
    /**
     * Gives the record its next number in each series that it joins at `at`, unless the record has a number or `given`
     * sets the field, even to null.
     */
    give(record: R, at?: string, given: RecordFields<R> = {} as RecordFields<R>): R {
      const joined = series.filter(
        (one) => one.at === at && record[one.field as keyof R] == null && given[one.field] === undefined,
      );
      const numbers = joined.map(({ field, prefix }) => {
        const name = `${prefix(record, own)}-`;
        return [field, name + String(scope.series.next(`${kind} ${name}`)).padStart(SERIES_DIGITS, "0")];
      });
      return numbers.length === 0 ? record : { ...record, ...Object.fromEntries(numbers) };
    },
    /** Continues the series after the numbers of this record. */
    keep(record: R): void {
      for (const { field, prefix } of series) {
        const value = record[field as keyof R];
        if (typeof value !== "string") continue;
        const name = `${prefix(record, own)}-`;
        const digits = value.startsWith(name) ? value.slice(name.length) : "";
        if (/^\d{1,12}$/.test(digits)) scope.series.raise(`${kind} ${name}`, Number(digits));
      }
    },
  };
}

const SERIES_DIGITS = 4;

/** Null for a kind without states: its records may have a field `status` that the client added, of any type. */
const stateOf = <R extends RecordBase>({ transitions }: Resource<R>, { status }: R) =>
  Object.keys(transitions).length === 0 ? null : (status ?? null);

/** The record as the API shows it, without the hidden fields. */
export function withoutHidden<R extends RecordBase>(resource: Resource<R>, record: R): R {
  if (resource.hidden.length === 0) return record;
  return Object.fromEntries(Object.entries(record).filter(([field]) => !resource.hidden.includes(field))) as R;
}

/** The stored JSON of a record, without the hidden fields. */
const visibleJson = <R extends RecordBase>(resource: Resource<R>, body: string) =>
  resource.hidden.length === 0 ? body : JSON.stringify(withoutHidden(resource, JSON.parse(body) as R));

/** The record that seeding makes of a fixture's fields. `own` reads the records seeded before it. */
export function seededRecord<R extends RecordBase>(
  resource: Resource<R>,
  scope: Pick<Scope, "merchant" | "now" | "mint">,
  own: OwnRecords,
  fields: RecordFields<R>,
): R {
  const refuse = () => {
    throw new Error("A record of a fixture is not stored here.");
  };
  const arrivals = openArrivals({ resource, now: scope.now, own, insert: refuse, write: refuse, emit: () => {} });
  return arrivals.seeded(compose(resource, scope, fields), fields);
}

/** A complete record: the fields in the order in which the kind declares them, then the unknown ones. */
function compose<R extends RecordBase>(
  resource: Resource<R>,
  scope: Pick<Scope, "merchant" | "now" | "mint">,
  fields: RecordFields<R>,
): R {
  const base: Record<string, unknown> = {
    id: fields.id ?? scope.mint(resource.prefix),
    object: resource.kind,
    merchantId: scope.merchant,
    ...resource.defaults,
    metadata: {},
    created: scope.now,
    livemode: false,
  };
  const record: Record<string, unknown> = {};
  for (const field of Object.keys(resource.schema.properties)) {
    const value = fields[field] ?? base[field] ?? null;
    // Optional fields without a value are left out.
    if (value !== null || isRequired(resource.schema, field)) record[field] = value;
  }
  for (const field in fields)
    if (!Object.hasOwn(resource.schema.properties, field) && fields[field] !== undefined) record[field] = fields[field];
  return record as unknown as R;
}

function parse<R extends RecordBase>({ schema, defaults }: Resource<R>, body: string): R {
  return usable(schema, JSON.parse(body) as R, defaults);
}

function failUnknown(kind: string, id: string): never {
  fail("resource_not_found", `No such ${kind}: ${id}.`, { resource: kind, id });
}

function failDuplicate<R extends RecordBase>(resource: Resource<R>, record: R, fields: readonly string[]): never {
  const values = pick(record, fields as (keyof R)[]);
  fail(
    "already_exists",
    `A ${resource.kind} with this ${fields.join(" and ")} exists already: ${JSON.stringify(values)}.`,
    { fields, values },
  );
}

/** The values of fields that are unique together, as one text; undefined when a value is missing. */
export function uniqueValue(record: object, fields: readonly string[]): string | undefined {
  const values = fields.map((field) => record[field as keyof typeof record] as unknown);
  const sorted = values.map((value) =>
    typeof value === "object" && value !== null
      ? Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
      : value,
  );
  return sorted.some((value) => value === null || value === undefined) ? undefined : JSON.stringify(sorted);
}

export const behaviours: Behaviour[] = [
  {
    id: "records.not_found",
    fact: "An unknown id and the id of another merchant's record get the same 404.",
    why: "The service's documentation does not say; a different response would reveal which ids exist.",
  },
  {
    id: "records.unique",
    fact:
      "A merchant's email, a variant's SKU and its options within the product are unique, and one variant of a " +
      "product may have no options; a second record gets 409 `already_exists`.",
    why: "The service's documentation does not say; 409 is the usual status for a conflict with another record.",
  },
];
