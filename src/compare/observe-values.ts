// Compares JSON with schemas: which fields an object has, and what type, prefix, form and value each shows.

import {
  fieldPlace,
  fieldsOf,
  hasFields,
  isRequired,
  itemsOf,
  itemsPlace,
  nameOf,
  valueSchema,
  valuesOf,
} from "../contracts/schema-parts.ts";
import { formOfValue } from "../contracts/value-formats.ts";
import type { TSchema } from "../schema/shapes.ts";
import { isObject, type JsonFields } from "./recording.ts";
import { isMasked, type Knowledge, type Sightings, shownCode } from "./sightings.ts";

export interface ObservationContext {
  sightings: Sightings;
  knowledge: Knowledge;
  entry: string;
  operation?: string | undefined;
  /** A request body: the service accepts what it holds. */
  isBody?: boolean;
}

/** An object under the name of its schema, or under the place if the schema has no name. */
export function observeObject(where: ObservationContext, place: string, schema: TSchema, value: JsonFields): void {
  const { sightings, isBody } = where;
  const name = nameOf(schema, place);
  for (const [field, inner] of fieldsOf(schema)) {
    const id = fieldPlace(name, field);
    const isPresent = Object.hasOwn(value, field) && value[field] !== undefined;
    if (isPresent) {
      sightings.see(id, isBody ? "known" : "always", true, where);
      observeValue(where, id, inner, value[field]);
    } else if (isBody) {
      if (!isRequired(schema, field)) sightings.see(`${id}.required`, false, true, where);
    } else if (sightings.fact(id)?.value === "always") sightings.see(id, "absent", false, where);
  }
  if (!isBody) observeOthers(where, name, schema, value);
}

/** Fields that the client sent itself come back as they were, and say nothing. */
function observeOthers(where: ObservationContext, name: string, schema: TSchema, value: JsonFields): void {
  const known = new Set(fieldsOf(schema).map(([field]) => field));
  const others = Object.keys(value).filter((field) => !known.has(field) && !where.knowledge.sentFields.has(field));
  const id = `${name}.other_fields`;
  for (const field of others) where.sightings.see(id, shownCode(field), false, where);
  if (others.length === 0) where.sightings.see(id, "none", true, where);
}

export function observeValue(where: ObservationContext, id: string, schema: TSchema, value: unknown): void {
  if (isMasked(value)) return;
  observeType(where, id, value);
  if (value === null) return;
  const inner = valueSchema(schema);
  if (typeof value !== "object") observeScalar(where, id, inner, value);
  const items = itemsOf(inner);
  if (hasFields(inner) && isObject(value)) observeObject(where, id, inner, value);
  if (items && Array.isArray(value)) for (const item of value) observeItem(where, itemsPlace(id), items, item);
}

function observeItem(where: ObservationContext, id: string, schema: TSchema, item: unknown): void {
  const inner = valueSchema(schema);
  if (hasFields(inner)) {
    if (isObject(item)) observeObject(where, id, inner, item);
  } else observeValue(where, id, schema, item);
}

function typeOfJson(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

function observeType(where: ObservationContext, id: string, value: unknown): void {
  const expected = where.sightings.fact(`${id}.type`)?.value;
  if (!Array.isArray(expected)) return;
  const type = typeOfJson(value);
  const agrees = expected.includes(type) || (type === "integer" && expected.includes("number"));
  where.sightings.see(`${id}.type`, type, agrees, where);
}

function observeScalar(where: ObservationContext, id: string, schema: TSchema, value: unknown): void {
  const { sightings, knowledge } = where;
  const values = valuesOf(schema);
  if (values) observeListed(where, id, values, value);
  // A text that the client sent is in the form that the client chose.
  const isEcho = !where.isBody && typeof value === "string" && knowledge.sentValues.has(value);
  const prefix = sightings.fact(`${id}.prefix`);
  if (prefix && typeof value === "string") {
    const seen = value.startsWith(String(prefix.value)) ? prefix.value : prefixIn(value);
    if (seen === prefix.value || !(isEcho || where.isBody)) sightings.compare(`${id}.prefix`, seen, where);
  }
  const form = sightings.fact(`${id}.format`);
  if (!form) return;
  const seen = formOfValue(String(form.value), value);
  if (seen === form.value || !isEcho) sightings.compare(`${id}.format`, seen, where);
}

const prefixIn = (id: string) => /^([A-Za-z]{1,12}[_-])/.exec(id)?.[1] ?? "no prefix";

export function observeListed({ sightings, ...where }: ObservationContext, id: string, values: readonly string[], value: unknown): void {
  const shown = String(value);
  if (values.includes(shown)) {
    sightings.see(`${id}.values.${shown}`, shown, true, where);
    sightings.see(`${id}.values`, shown, true, where);
  } else sightings.see(`${id}.values`, typeof value === "string" ? shownCode(value) : shown, false, where);
}
