// Requests by a service file: the schema of the bodies that the service accepts, and the translation of bodies and ids into the sandbox's.

import type { ObjectSchema } from "../contracts/endpoint.ts";
import type { Operation } from "../store/operation-context.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";
import { createSchemaAdoption } from "./adopted-schema.ts";
import type { Prefixes } from "./object-changes.ts";
import { createTranslator, withPrefix } from "./records.ts";

type Declared = Pick<Operation, "id" | "path" | "body">;

/** Undefined if the file changes nothing in the body. */
export function adoptedBody(
  { id, body }: Pick<Declared, "id" | "body">,
  facts: AdoptedFacts,
  prefixes: Prefixes = new Map(),
): ObjectSchema | undefined {
  if (!body) return undefined;
  const adopted = createSchemaAdoption(facts, prefixes).object(`${id}.body`, body, true);
  return adopted === body ? undefined : (adopted as ObjectSchema);
}

/** The operation with its body in the names of the service, and how a valid body and the ids of the path are translated into the sandbox's. */
export function adoptedRequest(
  operation: Declared,
  facts: AdoptedFacts,
  prefixes: Prefixes,
): Pick<Operation, "body" | "readBody" | "readParams"> {
  const { id, path, body } = operation;
  const schema = adoptedBody(operation, facts, prefixes);
  const translate = body && schema && createTranslator(facts, prefixes).object("inwards", `${id}.body`, body, true);
  return {
    body: schema ?? body,
    readBody: translate && ((sent) => translate(sent, sent) as Record<string, unknown>),
    readParams: prefixes.size === 0 || !path.includes("{") ? undefined : (params) => mapValues(params, (value) => ownId(prefixes, value)),
  };
}

/** A text in the place of an id, with the sandbox's prefix. An id with the sandbox's own prefix is unknown to the service. */
export function ownId(prefixes: Prefixes, text: string): string {
  for (const [own, prefix] of prefixes) {
    const exchanged = withPrefix(text, prefix, own);
    if (exchanged !== text) return exchanged;
  }
  return text;
}

export const mapValues = <From, To>(values: Readonly<Record<string, From>>, change: (value: From) => To): Record<string, To> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
