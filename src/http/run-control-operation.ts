// Runs a control API operation, called over HTTP or in process, and checks its reply against the declaration before it goes over HTTP.

import { Document, type Endpoint } from "../contracts/endpoint.ts";
import { fieldErrors, matchesSchema } from "../schema/validator.ts";
import { type ControlCaller, limitToCaller, requireAccess } from "./control-access.ts";
import { type RequestInput, readInput } from "./validate.ts";

/** Validates the input against the declaration, limits it to what the caller may reach, and returns the handler's result. */
export async function runControlOperation<World>(
  endpoint: Endpoint<World>,
  world: World,
  params: Record<string, string>,
  received: RequestInput,
  caller: ControlCaller = "host",
): Promise<unknown> {
  requireAccess(caller, endpoint.id, endpoint.access);
  readInput(endpoint, received, "strict");
  const { query, body, extra } = received;
  const call = { ...world, params, query, body, extra };
  limitToCaller(endpoint, caller, call);
  return endpoint.handle(call);
}

/** The reply as JSON, or the requested document. Throws if the operation does not declare it. */
export function serializeReply<World>({ id, reply: shape, documents }: Endpoint<World>, reply: unknown): string | Document {
  if (reply instanceof Document) {
    if (Object.values(documents).includes(reply.contentType)) return reply;
    throw new Error(`${id} returned ${reply.contentType}, which its declaration does not list`);
  }
  if (matchesSchema(shape, reply)) return JSON.stringify(reply);
  throw new Error(`The response of ${id} does not match its schema: ${JSON.stringify(fieldErrors(shape, reply))}`);
}
