// The changes of a service file to the objects of one schema: fields left out, renamed, added, and their values.

import { type FactValue, otherName } from "../contracts/fact.ts";
import type { TSchema } from "../schema/shapes.ts";
import { fieldPlace, fieldsOf } from "../schema/walk.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";

export interface AdoptedField {
  id: string;
  /** The sandbox's name. */
  own: string;
  /** The service's name. */
  name: string;
  schema: TSchema;
  /** Undefined if the file does not say. */
  presence: string | undefined;
  /** Of a field in a body; undefined if the file does not say. */
  required: boolean | undefined;
}

/** A field that the sandbox does not have. */
export interface AddedField {
  name: string;
  isOptional: boolean;
  types: readonly string[];
  format?: string | undefined;
  prefix?: string | undefined;
  values?: readonly string[] | undefined;
  example?: FactValue | undefined;
}

export interface ObjectChanges {
  fields: AdoptedField[];
  added: AddedField[];
}

export function changesOf(facts: AdoptedFacts, children: Children, place: string, schema: TSchema, isBody: boolean): ObjectChanges {
  const own = fieldsOf(schema);
  const known = new Set(own.map(([name]) => name));
  const fields = own.map(([name, inner]): AdoptedField => {
    const id = fieldPlace(place, name);
    const required = facts.value(`${id}.required`);
    return {
      id,
      own: name,
      name: otherName(facts.value(`${id}.name`)) ?? name,
      schema: inner,
      presence: facts.text(id),
      required: typeof required === "boolean" ? required : undefined,
    };
  });
  const added = children(place)
    .filter((name) => !known.has(name))
    .map((name) => addedField(facts, fieldPlace(place, name), name, isBody));
  return { fields, added };
}

function addedField(facts: AdoptedFacts, id: string, name: string, isBody: boolean): AddedField {
  const values = facts.value(`${id}.values`);
  const types = facts.value(`${id}.type`);
  return {
    name,
    isOptional: isBody ? facts.value(`${id}.required`) !== true : facts.value(id) === "sometimes",
    types: Array.isArray(types) ? types : [],
    format: facts.text(`${id}.format`),
    prefix: facts.text(`${id}.prefix`),
    values: Array.isArray(values) ? values : undefined,
    example: facts.value(`${id}.example`),
  };
}

/** The prefixes of ids that a file changes, by the sandbox's own. */
export type Prefixes = ReadonlyMap<string, string>;

/** The last parts of the ids directly below a place. */
export type Children = (place: string) => readonly string[];

/** Parts of ids that say something of the whole object. */
const NOT_FIELDS = new Set(["envelope", "other_fields", "accepted"]);

export function createChildren({ values }: AdoptedFacts): Children {
  const found = new Map<string, string[]>();
  for (const [id, value] of values) {
    const cut = id.lastIndexOf(".");
    const [place, name] = [id.slice(0, cut), id.slice(cut + 1)];
    const isField = value === "always" || value === "sometimes" || value === "known";
    if (cut > 0 && isField && !id.includes("/") && !NOT_FIELDS.has(name)) found.set(place, [...(found.get(place) ?? []), name]);
  }
  return (place) => found.get(place) ?? [];
}
