// Holds a value against a schema and says, field by field and in plain words, what does not fit.

import { Compile, type Validator } from "typebox/compile";
import type { FieldError } from "./errors.ts";
import { didYouMean } from "./nearest.ts";
import type { TSchema } from "./shapes.ts";

interface SchemaError {
  keyword: string;
  schemaPath: string;
  instancePath: string;
  params: Record<string, unknown>;
  message: string;
}

const compiled = new WeakMap<TSchema, Validator>();

/** Compiled when first needed: a start that asks for three operations pays for three. */
function validatorOf(schema: TSchema): Validator {
  let validator = compiled.get(schema);
  if (!validator) {
    validator = Compile(schema) as unknown as Validator;
    compiled.set(schema, validator);
  }
  return validator;
}

export const fits = (schema: TSchema, value: unknown): boolean => validatorOf(schema).Check(value);

/** Every field that does not fit; empty when the value does. */
export function fieldErrors(schema: TSchema, value: unknown): FieldError[] {
  const validator = validatorOf(schema);
  if (validator.Check(value)) return [];
  const raw = [...validator.Errors(value)] as unknown as SchemaError[];
  const found = outermost(raw).flatMap((error) => explain(error, value, schema));
  return found.filter((error, index) => found.findIndex((other) => other.pointer === error.pointer) === index);
}

/** The errors that stand in no union, and of a union those of the variant that the value was meant as, where its type shows which. */
function outermost(errors: readonly SchemaError[]): SchemaError[] {
  const unions = errors.filter(({ keyword }) => keyword === "anyOf");
  const isInside = (error: SchemaError, union: SchemaError) =>
    error.schemaPath.startsWith(`${union.schemaPath}/anyOf/`) && error.instancePath.startsWith(union.instancePath);
  return errors
    .filter((error) => !unions.some((union) => isInside(error, union)))
    .flatMap((error) =>
      error.keyword === "anyOf"
        ? meantBy(
            error,
            errors.filter((other) => isInside(other, error)),
          )
        : [error],
    );
}

function meantBy(union: SchemaError, errors: readonly SchemaError[]): SchemaError[] {
  const variantOf = ({ schemaPath }: SchemaError) => schemaPath.slice(`${union.schemaPath}/anyOf/`.length).split("/")[0];
  const isOther = (error: SchemaError) => error.keyword === "type" && error.schemaPath === `${union.schemaPath}/anyOf/${variantOf(error)}`;
  const others = new Set(errors.filter(isOther).map(variantOf));
  const possible = errors.filter((error) => !others.has(variantOf(error)));
  return new Set(possible.map(variantOf)).size === 1 ? outermost(possible) : [union];
}

function explain(error: SchemaError, root: unknown, schema: TSchema): FieldError[] {
  const { keyword, instancePath, params, schemaPath } = error;
  // Beside each field that is too many stands an error of the schema that allows no value at all.
  if (keyword === "boolean") return [];
  if (keyword === "required")
    return (params.requiredProperties as string[]).map((name) => at(`${instancePath}/${escaped(name)}`, "required", "is required"));
  if (keyword === "additionalProperties")
    return (params.additionalProperties as string[]).map((name) => {
      const known = Object.keys((valueAt(schema, schemaPath) as { properties?: object } | undefined)?.properties ?? {});
      const hint = didYouMean(name, known) || (known.length > 0 ? ` Known here are ${known.join(", ")}.` : "");
      return at(`${instancePath}/${escaped(name)}`, "unknown_field", "is not known", hint);
    });
  const [code, must] = WORDS[keyword]?.(params) ?? ["invalid", error.message];
  return [at(instancePath, code, `${must}; received ${quote(valueAt(root, instancePath), instancePath)}`)];
}

type Words = (params: Record<string, unknown>) => [code: string, must: string];

const plural = (limit: unknown, noun: string) => `${limit} ${noun}${limit === 1 ? "" : "s"}`;

