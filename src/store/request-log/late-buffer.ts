// Buffers rows and writes them late: when no more arrive, before they are read, or after a few seconds. Rows that the
// log would have dropped by then are never written.
//
// Trick. Reason: masking and writing a row costs as much as answering a short request, and under load the log drops
// most rows unread. Figure: without the buffer, a GET by id over a file costs 1.3 times the CPU time. Rows are written
// in short slices between turns of the event loop, so that no request waits long.

import { afterRealTime, afterThisTurn, nextTurn, realNow } from "../../kernel/clock.ts";

interface LateBufferOptions<Row> {
  /**
   * Writes the first row, and the next ones while the real time is before `until`, in one transaction. Returns how many
   * it wrote. `hasGap` says that rows before the first one were dropped.
   */
  write(rows: readonly Row[], until: number, hasGap: boolean): number;
  /** The log keeps this many rows, so older ones are dropped. */
  mostRows: number;
  /** Beyond this size, the oldest rows are written even while more arrive. */
  mostSize: number;
}

/** Real milliseconds without a new row after which all rows are written. */
const PAUSE = 50;
/** Real milliseconds after which rows are written even while more arrive. */
const LONGEST_WAIT = 5_000;
const TRY_AGAIN_AFTER = 2_000;
/**
 * Real milliseconds of writing in one slice. A bound on the number of rows would not do, because rows differ in length
 * by a factor of a hundred.
 */
const LONGEST_SLICE = 1;
/** `LONGEST_SLICE` while a reader waits. */
const READERS_SLICE = 10;
/** The most rows of a transaction. */
const MOST_OF_SLICE = 512;
/** Up to this many rows are written in one go for a reader. */
const FEW = 64;

export function createLateBuffer<Row>(options: LateBufferOptions<Row>) {
  const rows = openQueue(options);
  let cancelTimer: (() => void) | undefined;
  let isScheduled = false;
  let isFailing = false;
  /** How many rows are to be written now, oldest first. */
  let due = 0;
  let added = 0;

  const wait = (before = added, waited = 0) => {
    cancelTimer = afterRealTime(isFailing ? TRY_AGAIN_AFTER : PAUSE, () => {
      cancelTimer = undefined;
      const isPause = added === before || isFailing || waited + PAUSE >= LONGEST_WAIT;
      if (!isPause) return wait(added, waited + PAUSE);
      isFailing = false;
      due = rows.count();
      schedule();
    });
  };
  const schedule = () => {
    due = Math.min(due, rows.count());
    if (rows.count() === 0 || isScheduled) return;
    if (due > 0 && !isFailing) {
      isScheduled = true;
      afterThisTurn(writeScheduled);
    } else if (cancelTimer === undefined) wait();
  };
  const writeScheduled = () => {
    isScheduled = false;
    if (due > 0) writeUntil(realNow() + LONGEST_SLICE);
    schedule();
  };
  const writeUntil = (until: number) => {
    try {
      const written = rows.write(until);
      due = Math.max(0, due - written);
      isFailing = false;
    } catch {
      isFailing = true;
    }
  };
  /** Writes all rows now. */
  const flush = () => {
    isFailing = false;
    while (rows.count() > 0 && !isFailing) writeUntil(Infinity);
    schedule();
  };
  return {
    add(row: Row, size: number) {
      added++;
      if (rows.add(row, size)) due = Math.max(due, 1);
      schedule();
    },
    flush,
    /**
     * Before a read: writes most rows in slices, so that the read's own flush is short. Undefined if few rows are
     * buffered.
     */
    catchUp() {
      if (rows.count() <= FEW || isFailing) return undefined;
      return (async () => {
        while (rows.count() > FEW && !isFailing) {
          writeUntil(realNow() + READERS_SLICE);
          await nextTurn();
        }
        schedule();
      })();
    },
    /** Drops the rows that do not match. */
    keep: rows.keep,
    /** Writes all rows, and drops those that cannot be written. */
    close() {
      flush();
      cancelTimer?.();
      rows.keep(() => false);
    },
  };
}

/** The rows, oldest first. Removing old ones advances `first`, because shifting thousands of rows takes long. */
function openQueue<Row>({ write, mostRows, mostSize }: LateBufferOptions<Row>) {
  let rows: { row: Row; size: number }[] = [];
  let first = 0;
  let size = 0;
  let hasGap = false;
  const remove = (number: number) => {
    for (const removed of rows.slice(first, first + number)) size -= removed.size;
    first += number;
    if (first < MOST_OF_SLICE) return;
    rows = rows.slice(first);
    first = 0;
  };
  const count = () => rows.length - first;
  return {
    count,
    /** Returns whether the rows exceed `mostSize`, so that the oldest must be written. */
    add(row: Row, sizeOfRow: number): boolean {
      rows.push({ row, size: sizeOfRow });
      size += sizeOfRow;
      if (count() > mostRows) {
        remove(1);
        hasGap = true;
      }
      return size > mostSize;
    },
    write(until: number): number {
      const next = rows.slice(first, first + MOST_OF_SLICE).map(({ row }) => row);
      const written = write(next, until, hasGap);
      hasGap = false;
      remove(written);
      return written;
    },
    keep(isKept: (row: Row) => boolean) {
      rows = rows.slice(first).filter(({ row }) => isKept(row));
      first = 0;
      size = rows.reduce((sum, kept) => sum + kept.size, 0);
    },
  };
}
