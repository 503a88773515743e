// Recognises the replies and bodies of an independently written service, and translates them to the sandbox's names, so
// that their values can be compared.

import { isObject, type JsonObject } from "../kernel/json-object.ts";
import { prefixOf, type TSchema } from "../schema/shapes.ts";
import { fieldPlace, fieldsOf, innerOf, isRequired, nameOf, recordsOf } from "../schema/walk.ts";
import type { ObservationLog } from "./observations.ts";
import {
  type MatchedCall,
  pageIn,
  plainName,
  RECOGNISED,
  type ReadReply,
  type RecordedCall,
  refused,
  succeeded,
} from "./recording.ts";
import type { ShownTexts } from "./shown-texts.ts";
import { formOfSchema, formOfValue } from "./value-formats.ts";

/** Objects with fewer required fields are always compared. */
const FEWEST_FIELDS = 3;

/**
 * The share of the schema's required fields that the value has. `exact` counts equal names; `plain` also counts names
 * in another case style, such as snake_case.
 */
function shareOf(value: unknown, schema: TSchema) {
  const needed = fieldsOf(schema).flatMap(([name]) => (isRequired(schema, name) ? name : []));
  if (!isObject(value)) return { exact: 0, plain: 0, needed: needed.length };
  if (needed.length < FEWEST_FIELDS) return { exact: 1, plain: 1, needed: needed.length };
  const keys = new Set(Object.keys(value).map(plainName));
  const exact = needed.filter((field) => Object.hasOwn(value, field)).length / needed.length;
  return {
    exact,
    plain: needed.filter((field) => keys.has(plainName(field))).length / needed.length,
    needed: needed.length,
  };
}

function noteUnknown(
  log: ObservationLog,
  { plain, needed }: ReturnType<typeof shareOf>,
  name: string,
  entry: string,
): void {
  log.shapes.note("unknown", `${Math.round(plain * needed)} of ${needed} fields of ${name}`, entry);
}

/** Renames the fields to the sandbox's names. Notes each difference in names, times, amounts and ids. */
export function inOwnNames(
  log: ObservationLog,
  value: JsonObject,
  place: string,
  schema: TSchema,
  entry: string,
): JsonObject {
  const name = nameOf(schema, place);
  const fields = new Map(fieldsOf(schema).map(([own, inner]) => [plainName(own), { own, inner }]));
  return Object.fromEntries(
    Object.entries(value).map(([field, held]) => {
      const known = fields.get(plainName(field));
      if (!known) return [field, held];
      if (field !== known.own) log.shapes.note("names", `${log.shown.code(field)} for ${known.own}`, entry);
      return [known.own, valueInOwnNames(log, held, fieldPlace(name, known.own), known.inner, entry)];
    }),
  );
}

function valueInOwnNames(log: ObservationLog, value: unknown, id: string, schema: TSchema, entry: string): unknown {
  const inner = innerOf(id, schema);
  if (inner.isObject && isObject(value)) return inOwnNames(log, value, inner.id, inner.schema, entry);
  if (inner.isList && Array.isArray(value))
    return value.map((item) => valueInOwnNames(log, item, inner.id, inner.schema, entry));
  noteForm(log, value, inner.schema, entry);
  return value;
}

function noteForm(log: ObservationLog, value: unknown, schema: TSchema, entry: string): void {
  if (value === null || typeof value === "object") return;
  const own = formOfSchema(schema);
  const seen = own === undefined ? undefined : formOfValue(own, value);
  if (own !== seen && seen !== undefined && own === "Unix seconds") log.shapes.note("times", seen, entry);
  if (own !== seen && seen !== undefined && own === "integer in the smallest unit")
    log.shapes.note("amounts", seen, entry);
  const prefix = prefixOf(schema);
  if (prefix !== undefined && !String(value).startsWith(prefix))
    log.shapes.note("ids", log.shown.prefix(String(value)), entry);
}

/** The record in a response or in one of its envelopes, with the names of the fields that lead to it. */
function findRecord(response: JsonObject, schema: TSchema) {
  const inner = (value: JsonObject, path: readonly string[]) =>
    Object.entries(value).flatMap(([name, held]) => (isObject(held) ? [{ value: held, path: [...path, name] }] : []));
  const wrapped = inner(response, []);
  const all = [
    { value: response, path: [] as readonly string[] },
    ...wrapped,
    ...wrapped.flatMap((one) => inner(one.value, one.path)),
  ];
  const rated = all.map((one) => ({ ...one, ...shareOf(one.value, schema) }));
  return rated.reduce((best, one) => (one.exact + one.plain > best.exact + best.plain ? one : best));
}

/** Reads an object, such as a reply or the record of an event. */
export function readObject(
  log: ObservationLog,
  response: JsonObject,
  place: string,
  schema: TSchema,
  entry: string,
): ReadReply {
  const found = findRecord(response, schema);
  const [wrapper] = found.path;
  const isAlone = wrapper === undefined || (found.path.length === 1 && Object.keys(response).length === 1);
  if (found.exact >= RECOGNISED && isAlone)
    return {
      response,
      record: found.value,
      foreign: {},
      ...(wrapper !== undefined && { envelope: log.shown.code(wrapper) }),
    };
  if (found.plain < RECOGNISED) {
    noteUnknown(log, found, nameOf(schema, place), entry);
    return { response, record: response, foreign: { records: true } };
  }
  if (wrapper !== undefined) log.shapes.note("envelope", found.path.map(log.shown.code).join("."), entry);
  if (found.exact >= RECOGNISED) return { response: found.value, record: found.value, foreign: { page: true } };
  const own = inOwnNames(log, found.value, place, schema, entry);
  return { response: own, record: own, foreign: { records: true } };
}

