// One merchant's records of one kind: typed documents in, typed documents out, each change with the event it makes.

import { PreserializedJson } from "../../contracts/preserialized-json.ts";
import { type RecordBase, type Resource, statesBefore } from "../../contracts/resource.ts";
import { fail } from "../../kernel/errors.ts";
import type { PageQuery } from "../../schema/shapes.ts";
import type { Database } from "../sqlite/database.ts";

export interface Page<R> {
  object: "list";
  data: R[];
  has_more: boolean;
}

/** What a change needs to know of the call it happens in. */
export interface Scope {
  merchant: string;
  /** Unix seconds on the sandbox clock. */
  now: number;
  /** A new id of this kind for this merchant. */
  mint(prefix: string): string;
  emit(type: string, data: unknown): void;
  /** Refuses to store a record that is not what its kind declares: what is stored is sent as it is. */
  hold(resource: Resource, record: RecordBase): void;
}

/** Fields of a record, and unknown ones beside them; null where the record's default shall hold. */
type Fields<R> = { [Name in keyof R]?: R[Name] | null | undefined } & Record<string, unknown>;

export interface Collection<R extends RecordBase> {
  find(id: string): R | undefined;
  /** The record, or 404 in the same words whether it is another merchant's or nobody's. */
  require(id: string): R;
  page(query: PageQuery): Page<R>;
  /** What `require` answers, for a call that is answered with just that. */
  show(id: string): PreserializedJson<R>;
  /** What `page` answers, for a call that is answered with just that. */
  list(query: PageQuery): PreserializedJson<Page<R>>;
  /** The newest record: for kinds of which a merchant has one. */
  newest(): R | undefined;
  create(fields: Fields<R>): R;
  /** The record that `create` would make of these fields, kept nowhere. */
  draft(fields: Fields<R>): R;
  /** Changes fields without changing state; null is a value. Says so with `event` unless none is given. */
  update(record: R, changes: Fields<R>, event?: string): R;
  /** Moves to another state if the table of moves allows it, else 409 with the states that would. */
  move(record: R, status: string, changes?: Fields<R>): R;
  remove(record: R): void;
  /** The record that has these values in fields that are unique together. */
  lookup(values: Partial<R>): R | undefined;
}

interface Place {
  sequence: number;
  created: number;
}

const DEFAULT_PAGE = 25;

/** The statements of every collection, prepared once for a database. */
function prepare(database: Database) {
  const { sql } = database;
  const list = (where: string, order: string) =>
    sql
      .prepare<unknown[], string>(
        `select body from documents where merchant = ? and kind = ? ${where} order by created ${order}, sequence ${order} limit ?`,
      )
      .pluck();
  return {
    get: sql.prepare<[string, string, string], string>("select body from documents where merchant = ? and kind = ? and id = ?").pluck(),
    place: sql.prepare<[string, string, string], Place>(
      "select sequence, created from documents where merchant = ? and kind = ? and id = ?",
    ),
    first: list("", "desc"),
    // Two steps each: SQLite begins at a moment, or at a place within one, but at no pair of both. Where the clock stands still, all is of one moment.
    older: { within: list("and created = ? and sequence < ?", "desc"), beyond: list("and created < ?", "desc") },
    newer: { within: list("and created = ? and sequence > ?", "asc"), beyond: list("and created > ?", "asc") },
    insert: sql.prepare("insert into documents (merchant, kind, id, created, status, body) values (?, ?, ?, ?, ?, ?)"),
    update: sql.prepare("update documents set status = ?, body = ? where merchant = ? and kind = ? and id = ?"),
    remove: sql.prepare("delete from documents where merchant = ? and kind = ? and id = ?"),
    claim: sql.prepare("insert or ignore into uniques (merchant, kind, field, value, document) values (?, ?, ?, ?, ?)"),
    release: sql.prepare("delete from uniques where document = ?"),
    unique: sql
      .prepare<[string, string, string, string], string>(
        "select body from documents where sequence = (select document from uniques where merchant = ? and kind = ? and field = ? and value = ?)",
      )
      .pluck(),
  };
}

