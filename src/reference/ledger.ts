// Collects every assumption: facts that the service's documentation does not state, each with its reason and its setting.

import type { Resource } from "../contracts/resource.ts";
import { errors } from "../kernel/errors.ts";
import { ASSUMED, type Assumption, type Behaviour, factOf, isAssumed } from "../schema/assumed.ts";
import type { TSchema } from "../schema/shapes.ts";
import { codes, type DeclaredOperation } from "./api-surface.ts";
import { ERRORS_ASSUMPTION, errorObject } from "./error-replies.ts";
import { type EventType, envelope } from "./events.ts";
import { deliveryHeaders, serviceHeaders } from "./headers.ts";
import { descriptionOf, subschemas, titleOf } from "./subschemas.ts";

export const subjects = {
  behaviour: "Behaviour",
  body: "Request bodies",
  parameter: "Query parameters",
  record: "Objects",
  reply: "Responses",
  status: "Success statuses",
  error: "Errors",
  event: "Events",
  header: "Headers",
} as const;

export type Subject = keyof typeof subjects;

/** One assumption and all the places where it applies. */
export interface LedgerRow extends Assumption {
  about: Subject;
  fact: string;
  /** Operations, records, error codes, event types or headers, with a JSON Pointer if the fact concerns a part of one. */
  places: string[];
}

export interface Ledger {
  /** The number of assumed facts: the places of all rows. */
  total: number;
  rows: LedgerRow[];
}

export interface LedgerSource {
  operations: readonly DeclaredOperation[];
  resources: readonly Resource[];
  events: readonly EventType[];
  behaviours: readonly Behaviour[];
}

interface Note {
  about: Subject;
  fact: string;
  place: string;
  assumption: Assumption;
}

export function ledger(source: LedgerSource): Ledger {
  const notes = [...schemaNotes(source), ...statusNotes(source), ...errorNotes(), ...eventNotes(source), ...headerNotes()];
  const rows = group([...notes, ...source.behaviours.map(behaviourNote)]);
  return { total: rows.reduce((sum, { places }) => sum + places.length, 0), rows };
}

/** Merges notes with the same fact and reason into one row. Rows are sorted by subject. */
function group(notes: readonly Note[]): LedgerRow[] {
  const rows = new Map<string, LedgerRow>();
  for (const { about, fact, place, assumption } of notes) {
    const key = JSON.stringify([about, fact, assumption.why, assumption.setting]);
    const row = rows.get(key) ?? { about, fact, ...assumption, places: [] };
    if (!row.places.includes(place)) row.places.push(place);
    rows.set(key, row);
  }
  const order = Object.keys(subjects);
  return [...rows.values()].sort((one, other) => order.indexOf(one.about) - order.indexOf(other.about));
}

const ROOTS: Partial<Record<Subject, string>> = {
  body: "Fields of the request body",
  record: "Fields of the object",
  reply: "Fields of the response",
};

function schemaNotes({ operations, resources }: LedgerSource): Note[] {
  const walk = createWalk();
  for (const { id, query, body, reply } of operations) {
    walk.enter("parameter", `${id}#/query`, query);
    if (body) walk.enter("body", `${id}#/body`, body);
    walk.enter("reply", `${id}#/reply`, reply);
  }
  for (const { schema } of resources) walk.enter("reply", "", schema);
  for (const schema of [errorObject, envelope]) walk.enter("reply", "", schema);
  for (const { name, schema } of deliveryHeaders) walk.enter("header", name, schema);
  return walk.notes;
}

/** Walks schemas to any depth. A titled schema is visited once, as the object of that title. */
function createWalk() {
  const notes: Note[] = [];
  const walked = new Set<string>();
  const enter = (about: Subject, place: string, schema: TSchema) => {
    const title = titleOf(schema);
    if (title !== undefined) {
      if (walked.has(title)) return;
      walked.add(title);
    }
    if (title === undefined) visit(about, place, schema, ROOTS[about] ?? descriptionOf(schema));
    else visit("record", title, schema, ROOTS.record ?? "");
  };
  const visit = (about: Subject, place: string, schema: TSchema, fact: string) => {
    const assumption = (schema as { [ASSUMED]?: Assumption })[ASSUMED];
    if (assumption) notes.push({ about, fact, place, assumption });
    for (const [pointer, inner] of subschemas(schema)) {
      const below = `${place}${place.includes("#") ? "" : "#"}${pointer}`;
      if (titleOf(inner) === undefined) visit(about, below, inner, factOfField(pointer, inner));
      else enter(about, below, inner);
    }
  };
  return { notes, enter };
}

const factOfField = (pointer: string, schema: TSchema) => `\`${pointer.split("/").at(-1)}\`: ${descriptionOf(schema)}`;

const statusNotes = ({ operations }: LedgerSource): Note[] =>
  operations.flatMap(({ id, status }) =>
    isAssumed(status)
      ? [{ about: "status" as const, fact: `Success returns status ${factOf(status)}`, place: id, assumption: status.assumption }]
      : [],
  );

const errorNotes = (): Note[] =>
  codes
    .filter((code) => !("documented" in errors[code]))
    .map((code) => {
      const { status, error } = errors[code];
      return {
        about: "error",
        fact: `Returned with status ${status}, as \`${error}\``,
        place: code,
        assumption: ERRORS_ASSUMPTION,
      };
    });

const eventNotes = ({ events }: LedgerSource): Note[] =>
  events.flatMap(({ type, assumption }) =>
    assumption ? [{ about: "event" as const, fact: "The event type exists", place: type, assumption }] : [],
  );

const headerNotes = (): Note[] =>
  serviceHeaders.flatMap(({ name, schema, assumption }) =>
    assumption ? [{ about: "header" as const, fact: descriptionOf(schema), place: name, assumption }] : [],
  );

const behaviourNote = ({ id, fact, why, setting }: Behaviour): Note => ({
  about: "behaviour",
  fact,
  place: id,
  assumption: setting === undefined ? { why } : { why, setting },
});
