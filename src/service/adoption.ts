// What a service file changes at the edge of the service: the catalogue, and each reply before it is sent.

import type { Reply } from "../http/context.ts";
import type { Operation } from "../store/operation-context.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";
import { type AdoptError, errorAdoption, ownError } from "./errors.ts";
import { adoptedOperation } from "./statuses.ts";

export interface Adoption {
  readonly facts: AdoptedFacts;
  /** The operations as the real service has them. */
  readonly catalogue: readonly Operation[];
  /** The reply as the real service sends it. */
  reply(operation: Operation | undefined, reply: Reply): Reply;
}

export function createAdoption(facts: AdoptedFacts, catalogue: readonly Operation[]): Adoption {
  const adoptError = errorAdoption(facts);
  return {
    facts,
    catalogue: catalogue.map((operation) => adoptedOperation(operation, facts)),
    reply(operation, reply) {
      if (reply.status === 204) return { status: 204, body: "" };
      return adoptError && reply.status >= 400 ? errorReply(adoptError, operation, reply) : reply;
    },
  };
}

function errorReply(adoptError: AdoptError, operation: Operation | undefined, reply: Reply): Reply {
  const own = ownError(reply);
  if (!own) return reply;
  const { status, error, code } = adoptError(own.code, operation?.id);
  return { status, body: JSON.stringify({ ...own, error, code }) };
}
