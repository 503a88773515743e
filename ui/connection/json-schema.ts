// Parses text from a form field into the value that a JSON Schema describes.

import { tryParseDuration } from "../../src/kernel/duration.ts";

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
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  items?: JsonSchema;
  properties?: Readonly<Record<string, JsonSchema>>;
  required?: readonly string[];
  /** The field belongs to this value of another field. */
  "x-only-with"?: readonly [field: string, value: string];
}

export type ParseResult = { value: unknown } | { problem: string };

const DURATION_PATTERN = "^[0-9]+(\\.[0-9]+)?(ms|s|m|h|d)$";

const problem = (text: string): ParseResult => ({ problem: text });

const typesOf = ({ type }: JsonSchema): readonly string[] => (type === undefined ? [] : [type].flat());

/** The values of an enum or boolean. */
export function choicesOf(schema: JsonSchema): readonly string[] | undefined {
  if (schema.enum) return schema.enum.filter((value) => value !== null).map(String);
  return typesOf(schema).includes("boolean") ? ["true", "false"] : undefined;
}

/** The value of a text, or why it is invalid. */
export function parseText(schema: JsonSchema, text: string): ParseResult {
  if (schema.anyOf) return parseAny(schema, schema.anyOf, text);
  const types = typesOf(schema);
  if (text === "null" && types.includes("null")) return { value: null };
  if (schema.const !== undefined)
    return text === String(schema.const) ? { value: schema.const } : problem(`must be ${String(schema.const)}`);
  if (schema.enum) return parseChoice(schema.enum, text);
  const parser = PARSERS[types.find((type) => type !== "null") ?? ""];
  return parser ? parser(schema, text) : parseJson(text, "a value as JSON");
}

const PARSERS: Record<string, (schema: JsonSchema, text: string) => ParseResult> = {
  integer: parseNumber,
  number: parseNumber,
  boolean: (_, text) => (text === "true" || text === "false" ? { value: text === "true" } : problem("must be true or false")),
  null: (_, text) => (text === "null" ? { value: null } : problem("must be null")),
  string: parseString,
  array: parseArray,
  object: (_, text) => (text.trim().startsWith("{") ? parseJson(text, "an object") : problem('must be an object, such as {"name": 1}')),
};

/** Plain strings are tried last, because they accept nearly any text. */
function parseAny(schema: JsonSchema, variants: readonly JsonSchema[], text: string): ParseResult {
  const isOpen = (variant: JsonSchema) =>
    variant.anyOf !== undefined || (typesOf(variant).includes("string") && !variant.enum && variant.const === undefined);
  const isList = (variant: JsonSchema) => typesOf(variant).includes("array");
  const wanted = variants.filter((variant) => !isList(variant) || text.includes(","));
  const results = [...wanted.filter((one) => !isOpen(one)), ...wanted.filter(isOpen)].map((variant) => parseText(variant, text));
  return results.find((result) => "value" in result) ?? problem(`is invalid; expected: ${schema.description ?? "another value"}`);
}

function parseChoice(choices: readonly unknown[], text: string): ParseResult {
  const found = choices.find((choice) => choice !== null && String(choice) === text);
  return found === undefined ? problem(`must be one of ${choices.filter((choice) => choice !== null).join(", ")}`) : { value: found };
}

function parseNumber(schema: JsonSchema, text: string): ParseResult {
  const isInteger = typesOf(schema).includes("integer");
  const format = isInteger ? /^-?\d+$/ : /^-?\d+(\.\d+)?$/;
  if (!format.test(text)) return problem(isInteger ? "must be a whole number" : "must be a number");
  const value = Number(text);
  if (schema.minimum !== undefined && value < schema.minimum) return problem(`must be at least ${schema.minimum}`);
  if (schema.maximum !== undefined && value > schema.maximum) return problem(`must be at most ${schema.maximum}`);
  return { value };
}

function parseString(schema: JsonSchema, text: string): ParseResult {
  const { pattern, minLength = 0, maxLength = Infinity } = schema;
  const length = [...text].length;
  if (length < minLength) return problem(`must have at least ${minLength} characters`);
  if (length > maxLength) return problem(`must have at most ${maxLength} characters`);
  if (pattern === DURATION_PATTERN)
    return tryParseDuration(text) === undefined ? problem("must be a duration such as 600ms, 30s or 24h") : { value: text };
  if (pattern !== undefined && !new RegExp(pattern, "u").test(text)) return problem(`must match ${pattern}`);
  return { value: text };
}

function parseArray({ items = {}, maxItems = Infinity }: JsonSchema, text: string): ParseResult {
  const results = text.split(",").map((piece) => parseText(items, piece.trim()));
  if (results.length > maxItems) return problem(`must have at most ${maxItems} items`);
  const wrong = results.find((result) => "problem" in result);
  return wrong ?? { value: results.map((result) => (result as { value: unknown }).value) };
}

export function parseJson(text: string, what: string): ParseResult {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return problem(`must be ${what}, in JSON`);
  }
}
