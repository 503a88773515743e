// Numbers requests twice: all of them in their order of arrival, and each merchant's separately. The id of a request
// is its merchant and the number among the merchant's requests, so requests of other merchants do not change it.

import { merchantLabel } from "../../kernel/random.ts";
import type { Database } from "../sqlite/database.ts";

/** The requests of one merchant, or all requests without a known key. */
export interface RequestSeries {
  readonly prefix: string;
  made: number;
  /** Whether a reset has erased these requests, so that later ones may have the same ids. */
  isErased: boolean;
}

export interface RequestNumber {
  /** The request's position among all requests. */
  sequence: number;
  id: string;
  series: RequestSeries;
}

/** The owner of the requests without a known key. */
const NO_MERCHANT = "";
const ID = /^req_(?:(.+)_)?(\d{1,15})$/;

/** `req_lodge_` for mer_lodge. */
const prefixOf = (merchant: string) => (merchant === NO_MERCHANT ? "req_" : `req_${merchantLabel(merchant)}_`);

/** The merchant in the id of a request; null if it has none. */
export function merchantIn(id: string): string | null {
  const name = ID.exec(id)?.[1];
  return name === undefined ? null : `mer_${name}`;
}

const SMALLEST_BLOCK = 10_000;
/**
 * Requests wait while a block is reserved. To make that rare, a block is as large as all earlier ones, up to this size.
 */
const LARGEST_BLOCK = 1_000_000;

interface Count {
  number: number;
  /** The last number that is reserved. */
  last: number;
  /** The number before this process's first request. */
  start: number;
}

/**
 * Numbers in the order of arrival are reserved on disk in blocks before they are used. A merchant's own numbers are
 * stored with the log. After a crash, the numbers of every merchant skip as many as were reserved but not logged. So no
 * id is used twice, even if its request was never written to the log.
 */
export function openRequestNumbers(database: Database) {
  const stored = openStoredNumbers(database);
  const { all, madeBy, seriesOf, restart } = createSeries(stored);
  let count: Count | undefined;
  const isRunningOut = ({ last, number }: Count) => last - number <= SMALLEST_BLOCK / 2;
  const reserve = (present: Count) => {
    if (!isRunningOut(present)) return;
    const block = Math.min(Math.max(SMALLEST_BLOCK, present.number - present.start), LARGEST_BLOCK);
    stored.reserve(present.number + block);
    present.last = present.number + block;
  };
  const open = () => {
    if (count) return count;
    const number = stored.open();
    count = { number, last: number, start: number };
    reserve(count);
    return count;
  };
  const store = () => {
    const { number } = open();
    for (const [merchant, { made }] of all) stored.keep(merchant, made, number);
  };
  // With a file, the first block is reserved at the start, because another program may hold the file's lock later.
  if (database.file !== undefined) open();
  return {
    next(merchant: string | undefined): RequestNumber {
      const series = seriesOf(merchant ?? NO_MERCHANT);
      return { sequence: ++open().number, id: series.prefix + ++series.made, series };
    },
    /** The sequence of the newest request. */
    last: () => open().number,
    /** Whether a request with this id was made, even if the log has dropped it. */
    wasMade(id: string) {
      const number = Number(ID.exec(id)?.[2] ?? Infinity);
      return number > 0 && number <= madeBy(merchantIn(id) ?? NO_MERCHANT);
    },
    /** Whether the next block should be reserved. */
    areRunningOut: () => isRunningOut(open()),
    reserve: () => reserve(open()),
    /** Stores the numbers of these entries' merchants. Call in the transaction that writes the entries. */
    keep(entries: readonly { sequence: number; merchant: string | undefined }[]) {
      const last = entries.at(-1)?.sequence ?? 0;
      for (const merchant of new Set(entries.map((entry) => entry.merchant ?? NO_MERCHANT))) {
        const series = all.get(merchant);
        if (series) stored.keep(merchant, series.made, last);
      }
    },
    /** Stores all numbers. */
    store,
    /** Forgets the numbers in memory. Call `store` first, then change the table, then call this. */
    reload: () => all.clear(),
    /** Call after a merchant was removed. */
    removed: (merchant: string) => void all.delete(merchant),
    /** Call after the requests of one merchant, or of all, were erased: their numbers restart at one. */
    restart(merchant?: string) {
      restart(merchant);
      if (merchant === undefined) Object.assign(open(), { number: 0, last: 0, start: 0 });
    },
    close() {
      if (!count) return;
      try {
        seriesOf(NO_MERCHANT);
        store();
        stored.reserve(count.number);
      } catch {
        // The reserved block remains in the file, and the next start continues after it.
      }
    },
  };
}

/** The series of the merchants that have called since the start. */
function createSeries(stored: Pick<ReturnType<typeof openStoredNumbers>, "madeBy">) {
  const all = new Map<string, RequestSeries>();
  const madeBy = (merchant: string) => all.get(merchant)?.made ?? stored.madeBy(merchant);
  return {
    all,
    madeBy,
    seriesOf(merchant: string): RequestSeries {
      const known = all.get(merchant);
      if (known) return known;
      const series = { prefix: prefixOf(merchant), made: madeBy(merchant), isErased: false };
      all.set(merchant, series);
      return series;
    },
    restart(merchant: string | undefined) {
      for (const [owner, series] of all) {
        if (merchant !== undefined && owner !== merchant) continue;
        series.isErased = true;
        all.delete(owner);
      }
    },
  };
}

function openStoredNumbers({ sql }: Database) {
  const reserve = sql.prepare<[number]>("insert or replace into settings (name, value) values ('requests', ?)");
  const reserved = sql.prepare<[], number>("select value from settings where name = 'requests'").pluck();
  const made = sql.prepare<[string], number>("select made from request_numbers where merchant = ?").pluck();
  const keep = sql.prepare<[string, number, number]>(
    `insert into request_numbers (merchant, made, sequence) values (?, ?, ?)
     on conflict do update set made = excluded.made, sequence = excluded.sequence`,
  );
  const newest = sql.prepare<[], number>("select coalesce(max(sequence), 0) from request_numbers").pluck();
  const skip = sql.prepare<[{ lost: number }]>(
    `insert into request_numbers (merchant, made, sequence)
     select id, @lost, 0 from documents where kind = 'merchant' union all select '${NO_MERCHANT}', @lost, 0 where true
     on conflict do update set made = made + excluded.made`,
  );
  return {
    /** The number before this process's first request. */
    open() {
      const number = reserved.get() ?? 0;
      const lost = number - (newest.get() ?? 0);
      if (lost > 0) skip.run({ lost });
      return number;
    },
    reserve: (number: number) => void reserve.run(number),
    madeBy: (merchant: string) => made.get(merchant) ?? 0,
    keep: (merchant: string, number: number, sequence: number) => void keep.run(merchant, number, sequence),
  };
}
