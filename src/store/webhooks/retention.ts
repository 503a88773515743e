// Bounds the logs of events and attempts: keeps the newest rows, open deliveries with their attempts, and all rows that
// these refer to.

import type { Database } from "../sqlite/database.ts";

export type Retention = ReturnType<typeof openRetention>;

/** The number of events, deliveries and attempts that are kept, over all merchants. */
const KEPT = 10_000;
/** For error messages about a row that is not found. */
export const WHAT_IS_KEPT = "The log keeps the newest 10,000, and all that is pending, until a reset or a restore.";
/** Deleting in batches costs less per row. */
const SMALLEST_BATCH = 100;

interface DeletedRow {
  merchant: string;
  type: string;
}

export function openRetention({ sql }: Database) {
  const newest = (table: string) => sql.prepare<[], number>(`select coalesce(max(sequence), 0) from ${table}`).pluck();
  const older = (table: string) =>
    sql.prepare<[number], number>(`select count(*) from ${table} where sequence <= ?`).pluck();
  const log = (table: string, isDeletable: string, returning = "") => ({
    newest: newest(table),
    older: older(table),
    drop: sql.prepare<[number], DeletedRow & { state: string }>(
      `delete from ${table} where sequence <= ? and ${isDeletable} ${returning}`,
    ),
  });
  // A row can be deleted when no remaining row refers to it, so attempts are deleted first and events last.
  const open = "state in ('pending', 'sending')";
  const attempts = log(
    "attempts",
    `not exists (select 1 from deliveries d where d.sequence = attempts.delivery and d.${open})`,
  );
  const deliveries = log(
    "deliveries",
    `not ${open} and not exists (select 1 from attempts a where a.delivery = deliveries.sequence)`,
    "returning merchant, state, (select type from events e where e.sequence = deliveries.event) as type",
  );
  const events = log(
    "events",
    "not exists (select 1 from deliveries d where d.event = events.sequence)",
    "returning merchant, type",
  );
  const count = sql.prepare<[DeletedRow & { emitted: 0 | 1; delivered: 0 | 1 }]>(
    `insert into deleted_event_counts (merchant, type, emitted, delivered)
     values (coalesce((select id from documents where kind = 'merchant' and id = @merchant), ''), @type,
       @emitted, @delivered)
     on conflict do update set emitted = emitted + excluded.emitted, delivered = delivered + excluded.delivered`,
  );
  const bound = (table: typeof attempts) => (table.newest.get() ?? 0) - KEPT;
  const sweep = () => {
    attempts.drop.run(bound(attempts));
    for (const { merchant, type, state } of deliveries.drop.all(bound(deliveries)))
      if (state === "succeeded") count.run({ merchant, type, emitted: 0, delivered: 1 });
    for (const { merchant, type } of events.drop.all(bound(events)))
      count.run({ merchant, type, emitted: 1, delivered: 0 });
    // Each sweep also scans the old rows that it has to keep. The more such rows there are, the less often a sweep
    // runs.
    return [attempts, deliveries, events].reduce((sum, table) => sum + (table.older.get(bound(table)) ?? 0), 0);
  };
  let rows = 0;
  let batch = SMALLEST_BATCH;
  return {
    /** Counts a new row of a log, and deletes old rows once enough were added. Call inside a transaction. */
    rowAdded() {
      if (++rows < batch) return;
      rows = 0;
      batch = Math.max(SMALLEST_BATCH, sweep());
    },
  };
}
