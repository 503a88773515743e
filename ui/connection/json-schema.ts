// The JSON Schemas of the control API, and the conversion of a form field's text to a value that its schema describes.

import { tryParseJson } from "../../src/kernel/attempt.ts";

/** The keywords that the control API's schemas use. */
export interface JsonSchema {
  type?: string | readonly string[];
  title?: string;
  description?: string;
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly JsonSchema[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  items?: JsonSchema;
  properties?: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
  /** Describes the default. */
  "x-sandbox-default"?: string;
  /** The field is allowed only if another field has this value. */
  "x-only-with"?: readonly [field: string, value: string];
}

export function choicesOf(schema: JsonSchema): readonly string[] | undefined {
  if (schema.enum) return schema.enum.filter((value) => value !== null).map(String);
  return typesOf(schema).includes("boolean") ? ["true", "false"] : undefined;
}

const typesOf = ({ type }: JsonSchema): readonly string[] => (type === undefined ? [] : [type].flat());

/**
 * Converts the text of a field to the value to send. A text that the schema does not allow is sent unchanged, because
 * the control API explains what is wrong.
 */
export function valueOfText(schema: JsonSchema, text: string): unknown {
  const json = valueOfJson(text);
  if (typeof json === "object") return json;
  const variants = schema.anyOf ?? [schema];
  const list = variants.find((variant) => typesOf(variant).includes("array"));
  if (list && (variants.length === 1 || text.includes(",")))
    return text.split(",").map((piece) => valueOfText(list.items ?? {}, piece.trim()));
  return variants.some((variant) => allows(variant, json)) ? json : text;
}

/** The reverse of `valueOfText`: a list of plain values without brackets, any other list or object as JSON. */
export function textOfValue(value: unknown): string {
  if (Array.isArray(value) && value.every((one) => typeof one !== "object")) return value.join(",");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function allows(schema: JsonSchema, value: unknown): boolean {
  if (schema.enum) return schema.enum.includes(value);
  if (schema.anyOf) return schema.anyOf.some((variant) => allows(variant, value));
  if (schema.const !== undefined) return schema.const === value;
  const types = typesOf(schema);
  return (
    types.length === 0 ||
    types.includes(value === null ? "null" : typeof value) ||
    (typeof value === "number" && types.includes("integer"))
  );
}

/** Parses JSON; returns any other text unchanged. */
export function valueOfJson(text: string): unknown {
  const value = tryParseJson(text);
  return value === undefined ? text : value;
}
