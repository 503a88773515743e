// Collects observations, and knows what the recording as a whole shows: ids, values that the client sent, secrets.

import { type FactBound, type FactValue, type Lenient, type Observation, otherName, type ServiceFact } from "../contracts/fact.ts";
import { type ComparedSandbox, isObject, type JsonFields, type RecordedCall, succeeded } from "./recording.ts";
import { isMasked, type ShownTexts } from "./shown-code.ts";
import { createUnknownFields } from "./unknown-fields.ts";

interface Sighting {
  entry: string;
  operation?: string | undefined;
  lenient?: Lenient | undefined;
  bound?: FactBound | undefined;
}

/** Another name of a field, parameter or header, in one entry. */
export interface Rename {
  fact: string;
  name: string;
  entry: string;
}

/** A number that neither confirms nor contradicts the fact, and narrows down what its value can be. */
export interface Hint {
  fact: string;
  bound: FactBound;
  value: number;
}

export type Sightings = ReturnType<typeof createSightings>;

export function createSightings(sandbox: ComparedSandbox, shown: ShownTexts) {
  const facts = new Map(sandbox.facts.map((fact) => [fact.id, fact]));
  /** The facts of which an operation has its own. */
  const varied = new Set(sandbox.facts.flatMap(({ id }) => (id.includes("/") ? [id.slice(id.indexOf("/") + 1)] : [])));
  const { observations, observe } = createObservations();
  const hints: Hint[] = [];
  const unknownFields = createUnknownFields(shown);
  const renames: Rename[] = [];
  return {
    shown,
    observations,
    hints,
    unknownFields,
    renames,
    /** Notes that the field or header of the fact has another name in this entry, as its value shows. */
    rename: (fact: string, name: string, entry: string): unknown => facts.has(fact) && renames.push({ fact, name, entry }),
    /** The fact of the operation, if it has one of its own. */
    fact: (id: string, operation?: string): ServiceFact | undefined =>
      (operation !== undefined && varied.has(id) ? facts.get(`${operation}/${id}`) : undefined) ?? facts.get(id),
    /** The name that the service has for a field, parameter or header. */
    nameOf: (id: string, name: string): string => otherName(facts.get(`${id}.name`)?.value) ?? name,
    /** Facts that the sandbox does not have are ignored. */
    see(id: string, seen: FactValue, agrees: boolean, sighting: Sighting): void {
      const fact = this.fact(id, sighting.operation);
      if (fact) observe(fact.id, seen, agrees, sighting);
    },
    /** Compares what was seen with the value of the fact. */
    compare(id: string, seen: FactValue, sighting: Sighting): void {
      this.see(id, seen, this.fact(id, sighting.operation)?.value === seen, sighting);
    },
  };
}

const MOST_ENTRIES = 5;

/** Keeps each observation once, with its count: a recording with many calls shows the same few values of a fact again and again. */
function createObservations() {
  const observations: Observation[] = [];
  const byFact = new Map<string, Observation[]>();
  return {
    observations,
    observe(fact: string, seen: FactValue, agrees: boolean, { entry, operation, bound, lenient: misleads }: Sighting): void {
      const lenient = agrees ? undefined : misleads;
      const known = byFact.get(fact) ?? [];
      const isSame = (one: Observation) =>
        one.seen === seen && one.agrees === agrees && one.operation === operation && one.bound === bound && one.lenient === lenient;
      const same = known.find(isSame);
      if (same) {
        same.count++;
        if (same.entries.length < MOST_ENTRIES && same.entries.at(-1) !== entry) same.entries.push(entry);
        return;
      }
      const where = { ...(operation !== undefined && { operation }), ...(bound && { bound }), ...(lenient && { lenient }) };
      const observation: Observation = { fact, seen, agrees, count: 1, entries: [entry], ...where };
      observations.push(observation);
      known.push(observation);
      byFact.set(fact, known);
    },
  };
}

export interface Knowledge {
  /** The ids of records that successes show. */
  ids: ReadonlySet<string>;
  /** The texts in the bodies of requests, which responses and events may repeat. */
  sentValues: ReadonlySet<string>;
  /** The names of fields in the bodies of requests. */
  sentFields: ReadonlySet<string>;
  /** The signing secrets that responses show. */
  secrets: ReadonlySet<string>;
  /** When each token that a login returned expires, in Unix milliseconds. */
  tokens: ReadonlyMap<string, number>;
  /** Whether any call shows its Authorization header: exports may leave it out. */
  showsAuthorization: boolean;
}

export function knowledgeOf(calls: readonly RecordedCall[]): Knowledge {
  const [ids, sentValues, sentFields, secrets] = [new Set<string>(), new Set<string>(), new Set<string>(), new Set<string>()];
  const tokens = new Map<string, number>();
  for (const call of calls) {
    visit(call.body, (name, value) => {
      sentFields.add(name);
      if (typeof value === "string") sentValues.add(value);
    });
    if (!succeeded(call)) continue;
    for (const id of call.ids) ids.add(id);
    const { token, seconds } = tokenIn(call.response);
    if (token !== undefined) tokens.set(token, call.at + seconds * 1_000);
    visit(call.response, (name, value) => {
      if (name === "id" && typeof value === "string") ids.add(value);
      if (name === "secret" && typeof value === "string" && !isMasked(value)) secrets.add(value);
    });
  }
  const showsAuthorization = calls.some(({ headers }) => headers.authorization !== undefined);
  return { ids, sentValues, sentFields, secrets, tokens, showsAuthorization };
}

/** The access token in a response and its lifetime, under the names that OAuth and the sandbox have for them. */
function tokenIn(response: unknown): { token?: string; seconds: number } {
  if (!isObject(response)) return { seconds: 0 };
  const token = response.accessToken ?? response.access_token;
  const seconds = response.expiresIn ?? response.expires_in;
  return typeof token === "string" && typeof seconds === "number" && !isMasked(token) ? { token, seconds } : { seconds: 0 };
}

const MOST_DEPTH = 40;

function visit(value: unknown, use: (name: string, value: unknown) => void, depth = 0): void {
  if (depth > MOST_DEPTH) return;
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item === "string") use("", item);
      else visit(item, use, depth + 1);
    }
    return;
  }
  if (!isObject(value)) return;
  for (const [name, inner] of Object.entries(value as JsonFields)) {
    use(name, inner);
    visit(inner, use, depth + 1);
  }
}
