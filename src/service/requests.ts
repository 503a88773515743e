// Request bodies by a service file: the schema of what the service accepts, in its names.

import type { Endpoint, ObjectSchema } from "../contracts/endpoint.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";
import { createSchemaAdoption } from "./adopted-schema.ts";
import type { Prefixes } from "./object-changes.ts";

const NO_PREFIXES: Prefixes = new Map();

/** Undefined if the file changes nothing in the body. */
export function adoptedBody({ id, body }: Pick<Endpoint, "id" | "body">, facts: AdoptedFacts): ObjectSchema | undefined {
  if (!body) return undefined;
  const adopted = createSchemaAdoption(facts, NO_PREFIXES).object(`${id}.body`, body, true);
  return adopted === body ? undefined : (adopted as ObjectSchema);
}
