// The facts that schemas state about responses and request bodies: fields, types, values, prefixes and forms.

import { formOfSchema } from "../../src/compare/value-formats.ts";
import type { DeclaredFact, FactKind, FactValue, ServiceFact } from "../../src/contracts/fact.ts";
import { ASSUMED, type Assumption } from "../../src/schema/assumed.ts";
import { prefixOf, type TSchema } from "../../src/schema/shapes.ts";
import {
  fieldPlace,
  fieldsOf,
  innerOf,
  isConstant,
  isOpen,
  isRequired,
  nameOf,
  typesOf,
  valueSchema,
  valuesOf,
} from "../../src/schema/walk.ts";

/** Why a fact is assumed; undefined if the service's documentation states the fact. */
export type Reason = Assumption | undefined;

/** Options can set only assumed facts, not facts that the service's documentation states. */
export function factFrom({ settable, ...declared }: DeclaredFact, reason: Reason): ServiceFact {
  if (!reason) return { ...declared, origin: "document" };
  return { ...declared, ...(settable && { settable }), origin: "assumed", ...reason };
}

const OTHERS_ACCEPTED: Assumption = {
  why: "The service's documentation does not say that it refuses fields it does not know; the sandbox ignores them.",
};

const CONSTANT_WHY = "No money moves in the sandbox.";

/** The reason in the mark of the schema (default: the reason of the enclosing schema). */
const reasonOf = (schema: TSchema, inherited: Reason): Reason =>
  (schema as { [ASSUMED]?: Assumption })[ASSUMED] ?? inherited;

/** Collects facts. A titled schema is described once. */
export function createSchemaFacts() {
  const facts: ServiceFact[] = [];
  const described = new Set<string>();

  /** An object of a response or an event, or the body of a request. */
  const object = (place: string, schema: TSchema, inherited: Reason, isBody = false): void => {
    const name = nameOf(schema, place);
    if (described.has(name)) return;
    described.add(name);
    const reason = reasonOf(schema, inherited);
    for (const [field, inner] of fieldsOf(schema))
      describeField(fieldPlace(name, field), inner, isRequired(schema, field), reason, isBody);
    const others = { id: `${name}.other_fields`, kind: "other_fields" } as const;
    if (isBody) facts.push(factFrom({ ...others, value: "accepted" }, reason ?? OTHERS_ACCEPTED));
    else if (!isOpen(schema)) facts.push(factFrom({ ...others, value: "none" }, reason));
  };

  const describeField = (id: string, schema: TSchema, required: boolean, inherited: Reason, isBody: boolean): void => {
    const reason = reasonOf(schema, inherited);
    const own: DeclaredFact[] = isBody
      ? [
          { id, kind: "body_field", value: "known" },
          { id: `${id}.required`, kind: "required", value: required },
        ]
      : [{ id, kind: "field", value: required ? "always" : "sometimes" }];
    facts.push(...own.map((fact) => factFrom(fact, reason)));
    describeValue(id, schema, reason, isBody);
  };

  const describeValue = (id: string, schema: TSchema, reason: Reason, isBody: boolean): void => {
    facts.push(...valueFacts(id, schema, reason));
    const inner = innerOf(id, schema);
    if (inner.isObject) object(inner.id, inner.schema, reason, isBody);
    else if (inner.isList) describeValue(inner.id, inner.schema, reasonOf(inner.schema, reason), isBody);
  };

  return { facts, object };
}

function valueFacts(id: string, schema: TSchema, reason: Reason): ServiceFact[] {
  const fact = (part: string, kind: FactKind, value: FactValue) =>
    factFrom({ id: `${id}.${part}`, kind, value }, reason);
  const inner = valueSchema(schema);
  const types = typesOf(schema);
  const prefix = prefixOf(inner);
  const form = formOfSchema(inner);
  const values = valuesOf(inner);
  return [
    ...(types.length > 0 ? [fact("type", "type", types)] : []),
    ...(prefix === undefined ? [] : [fact("prefix", "prefix", prefix)]),
    ...(form === undefined ? [] : [fact("format", "format", form)]),
    ...(values ? valuesFacts(id, values, isConstant(inner) ? "design" : reason) : []),
  ];
}

/** One fact for each value, and one fact that the list of values is complete. */
export function valuesFacts(id: string, values: readonly string[], reason: Reason | "design"): ServiceFact[] {
  const make = (fact: DeclaredFact): ServiceFact =>
    reason === "design" ? { ...fact, origin: "design", why: CONSTANT_WHY } : factFrom(fact, reason);
  return [
    ...values.map((value) => make({ id: `${id}.values.${value}`, kind: "value", value })),
    make({ id: `${id}.values`, kind: "values", value: values }),
  ];
}
