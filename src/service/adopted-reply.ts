// The schemas of replies, errors and events in the shape of the real service, for documents and types.

import { errorObject } from "../contracts/error-object.ts";
import { envelope } from "../contracts/event-envelope.ts";
import { type TSchema, Type } from "../schema/shapes.ts";
import { fieldsOf } from "../schema/walk.ts";
import type { Operation } from "../store/operation-context.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";
import { createSchemaAdoption } from "./adopted-schema.ts";
import { withInvalidFields } from "./invalid-fields.ts";
import type { Prefixes } from "./object-changes.ts";

export interface AdoptedSchemas {
  reply(operation: Pick<Operation, "id" | "reply">): TSchema;
  /** The body of an error; `errorObject` is the error in it. */
  error: TSchema;
  errorObject: TSchema;
  event: TSchema;
  /** The schema of a kind of record. */
  record(kind: string, schema: TSchema): TSchema;
}

export function adoptedSchemas(facts: AdoptedFacts, prefixes: Prefixes): AdoptedSchemas {
  const adoption = createSchemaAdoption(facts, prefixes);
  const inner = withInvalidFields(facts, adoption.object("error", errorObject));
  return {
    reply({ id, reply }) {
      const place = `${id}.reply`;
      const adopted = adoption.object(place, reply);
      const name = facts.text(`${place}.envelope`);
      const isList = fieldsOf(reply).some(([field]) => field === "data");
      if (name === undefined || name === (isList ? "data" : "none")) return adopted;
      return isList ? listIn(name, adopted) : enveloped(name, adopted);
    },
    error: enveloped(facts.text("error.envelope"), inner),
    errorObject: inner,
    event: adoption.object("event", envelope),
    record: adoption.object,
  };
}

function listIn(name: string, list: TSchema): TSchema {
  const { properties, required = [], ...rest } = list as TSchema & { properties: Record<string, TSchema>; required?: string[] };
  if (name === "the response itself") return properties.data as TSchema;
  const shown = (field: string) => (field === "data" ? name : field);
  const renamed = Object.fromEntries(Object.entries(properties).map(([field, schema]) => [shown(field), schema]));
  return { ...rest, properties: renamed, required: required.map(shown) } as unknown as TSchema;
}

/** A schema in a field of its own, or in a list there: `error`, `errors[]`. */
export function enveloped(name: string | undefined, schema: TSchema): TSchema {
  if (name === undefined || name === "none") return schema;
  return name.endsWith("[]") ? Type.Object({ [name.slice(0, -2)]: Type.Array(schema) }) : Type.Object({ [name]: schema });
}
