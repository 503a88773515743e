// Compares JSON with schemas: an object's fields, and the type, prefix, format and value of each.

import { formOfValue } from "../contracts/value-formats.ts";
import type { TSchema } from "../schema/shapes.ts";
import { fieldPlace, fieldsOf, innerOf, isRequired, nameOf, valuesOf } from "../schema/walk.ts";
import { type Knowledge, type ObservationLog, typeOfJson } from "./observations.ts";
import { CALLED, isObject, type JsonFields, plainName, RECOGNISED } from "./recording.ts";
import { isMasked } from "./shown-texts.ts";

export interface ObservationContext {
  log: ObservationLog;
  knowledge: Knowledge;
  entry: string;
  operation?: string | undefined;
  /** Whether the value is a request body that the service accepted. */
  isBody?: boolean;
}

/** Observes an object, named by its schema, or by its place if the schema has no name. */
export function observeObject(where: ObservationContext, place: string, schema: TSchema, value: JsonFields): void {
  const { log, isBody } = where;
  const name = nameOf(schema, place);
  const names = fieldsOf(schema).map(([own]) => log.nameOf(fieldPlace(name, own), own));
  const twins = isBody ? NO_TWINS : twinsIn(value, names);
  if (twins.size > names.length * (1 - RECOGNISED)) {
    observeTwins(where, name, schema, value, twins);
    return;
  }
  for (const [own, inner] of fieldsOf(schema)) {
    const id = fieldPlace(name, own);
    const named = log.nameOf(id, own);
    const twin = twins.get(named);
    const field = twin ?? named;
    const expected = log.fact(id)?.value;
    const isPresent = Object.hasOwn(value, field) && value[field] !== undefined;
    if (isPresent) {
      if (twin !== undefined) log.record(id, CALLED + log.shown.code(twin), false, where);
      else log.record(id, isBody ? "known" : "always", expected !== "absent", where);
      observeValue(where, id, inner, value[field]);
    } else if (isBody) {
      if (!isRequired(schema, own)) log.compare(`${id}.required`, false, where);
    } else if (expected === "always" || expected === "absent") log.compare(id, "absent", where);
  }
  observeOthers(where, name, schema, value, new Set(twins.values()));
}

const NO_TWINS: ReadonlyMap<string, string> = new Map();

/** The value's fields whose names differ from missing ones only in their case style, by the missing name. */
function twinsIn(value: JsonFields, names: readonly string[]): ReadonlyMap<string, string> {
  const missing = names.filter((name) => !Object.hasOwn(value, name));
  if (missing.length === 0) return NO_TWINS;
  const plain = new Map(Object.keys(value).map((field) => [plainName(field), field]));
  return new Map(
    missing.flatMap((name) => {
      const twin = plain.get(plainName(name));
      return twin === undefined || names.includes(twin) ? [] : [[name, twin] as const];
    }),
  );
}

/** Observes an object of which most names have another case style. */
function observeTwins(
  where: ObservationContext,
  name: string,
  schema: TSchema,
  value: JsonFields,
  twins: ReadonlyMap<string, string>,
): void {
  for (const [own, twin] of twins) where.log.shapes.note("names", `${where.log.shown.code(twin)} for ${own}`, where.entry);
  observeListedValues(where, name, schema, { ...value, ...Object.fromEntries([...twins].map(([own, twin]) => [own, value[twin]])) });
}

/** Observes only values of enumerations: those of an object whose fields have other names than the sandbox's. */
export function observeListedValues(where: ObservationContext, place: string, schema: TSchema, value: JsonFields): void {
  const name = nameOf(schema, place);
  for (const [own, field] of fieldsOf(schema)) {
    const inner = innerOf(fieldPlace(name, own), field);
    const values = valuesOf(inner.schema);
    for (const held of inner.isList && Array.isArray(value[own]) ? value[own] : [value[own]])
      if (inner.isObject && isObject(held)) observeListedValues(where, inner.id, inner.schema, held);
      else if (values && typeof held === "string" && !isMasked(held)) observeListed(where, inner.id, values, held);
  }
}

