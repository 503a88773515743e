// The schema validator: its verdicts, compared with TypeBox's, and its error messages.

import fc from "fast-check";
import { Check } from "typebox/schema";
import { expect, test } from "vitest";
import { catalogue, resources } from "../../src/areas/index.ts";
import { Expectations } from "../../src/contracts/expectations.ts";
import { controlCatalogue } from "../../src/control/index.ts";
import { actions, ruleSchema } from "../../src/faults/rule-schema.ts";
import { scenarioSchema } from "../../src/scenarios/scenario-files.ts";
import { valueAt } from "../../src/schema/json-pointer.ts";
import { type TSchema, Type } from "../../src/schema/shapes.ts";
import { fieldErrors, matchesSchema } from "../../src/schema/validator.ts";
import { creatableFields } from "../../src/store/records/record-fields.ts";

const SEED = 20_260_105;

const schemas: TSchema[] = [
  ...[...catalogue, ...controlCatalogue].flatMap(({ query, body, reply }) => [query, body ?? query, reply]),
  ...resources.flatMap((resource) => [resource.schema, creatableFields(resource)]),
  ...actions.map(ruleSchema),
  Expectations,
  scenarioSchema,
];

interface Keywords {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Keywords[];
  items?: Keywords;
  properties?: Record<string, Keywords>;
  patternProperties?: Record<string, Keywords>;
  required?: string[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
}

/** Values at the limits of some schemas, or beyond the limits. */
const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(
    "",
    "\n",
    "😀",
    "2024-02-29",
    "2026-02-29",
    "1900-02-29",
    "2026-13-01",
    "2026-01",
    "EUR",
    "PT",
    "a@b.pt",
    "30s",
    "-5m",
    "2xx",
  ),
  fc.constantFrom(0, -1, 0.5, 1e300, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2 ** 53),
);

/** Values that usually match the schema, because a value of the wrong type reaches no nested schema. */
const like = (schema: Keywords): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 15, arbitrary: fitting(schema) }, { weight: 1, arbitrary: odd });

function fitting(schema: Keywords): fc.Arbitrary<unknown> {
  if ("const" in schema) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map(like));
  const types = [schema.type ?? "any"].flat();
  return types.length === 1
    ? ofType(types[0] as string, schema)
    : fc.oneof(...types.map((type) => ofType(type, schema)));
}

function ofType(type: string, schema: Keywords): fc.Arbitrary<unknown> {
  const {
    minimum = 0,
    maximum = 100,
    minLength = 0,
    maxLength = 20,
    items,
    properties,
    patternProperties,
    required = [],
  } = schema;
  if (type === "null") return fc.constant(null);
  if (type === "boolean") return fc.boolean();
  if (type === "integer" || type === "number")
    return fc.constantFrom(minimum, maximum, minimum - 1, maximum + 1, minimum + 1);
  if (type === "string" && !schema.format && !schema.pattern)
    return fc
      .tuple(fc.constantFrom("a", "é", "😀"), fc.constantFrom(minLength, maxLength, minLength + 1, maxLength + 1))
      .map(([letter, times]) => letter.repeat(times));
  if (type === "array" && items) return fc.array(like(items), { maxLength: 3 });
  if (properties) return ofObject(properties, required);
  const [values] = Object.values(patternProperties ?? {});
  return values ? fc.dictionary(fc.constantFrom("a", "b/c", "~d", ""), like(values)) : odd;
}

/** Objects with these properties. Some have a further property, which the schema may not allow. */
function ofObject(properties: Record<string, Keywords>, required: string[]): fc.Arbitrary<unknown> {
  const fields: Record<string, fc.Arbitrary<unknown>> = Object.fromEntries(
    Object.entries(properties).map(([name, field]) => [name, like(field)]),
  );
  const stranger = fc.constantFrom({}, {}, {}, { odd: true });
  return fc
    .tuple(fc.record(fields, { requiredKeys: required }), stranger)
    .map(([record, more]) => ({ ...record, ...more }));
}