const WORDS: Record<string, Words> = {
  type: ({ type }) => ["wrong_type", `must be ${[type].flat().map(article).join(" or ")}`],
  const: ({ allowedValue }) => ["not_allowed", `must be ${JSON.stringify(allowedValue)}`],
  enum: ({ allowedValues }) => [
    "not_allowed",
    `must be one of ${(allowedValues as unknown[]).filter((value) => value !== null).join(", ")}`,
  ],
  format: ({ format }) => ["wrong_format", FORMATS[String(format)] ?? `must be a valid ${format}`],
  pattern: ({ pattern }) => ["wrong_format", PATTERNS[String(pattern)] ?? `must match ${pattern}`],
  minimum: ({ limit }) => ["out_of_range", `must be at least ${limit}`],
  maximum: ({ limit }) => ["out_of_range", `must be at most ${limit}`],
  exclusiveMinimum: ({ limit }) => ["out_of_range", `must be more than ${limit}`],
  exclusiveMaximum: ({ limit }) => ["out_of_range", `must be less than ${limit}`],
  minLength: ({ limit }) => ["wrong_length", `must have at least ${plural(limit, "character")}`],
  maxLength: ({ limit }) => ["wrong_length", `must have at most ${plural(limit, "character")}`],
  minItems: ({ limit }) => ["wrong_length", `must have at least ${plural(limit, "item")}`],
  maxItems: ({ limit }) => ["wrong_length", `must have at most ${plural(limit, "item")}`],
  minProperties: ({ limit }) => ["wrong_length", `must have at least ${limit} ${limit === 1 ? "entry" : "entries"}`],
  maxProperties: ({ limit }) => ["wrong_length", `must have at most ${limit} ${limit === 1 ? "entry" : "entries"}`],
  anyOf: () => ["wrong_shape", "matches none of the shapes that are allowed"],
};

const FORMATS: Record<string, string> = {
  date: "must be a calendar day, YYYY-MM-DD",
  "date-time": "must be a time such as 2026-01-05T09:00:00Z",
};

const PATTERNS: Record<string, string> = {
  "^[A-Z]{3}$": "must be an ISO 4217 code of three capital letters, such as EUR",
  "^[A-Z]{2}$": "must be an ISO 3166-1 code of two capital letters, such as PT",
  "^[0-9]{4}-(0[1-9]|1[0-2])$": "must be a month, YYYY-MM",
  "^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$": "must be an e-mail address",
  "^[0-9]+(\\.[0-9]+)?(ms|s|m|h|d)$": "must be a span of time such as 600ms, 30s or 24h",
  "^-?[0-9]+(\\.[0-9]+)?(ms|s|m|h|d)$": "must be a span of time such as 5m or -30s",
  "^\\+?([ -]?[0-9A-Za-z]){5,34}$": "must be 5 to 34 letters and digits, with spaces or dashes between them",
};

const article = (type: unknown) =>
  type === "null" ? "null" : type === "object" || type === "array" || type === "integer" ? `an ${type}` : `a ${type}`;

function at(pointer: string, code: string, rest: string, hint = ""): FieldError {
  const field = stepsOf(pointer).join(".");
  return { pointer, field, code, message: `${field || "The body"} ${rest}.${hint}` };
}

/** A name as one step of a JSON Pointer. */
export const escaped = (name: string) => name.replaceAll("~", "~0").replaceAll("/", "~1");
const unescaped = (name: string) => name.replaceAll("~1", "/").replaceAll("~0", "~");

/** The names and indices that a JSON Pointer goes through. */
export const stepsOf = (pointer: string) => pointer.split("/").slice(1).map(unescaped);

/** The value that a JSON Pointer leads to; undefined where it leads nowhere. */
export function valueAt(root: unknown, pointer: string): unknown {
  return stepsOf(pointer).reduce(
    (value, step) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, step) ? (value as Record<string, unknown>)[step] : undefined,
    root,
  );
}

const LONGEST_QUOTE = 60;

/** What was received, cut short; never the value of a field that could be a secret. */
function quote(value: unknown, pointer: string): string {
  const kind = value === null ? "null" : Array.isArray(value) ? "an array" : article(typeof value);
  if (value === null || value === undefined || typeof value === "object" || isSecret(pointer)) return kind;
  const json = JSON.stringify(value);
  return json.length > LONGEST_QUOTE ? `${json.slice(0, LONGEST_QUOTE)}… (${kind})` : `${json} (${kind})`;
}

/** Names of fields whose values are never repeated, logged or stored in clear. */
export const isSecret = (name: string) => /password|secret|account[_-]?number|iban|api[_-]?key|access[_-]?token|authorization/i.test(name);