/** Observes unknown fields. Ignores fields that the client sent itself, because the service returns them unchanged. */
function observeOthers(where: ObservationContext, name: string, schema: TSchema, value: JsonFields, twins: ReadonlySet<string>): void {
  const { log, knowledge, isBody, entry } = where;
  const known = new Set(fieldsOf(schema).map(([field]) => log.nameOf(fieldPlace(name, field), field)));
  const others = Object.keys(value).filter(
    (field) => !known.has(field) && !twins.has(field) && (isBody || !knowledge.sentFields.has(field)),
  );
  const id = `${name}.other_fields`;
  log.unknownFields.countObject(name);
  for (const field of others) {
    // A service file has added the field.
    if (log.fact(fieldPlace(name, field))) observeAdded(where, fieldPlace(name, field), value[field]);
    else {
      log.unknownFields.add(name, log.shown.code(field), value[field], entry);
      if (isBody) log.record(id, "accepted", log.fact(id)?.value === "accepted", { ...where, lenient: "service" });
      else log.record(id, log.shown.code(field), false, where);
    }
  }
  if (others.length === 0 && !isBody) log.record(id, "none", true, where);
}

function observeAdded(where: ObservationContext, id: string, value: unknown): void {
  where.log.record(id, where.isBody ? "known" : "always", true, where);
  if (!isMasked(value)) observeType(where, id, value);
}

function observeValue(where: ObservationContext, id: string, schema: TSchema, value: unknown): void {
  if (isMasked(value)) return;
  observeType(where, id, value);
  if (value === null) return;
  const { id: place, schema: inner, isList, isObject: hasFields } = innerOf(id, schema);
  if (!isList && typeof value !== "object") observeScalar(where, id, inner, value);
  const items = isList ? (Array.isArray(value) ? value : []) : [value];
  for (const item of items)
    if (!hasFields && isList) observeValue(where, place, inner, item);
    else if (hasFields && isObject(item)) observeObject(where, place, inner, item);
}

function observeType(where: ObservationContext, id: string, value: unknown): void {
  const expected = where.log.fact(`${id}.type`)?.value;
  if (!Array.isArray(expected)) return;
  const type = typeOfJson(value);
  const agrees = expected.includes(type) || (type === "integer" && expected.includes("number"));
  where.log.record(`${id}.type`, type, agrees, where);
}

function observeScalar(where: ObservationContext, id: string, schema: TSchema, value: unknown): void {
  const { log, knowledge } = where;
  const values = valuesOf(schema);
  if (values) observeListed(where, id, values, value);
  // The client chose the format of a text that it sent.
  const isEcho = !where.isBody && typeof value === "string" && knowledge.sentValues.has(value);
  const prefix = log.fact(`${id}.prefix`);
  if (prefix && typeof value === "string") {
    const seen = value.startsWith(String(prefix.value)) ? prefix.value : log.shown.prefix(value);
    if (seen === "no prefix" && !isEcho) log.shapes.note("ids", seen, where.entry);
    else if (seen === prefix.value || !(isEcho || where.isBody)) log.compare(`${id}.prefix`, seen, where);
  }
  const form = log.fact(`${id}.format`);
  if (!form) return;
  const seen = formOfValue(String(form.value), value);
  if (seen === form.value || !isEcho) log.compare(`${id}.format`, seen, where);
}

export function observeListed({ log, ...where }: ObservationContext, id: string, values: readonly string[], value: unknown): void {
  const shown = String(value);
  const own = values.find((one) => log.fact(`${id}.values.${one}`)?.value === shown);
  const closed = log.fact(`${id}.values`)?.value;
  const isListed = own !== undefined || (Array.isArray(closed) && closed.includes(shown));
  if (own !== undefined) log.record(`${id}.values.${own}`, shown, true, where);
  log.record(`${id}.values`, isListed ? shown : log.shown.code(value), isListed, where);
}
