// Holds a value against a schema and says, field by field and in plain words, what does not fit.

import { didYouMean } from "../kernel/did-you-mean.ts";
import type { FieldError } from "../kernel/errors.ts";
import { once } from "../kernel/once.ts";
import { isSecret } from "../kernel/redact.ts";
import { ASSUMED } from "./assumed.ts";
import { article, CALLED, isOfType, KEYWORDS, type Keyword, refuse } from "./keywords.ts";
import type { TSchema } from "./schema.ts";

type Check = (value: unknown) => boolean;

/** The keywords that hold what is inside a value. */
interface Keywords extends TSchema {
  required?: readonly string[];
  additionalProperties?: boolean;
  patternProperties?: Readonly<Record<string, TSchema>>;
  properties?: Readonly<Record<string, TSchema>>;
  items?: TSchema;
  anyOf?: readonly TSchema[];
}

const INNER = ["required", "additionalProperties", "patternProperties", "properties", "items", "anyOf"];
/** What says something to readers, and asks nothing of values. */
const SAID = ["title", "description", "default", ASSUMED, "x-sandbox-code"];
const KNOWN = new Set([...KEYWORDS.keys(), ...INNER, ...SAID]);

const checks = new WeakMap<TSchema, Check>();

export function matchesSchema(schema: TSchema, value: unknown): boolean {
  let check = checks.get(schema);
  if (!check) {
    check = compiled(conditionOf(schema, "value", 0));
    checks.set(schema, check);
  }
  return check(value);
}

/** A check is asked at every request: as a function of its own, it costs what one written by hand would. */
function compiled(condition: string): Check {
  const make = new Function(...Object.keys(CALLED), `return (value) => ${condition};`);
  return make(...Object.values(CALLED)) as Check;
}

const every = (conditions: readonly string[]) => conditions.map((condition) => `(${condition})`).join(" && ");

/** The condition that a value fits, as JavaScript over a name for the value. */
function conditionOf(schema: Keywords, value: string, depth: number): string {
  const unknown = Object.keys(schema).find((keyword) => !KNOWN.has(keyword));
  if (unknown !== undefined) refuse("keyword", unknown);
  const { items, anyOf } = schema;
  const [item, inObject] = [`item${depth}`, conditionsInObject(schema, value, depth)];
  const conditions = [
    ...asked(schema).map(({ condition }) => condition(value)),
    ...(inObject.length > 0 ? [`!(${isOfType("object", value)}) || ${every(inObject)}`] : []),
    ...(items ? [`!Array.isArray(${value}) || ${value}.every((${item}) => ${conditionOf(items, item, depth + 1)})`] : []),
    ...(anyOf ? [anyOf.map((shape) => conditionOf(shape, value, depth)).join(" || ")] : []),
  ];
  return conditions.length > 0 ? every(conditions) : "true";
}

function conditionsInObject(schema: Keywords, value: string, depth: number): string[] {
  const { required = [], properties = {}, patternProperties = {}, additionalProperties } = schema;
  const [name, inner] = [`name${depth}`, `inner${depth}`];
  const names = JSON.stringify(Object.keys(properties));
  return [
    ...required.map((each) => `${JSON.stringify(each)} in ${value}`),
    ...(additionalProperties === false ? [`Object.keys(${value}).every((${name}) => ${names}.includes(${name}))`] : []),
    ...Object.entries(patternProperties).map(([pattern, shape]) => {
      const fitting = `!${new RegExp(pattern, "u")}.test(${name}) || ${conditionOf(shape, inner, depth + 1)}`;
      return `Object.entries(${value}).every(([${name}, ${inner}]) => ${fitting})`;
    }),
    ...Object.entries(properties).map(([each, shape]) => {
      const field = `${value}[${JSON.stringify(each)}]`;
      const fitting = conditionOf(shape, field, depth);
      return required.includes(each) ? fitting : `${field} === undefined || ${fitting}`;
    }),
  ];
}

interface Demand {
  code: string;
  must(): string;
  condition(value: string): string;
  isMet(): Check;
}

const demands = new WeakMap<TSchema, Demand[]>();

/** What is asked of a value as a whole, in the order of the keywords. */
function asked(schema: TSchema): Demand[] {
  const found =
    demands.get(schema) ??
    [...KEYWORDS].flatMap(([name, keyword]) => (name in schema ? [demand(schema as unknown as Fields, keyword, name)] : []));
  demands.set(schema, found);
  return found;
}

