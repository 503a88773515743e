// The request log: a response is stored once in a block of rows, and rows are written in slices between turns of the
// event loop.

import { expect, test } from "vitest";
import { openRequestLog, type RequestEntry } from "../../src/store/request-log/request-log.ts";
import { createSlicedBuffer } from "../../src/store/request-log/sliced-buffer.ts";
import { openDatabase } from "../../src/store/sqlite/database.ts";

const BODY = "x".repeat(2_000);
const CALL = {
  operation: "payments.list",
  method: "GET",
  path: "/v1/payments",
  search: "",
  status: 200,
  errorCode: undefined,
  duration: 1,
};
const NOTHING = {
  key: undefined,
  idempotencyKey: undefined,
  span: undefined,
  replayOf: undefined,
  fault: undefined,
  ignored: undefined,
  summary: undefined,
  requestBody: "",
};
const TIMES = {
  at: 0,
  stages: [],
  arrived: 0,
  answered: 1,
  answeredAt: 1,
  connection: { number: 1, opened: 0 },
  isFirst: false,
};

function openLog() {
  const database = openDatabase(undefined);
  const log = openRequestLog(database);
  const add = (sequence: number, changes: Partial<RequestEntry> = {}) =>
    log.add({
      ...{ ...CALL, ...NOTHING, ...TIMES, sequence, id: `req_${sequence}`, merchant: "mer_lodge" },
      ...{ requestHeaders: {}, responseHeaders: {}, responseBody: BODY, ...changes },
    });
  const shown = (sequence: number) => log.get(`req_${sequence}`)?.responseBody;
  const stored = () =>
    database.sql.prepare("select sequence from request_log where responseBody <> '' order by sequence").pluck().all();
  return { log, add, shown, stored };
}

test("a repeated response is stored once for each block, call, merchant and body, and shown with each request", () => {
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
  expect([383, 384, 500, 10_500].map(shown)).toEqual([undefined, BODY, BODY, BODY]);
  expect(stored()).toHaveLength(80);
});

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const endOfTurn = () => new Promise(setImmediate);

/** A buffer whose slices take all their time for `perSlice` rows. */
function openBuffer(perSlice: number) {
  const written: number[] = [];
  const file = { isLocked: false };
  const buffer = createSlicedBuffer<number>({
    capacity: 50,
    slice: 32,
    write(rows, until) {
      if (file.isLocked) throw new Error("database is locked");
      const slice = rows.slice(0, until === Infinity ? rows.length : perSlice);
      written.push(...slice);
      return slice.length;
    },
  });
  return { buffer, written, file };
}

test("under load the buffer is written in slices, with a turn of the event loop between two of them", async () => {
  const { buffer, written } = openBuffer(10);
  for (const row of numbers(1, 45)) buffer.add(row);
  expect(written).toEqual([]);
  await endOfTurn();
  expect(written).toEqual(numbers(1, 10));
  await endOfTurn();
  expect(written).toEqual(numbers(1, 20));
  buffer.flush();
  expect(written).toEqual(numbers(1, 45));
  buffer.close();
});

test("while the file is locked the newest rows are kept in order, and are not tried again in each turn", async () => {
  const { buffer, written, file } = openBuffer(10);
  file.isLocked = true;
  for (const row of numbers(1, 60)) buffer.add(row);
  await endOfTurn();
  file.isLocked = false;
  buffer.add(61);
  await endOfTurn();
  expect(written).toEqual([]);
  buffer.flush();
  expect(written).toEqual(numbers(11, 61));
  buffer.close();
});

test("a closed buffer writes nothing, though a slice was scheduled", async () => {
  const { buffer, written, file } = openBuffer(10);
  for (const row of numbers(1, 45)) buffer.add(row);
  file.isLocked = true;
  buffer.close();
  file.isLocked = false;
  await endOfTurn();
  expect(written).toEqual([]);
});
