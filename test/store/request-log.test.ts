// The request log: equal responses are stored once for each block of rows. Rows are written late, in slices between
// turns of the event loop.

import { expect, test } from "vitest";
import { createLateBuffer } from "../../src/store/request-log/late-buffer.ts";
import { openRequestLog, type RequestEntry } from "../../src/store/request-log/request-log.ts";
import { openDatabase } from "../../src/store/sqlite/database.ts";
import { requestEntry } from "../support/judge-inputs.ts";

const BODY = "x".repeat(2_000);

function openLog() {
  const database = openDatabase(undefined);
  const log = openRequestLog(database);
  const add = (sequence: number, changes: Partial<RequestEntry> = {}) =>
    log.add(requestEntry(0, 200, { sequence, id: `req_${sequence}`, stages: [], responseBody: BODY, ...changes }));
  const shown = (sequence: number) => log.get(`req_${sequence}`)?.responseBody;
  const stored = () =>
    database.sql.prepare("select sequence from request_log where responseBody <> '' order by sequence").pluck().all();
  return { log, add, shown, stored };
}

test("an equal response to the same call of a merchant is stored once per block, and shown with each request", () => {
  const { log, add, shown, stored } = openLog();
  for (const sequence of [1, 2, 3]) add(sequence);
  add(4, { merchant: "mer_market" });
  add(5, { search: "limit=5" });
  add(6, { responseBody: `${BODY}!` });
  add(7, { responseBody: `${BODY}!` });
  for (const sequence of [128, 129]) add(sequence);
  expect([2, 4, 5, 7, 129].map(shown)).toEqual([BODY, BODY, BODY, `${BODY}!`, BODY]);
  expect(log.get("req_7")).toMatchObject({ responseBytes: BODY.length + 1 });
  expect(stored()).toEqual([1, 4, 5, 6, 128]);
  log.forget("mer_lodge");
  add(130);
  expect([shown(130), stored().includes(130)]).toEqual([BODY, true]);
});

test("the log keeps at least the newest 10,000 requests, with their responses", () => {
  const { log, add, shown, stored } = openLog();
  for (let sequence = 1; sequence <= 10_500; sequence++) add(sequence);
  log.flush();
  expect([500, 501, 10_500].map(shown)).toEqual([undefined, BODY, BODY]);
  expect(stored()).toHaveLength(80);
});

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const endOfTurn = () => new Promise(setImmediate);

/** A buffer that writes `perSlice` rows in each slice. */
function openBuffer(perSlice: number, { mostRows = 50, mostSize = 1_000 } = {}) {
  const written: number[] = [];
  const gaps: number[] = [];
  const file = { isLocked: false };
  const buffer = createLateBuffer<number>({
    mostRows,
    mostSize,
    write(rows, until, hasGap) {
      if (file.isLocked) throw new Error("database is locked");
      if (hasGap) gaps.push(rows[0] ?? 0);
      const slice = rows.slice(0, until === Infinity ? rows.length : perSlice);
      written.push(...slice);
      return slice.length;
    },
  });
  const add = (from: number, to: number, size = 1) => {
    for (const row of numbers(from, to)) buffer.add(row, size);
  };
  return { buffer, add, written, gaps, file };
}

test("rows wait until no more arrive, and are then written in slices, one in each turn of the event loop", async () => {
  const { buffer, add, written } = openBuffer(10);
  add(1, 25);
  await endOfTurn();
  expect(written).toEqual([]);
  while (written.length === 0) await endOfTurn();
  expect(written).toEqual(numbers(1, 10));
  await endOfTurn();
  expect(written).toEqual(numbers(1, 20));
  add(26, 30);
  await endOfTurn();
  expect(written).toEqual(numbers(1, 30));
  buffer.close();
});

test("rows that the log would drop are not written, and the next write is told about the gap", () => {
  const { buffer, add, written, gaps } = openBuffer(10);
  add(1, 5);
  buffer.flush();
  add(6, 80);
  buffer.flush();
  add(81, 82);
  buffer.flush();
  expect([written, gaps]).toEqual([[...numbers(1, 5), ...numbers(31, 82)], [31]]);
  buffer.close();
});

test("a slice is written while rows still arrive if the waiting rows are too large together", async () => {
  const { buffer, add, written } = openBuffer(3);
  add(1, 10, 100);
  await endOfTurn();
  expect(written).toEqual([]);
  add(11, 11, 100);
  await endOfTurn();
  expect(written).toEqual([1, 2, 3]);
  await endOfTurn();
  expect(written).toEqual([1, 2, 3]);
  buffer.close();
});

test("before a read, slices are written in several turns, and a few rows are left to the read", async () => {
  const { buffer, add, written } = openBuffer(30, { mostRows: 200 });
  add(1, 60);
  expect(buffer.catchUp()).toBeUndefined();
  add(61, 130);
  await buffer.catchUp();
  expect(written).toEqual(numbers(1, 90));
  buffer.close();
});

test("while the file is locked, the newest rows are kept in order, and no turn tries to write them again", async () => {
  const { buffer, add, written, file } = openBuffer(10);
  file.isLocked = true;
  add(1, 60);
  buffer.flush();
  file.isLocked = false;
  add(61, 61);
  await endOfTurn();
  expect(written).toEqual([]);
  buffer.flush();
  expect(written).toEqual(numbers(12, 61));
  buffer.close();
});

test("a closed buffer writes nothing, even if a slice was scheduled", async () => {
  const { buffer, add, written, file } = openBuffer(10);
  add(1, 45, 100);
  file.isLocked = true;
  buffer.close();
  file.isLocked = false;
  await endOfTurn();
  expect(written).toEqual([]);
});
