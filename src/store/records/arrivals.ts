// Takes records through their states. When a record arrives in a state, sets the state's values, checks the rules,
// emits the event, and runs the consequences.

import type { Arrival, OwnRecords, RecordBase, RecordFields, Resource } from "../../contracts/resource.ts";
import { fail } from "../../kernel/errors.ts";
import { sentIn, withChanges } from "../../schema/as-sent.ts";
import type { Behaviour } from "../../schema/assumed.ts";
import { pathTo, statesBefore } from "./transitions.ts";

interface ArrivalDependencies<R extends RecordBase> {
  resource: Resource<R>;
  /** Unix seconds on the sandbox clock. */
  now: number;
  own: OwnRecords;
  insert(record: R): R;
  write(record: R, before: R, changes?: RecordFields<R>): R;
  emit(event: string | undefined, record: R): void;
}

export function openArrivals<R extends RecordBase>(dependencies: ArrivalDependencies<R>) {
  const { resource, now, own, insert, write, emit } = dependencies;
  const { states, events } = resource;
  const arrivalOf = (record: R): Arrival<R> => ({ record, now: Math.max(now, record.created), own });
  const finish = (record: R, event: string | undefined): R => {
    emit(event, record);
    const hasChanged = states[record.status ?? ""]?.arrive?.(arrivalOf(record)) === true;
    return hasChanged ? own(resource).require(record.id) : record;
  };
  const move = (before: R, status: string, changes?: RecordFields<R>) => {
    const record = withValues(resource, arrivalOf(withChanges(before, { ...changes, status })), changes, before);
    return finish(write(record, before, changes), events[status]);
  };
  return {
    /** Stores a new record and takes it to its state. `fields` come from the caller. */
    create(composed: R, fields: RecordFields<R>): R {
      const [first, ...later] = statesUpTo(resource, composed);
      if (first === undefined) return finish(insert(composed), events.created);
      const [start, given] =
        later.length === 0 ? [composed, []] : splitByState(resource, arrivalOf(composed), fields, [first, ...later]);
      const initial = withValues(resource, arrivalOf({ ...start, status: first }), fields);
      const created = finish(insert(initial), events.created);
      return later.reduce((record, status, index) => move(record, status, given[index]), created);
    },
    move(record: R, status: string, changes?: RecordFields<R>): R {
      if (!resource.transitions[record.status ?? ""]?.includes(status)) failTransition(resource, record, status);
      return move(record, status, changes);
    },
    /** Completes a record of a fixture: its states set the values that the fixture left out. */
    seeded(composed: R, fields: RecordFields<R>): R {
      let record = composed;
      for (const status of statesUpTo(resource, composed))
        record = withValues(resource, { record: { ...record, status }, now: record.created, own }, fields);
      return record;
    },
  };
}

/** The states that a new record passes through to its status. */
function statesUpTo<R extends RecordBase>(resource: Resource<R>, { status }: R): string[] {
  if (resource.defaults.status === undefined || status === undefined) return [];
  return status === resource.defaults.status ? [status] : pathTo(resource, status);
}

/** The record with the values that its state sets. The caller's values take precedence. */
function withValues<R extends RecordBase>(
  resource: Resource<R>,
  arrival: Arrival<R>,
  given: RecordFields<R> = {} as RecordFields<R>,
  before?: R,
): R {
  const values = valuesOf(resource, arrival);
  const sent = sentIn(given) ?? {};
  // Does not set a time that the change clears: the check of arrival times then rejects the change.
  const isCleared = (field: string) =>
    given[field as keyof RecordFields<R>] === null &&
    before?.[field as keyof R] != null &&
    resource.arrivalTimes.has(field);
  const missing: Record<string, unknown> = {};
  for (const field in values)
    if (given[field] == null && !Object.hasOwn(sent, field) && !isCleared(field)) missing[field] = values[field];
  return withChanges(arrival.record, missing);
}

