// Compiles a JSON Schema to one JavaScript function that checks a value. Trick: the function is generated source that
// calls the tests of the keywords, not nested closures. Reason and figures: closures check seven times slower, which
// adds 6 % to a POST; TypeBox's compiler is as fast, but adds 154 KiB and 5 % to each start; ajv's code, generated at
// build, is 1.4 MiB.

import { isObject } from "../kernel/json-object.ts";
import { oncePerKey } from "../kernel/once.ts";
import { KEYWORDS, type Keyword, type Test, testType, unsupported } from "./keywords.ts";
import type { SchemaKeywords, TSchema } from "./schema.ts";

/** The keywords that constrain the parts of a value. */
const APPLICATORS = ["required", "additionalProperties", "patternProperties", "properties", "items", "anyOf"];
const KNOWN = new Set([...KEYWORDS.keys(), ...APPLICATORS, "title", "description", "default"]);
/** Keywords of our own inform readers and constrain nothing. */
const isKnown = (keyword: string) => KNOWN.has(keyword) || keyword.startsWith("x-sandbox-");

type Predicate = (value: unknown) => boolean;

export const checkOf = oncePerKey((schema: TSchema): Predicate => {
  const tests: Test[] = [isObject];
  const condition = conditionOf(schema, "value", 0, tests);
  const make = new Function(...tests.map((_, index) => `test${index}`), `return (value) => ${condition};`);
  return make(...tests) as Predicate;
});

const all = (conditions: readonly string[]) => conditions.map((condition) => `(${condition})`).join(" && ");

/**
 * The source of the condition that the expression `value` matches the schema; `depth` keeps the names of nested
 * parameters apart. Adds the functions that the source calls to `tests`.
 */
function conditionOf(schema: SchemaKeywords, value: string, depth: number, tests: Test[]): string {
  const unknown = Object.keys(schema).find((keyword) => !isKnown(keyword));
  if (unknown !== undefined) unsupported("keyword", unknown);
  const { items, anyOf } = schema;
  const [item, insideObject] = [`item${depth}`, conditionsInside(schema, value, depth, tests)];
  const passes = (test: Test) => `test${tests.push(test) - 1}(${value})`;
  const conditions = [
    ...constraintsOf(schema).map(({ test, typeTest }) =>
      typeTest ? `!${passes(typeTest)} || ${passes(test)}` : passes(test),
    ),
    ...(insideObject.length > 0 ? [`!test0(${value}) || ${all(insideObject)}`] : []),
    ...(items
      ? [`!Array.isArray(${value}) || ${value}.every((${item}) => ${conditionOf(items, item, depth + 1, tests)})`]
      : []),
    ...(anyOf ? [anyOf.map((shape) => conditionOf(shape, value, depth, tests)).join(" || ")] : []),
  ];
  return conditions.length > 0 ? all(conditions) : "true";
}

function conditionsInside(schema: SchemaKeywords, value: string, depth: number, tests: Test[]): string[] {
  const { required = [], properties = {}, patternProperties = {}, additionalProperties } = schema;
  const [name, inner] = [`name${depth}`, `inner${depth}`];
  const names = JSON.stringify(Object.keys(properties));
  return [
    ...required.map((each) => `${JSON.stringify(each)} in ${value}`),
    ...(additionalProperties === false ? [`Object.keys(${value}).every((${name}) => ${names}.includes(${name}))`] : []),
    ...Object.entries(patternProperties).map(([pattern, shape]) => {
      const condition = `!${new RegExp(pattern, "u")}.test(${name}) || ${conditionOf(shape, inner, depth + 1, tests)}`;
      return `Object.entries(${value}).every(([${name}, ${inner}]) => ${condition})`;
    }),
    ...Object.entries(properties).map(([each, shape]) => {
      const field = `${value}[${JSON.stringify(each)}]`;
      const condition = conditionOf(shape, field, depth, tests);
      return required.includes(each) ? condition : `${field} === undefined || ${condition}`;
    }),
  ];
}

interface Constraint {
  code: string;
  must(): string;
  test: Test;
  /** Whether the keyword applies to a value. Absent if it applies to all, or the schema's own `type` makes the test. */
  typeTest: Test | undefined;
  check: Predicate;
}

/** The constraints on a value as a whole, in the order of the keywords. */
export const constraintsOf = oncePerKey((schema: SchemaKeywords): Constraint[] =>
  [...KEYWORDS].filter(([name]) => name in schema).map(([name, keyword]) => constraint(schema, name, keyword)),
);

function constraint(schema: SchemaKeywords, name: string, { code, must, type, test: testOf }: Keyword): Constraint {
  const setting = (schema as unknown as Record<string, unknown>)[name] as never;
  const test = testOf(setting);
  const isTyped = type === undefined || schema.type === type || (schema.type === "integer" && type === "number");
  const typeTest = type === undefined ? undefined : testType(type);
  return {
    code,
    must: () => must(setting),
    test,
    typeTest: isTyped ? undefined : typeTest,
    check: (value) => (typeTest !== undefined && !typeTest(value)) || test(value as never),
  };
}
