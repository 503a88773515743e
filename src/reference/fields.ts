// The fields of a schema as the rows of a table that a person reads.

import { ASSUMED } from "../schema/assumed.ts";
import { type TSchema, text } from "../schema/shapes.ts";
import { code, link, table } from "./markdown.ts";
import { descriptionOf, titleOf } from "./subschemas.ts";

interface Keywords {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  format?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
  items?: TSchema;
  anyOf?: TSchema[];
  properties?: Record<string, TSchema>;
  required?: string[];
  patternProperties?: Record<string, TSchema>;
}

/** Leads from a mark to the page that explains it. */
export const ASSUMED_MARK = link("*assumed*", "assumptions.md");

export const isMarked = (schema: TSchema) => ASSUMED in schema;

export const marked = (words: string, schema: TSchema) => (isMarked(schema) ? `${words} ${ASSUMED_MARK}` : words).trim();

/** The fields of what a client sends: with what they must be, and the bounds they must keep. */
export const sentTable = (schema: TSchema): string =>
  table(
    ["Field", "Type", "Required", "Meaning"],
    fieldRows(schema, "").map(({ name, field, isRequired }) => [
      code(name),
      typeOf(field) + boundsOf(field),
      isRequired ? "yes" : "",
      meaningOf(field),
    ]),
  );

/** The fields of what a client gets. */
export const receivedTable = (schema: TSchema): string =>
  table(
    ["Field", "Type", "Meaning"],
    fieldRows(schema, "").map(({ name, field }) => [code(name), typeOf(field), meaningOf(field)]),
  );

export const meaningOf = (schema: TSchema) => marked(descriptionOf(schema), schema);

interface Row {
  name: string;
  field: TSchema;
  isRequired: boolean;
}

function fieldRows(schema: TSchema, path: string): Row[] {
  const { properties = {}, required = [] } = schema as Keywords;
  return Object.entries(properties).flatMap(([name, field]) => [
    { name: path + name, field, isRequired: required.includes(name) },
    ...innerRows(field, path + name),
  ]);
}

/** The fields of an object, or of each object of an array; a record of its own has a table of its own. */
function innerRows(field: TSchema, path: string): Row[] {
  const { items, properties } = field as Keywords;
  if (titleOf(field) !== undefined) return [];
  if (properties) return fieldRows(field, `${path}.`);
  return items && titleOf(items) === undefined ? fieldRows(items, `${path}[].`) : [];
}

/** The type in words. */
export function typeOf(schema: TSchema): string {
  const keywords = schema as Keywords;
  const title = titleOf(schema);
  const names = [keywords.type ?? []].flat();
  const orNull = names.includes("null") && names.length > 1 ? " or null" : "";
  if (title !== undefined) return link(title, `#record-${title}`) + orNull;
  if (keywords.anyOf) return keywords.anyOf.map(typeOf).join(" or ");
  if ("const" in keywords) return code(JSON.stringify(keywords.const));
  if (keywords.enum) return valuesOf(keywords.enum) + orNull;
  if (keywords.items) return `array of ${typeOf(keywords.items)}${orNull}`;
  const name = keywords.format ?? names[0] ?? "any";
  return name + orNull;
}

const valuesOf = (values: readonly unknown[]) =>
  values
    .filter((value) => value !== null)
    .map((value) => code(String(value)))
    .join(", ");

/** What text holds unless its field says otherwise; stated once, under the limits. */
export const USUAL_LENGTH = (text("") as Keywords).maxLength ?? 0;

/** What a value must keep to beyond its type; bounds that are those of every field of the type are left out. */
export function boundsOf(schema: TSchema): string {
  const { minimum, maximum, maxLength, minItems, maxItems, default: fallback } = schema as Keywords;
  const bounds = [
    minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? "" : `at least ${number(minimum)}`,
    maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? "" : `at most ${number(maximum)}`,
    maxLength === undefined || maxLength === USUAL_LENGTH ? "" : `at most ${number(maxLength)} characters`,
    minItems === undefined ? "" : `at least ${number(minItems)} of them`,
    maxItems === undefined ? "" : `at most ${number(maxItems)} of them`,
    fallback === undefined ? "" : `default ${fallback}`,
  ];
  return bounds
    .filter(Boolean)
    .map((bound) => `, ${bound}`)
    .join("");
}

const number = (value: number) => value.toLocaleString("en-US");
