// Checks a value against a JSON Schema, and describes field by field what is wrong with it.

import { didYouMean } from "../kernel/did-you-mean.ts";
import type { FieldError } from "../kernel/errors.ts";
import { isObject, type JsonObject } from "../kernel/json-object.ts";
import { mask } from "../kernel/mask.ts";
import { isSecretName } from "../kernel/secrets.ts";
import { checkOf, constraintsOf } from "./compile.ts";
import { escapePointer, pointerSegments } from "./json-pointer.ts";
import { withArticle } from "./keywords.ts";
import type { SchemaKeywords, TSchema } from "./schema.ts";

export const matchesSchema = (schema: TSchema, value: unknown): boolean => checkOf(schema)(value);

export const MAX_ERRORS = 100;
/** Characters of a name or a pointer in an error: a field's name may be as long as a body. */
export const MAX_NAME = 400;

/** The errors of every field that does not match, up to a hundred; empty when the value matches. */
export const fieldErrors = (schema: TSchema, value: unknown): FieldError[] => firstErrors(errorsIn(schema, value, ""));

function firstErrors(errors: Iterable<FieldError>): FieldError[] {
  const found: FieldError[] = [];
  for (const error of errors) if (found.push(error) === MAX_ERRORS) break;
  return found;
}

function* errorsIn(schema: SchemaKeywords, value: unknown, pointer: string): Generator<FieldError> {
  if (matchesSchema(schema, value)) return;
  const { items, anyOf: shapes } = schema;
  if (isObject(value)) yield* errorsInObject(schema, value, pointer);
  if (items && Array.isArray(value))
    for (const [index, item] of value.entries()) yield* errorsIn(items, item, `${pointer}/${index}`);
  const received = `received ${quote(value, pointer)}`;
  const violated = constraintsOf(schema).find(({ check }) => !check(value));
  const isMiscounted = violated?.code === "wrong_length" && typeof value === "object" && value !== null;
  if (violated)
    yield errorAt(
      pointer,
      violated.code,
      `${violated.must()}; ${isMiscounted ? `received ${Object.keys(value).length}` : received}`,
    );
  if (shapes && !shapes.some((shape) => matchesSchema(shape, value)))
    yield* errorsInIntendedShape(shapes, value, pointer) ?? [
      errorAt(pointer, "wrong_shape", `matches none of the shapes that are allowed; ${received}`),
    ];
}

function* errorsInObject(schema: SchemaKeywords, value: JsonObject, pointer: string): Generator<FieldError> {
  const { required = [], properties = {}, patternProperties = {}, additionalProperties } = schema;
  const inside = (name: string) => `${pointer}/${escapePointer(name)}`;
  for (const name of required) if (!(name in value)) yield errorAt(inside(name), "required", "is required");
  const names = Object.keys(properties);
  if (additionalProperties === false)
    for (const name of Object.keys(value).filter((each) => !names.includes(each))) {
      const hint = didYouMean(name, names) || (names.length > 0 ? ` Allowed: ${names.join(", ")}.` : "");
      const error = errorAt(inside(name), "unknown_field", "is unknown");
      yield { ...error, message: `Unknown field ${error.field}.${hint}` };
    }
  for (const [pattern, shape] of Object.entries(patternProperties))
    for (const [name, inner] of Object.entries(value))
      if (new RegExp(pattern, "u").test(name)) yield* errorsIn(shape, inner, inside(name));
  for (const [name, shape] of Object.entries(properties))
    if (value[name] !== undefined) yield* errorsIn(shape, value[name], inside(name));
}

/** The errors against the only shape that allows the value's type; undefined when no shape or several allow it. */
function errorsInIntendedShape(shapes: readonly TSchema[], value: unknown, pointer: string): FieldError[] | undefined {
  const found = shapes.map((shape) => firstErrors(errorsIn(shape, value, pointer)));
  const isOfType = (errors: FieldError[]) =>
    !errors.some((error) => error.code === "wrong_type" && error.pointer === pointer);
  const [first, ...others] = found.filter(isOfType);
  return others.length === 0 ? first : undefined;
}

function errorAt(whole: string, code: string, problem: string): FieldError {
  const pointer = whole.slice(0, MAX_NAME);
  const field = pointerSegments(pointer).join(".");
  return { pointer, field, code, message: `${field || "The body"} ${problem}.` };
}

const MAX_QUOTE = 60;
/** Characters that are searched for secrets: long enough for a secret that begins within the quote. */
const MAX_READ = 8_192;

/**
 * The received value for a message, masked and shortened. For an object, an array or a field with a secret name, only
 * its type.
 */
function quote(value: unknown, pointer: string): string {
  const type = Array.isArray(value) ? "an array" : withArticle(typeof value);
  const kind = value === null ? "null" : type;
  if (value === null || value === undefined || typeof value === "object" || isSecretName(pointer)) return kind;
  // Cut first, because the value may be as long as a body. Cut again after masking, so that no secret is split.
  const text = typeof value === "string" ? value.slice(0, MAX_READ) : value;
  const json = mask(JSON.stringify(text), MAX_QUOTE + 1);
  if (json.length <= MAX_QUOTE) return json;
  return `${json.slice(0, MAX_QUOTE)}…${typeof value === "string" ? '"' : ""}`;
}
