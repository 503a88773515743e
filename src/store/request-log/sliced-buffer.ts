// A buffer of rows that are written in slices: short transactions between turns of the event loop, so that no request
// waits for a long one. Trick. Reason: one transaction every 50 ms wrote 500 rows under full load, and every request
// waited for it. Figure: 15 to 20 ms, now at most one.

import { afterRealTime, afterThisTurn, realNow } from "../../kernel/clock.ts";

interface SlicedBufferOptions<Row> {
  /** Writes the first row, and the next ones until this real time, in one transaction. Returns how many it wrote. */
  write(rows: readonly Row[], until: number): number;
  /** A slice begins when the buffer has this many rows. */
  slice: number;
  /** While the file cannot be written, the buffer keeps this many of the newest rows. */
  capacity: number;
}

/** Real milliseconds after which the rest of a slice waits: some rows are a hundred times as long as others. */
const LONGEST_SLICE = 1;
/** Real milliseconds after which rows are written even if they do not fill a slice. */
const WRITE_AFTER = 50;
const TRY_AGAIN_AFTER = 2_000;

export function createSlicedBuffer<Row>({ write, slice, capacity }: SlicedBufferOptions<Row>) {
  let rows: Row[] = [];
  let cancelTimer: (() => void) | undefined;
  let isScheduled = false;
  let isFailing = false;

  const schedule = () => {
    if (rows.length === 0 || isScheduled) return;
    if (rows.length >= slice && !isFailing) {
      isScheduled = true;
      afterThisTurn(writeScheduled);
    } else cancelTimer ??= afterRealTime(isFailing ? TRY_AGAIN_AFTER : WRITE_AFTER, writeSlice);
  };
  const writeUntil = (until: number) => {
    cancelTimer?.();
    cancelTimer = undefined;
    if (rows.length === 0) return;
    try {
      rows.splice(0, write(rows, until));
      isFailing = false;
    } catch {
      rows = rows.slice(-capacity);
      isFailing = true;
    }
    schedule();
  };
  const writeSlice = () => writeUntil(realNow() + LONGEST_SLICE);
  const writeScheduled = () => {
    isScheduled = false;
    if (isFailing) schedule();
    else writeSlice();
  };
  /** Writes all rows now. */
  const flush = () => writeUntil(Infinity);
  return {
    add(row: Row) {
      rows.push(row);
      schedule();
    },
    flush,
    /** Drops the rows that do not match. */
    keep(isKept: (row: Row) => boolean) {
      rows = rows.filter(isKept);
    },
    /** Writes all rows, and drops those that cannot be written. */
    close() {
      flush();
      cancelTimer?.();
      rows = [];
    },
  };
}
