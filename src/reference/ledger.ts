// The ledger of assumptions: every fact that the service's document does not state, why it is as it is, and what changes it.

import type { Resource } from "../contracts/resource.ts";
import { errors } from "../kernel/errors.ts";
import { ASSUMED, type Assumption, type Behaviour, factOf, isAssumed } from "../schema/assumed.ts";
import type { TSchema } from "../schema/shapes.ts";
import { codes, type Declared } from "./api-surface.ts";
import { ERRORS_ASSUMPTION, errorObject } from "./error-replies.ts";
import { type EventType, envelope } from "./events.ts";
import { deliveryHeaders, serviceHeaders } from "./headers.ts";
import { descriptionOf, subschemas, titleOf } from "./subschemas.ts";

export const subjects = {
  behaviour: "How it behaves",
  body: "Request bodies",
  parameter: "Query parameters",
  record: "Records",
  reply: "Replies",
  status: "Statuses of success",
  error: "Errors",
  event: "Events",
  header: "Headers",
} as const;

export type Subject = keyof typeof subjects;

/** One assumption, however many places it was made in. */
export interface LedgerRow extends Assumption {
  about: Subject;
  fact: string;
  /** An operation, record, code, event type or header; a JSON Pointer follows where the fact is a part of one. */
  places: string[];
}

export interface Ledger {
  /** How many facts are assumed: the places of all rows. */
  total: number;
  rows: LedgerRow[];
}

export interface Assuming {
  operations: readonly Declared[];
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

export function ledger(source: Assuming): Ledger {
  const notes = [...schemaNotes(source), ...statusNotes(source), ...errorNotes(), ...eventNotes(source), ...headerNotes()];
  const rows = group([...notes, ...source.behaviours.map(behaviourNote)]);
  return { total: rows.reduce((sum, { places }) => sum + places.length, 0), rows };
}

/** The same fact for the same reason is one row. Rows stand in the order of the subjects, else as they were found. */
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
  body: "The fields of the request body",
  record: "The fields of the record",
  reply: "The fields of the reply",
};

function schemaNotes({ operations, resources }: Assuming): Note[] {
  const walk = openWalk();
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

/** Walks schemas to any depth. What has a title is walked once, as the record of that title. */
function openWalk() {
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

const statusNotes = ({ operations }: Assuming): Note[] =>
  operations.flatMap(({ id, status }) =>
    isAssumed(status)
      ? [{ about: "status" as const, fact: `Success is answered with ${factOf(status)}`, place: id, assumption: status.assumption }]
      : [],
  );

const errorNotes = (): Note[] =>
  codes
    .filter((code) => !("documented" in errors[code]))
    .map((code) => {
      const { status, error } = errors[code];
      return { about: "error", fact: `Answered with ${status}, as \`${error}\``, place: code, assumption: ERRORS_ASSUMPTION };
    });

const eventNotes = ({ events }: Assuming): Note[] =>
  events.flatMap(({ type, assumption }) =>
    assumption ? [{ about: "event" as const, fact: "There is such an event", place: type, assumption }] : [],
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
