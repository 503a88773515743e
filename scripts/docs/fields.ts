// Renders the fields of a schema as Markdown tables.

import { ASSUMED } from "../../src/schema/assumed.ts";
import { type TSchema, text } from "../../src/schema/shapes.ts";
import { type DocumentedKeywords, descriptionOf, titleOf } from "../reference/subschemas.ts";
import { code, link, table } from "./markdown.ts";

/** The mark of an assumed fact, which links to the page that explains assumptions. */
export const ASSUMED_MARK = link("*assumed*", "assumptions.md");

export const isMarked = (schema: TSchema) => ASSUMED in schema;

export const marked = (words: string, schema: TSchema) =>
  (isMarked(schema) ? `${words} ${ASSUMED_MARK}` : words).trim();

/** The fields of a request, with their constraints and whether they are required. */
export const sentTable = (schema: TSchema): string =>
  table(
    ["Field", "Type", "Required", "Description"],
    fieldRows(schema, "").map(({ name, field, isRequired }) => [
      code(name),
      typeOf(field) + boundsOf(field),
      isRequired ? "yes" : "",
      markedDescriptionOf(field),
    ]),
  );

/** The fields of a request as a list. It is shorter than a table if most descriptions are short. */
export const fieldLines = (schema: TSchema): string[] =>
  fieldRows(schema, "").map(({ name, field, isRequired }) => {
    const words = descriptionOf(field);
    return (
      `- ${code(name)} ` +
      `${typeOf(field, String)}${boundsOf(field)}${isRequired ? ", required" : ""}${words && `: ${words}`}`
    );
  });

/** The fields of a response. */
export const receivedTable = (schema: TSchema): string =>
  table(
    ["Field", "Type", "Description"],
    fieldRows(schema, "").map(({ name, field }) => [code(name), typeOf(field), markedDescriptionOf(field)]),
  );

export const markedDescriptionOf = (schema: TSchema) => marked(descriptionOf(schema), schema);

interface FieldRow {
  name: string;
  field: TSchema;
  isRequired: boolean;
}

function fieldRows(schema: TSchema, path: string): FieldRow[] {
  const { properties = {}, required = [] } = schema as DocumentedKeywords;
  return Object.entries(properties).flatMap(([name, field]) => [
    { name: path + name, field, isRequired: required.includes(name) },
    ...innerRows(field, path + name),
  ]);
}

/** The fields of a nested object or array of objects. Schemas with a title have a separate table. */
function innerRows(field: TSchema, path: string): FieldRow[] {
  const { items, properties } = field as DocumentedKeywords;
  if (titleOf(field) !== undefined) return [];
  if (properties) return fieldRows(field, `${path}.`);
  return items && titleOf(items) === undefined ? fieldRows(items, `${path}[].`) : [];
}

/** The type as a table shows it. `shown` writes the title of an object (default: as a link to the object's table). */
export function typeOf(schema: TSchema, shown = (title: string) => link(title, `#record-${title}`)): string {
  const keywords = schema as DocumentedKeywords;
  const title = titleOf(schema);
  const names = [keywords.type ?? []].flat();
  const orNull = names.includes("null") && names.length > 1 ? " or null" : "";
  if (title !== undefined) return shown(title) + orNull;
  if (keywords.anyOf) return keywords.anyOf.map((one) => typeOf(one, shown)).join(" or ");
  if ("const" in keywords) return code(JSON.stringify(keywords.const));
  if (keywords.enum) return valuesOf(keywords.enum) + orNull;
  if (keywords.items) return `array of ${typeOf(keywords.items, shown)}${orNull}`;
  const name = keywords.format ?? names[0] ?? "any";
  return name + orNull;
}

const valuesOf = (values: readonly unknown[]) =>
  values
    .filter((value) => value !== null)
    .map((value) => code(String(value)))
    .join(", ");

/** The default maximum length of text. Only the section Limits states it. */
export const DEFAULT_MAX_LENGTH = (text("") as DocumentedKeywords).maxLength ?? 0;

/** The constraints of a value, except its type and the constraints that apply to every field of that type. */
export function boundsOf(schema: TSchema): string {
  const { minimum, maximum, maxLength, minItems, maxItems, default: fallback } = schema as DocumentedKeywords;
  const bounds = [
    minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? "" : `at least ${number(minimum)}`,
    maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? "" : `at most ${number(maximum)}`,
    maxLength === undefined || maxLength === DEFAULT_MAX_LENGTH ? "" : `at most ${number(maxLength)} characters`,
    minItems === undefined ? "" : `at least ${number(minItems)} items`,
    maxItems === undefined ? "" : `at most ${number(maxItems)} items`,
    fallback === undefined ? "" : `default: ${fallback}`,
  ];
  return bounds
    .filter(Boolean)
    .map((bound) => `, ${bound}`)
    .join("");
}

const number = (value: number) => value.toLocaleString("en-US");
