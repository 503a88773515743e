// Counts requests. Numbers are set aside on disk a block at a time, before they are given out: after a crash the count goes on
// behind the block, so that no number is given out again, not even one that the journal had no time to note.

import type { Database } from "../sqlite/database.ts";

/** More requests than can come between two flushes of the journal. */
const BLOCK = 10_000;

export function openRequestNumbers({ sql, file }: Database) {
  const note = sql.prepare("insert or replace into settings (name, value) values ('requests', ?)");
  const noted = sql.prepare<[], number>("select value from settings where name = 'requests'").pluck();
  let era = 0;
  let count: { number: number; last: number } | undefined;
  const setAside = (present: { number: number; last: number }) => {
    if (present.last - present.number > BLOCK / 2) return;
    note.run(present.number + BLOCK);
    present.last = present.number + BLOCK;
  };
  const open = () => {
    if (count) return count;
    const number = noted.get() ?? 0;
    count = { number, last: number };
    setAside(count);
    return count;
  };
  // At the first request, somebody else may hold a file's lock.
  if (file !== undefined) open();
  return {
    setAside: () => setAside(open()),
    era: () => era,
    next: () => ++open().number,
    last: () => open().number,
    goOnAfter(used: number) {
      open().number = Math.max(open().number, used);
    },
    restart() {
      Object.assign(open(), { number: 0, last: 0 });
      era++;
    },
    close() {
      try {
        if (count) note.run(count.number);
      } catch {
        // The block that was set aside stands, and the count goes on behind it.
      }
    },
  };
}
