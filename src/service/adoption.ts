// What a service file changes at the edge of the service: the catalogue, and each reply before it is sent.

import type { JournalEntry } from "../store/journal/request-log.ts";
import type { Operation } from "../store/operation-context.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";
import { type CallAtEdge, createErrorReply, type EdgeReply, refusedReplay } from "./errors.ts";
import { adoptedHeaders, type HeaderAdoption } from "./headers.ts";
import { adoptedReplay, replayRefusal } from "./idempotency.ts";
import { adoptedQuery } from "./pages.ts";

export interface Adoption {
  readonly facts: AdoptedFacts;
  /** The operations as the real service has them. */
  readonly catalogue: readonly Operation[];
  readonly idempotencyHeader: string;
  /** The reply as the real service sends it. */
  reply(call: CallAtEdge, reply: EdgeReply): EdgeReply;
  readonly headers: HeaderAdoption["outwards"];
  /** A logged request as the sandbox itself would have been called, for the judge. */
  inwards(entry: JournalEntry): JournalEntry;
}

export function createAdoption(facts: AdoptedFacts, catalogue: readonly Operation[]): Adoption {
  const errorReply = createErrorReply(facts);
  const { idempotency, outwards, inwards } = adoptedHeaders(facts);
  return {
    facts,
    catalogue: catalogue.map((operation) => adoptedOperation(operation, facts)),
    idempotencyHeader: idempotency,
    reply(call, reply) {
      const refusal = call.replayOf === undefined ? undefined : replayRefusal(facts, call.operation?.id);
      if (refusal !== undefined) return refusedReplay(facts, call, refusal);
      if (reply.status === 204) return { status: 204, body: "" };
      return reply.status >= 400 ? errorReply(call.operation, reply) : reply;
    },
    headers: outwards,
    inwards,
  };
}

const adoptedOperation = (operation: Operation, facts: AdoptedFacts): Operation => ({
  ...operation,
  status: facts.number(`${operation.id}.status`) ?? operation.status,
  ...adoptedQuery(operation, facts),
  ...adoptedReplay(operation, facts),
});
