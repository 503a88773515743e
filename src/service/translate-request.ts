// Translates requests from the service's names and forms to the sandbox's: parameters, fields, ids and values.

import type { ObjectSchema } from "../contracts/endpoint.ts";
import { memoize } from "../kernel/bounded-cache.ts";
import type { FieldError } from "../kernel/errors.ts";
import type { TSchema } from "../schema/shapes.ts";
import type { Operation } from "../store/operation-context.ts";
import type { EventTypes } from "./event-types.ts";
import { type AdoptedFacts, BOUNDS, type Bounds } from "./service-file.ts";
import {
  type BodyNotes,
  createTranslator,
  type Fields,
  MOST_KEPT,
  ownId,
  type Prefixes,
  type Translate,
} from "./translator.ts";

export interface OwnRequest {
  params: Record<string, string>;
  search: string;
  body: Record<string, unknown>;
  /** Parameters, and fields of the body, whose names only the sandbox has. */
  unknown: { params: readonly string[]; fields: readonly string[] };
  /** Values of the body that do not have the service's form, in the names of the sandbox. */
  problems: readonly FieldError[];
}

export type TranslateRequest = ReturnType<typeof createTranslateRequest>;

export type ReadBody = (body: Fields) => { body: Record<string, unknown> } & BodyNotes;

/** Reads the body of an operation whose schema has the sandbox's names. */
export function createReadBody(
  id: string,
  body: ObjectSchema | undefined,
  facts: AdoptedFacts,
  prefixes: Prefixes,
): ReadBody {
  const translate: Translate | undefined =
    body && createTranslator(facts, prefixes).object("inwards", `${id}.body`, body);
  return (sent) => {
    const notes: BodyNotes = { problems: [], unknown: [] };
    if (translate === undefined) return { body: { ...sent }, ...notes };
    return { body: translate(sent, { record: sent, pointer: "", notes }) as Record<string, unknown>, ...notes };
  };
}

export function createTranslateRequest(facts: AdoptedFacts, prefixes: Prefixes, types: EventTypes | undefined) {
  const readersOf = memoize(MOST_KEPT, (id: string, operation: Operation) => ({
    readQuery: createReadQuery(operation, facts, (value, name) =>
      ownId(prefixes, types ? types.inQuery(id, name, value) : value),
    ),
    readBody: createReadBody(id, operation.body, facts, prefixes),
  }));
  return (
    operation: Operation,
    { params, search, body }: Pick<OwnRequest, "params" | "search" | "body">,
  ): OwnRequest => {
    const { readQuery, readBody } = readersOf(operation.id, operation);
    const query = readQuery(search);
    const { problems, unknown, body: fields } = readBody(body);
    return {
      params: Object.fromEntries(Object.entries(params).map(([name, value]) => [name, ownId(prefixes, value)])),
      search: query.search,
      body: types ? types.inBody(operation.id, fields) : fields,
      problems,
      unknown: { params: query.unknown, fields: unknown },
    };
  };
}

function createReadQuery(
  { id, query }: Operation,
  facts: AdoptedFacts,
  ownValue: (value: string, name: string) => string,
) {
  const names = new Map<string, string>();
  const added = new Map<string, string>();
  const isMoved = facts.number("error.invalid_limit.status", id) === 200;
  for (const [name, schema] of Object.entries(query.properties)) {
    const fact = `${id}.query.${name}`;
    if (facts.value(fact) !== "absent") names.set(facts.text(`${fact}.name`) ?? name, name);
    // The default is added to requests without the parameter, because the store has another default.
    if (BOUNDS.some((kind) => facts.number(`${fact}.${kind}`) !== undefined))
      added.set(name, String((schema as TSchema & Bounds).default));
  }
  const order = facts.text(`${id}.order`);
  if (order !== undefined) added.set("order", order);
  return (search: string) => {
    const own = new URLSearchParams();
    const unknown = new Set<string>();
    for (const [name, value] of new URLSearchParams(search)) {
      const known = names.get(name);
      if (known !== undefined)
        own.append(known, known === "limit" && isMoved ? movedLimit(value, query) : ownValue(value, known));
      else if (Object.hasOwn(query.properties, name)) unknown.add(name);
      else own.append(name, value);
    }
    for (const [name, value] of added) if (!own.has(name)) own.set(name, value);
    return { search: own.size === 0 ? "" : `?${own}`, unknown: [...unknown] };
  };
}

/** Moves the limit into the bounds, as the service does. */
function movedLimit(value: string, { properties }: Operation["query"]): string {
  const { minimum, maximum } = properties.limit as TSchema & Bounds;
  return /^-?\d{1,15}$/.test(value) ? String(Math.min(maximum, Math.max(minimum, Number(value)))) : value;
}