/** The values that the state of the record sets. A record that returns to its first state loses its times. */
function valuesOf<R extends RecordBase>(
  { states, defaults, arrivalTimes }: Resource<R>,
  { record, now, own }: Arrival<R>,
): RecordFields<R> {
  const values: Record<string, unknown> = {};
  const { status = "" } = record;
  for (const [field, setters] of arrivalTimes)
    if (setters.includes(status)) values[field] = record[field as keyof R] ?? now;
    else if (status === defaults.status) values[field] = null;
  const state = states[status];
  for (const [field, value] of Object.entries(state?.fills ?? {})) values[field] = record[field as keyof R] ?? value;
  return Object.assign(values, state?.sets?.({ record, now, own })) as RecordFields<R>;
}

/** The record in its first state and, for each later state, the given fields that this state would set. */
function splitByState<R extends RecordBase>(
  resource: Resource<R>,
  arrival: Arrival<R>,
  fields: RecordFields<R>,
  [first = "", ...later]: string[],
): [R, RecordFields<R>[]] {
  const { arrivalTimes, defaults, series } = resource;
  const setBy = (status: string) => [
    ...Object.keys(valuesOf(resource, { ...arrival, record: { ...arrival.record, status } })).filter(
      (field) => arrivalTimes.get(field)?.includes(status) !== false,
    ),
    ...series.filter(({ at }) => at === status).map(({ field }) => field),
  ];
  const ofFirst = setBy(first);
  const ofLater = later.map((status) => setBy(status).filter((field) => !ofFirst.includes(field)));
  const withheld = ofLater.flat().map((field) => [field, (defaults as Record<string, unknown>)[field] ?? null]);
  const given = ofLater.map(
    (names) => Object.fromEntries(names.map((name) => [name, fields[name]])) as RecordFields<R>,
  );
  return [{ ...arrival.record, ...Object.fromEntries(withheld) }, given.map(dropMissing)];
}

const dropMissing = <R>(fields: RecordFields<R>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null)) as RecordFields<R>;

function failTransition(resource: Resource, record: RecordBase, status: string): never {
  const allowed = statesBefore(resource.transitions, status);
  const name = `${resource.kind[0]?.toUpperCase()}${resource.kind.slice(1).replaceAll("_", " ")} ${record.id}`;
  const present = record.status === status ? `already ${status}` : record.status;
  const records = resource.view.replaceAll("_", " ");
  const rule =
    allowed.length === 0
      ? `no ${records} can become ${status}`
      : `only ${allowed.join(" or ")} ${records} can become ${status}`;
  fail("invalid_state", `${name} is ${present}; ${rule}.`, { currentStatus: record.status, allowedFrom: allowed });
}

export const behaviours: Behaviour[] = [
  {
    id: "records.states",
    fact:
      "A record changes its state only along the transitions in the reference; any other change gets 409 " +
      "`invalid_state`, with `currentStatus` and `allowedFrom` in `details`.",
    why: "The service's documentation names no states; comparable APIs have these.",
  },
  {
    id: "records.times",
    fact:
      "The time of an arrival in a state, such as `paidAt`, is set exactly if the record went through the state. " +
      "A change that clears it, or sets it for a state that was not reached, gets 400 with the field.",
    why:
      "The service's documentation names no such times, but a paid record without the time of payment would " +
      "contradict itself.",
  },
  {
    id: "records.planned_days",
    fact:
      "A change may set or clear planned days (such as `graceUntil` and `expectedDelivery`) and " +
      "`bookkeeping.postedAt`. Without its day, a grace period or a shipment does not end by itself.",
    why: "They are plans and notes, not arrivals in a state. A test may need a parcel that never arrives.",
  },
  {
    id: "records.events",
    fact:
      "Each arrival in a state sends one event with the whole record; a new record passes through every state on " +
      "the way to its own. A change that keeps the state sends one only if the reference lists it.",
    why: "The service's documentation calls webhooks notifications of state changes and names one type.",
  },
];
