// Collects observations, and knows what the recording as a whole shows: ids, values that the client sent, secrets.

import type { FactValue, Lenient, Observation, ServiceFact } from "../contracts/fact.ts";
import { mask } from "../kernel/mask.ts";
import { type ComparedSandbox, isObject, type JsonFields, type RecordedCall, succeeded } from "./recording.ts";

interface Sighting {
  entry: string;
  operation?: string | undefined;
  lenient?: Lenient | undefined;
}

export type Sightings = ReturnType<typeof createSightings>;

export function createSightings(sandbox: ComparedSandbox) {
  const facts = new Map(sandbox.facts.map((fact) => [fact.id, fact]));
  const observations: Observation[] = [];
  return {
    observations,
    fact: (id: string): ServiceFact | undefined => facts.get(id),
    /** Facts that the sandbox does not have are ignored. */
    see(id: string, seen: FactValue, agrees: boolean, { entry, operation, lenient }: Sighting): void {
      if (!facts.has(id)) return;
      observations.push({
        fact: id,
        seen,
        agrees,
        entry,
        ...(operation === undefined ? {} : { operation }),
        ...(lenient === undefined || agrees ? {} : { lenient }),
      });
    },
    /** Compares what was seen with the value of the fact. */
    compare(id: string, seen: FactValue, sighting: Sighting): void {
      this.see(id, seen, facts.get(id)?.value === seen, sighting);
    },
  };
}

/** The texts that exports and logs put in the place of a value. */
const PLACEHOLDER = /redact|\*{3}|<hidden>|\[(?:filtered|masked|removed|secret|hidden)\]|…/i;

/** Whether a recording has replaced the value, so that it shows nothing. */
export const isMasked = (value: unknown): boolean => typeof value === "string" && PLACEHOLDER.test(value);

const CODE = /^[A-Za-z][A-Za-z0-9_.-]{0,39}$/;

/** A code or a name as it is; anything that could be a secret or personal data as its shape. */
export function shownCode(value: unknown): string {
  if (typeof value !== "string") return value === null ? "null" : typeof value;
  const isPlain = CODE.test(value) && (value.match(/\d/g) ?? []).length <= 4 && mask(value) === value;
  return isPlain ? value : `a text of ${value.length} characters`;
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
  /** Whether any call shows its Authorization header: exports may leave it out. */
  showsAuthorization: boolean;
}

export function knowledgeOf(calls: readonly RecordedCall[]): Knowledge {
  const [ids, sentValues, sentFields, secrets] = [new Set<string>(), new Set<string>(), new Set<string>(), new Set<string>()];
  for (const call of calls) {
    visit(call.body, (name, value) => {
      sentFields.add(name);
      if (typeof value === "string") sentValues.add(value);
    });
    if (!succeeded(call)) continue;
    for (const id of call.ids) ids.add(id);
    visit(call.response, (name, value) => {
      if (name === "id" && typeof value === "string") ids.add(value);
      if (name === "secret" && typeof value === "string" && !isMasked(value)) secrets.add(value);
    });
  }
  return { ids, sentValues, sentFields, secrets, showsAuthorization: calls.some(({ headers }) => headers.authorization !== undefined) };
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
