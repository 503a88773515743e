// The query of a list as the real service takes it: names of parameters, the default and the bounds of `limit`, and the order of the records.

import type { ObjectSchema } from "../contracts/endpoint.ts";
import { ASSUMED, annotate } from "../schema/assumed.ts";
import type { TSchema } from "../schema/shapes.ts";
import type { Operation } from "../store/operation-context.ts";
import { type AdoptedFacts, adoptedBounds, BOUNDS, type Bounds } from "./adopted-facts.ts";

/** The operation with its query in the names of the service, and how a valid query is translated into the sandbox's. */
export function adoptedQuery(operation: Operation, facts: AdoptedFacts): Pick<Operation, "query" | "readQuery" | "renamed"> {
  const properties: Record<string, TSchema> = {};
  const names = new Map<string, string>();
  const added: Record<string, unknown> = {};
  const moved = new Map<string, Bounds>();
  for (const [name, schema] of Object.entries(operation.query.properties)) {
    const id = `${operation.id}.query.${name}`;
    const bounded = withBounds(schema, id, facts);
    const usual = (bounded as TSchema & Partial<Bounds>).default;
    if (usual !== undefined && usual !== (schema as TSchema & Partial<Bounds>).default) added[name] = usual;
    if (facts.value(id) === "absent") continue;
    const shown = facts.text(`${id}.name`) ?? name;
    if (shown !== name) names.set(shown, name);
    const isMoved = name === "limit" && facts.number("error.invalid_limit.status", operation.id) === 200;
    if (isMoved) moved.set(name, bounded as TSchema & Bounds);
    properties[shown] = isMoved ? withoutBounds(bounded) : bounded;
  }
  const order = facts.text(`${operation.id}.order`);
  if (order !== undefined) added.order = order;
  const query = { ...operation.query, properties } as ObjectSchema;
  return { query, readQuery: translation(names, added, moved), renamed: new Map([...names].map(([shown, name]) => [name, shown])) };
}

/** The schema of a parameter with the default and the bounds of the file. */
export function withBounds(schema: TSchema, id: string, facts: AdoptedFacts): TSchema {
  if (BOUNDS.every((kind) => facts.number(`${id}.${kind}`) === undefined)) return schema;
  const { [ASSUMED]: _, ...recorded } = schema as TSchema & Record<string, unknown>;
  return annotate(recorded as TSchema, { ...adoptedBounds(facts, id, schema as TSchema & Bounds) });
}

function withoutBounds(schema: TSchema): TSchema {
  const { minimum: _, maximum: __, ...rest } = schema as TSchema & Partial<Bounds>;
  return rest as TSchema;
}

function translation(
  names: ReadonlyMap<string, string>,
  added: Readonly<Record<string, unknown>>,
  /** The bounds into which the service moves a value; it refuses none. */
  bounds: ReadonlyMap<string, Bounds>,
): Operation["readQuery"] {
  if (names.size === 0 && bounds.size === 0 && Object.keys(added).length === 0) return undefined;
  const moved = (name: string, value: unknown) => {
    const { minimum = -Infinity, maximum = Infinity } = bounds.get(name) ?? {};
    return typeof value === "number" ? Math.min(maximum, Math.max(minimum, value)) : value;
  };
  const translated = ([shown, value]: [string, unknown]) => {
    const name = names.get(shown) ?? shown;
    return [name, moved(name, value)];
  };
  return (query) => ({ ...added, ...Object.fromEntries(Object.entries(query).map(translated)) });
}