test("the validator agrees with TypeBox, and describes why a value does not match", () => {
  const seen = new Set<boolean>();
  const property = fc.property(
    fc.constantFrom(...schemas).chain((schema) => fc.tuple(fc.constant(schema), like(schema as Keywords))),
    ([schema, value]) => {
      const verdict = matchesSchema(schema, value);
      seen.add(verdict);
      expect(verdict).toBe(Check(schema as object, value));
      const errors = fieldErrors(schema, value);
      expect(errors.length === 0).toBe(verdict);
      expect(new Set(errors.map(({ pointer }) => pointer)).size).toBe(errors.length);
      for (const { pointer, code } of errors) if (code === "required") expect(valueAt(value, pointer)).toBeUndefined();
    },
  );
  fc.assert(property, { seed: SEED, numRuns: 1_000 });
  expect(seen.size).toBe(2);
});

test("each keyword has its error message", () => {
  const said = (schema: TSchema, value: unknown) =>
    fieldErrors(Type.Object({ it: schema }), { it: value }).map(({ code, message }) => `${code}: ${message}`);
  expect(said(Type.String(), 3)).toEqual(["wrong_type: it must be a string; received 3."]);
  expect(said(Type.Integer(), "é".repeat(99))).toEqual([
    `wrong_type: it must be an integer; received "${"é".repeat(59)}…".`,
  ]);
  expect(said(Type.Integer(), 0.5)).toEqual(["wrong_type: it must be an integer; received 0.5."]);
  expect(said(Type.String({ minLength: 2 }), "😀")).toEqual([
    'wrong_length: it must have at least 2 characters; received "😀".',
  ]);
  expect(said(Type.String({ maxLength: 1 }), "😀")).toEqual([]);
  expect(said(Type.String({ format: "date" }), "2026-02-29")).toEqual([
    'wrong_format: it must be a calendar day, YYYY-MM-DD; received "2026-02-29".',
  ]);
  expect(said(Type.Number({ exclusiveMinimum: 3 }), 3)).toEqual(["out_of_range: it must be more than 3; received 3."]);
  expect(said(Type.Number({ exclusiveMaximum: 3 }), 3)).toEqual(["out_of_range: it must be less than 3; received 3."]);
  expect(said(Type.Array(Type.Null(), { maxItems: 1 }), [null, null])).toEqual([
    "wrong_length: it must have at most 1 item; received 2.",
  ]);
  expect(said(Type.Record(Type.Null(), { minProperties: 2 }), { a: null })).toEqual([
    "wrong_length: it must have at least 2 entries; received 1.",
  ]);
  expect(said(Type.String({ const: "a" }), "b")).toEqual(['not_allowed: it must be "a"; received "b".']);
  expect(said(Type.Union([Type.Null(), Type.Integer({ minimum: 1 })]), 0)).toEqual([
    "out_of_range: it must be at least 1; received 0.",
  ]);
  expect(said(Type.Union([Type.Null(), Type.Integer()]), "0")).toEqual([
    'wrong_shape: it matches none of the shapes that are allowed; received "0".',
  ]);
});

test("the validator reports the first hundred errors", () => {
  expect(fieldErrors(Type.Array(Type.Null()), Array(1_000).fill(0))).toHaveLength(100);
});

test("the validator stops after a hundred errors, even inside anyOf", () => {
  const numbers = Type.Array(Type.Integer({ minimum: 0 }));
  const [first, ...others] = fieldErrors(Type.Union([Type.Null(), numbers]), Array(500_000).fill(-1));
  expect(first).toMatchObject({ pointer: "/0", code: "out_of_range" });
  expect(others).toHaveLength(99);
});

test("the validator rejects a schema with an unsupported keyword, format or type", () => {
  expect(() => matchesSchema(Type.Integer({ multipleOf: 2 }), 4)).toThrow(
    "A schema uses the keyword multipleOf, which is not supported.",
  );
  expect(() => matchesSchema(Type.String({ format: "uri" }), "")).toThrow(
    "A schema uses the format uri, which is not supported.",
  );
  expect(() => matchesSchema(Type.Unsafe({ type: "date" }), "")).toThrow(
    "A schema uses the type date, which is not supported.",
  );
});
