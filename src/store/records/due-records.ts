// The schedule of time-driven changes: which record is due next, and when.

import type { OwnRecords, RecordBase, Resource } from "../../contracts/resource.ts";
import type { Clock } from "../../kernel/clock.ts";
import type { Database } from "../sqlite/database.ts";

export interface RecordKey {
  merchant: string;
  kind: string;
  id: string;
}

export interface DueRecord extends RecordKey {
  /** Sandbox milliseconds, a whole second. */
  due: number;
}

const SET = `update documents set due = @due
  where merchant = @merchant and kind = +@kind and id = @id and (@due is null or not exists
    (select 1 from seeded_merchants, json_each(seeded_merchants.still)
    where seeded_merchants.merchant = @merchant and json_each.value in ('*', @kind)))`;

export type DueRecords = ReturnType<typeof openDueRecords>;

export function openDueRecords({ sql }: Database, clock: Clock) {
  const soonest = sql.prepare<[], number | null>("select min(due) from documents where due is not null").pluck();
  const first = sql.prepare<[number], DueRecord>(
    "select merchant, kind, id, due from documents where due <= ? order by due, sequence limit 1",
  );
  const firstOf = sql.prepare<[string, number], DueRecord>(
    "select merchant, kind, id, due from documents where merchant = ? and due <= ? order by due, sequence limit 1",
  );
  const dueOf = sql
    .prepare<[RecordKey], number | null>(
      "select due from documents where merchant = @merchant and kind = +@kind and id = @id",
    )
    .pluck();
  const set = sql.prepare<[RecordKey & { due: number | null }]>(SET);
  let known: number | null | undefined;
  return {
    /** When the next record is due, in sandbox milliseconds. Cached, because the clock asks after every commit. */
    soonest() {
      if (known === undefined) known = soonest.get() ?? null;
      return known;
    },
    /** Call after rows were replaced. */
    changed() {
      known = undefined;
    },
    /** The record that fell due first; undefined if none is due by `now`. */
    first(now: number) {
      const record = first.get(now);
      // A due record may have been removed.
      if (!record) known = undefined;
      return record;
    },
    /** Like `first`, among the records of one merchant. */
    firstOf: (merchant: string, now: number) => firstOf.get(merchant, now),
    /** When time changes a record; null if no change is scheduled. */
    dueOf: (record: RecordKey) => dueOf.get(record) ?? null,
    /**
     * Stores when time changes the record; null if no change is scheduled. Does nothing for records that a fixture
     * exempts from time.
     */
    set({ merchant, kind, id }: RecordKey, due: number | null) {
      known = undefined;
      set.run({ merchant, kind, id, due });
      clock.wake();
    },
  };
}

interface DueTimeContext<R extends RecordBase> {
  resource: Resource<R>;
  own: OwnRecords;
  /** Unix seconds on the sandbox clock. */
  now: number;
  /** Dates before this time, in sandbox milliseconds, bring no change, because they have passed. */
  dueFrom: number;
}

/**
 * When time changes the record next: sandbox milliseconds, a whole second. Null if no change is scheduled. Undefined if
 * neither the state nor its date changed, so that the stored time is kept: a date that had passed when the record was
 * created stays without effect.
 */
export function dueTimeOf<R extends RecordBase>(
  { resource, own, now, dueFrom }: DueTimeContext<R>,
  record: R,
  before?: R,
) {
  const at = nextTime(resource, own, record);
  if (before?.status === record.status && at === nextTime(resource, own, before as R)) return undefined;
  const isPast = at !== undefined && at < dueFrom && !resource.states[record.status ?? ""]?.isBrief;
  return at === undefined || isPast ? null : Math.max(Math.ceil(at / 1000), now) * 1000;
}

const nextTime = <R extends RecordBase>({ states }: Resource<R>, own: OwnRecords, record: R) =>
  states[record.status ?? ""]?.next?.({ record, own })?.at;
