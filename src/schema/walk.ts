// Walks through schemas to derive facts: the names of objects, their fields, and the values and items inside.

import type { SchemaKeywords, TSchema } from "./schema.ts";

const keywordsOf = (schema: TSchema): SchemaKeywords => schema;

/** A titled schema has one name wherever it occurs; any other schema is named after the place where it occurs. */
export const nameOf = (schema: TSchema, place: string): string => keywordsOf(schema).title ?? place;

export const itemsPlace = (place: string) => `${place}[]`;
export const fieldPlace = (place: string, field: string) => `${place}.${field}`;

/** The JSON types that a schema allows; empty if it allows all. */
export function typesOf(schema: TSchema): string[] {
  const { type, anyOf } = keywordsOf(schema);
  return [...new Set(anyOf ? anyOf.flatMap(typesOf) : [type ?? []].flat())];
}

/** The schema of the values other than null. */
export function valueSchema(schema: TSchema): TSchema {
  const { anyOf } = keywordsOf(schema);
  return anyOf?.find((one) => keywordsOf(one).type !== "null") ?? schema;
}

/** The values of an enumeration or a constant; undefined if the schema lists none. */
export function valuesOf(schema: TSchema): string[] | undefined {
  const { enum: values, const: constant } = keywordsOf(schema);
  if (constant !== undefined) return [String(constant)];
  return values?.filter((value) => value !== null).map(String);
}

export const isConstant = (schema: TSchema) => keywordsOf(schema).const !== undefined;

export const fieldsOf = (schema: TSchema) => Object.entries(keywordsOf(schema).properties ?? {});

const hasFields = (schema: TSchema) => keywordsOf(schema).properties !== undefined;

export const isRequired = (schema: TSchema, field: string) => keywordsOf(schema).required?.includes(field) ?? false;

/** Whether a schema says that it does not list all fields. */
export const isOpen = (schema: TSchema) => keywordsOf(schema).additionalProperties === true;

export const itemsOf = (schema: TSchema) => keywordsOf(schema).items;

/** The schema of the records of a list; undefined if the reply is not a list. */
export function recordsOf(reply: TSchema): TSchema | undefined {
  const { data } = keywordsOf(reply).properties ?? {};
  return data && itemsOf(data);
}

/** The schema of a value other than null, or of each item where the value is a list. */
export interface Inner {
  /** The id of the value, or of the items. */
  id: string;
  schema: TSchema;
  isList: boolean;
  /** Whether the value or item has fields. Items without fields may be lists themselves. */
  isObject: boolean;
}

/** One step of the walk, from a value to what it holds. */
export function innerOf(id: string, schema: TSchema): Inner {
  const value = valueSchema(schema);
  const items = itemsOf(value);
  if (items === undefined) return { id, schema: value, isList: false, isObject: hasFields(value) };
  const isObject = hasFields(valueSchema(items));
  return { id: itemsPlace(id), schema: isObject ? valueSchema(items) : items, isList: true, isObject };
}

/** Every titled schema in the given schemas, at any depth, by its title. */
export function titledSchemas(schemas: readonly TSchema[]): Map<string, TSchema> {
  const found = new Map<string, TSchema>();
  const visit = (schema: TSchema) => {
    const { title, properties = {}, patternProperties = {}, items, anyOf = [] } = keywordsOf(schema);
    if (title !== undefined && !found.has(title)) found.set(title, schema);
    for (const inner of [
      ...Object.values(properties),
      ...Object.values(patternProperties),
      ...(items ? [items] : []),
      ...anyOf,
    ])
      visit(inner);
  };
  for (const schema of schemas) visit(schema);
  return found;
}
