// The query of a list as the real service takes it: names of parameters, the default and the bounds of `limit`, and the order of the records.

import type { ObjectSchema } from "../contracts/endpoint.ts";
import { annotate } from "../schema/assumed.ts";
import type { TSchema } from "../schema/shapes.ts";
import type { Operation } from "../store/operation-context.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";

/** The operation with its query in the names of the service, and how a valid query is translated into the sandbox's. */
export function adoptedQuery(operation: Operation, facts: AdoptedFacts): Pick<Operation, "query" | "readQuery" | "renamed"> {
  const properties: Record<string, TSchema> = {};
  const names = new Map<string, string>();
  const added: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(operation.query.properties)) {
    const id = `${operation.id}.query.${name}`;
    const usual = facts.number(`${id}.default`);
    if (usual !== undefined) added[name] = usual;
    if (facts.value(id) === "absent") continue;
    const shown = facts.text(`${id}.name`) ?? name;
    if (shown !== name) names.set(shown, name);
    properties[shown] = withBounds(schema, id, facts);
  }
  const order = facts.text(`${operation.id}.order`);
  if (order !== undefined) added.order = order;
  const query = { ...operation.query, properties } as ObjectSchema;
  return { query, readQuery: translation(names, added), renamed: new Map([...names].map(([shown, name]) => [name, shown])) };
}

function withBounds(schema: TSchema, id: string, facts: AdoptedFacts): TSchema {
  const bounds = (["default", "minimum", "maximum"] as const).flatMap((kind) => {
    const value = facts.number(`${id}.${kind}`);
    return value === undefined ? [] : [[kind, value]];
  });
  return bounds.length === 0 ? schema : annotate(schema, Object.fromEntries(bounds));
}

function translation(names: ReadonlyMap<string, string>, added: Readonly<Record<string, unknown>>): Operation["readQuery"] {
  if (names.size === 0 && Object.keys(added).length === 0) return undefined;
  return (query) => ({
    ...added,
    ...Object.fromEntries(Object.entries(query).map(([name, value]) => [names.get(name) ?? name, value])),
  });
}