type Statements = ReturnType<typeof prepare>;

export type Collections = <R extends RecordBase>(resource: Resource<R>, scope: Scope) => Collection<R>;

export function openCollections(database: Database): Collections {
  const statements = prepare(database);
  return (resource, scope) => collection(statements, resource, scope);
}

function collection<R extends RecordBase>(statements: Statements, resource: Resource<R>, scope: Scope): Collection<R> {
  const { kind } = resource;
  const { merchant } = scope;
  const { insert, write } = writer(statements, resource, scope);
  const read = (body: string | undefined) => (body === undefined ? undefined : (JSON.parse(body) as R));
  const stored = (id: string) => statements.get.get(merchant, kind, id);
  const find = (id: string) => read(stored(id));
  const say = (event: string | undefined, record: R) => {
    if (event !== undefined) scope.emit(event, withoutHidden(resource, record));
    return record;
  };

  return {
    find,
    require: (id) => find(id) ?? refuseUnknown(kind, id),
    page(query) {
      const { bodies, hasMore } = leaf(statements, resource, merchant, query);
      return { object: "list", data: bodies.map((body) => withoutHidden(resource, JSON.parse(body) as R)), has_more: hasMore };
    },
    show: (id) => new PreserializedJson(presentable(resource, stored(id) ?? refuseUnknown(kind, id))),
    list(query) {
      const { bodies, hasMore } = leaf(statements, resource, merchant, query);
      const data = bodies.map((body) => presentable(resource, body)).join();
      return new PreserializedJson(`{"object":"list","data":[${data}],"has_more":${hasMore}}`);
    },
    newest: () => read(statements.first.get(merchant, kind, 1)),
    create(fields) {
      const record = insert(compose(resource, scope, fields));
      const first = resource.defaults.status;
      // A record that comes into being in a later state was in its first one before it arrived there.
      say(resource.events.created, first === undefined ? record : { ...record, status: first });
      const arrived = record.status !== first || resource.events.created === undefined;
      return arrived ? say(resource.events[record.status ?? ""], record) : record;
    },
    draft: (fields) => compose(resource, scope, fields),
    update: (record, changes, event) => say(event, write({ ...record, ...changes })),
    move(record, status, changes) {
      const from = record.status ?? "";
      if (!resource.transitions[from]?.includes(status)) refuseMove(resource, record, status);
      return say(resource.events[status], write({ ...record, ...changes, status }));
    },
    remove(record) {
      statements.remove.run(merchant, kind, record.id);
    },
    lookup(values) {
      const fields = Object.keys(values);
      return read(statements.unique.get(merchant, kind, fields.join(), uniqueValue(values, fields) ?? ""));
    },
  };
}

/** Puts records of one kind into the file, new or changed, each with the values that no other may share. */
function writer<R extends RecordBase>(statements: Statements, resource: Resource<R>, { merchant, hold }: Scope) {
  const { kind } = resource;
  const claim = (record: R, sequence: number | bigint) => {
    for (const fields of resource.unique) {
      const value = uniqueValue(record, fields);
      if (value === undefined) continue;
      const { changes } = statements.claim.run(merchant, kind, fields.join(), value, sequence);
      if (changes === 0) refuseTwin(resource, record, fields);
    }
    return record;
  };
  return {
    insert(record: R): R {
      hold(resource, record);
      const { id, created } = record;
      const { lastInsertRowid } = statements.insert.run(merchant, kind, id, created, stateOf(resource, record), JSON.stringify(record));
      return claim(record, lastInsertRowid);
    },
    write(record: R): R {
      hold(resource, record);
      const { changes } = statements.update.run(stateOf(resource, record), JSON.stringify(record), merchant, kind, record.id);
      if (changes === 0) throw new Error(`${kind} ${record.id} is gone: it cannot be changed`);
      if (resource.unique.length === 0) return record;
      const { sequence } = statements.place.get(merchant, kind, record.id) as Place;
      statements.release.run(sequence);
      return claim(record, sequence);
    },
  };
}

