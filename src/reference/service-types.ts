// Generates the TypeScript types of the service: records, bodies and replies of its operations, errors and events.

import type { ObjectSchema } from "../contracts/endpoint.ts";
import type { TSchema } from "../schema/shapes.ts";
import { titleOf } from "./subschemas.ts";
import { createTypes, pascal } from "./typescript.ts";

export interface TypedService {
  operations: readonly { id: string; body: ObjectSchema | undefined; reply: TSchema }[];
  error: TSchema;
  event: TSchema;
  /** The types of events. */
  eventTypes: readonly string[];
}

export function serviceTypes({ operations, error, event, eventTypes }: TypedService): string {
  // Error and Event are names of the language and of browsers.
  const types = createTypes({ ApiError: error, WebhookEvent: event });
  for (const { id, body, reply } of operations) {
    if (body) types.named(`${pascal(id)}Body`, body);
    if (titleOf(reply) === undefined) types.named(`${pascal(id)}Reply`, reply);
    else types.typeOf(reply);
  }
  for (const schema of [error, event]) types.typeOf(schema);
  const names = `/** The types of events. */\nexport type EventType =\n${eventTypes.map((type) => `  | ${JSON.stringify(type)}`).join("\n")};`;
  return `${["// The types of the service, by merchant-sandbox types.", ...types.declarations(), names].join("\n\n")}\n`;
}
