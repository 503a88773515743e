// Compares JSON with schemas: which fields an object has, and what type, prefix, form and value each shows.

import { formOfValue } from "../contracts/value-formats.ts";
import type { TSchema } from "../schema/shapes.ts";
import { fieldPlace, fieldsOf, innerOf, isRequired, nameOf, valuesOf } from "../schema/walk.ts";
import { isObject, type JsonFields } from "./recording.ts";
import { isMasked } from "./shown-code.ts";
import type { Knowledge, Sightings } from "./sightings.ts";
import { typeOfJson } from "./unknown-fields.ts";

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
  for (const [own, inner] of fieldsOf(schema)) {
    const id = fieldPlace(name, own);
    const field = sightings.nameOf(id, own);
    const expected = sightings.fact(id)?.value;
    const isPresent = Object.hasOwn(value, field) && value[field] !== undefined;
    if (isPresent) {
      sightings.see(id, isBody ? "known" : "always", expected !== "absent", where);
      observeValue(where, id, inner, value[field]);
    } else if (isBody) {
      if (!isRequired(schema, own)) sightings.compare(`${id}.required`, false, where);
    } else if (expected === "always" || expected === "absent") sightings.compare(id, "absent", where);
  }
  observeOthers(where, name, schema, value);
}

/** Fields that the client sent itself come back as they were, and say nothing. */
function observeOthers(where: ObservationContext, name: string, schema: TSchema, value: JsonFields): void {
  const { sightings, knowledge, isBody, entry } = where;
  const known = new Set(fieldsOf(schema).map(([field]) => sightings.nameOf(fieldPlace(name, field), field)));
  const others = Object.keys(value).filter((field) => !known.has(field) && (isBody || !knowledge.sentFields.has(field)));
  const id = `${name}.other_fields`;
  sightings.unknownFields.countObject(name);
  for (const field of others) {
    // A service file has added the field.
    if (sightings.fact(fieldPlace(name, field))) observeAdded(where, fieldPlace(name, field), value[field]);
    else {
      sightings.unknownFields.add(name, sightings.shown.code(field), value[field], entry);
      if (isBody) sightings.see(id, "accepted", sightings.fact(id)?.value === "accepted", { ...where, lenient: "service" });
      else sightings.see(id, sightings.shown.code(field), false, where);
    }
  }
  if (others.length === 0 && !isBody) sightings.see(id, "none", true, where);
}

function observeAdded(where: ObservationContext, id: string, value: unknown): void {
  where.sightings.see(id, where.isBody ? "known" : "always", true, where);
  if (!isMasked(value)) observeType(where, id, value);
}

export function observeValue(where: ObservationContext, id: string, schema: TSchema, value: unknown): void {
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
    const seen = value.startsWith(String(prefix.value)) ? prefix.value : sightings.shown.prefix(value);
    if (seen === prefix.value || !(isEcho || where.isBody)) sightings.compare(`${id}.prefix`, seen, where);
  }
  const form = sightings.fact(`${id}.format`);
  if (!form) return;
  const seen = formOfValue(String(form.value), value);
  if (seen === form.value || !isEcho) sightings.compare(`${id}.format`, seen, where);
}

export function observeListed({ sightings, ...where }: ObservationContext, id: string, values: readonly string[], value: unknown): void {
  const shown = String(value);
  const own = values.find((one) => sightings.fact(`${id}.values.${one}`)?.value === shown);
  const closed = sightings.fact(`${id}.values`)?.value;
  const isListed = own !== undefined || (Array.isArray(closed) && closed.includes(shown));
  if (own !== undefined) sightings.see(`${id}.values.${own}`, shown, true, where);
  sightings.see(`${id}.values`, isListed ? shown : sightings.shown.code(value), isListed, where);
}
