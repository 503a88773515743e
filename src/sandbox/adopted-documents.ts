// The OpenAPI document of the service as a service file has it: names, forms, statuses, headers and errors.

import type { Surface } from "../reference/api-surface.ts";
import type { EventType } from "../reference/events.ts";
import type { Replies } from "../reference/example.ts";
import type { OpenApiSource } from "../reference/openapi.ts";
import { factOf, isAssumed } from "../schema/assumed.ts";
import { type TSchema, Type } from "../schema/shapes.ts";
import { createSchemaAdoption } from "../service/adopted-schema.ts";
import type { Adoption } from "../service/adoption.ts";
import { adoptedError } from "../service/errors.ts";
import { adoptedPrefixes } from "../service/records.ts";
import type { Operation } from "../store/operation-context.ts";

type ServiceDocument = OpenApiSource & { events: readonly EventType[]; replies: Replies };

/** `records` are the schemas by kind of record. */
export function adoptedDocument(document: ServiceDocument, service: Adoption, records: ReadonlyMap<string, TSchema>): ServiceDocument {
  const { facts, catalogue, webhooks } = service;
  const schemas = createSchemaAdoption(facts, adoptedPrefixes(facts, records));
  const envelope = facts.text("error.envelope");
  const names: Surface["names"] = {
    error: {
      of: (code, operation) => adoptedError(facts, code, operation),
      shape: (error) => service.errorShape(error),
      schema: (schema) => enveloped(envelope, schemas.object("error", schema)),
    },
    header: service.headerName,
    deliveryHeader: (name) => Object.keys(webhooks.headers({ [name]: "" }))[0],
    idempotencyHeader: service.idempotencyHeader,
    event: (schema) => schemas.object("event", schema),
  };
  const replyOf = (operation: Operation) => {
    const reply = schemas.object(`${operation.id}.reply`, operation.reply);
    return {
      ...operation,
      reply: inEnvelope(facts.text(`${operation.id}.reply.envelope`), reply),
      emits: operation.emits.map((type) => (isAssumed(type) ? { ...type, fact: webhooks.typeOf(type.fact) } : webhooks.typeOf(type))),
    };
  };
  return {
    ...document,
    surface: { ...document.surface, names },
    operations: catalogue.map(replyOf),
    events: document.events.map((event) => ({
      ...event,
      type: webhooks.typeOf(event.type),
      ...(event.data && { data: schemas.object(event.kind ?? "", event.data) }),
    })),
    replies: adoptedReplies(document.replies, service),
  };
}

/** The response bodies of the examples, as the service sends them. */
function adoptedReplies(replies: Replies, { catalogue, reply }: Adoption): Replies {
  const entries = Object.entries(replies).flatMap(([id, example]) => {
    const operation = catalogue.find((one) => one.id === id);
    if (!operation) return [];
    const call = { id: "req_1", operation, replayOf: undefined, headers: {} };
    const { body } = reply(call, { status: factOf(operation.status), body: JSON.stringify(example) });
    return body === "" ? [] : [[id, JSON.parse(body) as unknown]];
  });
  return Object.fromEntries(entries) as Replies;
}

function enveloped(name: string | undefined, schema: TSchema): TSchema {
  if (name === undefined || name === "none") return schema;
  const isList = name.endsWith("[]");
  return Type.Object({ [isList ? name.slice(0, -2) : name]: isList ? Type.Array(schema) : schema });
}

/** A list has its records in `data`, which may have another name, or be the response itself. */
function inEnvelope(name: string | undefined, reply: TSchema): TSchema {
  const { properties, required, ...rest } = reply as TSchema & { properties?: Record<string, TSchema>; required?: string[] };
  if (name === undefined || properties?.data === undefined) return enveloped(name, reply);
  if (name === "data") return reply;
  if (name === "the response itself") return properties.data;
  const shown = (field: string) => (field === "data" ? name : field);
  const entries = Object.entries(properties).map(([field, schema]) => [shown(field), schema]);
  return { ...rest, properties: Object.fromEntries(entries), required: required?.map(shown) } as unknown as TSchema;
}
