// What a service file changes at the edge of the service: the catalogue, and each reply before it is sent.

import type { JournalEntry } from "../store/journal/request-log.ts";
import type { Operation } from "../store/operation-context.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";
import { type CallAtEdge, createErrorReply, type EdgeReply, refusedReplay } from "./errors.ts";
import { adoptedEventTypes, type EventTypes, showsTypes, typesInBody, typesInQuery, typesInReply, withNames } from "./event-types.ts";
import { adoptedHeaders, type HeaderAdoption } from "./headers.ts";
import { adoptedReplay, replayRefusal } from "./idempotency.ts";
import { adoptedQuery } from "./pages.ts";
import { adoptedWebhooks, type WebhookAdoption } from "./webhooks.ts";

export interface Adoption {
  readonly facts: AdoptedFacts;
  /** The operations as the real service has them. */
  readonly catalogue: readonly Operation[];
  readonly idempotencyHeader: string;
  /** The reply as the real service sends it. */
  reply(call: CallAtEdge, reply: EdgeReply): EdgeReply;
  readonly webhooks: WebhookAdoption;
  readonly headers: HeaderAdoption["outwards"];
  /** A logged request as the sandbox itself would have been called, for the judge. */
  inwards(entry: JournalEntry): JournalEntry;
}

export function createAdoption(facts: AdoptedFacts, catalogue: readonly Operation[]): Adoption {
  const errorReply = createErrorReply(facts);
  const types = adoptedEventTypes(facts);
  const { idempotency, outwards, inwards } = adoptedHeaders(facts);
  return {
    facts,
    catalogue: catalogue.map((operation) => adoptedOperation(operation, facts, types)),
    webhooks: adoptedWebhooks(facts, types, undefined),
    idempotencyHeader: idempotency,
    reply(call, reply) {
      const refusal = call.replayOf === undefined ? undefined : replayRefusal(facts, call.operation?.id);
      if (refusal !== undefined) return refusedReplay(facts, call, refusal);
      if (reply.status === 204) return { status: 204, body: "" };
      return reply.status >= 400 ? errorReply(call.operation, reply) : successReply(call, types, reply);
    },
    headers: outwards,
    inwards,
  };
}

function adoptedOperation(operation: Operation, facts: AdoptedFacts, types: EventTypes | undefined): Operation {
  const { readQuery, ...query } = adoptedQuery(operation, facts);
  const own = {
    ...operation,
    status: facts.number(`${operation.id}.status`) ?? operation.status,
    ...query,
    ...adoptedReplay(operation, facts),
  };
  if (types === undefined) return { ...own, readQuery };
  return {
    ...own,
    readQuery: (sent) => typesInQuery(operation, types, readQuery?.(sent) ?? sent),
    body: withNames(operation, types),
    readBody: (body) => typesInBody(operation, types, body),
  };
}

/** Names types of events that the sandbox does not know. */
const WARNING = "X-Sandbox-Warning";

function successReply({ operation, headers }: CallAtEdge, types: EventTypes | undefined, reply: EdgeReply): EdgeReply {
  if (operation === undefined || types === undefined || !showsTypes(operation)) return reply;
  const warning = headers[WARNING];
  if (warning !== undefined) headers[WARNING] = warning.replace(/[\w:/-]+(\.[\w:/-]+)*/g, types.shown);
  return { ...reply, body: JSON.stringify(typesInReply(operation, types, JSON.parse(reply.body))) };
}
