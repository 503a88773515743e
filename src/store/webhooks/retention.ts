// How much the logs of events and attempts keep: the newest, what is pending, and what those are about.

import type { Database } from "../sqlite/database.ts";

export interface Retention {
  /** Counts a row that a log gained, and once there are enough lets go what is too old. Only inside a transaction. */
  gained(): void;
}

/** So many events, deliveries and attempts are kept, of the whole sandbox. */
const KEPT = 10_000;
/** What a message says of it. */
export const WHAT_IS_KEPT = "The log keeps the newest 10,000, and all that is pending.";
/** Letting go of many at a time costs each less. */
const AT_LEAST = 100;

interface Gone {
  merchant: string;
  type: string;
}

interface GoneDelivery extends Gone {
  state: string;
}

interface Sum extends Gone {
  emitted: number;
  delivered: number;
}

/** How many events of each type went, and how many deliveries of them that had been taken. */
function summed(deliveries: readonly GoneDelivery[], events: readonly Gone[]): Iterable<Sum> {
  const sums = new Map<string, Sum>();
  const sumOf = ({ merchant, type }: Gone) => {
    const name = `${merchant} ${type}`;
    const sum = sums.get(name) ?? { merchant, type, emitted: 0, delivered: 0 };
    sums.set(name, sum);
    return sum;
  };
  for (const one of events) sumOf(one).emitted++;
  for (const one of deliveries) if (one.state === "succeeded") sumOf(one).delivered++;
  return sums.values();
}

export function openRetention({ sql }: Database): Retention {
  const newest = (table: string) => sql.prepare<[], number>(`select coalesce(max(sequence), 0) from ${table}`).pluck();
  const older = (table: string) => sql.prepare<[number], number>(`select count(*) from ${table} where sequence <= ?`).pluck();
  const log = (table: string, isOver: string, answer = "") => ({
    newest: newest(table),
    older: older(table),
    drop: sql.prepare<[number], GoneDelivery>(`delete from ${table} where sequence <= ? and ${isOver} ${answer}`),
  });
  // A row is over when nothing that is kept is about it: so attempts go first, and events last.
  const open = "state in ('pending', 'sending')";
  const attempts = log("attempts", `not exists (select 1 from deliveries d where d.sequence = attempts.delivery and d.${open})`);
  const deliveries = log(
    "deliveries",
    `not ${open} and not exists (select 1 from attempts a where a.delivery = deliveries.sequence)`,
    "returning merchant, state, (select type from events e where e.sequence = deliveries.event) as type",
  );
  const events = log("events", "not exists (select 1 from deliveries d where d.event = events.sequence)", "returning merchant, type");
  const count = sql.prepare<[Sum]>(
    `insert into let_go (merchant, type, emitted, delivered) values (@merchant, @type, @emitted, @delivered)
     on conflict do update set emitted = emitted + excluded.emitted, delivered = delivered + excluded.delivered`,
  );
  const bound = (table: typeof attempts) => (table.newest.get() ?? 0) - KEPT;
  const sweep = () => {
    attempts.drop.run(bound(attempts));
    const sums = summed(deliveries.drop.all(bound(deliveries)), events.drop.all(bound(events)));
    for (const sum of sums) count.run(sum);
    // What is old and pending is walked past each time: the more of it, the more seldom.
    return [attempts, deliveries, events].reduce((sum, table) => sum + (table.older.get(bound(table)) ?? 0), 0);
  };
  let rows = 0;
  let enough = AT_LEAST;
  return {
    gained() {
      if (++rows < enough) return;
      rows = 0;
      enough = Math.max(AT_LEAST, sweep());
    },
  };
}