const MORE = "has_more";

function readList(log: ObservationLog, { operation, response, entry }: MatchedCall, records: TSchema): ReadReply {
  const place = `${operation.id}.reply`;
  const outer = pageIn(response);
  const page = outer ?? (isObject(response) ? Object.values(response).map(pageIn).find(Boolean) : undefined);
  if (!page) {
    if (isObject(response)) log.shapes.note("unknown", `no list in a reply of ${operation.id}`, entry);
    return { response: undefined, record: response, foreign: { records: true, page: true } };
  }
  const { items, name = "data", rest } = page;
  const hasOwnPage = outer !== undefined && (page.name === undefined || Object.hasOwn(rest, MORE));
  const first = items.find(isObject);
  const share = first && shareOf(first, records);
  const isKnown = share === undefined || share.exact >= RECOGNISED;
  if (isKnown && hasOwnPage) return { response, record: items, foreign: {} };
  if (!isKnown && share.plain < RECOGNISED) noteUnknown(log, share, nameOf(records, "a record"), entry);
  const shown = isKnown
    ? items
    : items.map((item) => (isObject(item) ? inOwnNames(log, item, `${place}.data[]`, records, entry) : item));
  const own = hasOwnPage ? rest : { [MORE]: hasMoreIn(log, rest, entry) };
  return {
    response: { ...own, [name]: shown },
    record: shown,
    foreign: { ...(!isKnown && { records: true as const }), ...(!hasOwnPage && { page: true as const }) },
  };
}

/**
 * Whether more pages follow, for a page in another format than the sandbox's: reads a flag in its envelope, or a field
 * with the next cursor or address.
 */
function hasMoreIn(log: ObservationLog, rest: JsonObject, entry: string): boolean {
  const [around, held] = Object.entries(rest).find(([, value]) => isObject(value)) ?? [];
  if (around !== undefined) log.shapes.note("envelope", `${log.shown.code(around)} beside the records`, entry);
  const fields = Object.entries({ ...(held as JsonObject), ...rest });
  const [flag] = fields.filter(([name]) => plainName(name) === plainName(MORE)).map(([, value]) => value);
  if (flag !== undefined) return flag === true;
  const next = fields.find(([name]) => /next|cursor|after/i.test(name));
  log.shapes.note("pagination", next ? log.shown.code(next[0]) : `no ${MORE}`, entry);
  return typeof next?.[1] === "string" && next[1] !== "";
}

/**
 * The error in a response: the response itself, or the first object in it with a `code` or `error`. `envelope` is
 * the name of the field that holds that object, followed by `[]` if the field is a list.
 */
export function errorIn(response: unknown, shown: ShownTexts): { error: JsonObject; envelope?: string } {
  if (!isObject(response)) return { error: {} };
  const isError = (value: unknown): value is JsonObject =>
    isObject(value) && (typeof value.code === "string" || typeof value.error === "string");
  const inner = Object.entries(response).map(([name, value]) =>
    Array.isArray(value)
      ? { error: value[0], envelope: `${shown.code(name)}[]` }
      : { error: value, envelope: shown.code(name) },
  );
  const found = isError(response) ? undefined : inner.find(({ error }) => isError(error));
  return found ?? { error: response };
}

function readError(log: ObservationLog, response: JsonObject, entry: string): ReadReply {
  const own = ["error", "message", "code", "details"];
  const found = errorIn(response, log.shown);
  const isOwn = own.filter((name) => Object.hasOwn(found.error, name)).length >= 2;
  const isProblem =
    typeof response.type === "string" && (typeof response.title === "string" || typeof response.detail === "string");
  if (isOwn && !isProblem) return { ...found, response: found.error, record: response, foreign: {} };
  log.shapes.note(
    "errors",
    isProblem ? "problem+json" : `an object with ${Object.keys(response).map(log.shown.code).join(", ") || "no field"}`,
    entry,
  );
  const about = isProblem && response.type !== "about:blank" ? String(response.type).split(/[/:#]/).at(-1) : undefined;
  const { code = about, ...others } = response;
  return {
    response: { ...others, ...(typeof code === "string" && { code }) },
    record: response,
    foreign: { error: true },
  };
}

function readReply(log: ObservationLog, call: MatchedCall): ReadReply {
  const { operation, response, entry } = call;
  const records = recordsOf(operation.reply);
  if (refused(call) && isObject(response)) return readError(log, response, entry);
  if (!succeeded(call) || response === undefined) return { response, record: response, foreign: {} };
  if (records) return readList(log, call, records);
  return isObject(response)
    ? readObject(log, response, `${operation.id}.reply`, operation.reply, entry)
    : { response, record: response, foreign: {} };
}

/** The body in the sandbox's names, if one of its fields differs only in its case style; otherwise undefined. */
function readBody(log: ObservationLog, { operation, body, entry }: MatchedCall): unknown {
  const place = `${operation.id}.body`;
  if (!operation.body || !isObject(body)) return undefined;
  const fields = fieldsOf(operation.body).map(([own]) => own);
  const plain = new Map(fields.map((field) => [plainName(field), field]));
  const isForeign = (name: string) => {
    const field = plain.get(plainName(name));
    return field !== undefined && !fields.includes(name) && !Object.hasOwn(body, field);
  };
  return Object.keys(body).some(isForeign) ? inOwnNames(log, body, place, operation.body, entry) : undefined;
}

export function readCall(log: ObservationLog, call: MatchedCall): RecordedCall {
  const { foreign, ...reply } = readReply(log, call);
  const body = readBody(log, call);
  return {
    ...call,
    ...reply,
    ...(body !== undefined && { body }),
    foreign: { ...foreign, ...(body !== undefined && { body: true }) },
  };
}
