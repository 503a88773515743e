// Compares JSON with schemas: an object's fields, and the type, prefix, format and value of each.

import type { ServiceFact } from "../contracts/fact.ts";
import { isObject, type JsonObject } from "../kernel/json-object.ts";
import type { TSchema } from "../schema/shapes.ts";
import { nameOf } from "../schema/walk.ts";
import { type Knowledge, type ListedFacts, type ObservationLog, typeOfJson, type ValueFacts } from "./observations.ts";
import { inOwnNames } from "./read-replies.ts";
import { CALLED, plainName, RECOGNISED } from "./recording.ts";
import { isMasked } from "./shown-texts.ts";
import { formOfValue } from "./value-formats.ts";

export interface ObservationContext {
  log: ObservationLog;
  knowledge: Knowledge;
  entry: string;
  operation?: string | undefined;
  /** Whether the value is a request body that the service accepted. */
  isBody?: boolean;
}

/** Observes an object. Its facts are named after the title of the schema, or after `place` if it has none. */
export function observeObject(where: ObservationContext, place: string, schema: TSchema, value: JsonObject): void {
  const { log, isBody } = where;
  const name = nameOf(schema, place);
  const { fields, names } = log.object(name, schema);
  const others = Object.keys(value).filter((field) => !names.has(field));
  const twins = isBody || others.length === 0 ? new Map<string, string>() : twinsIn(value, names, others);
  if (twins.size > fields.length * (1 - RECOGNISED)) {
    observeListedValues(where, name, schema, inOwnNames(log, value, name, schema, where.entry));
    return;
  }
  for (const field of fields) observeField(where, field, value, twins.get(field.own));
  const renamed = new Set(twins.values());
  const unknown = others.filter((field) => !renamed.has(field));
  observeOthers(where, name, schema, unknown);
}

type FieldFacts = ReturnType<ObservationLog["object"]>["fields"][number];

function observeField(where: ObservationContext, field: FieldFacts, value: JsonObject, twin: string | undefined): void {
  const { log, isBody } = where;
  const { own, isRequired, presence, required } = field;
  const held = value[twin ?? own];
  const isPresent = held !== undefined && Object.hasOwn(value, twin ?? own);
  if (isPresent) {
    if (twin !== undefined) log.record(presence, CALLED + log.shown.code(twin), false, where);
    else log.record(presence, isBody ? "known" : "always", true, where);
    observeValue(where, field.value, held);
  } else if (isBody) {
    if (!isRequired) log.compare(required, false, where);
  } else if (presence?.value === "always") log.compare(presence, "absent", where);
}

/**
 * Finds the fields that the object lacks under the sandbox's name, but has in another case style. Maps each of the
 * sandbox's names to the name in the object.
 */
function twinsIn(
  value: JsonObject,
  names: ReadonlySet<string>,
  others: readonly string[],
): ReadonlyMap<string, string> {
  const plain = new Map(others.map((field) => [plainName(field), field]));
  const missing = [...names].filter((name) => !Object.hasOwn(value, name) && plain.has(plainName(name)));
  return new Map(missing.map((name) => [name, plain.get(plainName(name)) as string]));
}

/** Observes only the enumeration values in an object whose fields were renamed to the sandbox's names. */
export function observeListedValues(
  where: ObservationContext,
  place: string,
  schema: TSchema,
  value: JsonObject,
): void {
  for (const { own, value: facts } of where.log.object(nameOf(schema, place), schema).fields) {
    const { inner, listed } = facts;
    for (const held of inner.isList && Array.isArray(value[own]) ? value[own] : [value[own]])
      if (inner.isObject && isObject(held)) observeListedValues(where, inner.id, inner.schema, held);
      else if (listed && typeof held === "string" && !isMasked(held)) observeListed(where, listed, held);
  }
}

/** Observes unknown fields. Ignores fields that the client sent itself, because the service returns them unchanged. */
function observeOthers(where: ObservationContext, name: string, schema: TSchema, unknown: readonly string[]): void {
  const { log, knowledge, isBody } = where;
  const others = isBody ? unknown : unknown.filter((field) => !knowledge.sentFields.has(field));
  const fact = log.object(name, schema).others;
  for (const field of others)
    if (isBody) log.compare(fact, "accepted", { ...where, lenient: "service" });
    else log.record(fact, log.shown.code(field), false, where);
  if (others.length === 0 && !isBody) log.record(fact, "none", true, where);
}

function observeValue(where: ObservationContext, facts: ValueFacts, value: unknown): void {
  if (isMasked(value)) return;
  observeType(where, facts.type, value);
  const { inner, items } = facts;
  if (typeof value !== "object" && !inner.isList) observeScalar(where, facts, value);
  if (typeof value !== "object" || value === null || inner.isList !== Array.isArray(value)) return;
  for (const item of inner.isList ? (value as unknown[]) : [value])
    if (items) observeValue(where, items, item);
    else if (inner.isObject && isObject(item)) observeObject(where, inner.id, inner.schema, item);
}

function observeType(where: ObservationContext, fact: ServiceFact | undefined, value: unknown): void {
  const expected = fact?.value;
  if (!Array.isArray(expected)) return;
  const type = typeOfJson(value);
  where.log.record(fact, type, expected.includes(type) || (type === "integer" && expected.includes("number")), where);
}

function observeScalar(where: ObservationContext, { listed, prefix, format }: ValueFacts, value: unknown): void {
  const { log, knowledge } = where;
  if (listed) observeListed(where, listed, value);
  // The client chose the format of a text that it sent. If a reply repeats the text, the format says nothing about the
  // service.
  const isEcho = () => !where.isBody && typeof value === "string" && knowledge.sentValues.has(value);
  if (prefix && typeof value === "string") {
    const seen = value.startsWith(String(prefix.value)) ? prefix.value : log.shown.prefix(value);
    if (seen === "no prefix" && !isEcho()) log.shapes.note("ids", seen, where.entry);
    else if (seen === prefix.value || !(isEcho() || where.isBody)) log.compare(prefix, seen, where);
  }
  if (!format) return;
  const seen = formOfValue(String(format.value), value);
  if (seen === format.value || !isEcho()) log.compare(format, seen, where);
}

export function observeListed(where: ObservationContext, { all, each }: ListedFacts, value: unknown): void {
  const shown = String(value);
  const own = each.get(shown);
  const isListed = own !== undefined || (Array.isArray(all?.value) && all.value.includes(shown));
  if (own) where.log.record(own, shown, true, where);
  where.log.record(all, isListed ? shown : where.log.shown.code(value), isListed, where);
}
