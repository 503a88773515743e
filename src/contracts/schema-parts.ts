// A schema as facts see it: the name under which its fields are known, its types, its fields and its items.

import type { TSchema } from "../schema/shapes.ts";

interface Keywords {
  title?: string;
  type?: string | readonly string[];
  anyOf?: readonly TSchema[];
  enum?: readonly unknown[];
  const?: unknown;
  properties?: Readonly<Record<string, TSchema>>;
  required?: readonly string[];
  additionalProperties?: boolean;
  items?: TSchema;
}

const keywordsOf = (schema: TSchema) => schema as TSchema & Keywords;

/** A titled schema has one name wherever it occurs; any other is named after its place. */
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

export const hasFields = (schema: TSchema) => keywordsOf(schema).properties !== undefined;

export const isRequired = (schema: TSchema, field: string) => keywordsOf(schema).required?.includes(field) ?? false;

/** Whether a schema says that it does not list all fields. */
export const isOpen = (schema: TSchema) => keywordsOf(schema).additionalProperties === true;

export const itemsOf = (schema: TSchema) => keywordsOf(schema).items;