/** A keyword for values of one type says nothing of any other. What the schema says of types it has already seen to. */
function demand(schema: Fields, { code, must, of, holds }: Keyword, name: string): Demand {
  const wanted = schema[name] as never;
  const isSeenTo = of === undefined || schema.type === of || (schema.type === "integer" && of === "number");
  const condition = (value: string) => (isSeenTo ? holds(wanted, value) : `!(${isOfType(of, value)}) || ${holds(wanted, value)}`);
  return { code, must: () => must(wanted), condition, isMet: once(() => compiled(condition("value"))) };
}

/** Who sends a thousand mistakes learns of the first hundred. */
const MOST_TOLD = 100;

/** Every field that does not fit; empty when the value does. */
export const fieldErrors = (schema: TSchema, value: unknown): FieldError[] => firstOf(misfits(schema, value, ""));

function firstOf(errors: Iterable<FieldError>): FieldError[] {
  const told: FieldError[] = [];
  for (const error of errors) if (told.push(error) === MOST_TOLD) break;
  return told;
}

function* misfits(schema: Keywords, value: unknown, pointer: string): Generator<FieldError> {
  const { items, anyOf } = schema;
  if (matchesSchema(schema, value)) return;
  if (typeof value === "object" && value !== null && !Array.isArray(value)) yield* misfitsInObject(schema, value as Fields, pointer);
  if (items && Array.isArray(value)) for (const [index, item] of value.entries()) yield* misfits(items, item, `${pointer}/${index}`);
  const received = `received ${quote(value, pointer)}`;
  const missed = asked(schema).find(({ isMet }) => !isMet()(value));
  if (missed) yield at(pointer, missed.code, `${missed.must()}; ${received}`);
  if (anyOf && !anyOf.some((shape) => matchesSchema(shape, value)))
    yield* meant(anyOf, value, pointer) ?? [at(pointer, "wrong_shape", `matches none of the shapes that are allowed; ${received}`)];
}

type Fields = Readonly<Record<string, unknown>>;

function* misfitsInObject(schema: Keywords, value: Fields, pointer: string): Generator<FieldError> {
  const { required = [], properties = {}, patternProperties = {}, additionalProperties } = schema;
  const inside = (name: string) => `${pointer}/${escapePointer(name)}`;
  for (const name of required) if (!(name in value)) yield at(inside(name), "required", "is required");
  const names = Object.keys(properties);
  if (additionalProperties === false)
    for (const name of Object.keys(value).filter((each) => !names.includes(each))) {
      const hint = didYouMean(name, names) || (names.length > 0 ? ` Known here are ${names.join(", ")}.` : "");
      yield at(inside(name), "unknown_field", "is not known", hint);
    }
  for (const [pattern, shape] of Object.entries(patternProperties))
    for (const [name, inner] of Object.entries(value)) if (new RegExp(pattern, "u").test(name)) yield* misfits(shape, inner, inside(name));
  for (const [name, shape] of Object.entries(properties)) if (value[name] !== undefined) yield* misfits(shape, value[name], inside(name));
}

/** Of several shapes, what the one asks for that the value was meant as, where its type shows which. */
function meant(shapes: readonly TSchema[], value: unknown, pointer: string): FieldError[] | undefined {
  const found = shapes.map((shape) => firstOf(misfits(shape, value, pointer)));
  const isOfType = (errors: FieldError[]) => !errors.some((error) => error.code === "wrong_type" && error.pointer === pointer);
  const [first, ...others] = found.filter(isOfType);
  return others.length === 0 ? first : undefined;
}

function at(pointer: string, code: string, rest: string, hint = ""): FieldError {
  const field = pointerSegments(pointer).join(".");
  return { pointer, field, code, message: `${field || "The body"} ${rest}.${hint}` };
}

/** A name as one step of a JSON Pointer. */
export const escapePointer = (name: string) => name.replaceAll("~", "~0").replaceAll("/", "~1");
const unescaped = (name: string) => name.replaceAll("~1", "/").replaceAll("~0", "~");

/** The names and indices that a JSON Pointer goes through. */
export const pointerSegments = (pointer: string) => pointer.split("/").slice(1).map(unescaped);

/** The value that a JSON Pointer leads to; undefined where it leads nowhere. */
export function valueAt(root: unknown, pointer: string): unknown {
  return pointerSegments(pointer).reduce(
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
