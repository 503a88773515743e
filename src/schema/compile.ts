// Compiles a JSON Schema to one JavaScript function that checks a value. Trick: the function is generated source, not
// nested closures. Reason and figures: closures check seven times slower, which adds 6 % to a POST; TypeBox's compiler
// is as fast, but adds 154 KiB and 5 % to each start; ajv's code, generated at build, is 1.4 MiB.

import { once, oncePerKey } from "../kernel/once.ts";
import { ASSUMED } from "./assumed.ts";
import { FUNCTIONS, KEYWORDS, type Keyword, typeCondition, unsupported } from "./keywords.ts";
import type { SchemaKeywords, TSchema } from "./schema.ts";
import { PREFIX, UNIT } from "./shapes.ts";

/** The keywords that constrain the parts of a value. */
const APPLICATORS = ["required", "additionalProperties", "patternProperties", "properties", "items", "anyOf"];
/** The keywords that inform readers and constrain nothing. */
const ANNOTATIONS = ["title", "description", "default", ASSUMED, "x-sandbox-code", "x-sandbox-names", PREFIX, UNIT];
const KNOWN = new Set([...KEYWORDS.keys(), ...APPLICATORS, ...ANNOTATIONS]);

type Predicate = (value: unknown) => boolean;

export const checkOf = oncePerKey((schema: TSchema): Predicate => compile(conditionOf(schema, "value", 0)));

function compile(condition: string): Predicate {
  const make = new Function(...Object.keys(FUNCTIONS), `return (value) => ${condition};`);
  return make(...Object.values(FUNCTIONS)) as Predicate;
}

const all = (conditions: readonly string[]) => conditions.map((condition) => `(${condition})`).join(" && ");

/**
 * The source of the condition that the expression `value` matches the schema; `depth` keeps the names of nested
 * parameters apart.
 */
function conditionOf(schema: SchemaKeywords, value: string, depth: number): string {
  const unknown = Object.keys(schema).find((keyword) => !KNOWN.has(keyword));
  if (unknown !== undefined) unsupported("keyword", unknown);
  const { items, anyOf } = schema;
  const [item, insideObject] = [`item${depth}`, conditionsInside(schema, value, depth)];
  const conditions = [
    ...constraintsOf(schema).map(({ condition }) => condition(value)),
    ...(insideObject.length > 0 ? [`!(${typeCondition("object", value)}) || ${all(insideObject)}`] : []),
    ...(items
      ? [`!Array.isArray(${value}) || ${value}.every((${item}) => ${conditionOf(items, item, depth + 1)})`]
      : []),
    ...(anyOf ? [anyOf.map((shape) => conditionOf(shape, value, depth)).join(" || ")] : []),
  ];
  return conditions.length > 0 ? all(conditions) : "true";
}

function conditionsInside(schema: SchemaKeywords, value: string, depth: number): string[] {
  const { required = [], properties = {}, patternProperties = {}, additionalProperties } = schema;
  const [name, inner] = [`name${depth}`, `inner${depth}`];
  const names = JSON.stringify(Object.keys(properties));
  return [
    ...required.map((each) => `${JSON.stringify(each)} in ${value}`),
    ...(additionalProperties === false ? [`Object.keys(${value}).every((${name}) => ${names}.includes(${name}))`] : []),
    ...Object.entries(patternProperties).map(([pattern, shape]) => {
      const condition = `!${new RegExp(pattern, "u")}.test(${name}) || ${conditionOf(shape, inner, depth + 1)}`;
      return `Object.entries(${value}).every(([${name}, ${inner}]) => ${condition})`;
    }),
    ...Object.entries(properties).map(([each, shape]) => {
      const field = `${value}[${JSON.stringify(each)}]`;
      const condition = conditionOf(shape, field, depth);
      return required.includes(each) ? condition : `${field} === undefined || ${condition}`;
    }),
  ];
}

interface Constraint {
  code: string;
  must(): string;
  condition(value: string): string;
  /** Compiled on first use: single constraints are needed only to explain why a value does not match. */
  check(value: unknown): boolean;
}

/** The constraints on a value as a whole, in the order of the keywords. */
export const constraintsOf = oncePerKey((schema: SchemaKeywords): Constraint[] =>
  [...KEYWORDS].filter(([name]) => name in schema).map(([name]) => constraint(schema, name)),
);

function constraint(schema: SchemaKeywords, name: string): Constraint {
  const { code, must, type, condition } = KEYWORDS.get(name) as Keyword;
  const setting = (schema as unknown as Record<string, unknown>)[name] as never;
  // A keyword for one type does not constrain values of another. The test for the type is omitted if the schema's own
  // `type` makes it.
  const isChecked = type === undefined || schema.type === type || (schema.type === "integer" && type === "number");
  const source = (value: string) =>
    isChecked ? condition(setting, value) : `!(${typeCondition(type, value)}) || ${condition(setting, value)}`;
  const check = once(() => compile(source("value")));
  return { code, must: () => must(setting), condition: source, check: (value) => check()(value) };
}
