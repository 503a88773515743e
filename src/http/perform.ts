// What a call of the control plane comes to, whoever brings it: what came in, and what goes out, is held against the declaration.

import { fieldErrors, fits } from "../kernel/check.ts";
import { Document } from "../kernel/document.ts";
import type { Endpoint } from "../kernel/endpoint.ts";
import { type Received, readInput } from "./validate.ts";

/** Answers JSON, or the document that was asked for. */
export async function perform<World>(
  endpoint: Endpoint<World>,
  world: World,
  params: Record<string, string>,
  received: Received,
): Promise<string | Document> {
  readInput(endpoint, received, "strict");
  const { query, body, extra } = received;
  const reply = await endpoint.handle({ ...world, params, query, body, extra });
  return reply instanceof Document ? declared(endpoint, reply) : json(endpoint, reply);
}

function json<World>({ id, reply: shape }: Endpoint<World>, reply: unknown): string {
  if (fits(shape, reply)) return JSON.stringify(reply);
  throw new Error(`${id} answered what it does not declare: ${JSON.stringify(fieldErrors(shape, reply))}`);
}

function declared<World>({ id, documents }: Endpoint<World>, document: Document): Document {
  if (Object.values(documents).includes(document.contentType)) return document;
  throw new Error(`${id} answered ${document.contentType}, which it does not declare`);
}
