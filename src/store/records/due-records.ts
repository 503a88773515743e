// The records that time takes to another state: when the next of them is due, and which one it is.

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

const SET = `update documents set due = @due where merchant = @merchant and kind = +@kind and id = @id and (@due is null or not exists
  (select 1 from origins, json_each(origins.still) where origins.merchant = @merchant and json_each.value in ('*', @kind)))`;

export type DueRecords = ReturnType<typeof openDueRecords>;

export function openDueRecords({ sql }: Database, clock: Clock) {
  const soonest = sql.prepare<[], number | null>("select min(due) from documents where due is not null").pluck();
  const first = sql.prepare<[number], DueRecord>(
    "select merchant, kind, id, due from documents where due <= ? order by due, sequence limit 1",
  );
  const firstOf = sql.prepare<[string, number], DueRecord>(
    "select merchant, kind, id, due from documents where merchant = ? and due <= ? order by due, sequence limit 1",
  );
  const set = sql.prepare<[RecordKey & { due: number | null }]>(SET);
  let known: number | null | undefined;
  return {
    /** When the next record is due, in sandbox milliseconds. Cached, because the clock asks after every commit. */
    soonest() {
      if (known === undefined) known = soonest.get() ?? null;
      return known;
    },
    /** To be called when rows were replaced. */
    changed() {
      known = undefined;
    },
    /** The record that is due first, at `now` at the latest. */
    first(now: number) {
      const record = first.get(now);
      // A due record may have been removed.
      if (!record) known = undefined;
      return record;
    },
    /** The same among the records of a merchant. */
    firstOf: (merchant: string, now: number) => firstOf.get(merchant, now),
    /** Changes the due time of a record; null: nothing is to come. A fixture may say that time does not change its records. */
    set({ merchant, kind, id }: RecordKey, due: number | null) {
      known = undefined;
      set.run({ merchant, kind, id, due });
      clock.wake();
    },
  };
}
