// The operations with the values of a service file: statuses, idempotency, the bounds of `limit`, and the fields that a
// body may and must have.

import type { ObjectSchema } from "../contracts/endpoint.ts";
import { typesOfForm } from "../contracts/value-formats.ts";
import { once } from "../kernel/once.ts";
import { ASSUMED, annotate } from "../schema/assumed.ts";
import { type TSchema, Type } from "../schema/shapes.ts";
import { innerOf, isRequired, nameOf, valueSchema } from "../schema/walk.ts";
import type { Operation } from "../store/operation-context.ts";
import { type AddedField, changesOf } from "./field-changes.ts";
import { type AdoptedFacts, adoptedBounds, BOUNDS, type Bounds } from "./service-file.ts";

type Changed = Pick<Operation, "id" | "query" | "body" | "idempotent" | "replayWindow" | "status">;

/** Names stay the sandbox's, because requests are translated before they are validated. */
export function operationUnder<O extends Changed>(operation: O, facts: AdoptedFacts): O {
  const { id, idempotent, replayWindow, query, body } = operation;
  const seconds = facts.number("idempotency.seconds", id);
  const queryUnder = once(() => boundedQuery(id, query, facts));
  const bodyUnder = once(() => body && changedBody(`${id}.body`, body, facts));
  return {
    ...operation,
    status: facts.number(`${id}.status`) ?? operation.status,
    // A service with a second effect ignores the header.
    idempotent: idempotent && facts.text("idempotency.replay", id) !== "a second effect",
    // A login is replayed at most for as long as its token lasts.
    replayWindow: seconds === undefined ? replayWindow : Math.min(replayWindow ?? Infinity, seconds * 1_000),
    // Made on first use: most runs call few operations, and making all took 3 % of a start.
    get query() {
      return queryUnder();
    },
    get body() {
      return bodyUnder();
    },
  };
}

function boundedQuery(id: string, query: ObjectSchema, facts: AdoptedFacts): ObjectSchema {
  const properties = Object.entries(query.properties).map(([name, schema]) => [
    name,
    withBounds(schema, `${id}.query.${name}`, facts),
  ]);
  const order = facts.text(`${id}.order`);
  // Clients do not send `order`: the translation of a request adds it.
  const added = order === undefined ? [] : [["order", Type.String({ const: order })]];
  return { ...query, properties: Object.fromEntries([...properties, ...added]) } as ObjectSchema;
}

/** The schema of a parameter with the default and the bounds of the file. */
function withBounds(schema: TSchema, id: string, facts: AdoptedFacts): TSchema {
  if (BOUNDS.every((kind) => facts.number(`${id}.${kind}`) === undefined)) return schema;
  const { [ASSUMED]: _, ...recorded } = schema as TSchema & Record<string, unknown>;
  return annotate(recorded as TSchema, { ...adoptedBounds(facts, id, schema as TSchema & Bounds) });
}

function changedBody(place: string, body: ObjectSchema, facts: AdoptedFacts): ObjectSchema {
  const object = (at: string, schema: TSchema): TSchema => {
    const name = nameOf(schema, at);
    const { fields, added } = changesOf(facts, name, schema);
    const kept = fields.filter(({ presence }) => presence !== "absent");
    const mustHave = (id: string, otherwise: boolean) => facts.value(`${id}.required`) ?? otherwise;
    const required = [
      ...kept.filter(({ id, own }) => mustHave(id, isRequired(schema, own))).map(({ own }) => own),
      ...added.filter((one) => mustHave(`${name}.${one.name}`, false)).map((one) => one.name),
    ];
    return {
      ...schema,
      properties: Object.fromEntries([
        ...kept.map((field) => [field.own, value(field.id, field.schema)]),
        ...added.map((one) => [one.name, schemaOfAdded(one)]),
      ]),
      required,
      ...(facts.value(`${name}.other_fields`) === "refused" && { additionalProperties: false }),
    } as TSchema;
  };

  const value = (id: string, schema: TSchema): TSchema => {
    const inner = innerOf(id, schema);
    if (!inner.isObject) return schema;
    const changed = object(inner.id, inner.schema);
    const whole = inner.isList ? ({ ...valueSchema(schema), items: changed } as TSchema) : changed;
    const { anyOf } = schema as { anyOf?: readonly TSchema[] };
    return anyOf
      ? ({ ...schema, anyOf: anyOf.map((one) => (one === valueSchema(schema) ? whole : one)) } as unknown as TSchema)
      : whole;
  };

  return object(place, body) as ObjectSchema;
}

function schemaOfAdded({ types, format, values }: AddedField): TSchema {
  const type = (format === undefined ? undefined : typesOfForm(format)) ?? types;
  return { ...(type.length > 0 && { type: [...type] }), ...(values && { enum: [...values] }) } as unknown as TSchema;
}
