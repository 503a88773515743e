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
): Pick<Operation, "body" | "readBody" | "readParams" | "renamedFields"> {
  const { id, path, body } = operation;
  const schema = adoptedBody(operation, facts, prefixes);
  const translate = body && schema && createTranslator(facts, prefixes).object("inwards", `${id}.body`, body, true);
  return {
    body: schema ?? body,
    renamedFields: schema && renamedFields(`${id}.body.`, facts),
    readBody: translate && ((sent) => translate(sent, sent) as Record<string, unknown>),
    readParams: prefixes.size === 0 || !path.includes("{") ? undefined : (params) => mapValues(params, (value) => ownId(prefixes, value)),
  };
}

/** Only names that no other field of the body takes: after the validation, a name does not say whose it is. */
function renamedFields(place: string, { values }: AdoptedFacts): ReadonlyMap<string, string> | undefined {
  const names = [...values].flatMap(([id, name]) =>
    id.startsWith(place) && id.endsWith(".name") ? [[ownName(id), String(name)] as const] : [],
  );
  const taken = new Set(names.map(([, name]) => name));
  const clear = names.filter(([own]) => !taken.has(own));
  return clear.length === 0 ? undefined : new Map(clear);
}

/** The field of a fact such as `payments.create.body.items[].amount.name`. */
const ownName = (id: string) => (id.split(".").at(-2) ?? "").replace("[]", "");

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
