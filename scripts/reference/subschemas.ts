// Traversal of JSON Schemas: which keywords contain schemas, and the JSON Pointer of each subschema.

import { escapePointer } from "../../src/schema/json-pointer.ts";
import type { SchemaKeywords } from "../../src/schema/schema.ts";
import type { TProperties, TSchema } from "../../src/schema/shapes.ts";

/** A schema as plain JSON, without the symbols that TypeBox adds. */
export type Printed = { [keyword: string]: unknown };

/** The keywords that the generated documents show. */
export interface DocumentedKeywords extends SchemaKeywords {
  enum?: readonly unknown[];
  const?: unknown;
  default?: unknown;
  format?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

const MAPS = new Set(["properties", "patternProperties"]);
const LISTS = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
const SINGLES = new Set(["items", "additionalProperties", "not"]);

/** Copies the schema as plain JSON and replaces each direct subschema with the result of `change`. */
export function mapSubschemas(schema: TSchema, change: (inner: TSchema, pointer: string) => Printed): Printed {
  const mapped = Object.entries(schema).map(([keyword, value]) => [keyword, mapKeyword(keyword, value, change)]);
  return Object.fromEntries(mapped);
}

function mapKeyword(keyword: string, value: unknown, change: (inner: TSchema, pointer: string) => Printed): unknown {
  if (Array.isArray(value) && LISTS.has(keyword))
    return value.map((inner, index) => change(inner, `/${keyword}/${index}`));
  if (typeof value !== "object" || value === null) return value;
  if (SINGLES.has(keyword)) return change(value as TSchema, `/${keyword}`);
  if (!MAPS.has(keyword)) return JSON.parse(JSON.stringify(value));
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, change(inner, `/${keyword}/${escapePointer(name)}`)]),
  );
}

/** A copy of a schema in which each object with this title has more precise schemas for these fields. */
export function refine(schema: TSchema, title: string, fields: TProperties): TSchema {
  const copy = mapSubschemas(schema, (inner) => refine(inner, title, fields) as unknown as Printed);
  const { properties } = copy as { properties?: Printed };
  return (titleOf(schema) === title
    ? { ...copy, properties: { ...properties, ...fields } }
    : copy) as unknown as TSchema;
}

/** The title of a schema. Generated documents print a titled schema once, under its title. */
export const titleOf = (schema: TSchema): string | undefined => {
  const { title } = schema as { title?: unknown };
  return typeof title === "string" ? title : undefined;
};

export const descriptionOf = (schema: TSchema): string =>
  String((schema as { description?: unknown }).description ?? "");
