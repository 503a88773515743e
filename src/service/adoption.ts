// What a service file changes at the edge of the service: the catalogue, and each reply before it is sent.

import type { Reply } from "../http/context.ts";
import type { Operation } from "../store/operation-context.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";
import { createErrorReply } from "./errors.ts";
import { adoptedQuery } from "./pages.ts";

export interface Adoption {
  readonly facts: AdoptedFacts;
  /** The operations as the real service has them. */
  readonly catalogue: readonly Operation[];
  /** The reply as the real service sends it. */
  reply(operation: Operation | undefined, reply: Reply): Reply;
}

export function createAdoption(facts: AdoptedFacts, catalogue: readonly Operation[]): Adoption {
  const errorReply = createErrorReply(facts);
  return {
    facts,
    catalogue: catalogue.map((operation) => adoptedOperation(operation, facts)),
    reply(operation, reply) {
      if (reply.status === 204) return { status: 204, body: "" };
      return reply.status >= 400 ? errorReply(operation, reply) : reply;
    },
  };
}

const adoptedOperation = (operation: Operation, facts: AdoptedFacts): Operation => ({
  ...operation,
  status: facts.number(`${operation.id}.status`) ?? operation.status,
  ...adoptedQuery(operation, facts),
});
