// The request log stores the same response to the same call once in a block of rows, and deletes whole blocks.

import { expect, test } from "vitest";
import { openRequestLog, type RequestEntry } from "../../src/store/request-log/request-log.ts";
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
const NOTHING = { key: undefined, idempotencyKey: undefined, replayOf: undefined, fault: undefined, ignored: undefined, requestBody: "" };
const TIMES = { at: 0, stages: [], arrived: 0, answered: 1, connection: { number: 1, opened: 0 }, isFirst: false };

function openLog() {
  const database = openDatabase(undefined);
  const log = openRequestLog(database);
  const add = (sequence: number, changes: Partial<RequestEntry> = {}) =>
    log.add({
      ...{ ...CALL, ...NOTHING, ...TIMES, sequence, id: `req_${sequence}`, merchant: "mer_lodge" },
      ...{ requestHeaders: {}, responseHeaders: {}, responseBody: BODY, ...changes },
    });
  const shown = (sequence: number) => log.get(`req_${sequence}`)?.responseBody;
  const stored = () => database.sql.prepare("select sequence from request_log where responseBody <> '' order by sequence").pluck().all();
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
