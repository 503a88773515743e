// The OpenAPI document of the service as a service file has it: names, forms, statuses, headers and errors.

import type { Surface } from "../reference/api-surface.ts";
import type { EventType } from "../reference/events.ts";
import type { Replies } from "../reference/examples.ts";
import type { OpenApiSource } from "../reference/openapi.ts";
import { factOf, isAssumed } from "../schema/assumed.ts";
import { adoptedSchemas, enveloped } from "../service/adopted-reply.ts";
import type { Adoption } from "../service/adoption.ts";
import { adoptedError } from "../service/errors.ts";
import type { Operation } from "../store/operation-context.ts";

type ServiceDocument = OpenApiSource & { events: readonly EventType[]; replies: Replies };

export function adoptedDocument(document: ServiceDocument, service: Adoption): ServiceDocument {
  const { facts, catalogue, webhooks } = service;
  const schemas = adoptedSchemas(facts, service.prefixes);
  const envelope = facts.text("error.envelope");
  const names: Surface["names"] = {
    error: {
      of: (code, operation) => adoptedError(facts, code, operation),
      shape: (error) => service.errorShape(error),
      schema: (schema) => enveloped(envelope, schemas.record("error", schema)),
    },
    header: service.headerName,
    deliveryHeader: (name) => Object.keys(webhooks.headers({ [name]: "" }))[0],
    idempotencyHeader: service.idempotencyHeader,
    event: (schema) => schemas.record("event", schema),
  };
  const replyOf = (operation: Operation) => {
    return {
      ...operation,
      reply: schemas.reply(operation),
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
      ...(event.data && { data: schemas.record(event.kind ?? "", event.data) }),
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