/** A kind without states may have a field of this name that a client made up, of whatever type. */
const stateOf = <R extends RecordBase>({ transitions }: Resource<R>, { status }: R) =>
  Object.keys(transitions).length === 0 ? null : (status ?? null);

/** The record as the API shows it: without what is stored for the service's own use. */
export function withoutHidden<R extends RecordBase>(resource: Resource<R>, record: R): R {
  if (resource.hidden.length === 0) return record;
  return Object.fromEntries(Object.entries(record).filter(([field]) => !resource.hidden.includes(field))) as R;
}

/** The same of the text of a record. */
const presentable = <R extends RecordBase>(resource: Resource<R>, body: string) =>
  resource.hidden.length === 0 ? body : JSON.stringify(withoutHidden(resource, JSON.parse(body) as R));

/** A whole record, its fields in the order in which the resource declares them, unknown ones last. */
function compose<R extends RecordBase>(resource: Resource<R>, scope: Scope, fields: Fields<R>): R {
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
  for (const field of Object.keys(resource.schema.properties)) record[field] = fields[field] ?? base[field] ?? null;
  for (const [field, value] of Object.entries(fields)) if (!Object.hasOwn(record, field) && value !== undefined) record[field] = value;
  return record as unknown as R;
}

function refuseUnknown(kind: string, id: string): never {
  fail("resource_not_found", `No such ${kind}: ${id}.`, { resource: kind, id });
}

function refuseMove(resource: Resource, record: RecordBase, status: string): never {
  const allowed = statesBefore(resource.transitions, status);
  fail(
    "invalid_state",
    `This ${resource.kind} is ${record.status} and cannot become ${status}; that is possible from ${allowed.join(" or ") || "no state"}.`,
    {
      currentStatus: record.status,
      allowedFrom: allowed,
    },
  );
}

function refuseTwin<R extends RecordBase>(resource: Resource<R>, record: R, fields: readonly string[]): never {
  const values = Object.fromEntries(fields.map((field) => [field, record[field as keyof R]]));
  fail("already_exists", `A ${resource.kind} with this ${fields.join(" and ")} exists already: ${JSON.stringify(values)}.`, {
    fields,
    values,
  });
}

/** Values that are unique together, as one text; objects by their sorted entries. Undefined when one of them is empty. */
export function uniqueValue(record: object, fields: readonly string[]): string | undefined {
  const values = fields.map((field) => record[field as keyof typeof record] as unknown);
  const sorted = values.map((value) =>
    typeof value === "object" && value !== null ? Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)) : value,
  );
  const empty = sorted.some((value) => value === null || value === undefined || (Array.isArray(value) && value.length === 0));
  return empty ? undefined : JSON.stringify(sorted);
}

/** One leaf of the book of a merchant's records: those that a page shows, in its order. */
function leaf(statements: Statements, { kind }: Resource, merchant: string, query: PageQuery): { bodies: string[]; hasMore: boolean } {
  const limit = query.limit ?? DEFAULT_PAGE;
  const after = query.starting_after ?? query.ending_before;
  let bodies: string[];
  if (after === undefined) bodies = statements.first.all(merchant, kind, limit + 1);
  else {
    const place = statements.place.get(merchant, kind, after);
    if (!place) return failInvalidCursor(query, kind);
    const { within, beyond } = query.ending_before === undefined ? statements.older : statements.newer;
    bodies = within.all(merchant, kind, place.created, place.sequence, limit + 1);
    if (bodies.length <= limit) bodies.push(...beyond.all(merchant, kind, place.created, limit + 1 - bodies.length));
  }
  const hasMore = bodies.length > limit;
  if (hasMore) bodies.pop();
  if (query.ending_before !== undefined) bodies.reverse();
  return { bodies, hasMore };
}

/** An unknown cursor is refused in the same words whoever owns the record, if anybody does. */
export function failInvalidCursor(query: PageQuery, kind: string): never {
  const name = query.ending_before === undefined ? "starting_after" : "ending_before";
  fail("invalid_cursor", `${name} must be the id of a ${kind} of yours; received ${JSON.stringify(query[name])}.`, {
    field: name,
    received: query[name],
  });
}
