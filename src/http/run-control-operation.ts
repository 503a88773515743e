// What a call of the control plane comes to, whoever brings it; and what goes out over HTTP is held against the declaration.

import { Document } from "../contracts/document.ts";
import type { Endpoint } from "../contracts/endpoint.ts";
import { fieldErrors, matchesSchema } from "../schema/validator.ts";
import { type RequestInput, readInput } from "./validate.ts";

/** Holds what came in against the declaration; answers what the handler does. */
export async function runControlOperation<World>(
  endpoint: Endpoint<World>,
  world: World,
  params: Record<string, string>,
  received: RequestInput,
): Promise<unknown> {
  readInput(endpoint, received, "strict");
  const { query, body, extra } = received;
  return endpoint.handle({ ...world, params, query, body, extra });
}

/** JSON, or the document that was asked for: only what the operation declares. */
export function serializeReply<World>({ id, reply: shape, documents }: Endpoint<World>, reply: unknown): string | Document {
  if (reply instanceof Document) {
    if (Object.values(documents).includes(reply.contentType)) return reply;
    throw new Error(`${id} answered ${reply.contentType}, which it does not declare`);
  }
  if (matchesSchema(shape, reply)) return JSON.stringify(reply);
  throw new Error(`${id} answered what it does not declare: ${JSON.stringify(fieldErrors(shape, reply))}`);
}
