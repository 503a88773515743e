// Numbers the requests. Numbers are reserved on disk a block at a time before they are used: after a crash the count continues
// after the block, so that no number is used twice, even if its request was never written to the log.

import type { Database } from "../sqlite/database.ts";

/** The smallest block: more requests than can arrive between two flushes of the request log. */
const SMALLEST_BLOCK = 10_000;
/** Every request waits for the disk while a block is reserved, so blocks grow: each is as large as all before it in this process, up to this. */
const LARGEST_BLOCK = 1_000_000;

interface Count {
  number: number;
  /** The last number that is reserved. */
  last: number;
  /** The number before the first one of this process. */
  start: number;
}

export function openRequestNumbers({ sql, file }: Database) {
  const write = sql.prepare("insert or replace into settings (name, value) values ('requests', ?)");
  const read = sql.prepare<[], number>("select value from settings where name = 'requests'").pluck();
  let era = 0;
  let count: Count | undefined;
  const reserve = (present: Count) => {
    if (present.last - present.number > SMALLEST_BLOCK / 2) return;
    const block = Math.min(Math.max(SMALLEST_BLOCK, present.number - present.start), LARGEST_BLOCK);
    write.run(present.number + block);
    present.last = present.number + block;
  };
  const open = () => {
    if (count) return count;
    const number = read.get() ?? 0;
    count = { number, last: number, start: number };
    reserve(count);
    return count;
  };
  // With a file, the first block is reserved at the start: at the first request, another program may hold the file's lock.
  if (file !== undefined) open();
  return {
    reserve: () => reserve(open()),
    era: () => era,
    next: () => ++open().number,
    last: () => open().number,
    goOnAfter(used: number) {
      open().number = Math.max(open().number, used);
    },
    restart() {
      Object.assign(open(), { number: 0, last: 0, start: 0 });
      era++;
    },
    close() {
      try {
        if (count) write.run(count.number);
      } catch {
        // The reserved block remains in the file, and the next start continues after it.
      }
    },
  };
}
