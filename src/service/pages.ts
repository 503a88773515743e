// The query of a list as the real service takes it: names of parameters, the default and the bounds of `limit`, and the order of the records.

import type { ObjectSchema } from "../contracts/endpoint.ts";
import { ASSUMED, annotate } from "../schema/assumed.ts";
import type { TSchema } from "../schema/shapes.ts";
import type { Operation } from "../store/operation-context.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";

/** The operation with its query in the names of the service, and how a valid query is translated into the sandbox's. */
export function adoptedQuery(operation: Operation, facts: AdoptedFacts): Pick<Operation, "query" | "readQuery" | "renamed"> {
  const properties: Record<string, TSchema> = {};
  const names = new Map<string, string>();
  const added: Record<string, unknown> = {};
  const bounds = new Map<string, Bounds>();
  for (const [name, schema] of Object.entries(operation.query.properties)) {
    const id = `${operation.id}.query.${name}`;
    const usual = facts.number(`${id}.default`);
    if (usual !== undefined) added[name] = usual;
    if (facts.value(id) === "absent") continue;
    const shown = facts.text(`${id}.name`) ?? name;
    if (shown !== name) names.set(shown, name);
    const bounded = withBounds(schema, id, facts);
    const isMoved = name === "limit" && facts.number("error.invalid_limit.status", operation.id) === 200;
    if (isMoved) bounds.set(name, bounded as TSchema & Bounds);
    properties[shown] = isMoved ? withoutBounds(bounded) : bounded;
  }
  const order = facts.text(`${operation.id}.order`);
  if (order !== undefined) added.order = order;
  const query = { ...operation.query, properties } as ObjectSchema;
  return { query, readQuery: translation(names, added, bounds), renamed: new Map([...names].map(([shown, name]) => [name, shown])) };
}

function withBounds(schema: TSchema, id: string, facts: AdoptedFacts): TSchema {
  const bounds = (["default", "minimum", "maximum"] as const).flatMap((kind) => {
    const value = facts.number(`${id}.${kind}`);
    return value === undefined ? [] : [[kind, value]];
  });
  if (bounds.length === 0) return schema;
  const { [ASSUMED]: _, ...recorded } = schema as TSchema & Record<string, unknown>;
  return annotate(recorded as TSchema, Object.fromEntries(bounds));
}

function withoutBounds(schema: TSchema): TSchema {
  const { minimum: _, maximum: __, ...rest } = schema as TSchema & Bounds;
  return rest as TSchema;
}

/** Bounds into which the service moves a value; it refuses none. */
interface Bounds {
  minimum: number;
  maximum: number;
}

function translation(
  names: ReadonlyMap<string, string>,
  added: Readonly<Record<string, unknown>>,
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
