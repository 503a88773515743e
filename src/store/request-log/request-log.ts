// The log of requests: a buffer whose rows are written late, and a table that is bounded in rows and bytes.

import { attempt } from "../../kernel/attempt.ts";
import { realNow } from "../../kernel/clock.ts";
import { mask } from "../../kernel/mask.ts";
import { maskHeaders } from "../../kernel/mask-headers.ts";
import { once } from "../../kernel/once.ts";
import type { CallSpan } from "../../kernel/trace-context.ts";
import type { Database } from "../sqlite/database.ts";
import { createLateBuffer } from "./late-buffer.ts";
import { CALL_COLUMNS, readRequests } from "./read-requests.ts";
import { openRequestNumbers } from "./request-numbers.ts";
import { createResponseCache, createSharedBodies } from "./response-cache.ts";
import { BLOCK, MOST_ROWS, openTrim, TEXTS } from "./trim.ts";

export interface Connection {
  /** The connection's number, in the order in which the sandbox accepted them. */
  readonly number: number;
  /** Real milliseconds at which the sandbox accepted the connection. */
  readonly opened: number;
  /**
   * Real milliseconds at which the client closed the connection after the last response. Undefined while the connection
   * is open, and if the sandbox closed it first.
   */
  closed?: number;
}

/** A request, buffered when its response is sent. Its secrets are masked when the row is written. */
export interface RequestEntry {
  sequence: number;
  id: string;
  /** The span of the call; the id of its trace is stored. */
  span: CallSpan | undefined;
  /** Sandbox milliseconds. */
  at: number;
  merchant: string | undefined;
  operation: string | undefined;
  method: string;
  path: string;
  search: string;
  status: number;
  /** The error code. Not stored. */
  errorCode: string | undefined;
  /** Real milliseconds from the request's arrival to the response. */
  duration: number;
  /** Real milliseconds from the request's arrival to the end of each stage: checks, body, validation, operation. */
  stages: readonly number[];
  /** Real milliseconds, because clients measure their timeouts in real time. */
  arrived: number;
  /**
   * Real milliseconds just before the response began or the connection broke, the earliest time when the client can
   * know.
   */
  answered: number;
  /**
   * Sandbox milliseconds when the response began. May differ from `at` on a frozen clock that was advanced meanwhile.
   */
  answeredAt: number;
  /** The same object for all requests of one connection. */
  connection: Connection;
  /** Whether the sandbox had sent nothing on the connection before, not even a response of the control API. */
  isFirst: boolean;
  /** The last characters of the key. */
  key: string | undefined;
  idempotencyKey: string | undefined;
  replayOf: string | undefined;
  /** The fault rules that applied, separated by commas. */
  fault: string | undefined;
  /** The query parameters and headers that had no effect, separated by commas. */
  ignored: string | undefined;
  /** The code and message of an error, or the record that a write returned. */
  summary: string | undefined;
  requestHeaders: Record<string, string | string[] | undefined>;
  requestBody: string;
  responseHeaders: Record<string, string | number>;
  responseBody: string;
}

export type RequestLog = ReturnType<typeof openRequestLog>;

/** Bounds the buffer: characters of bodies, and for each request the bytes that its headers and objects take. */
const MOST_BUFFERED = 16 * 1_048_576;
const SIZE_WITHOUT_BODIES = 1_024;
/** One in this many requests checks whether the reserved numbers are running out. */
const RESERVED_EACH = 64;
const LONGEST_BODY = 16_384;

export function openRequestLog(database: Database) {
  // The file is read at the first request or query, so a quiet sandbox reads nothing.
  const opened = once(() => ({ ...writer(database), ...openCallCounts(database) }));
  const numbers = openRequestNumbers(database);
  const shareBody = createSharedBodies();
  // If another program holds the file's lock, a later request tries again.
  const reserve = () => attempt(() => database.transaction(numbers.reserve, "relaxed"));
  const buffer = createLateBuffer<RequestEntry>({
    mostRows: MOST_ROWS,
    mostSize: MOST_BUFFERED,
    write(entries, until, hasGap) {
      try {
        return database.transaction(() => {
          if (hasGap) opened().erase();
          const written = opened().write(entries, until);
          numbers.keep(entries.slice(0, written));
          return written;
        }, "relaxed");
      } catch (error) {
        // Otherwise, the rows that were rolled back would count twice when they are written again.
        opened().readSizes();
        throw error;
      }
    },
  });
  return {
    ...readRequests(database, buffer.flush),
    numbers,
    add(entry: RequestEntry) {
      if (entry.sequence % RESERVED_EACH === 0 && numbers.areRunningOut()) reserve();
      const bodies = entry.requestBody.length + (shareBody(entry) ? 0 : entry.responseBody.length);
      buffer.add(entry, SIZE_WITHOUT_BODIES + bodies);
      opened().count(entry.operation, entry.status, 1);
    },
    /** Writes the buffer. Every read flushes it first. */
    flush: buffer.flush,
    /** Writes most of a long buffer between other requests, before a read. Undefined if it is short. */
    catchUp: buffer.catchUp,
    /**
     * For each operation that was called, the number of responses with each status. `erased` includes responses from
     * before a reset.
     */
    statusCounts: (erased: boolean) => opened().statusCounts(erased),
    /** Call after requests were erased, of one merchant or of all. */
    forget(merchant?: string) {
      buffer.keep((entry) => merchant !== undefined && entry.merchant !== merchant);
      numbers.restart(merchant);
      if (merchant !== undefined) return opened().readSizes();
      opened().eraseCounts();
      opened().forget();
    },
    close() {
      buffer.close();
      numbers.close();
    },
  };
}

function writer({ sql }: Database) {
  const insert = sql.prepare(`insert into request_log (${COLUMNS}) values (${COLUMNS.replace(/\w+/g, "?")})`);
  const { add, shrink, readSizes, forget } = openTrim(sql);
  const responses = createResponseCache();
  return {
    /** Writes the first entry, and the next ones while the real time is before `until`. Returns how many it wrote. */
    write(entries: readonly RequestEntry[], until: number): number {
      let written = 0;
      for (const entry of entries) {
        if (written > 0 && realNow() >= until) break;
        written++;
        const block = Math.floor(entry.sequence / BLOCK);
        const row = rowOf(entry, responses.find(entry, block));
        insert.run(row);
        add(block, sizeOf(row));
      }
      shrink();
      return written;
    },
    /** Erases all rows. Called when the buffer has overflowed, so that the log keeps only newer requests than these. */
    erase() {
      sql.exec("delete from request_log");
      responses.clear();
      forget();
    },
    /** Call after rows of a merchant were erased, or a transaction was rolled back. */
    readSizes() {
      responses.clear();
      readSizes();
    },
    forget() {
      responses.clear();
      forget();
    },
  };
}

/** The columns whose values an entry has under the same name. */
const ENTRY_COLUMNS = CALL_COLUMNS.split(", ").filter(
  (name) => name !== "query" && name !== "stages" && name !== "trace",
) as (keyof RequestEntry)[];
const COLUMNS = [
  ...ENTRY_COLUMNS,
  "query",
  "stages",
  "trace",
  "requestBytes",
  "responseBytes",
  "sameResponseAs",
  ...TEXTS,
].join(", ");

/** The values of a row, in the order of `COLUMNS`, with their secrets masked. */
function rowOf(entry: RequestEntry, response: ReturnType<ReturnType<typeof createResponseCache>["find"]>) {
  const row: unknown[] = [];
  for (const name of ENTRY_COLUMNS) row.push(entry[name]);
  const { search, requestBody } = entry;
  row.push(
    search,
    stagesOf(entry),
    entry.span?.own.traceId,
    Buffer.byteLength(requestBody),
    response?.bytes ?? Buffer.byteLength(entry.responseBody),
    response?.sequence,
  );
  row.push(
    maskHeaders(entry.requestHeaders),
    mask(requestBody, LONGEST_BODY),
    // Names and texts from the client were masked when they were put into headers.
    JSON.stringify(entry.responseHeaders),
    response ? "" : mask(entry.responseBody, LONGEST_BODY),
  );
  return row;
}

function sizeOf(row: readonly unknown[]): number {
  let size = 0;
  for (let index = row.length - TEXTS.length; index < row.length; index++) size += (row[index] as string).length;
  return size;
}

/** Microseconds, joined by commas. Runs for every request: `map` and `join` take twice as long as a loop. */
function stagesOf({ stages, answered, arrived }: RequestEntry): string {
  let text = "";
  for (const milliseconds of stages) text += `${Math.round(milliseconds * 1_000)},`;
  return `${text}${Math.round((answered - arrived) * 1_000)}`;
}

/** Counts the responses by operation and status in memory, starting from the rows in the file. */
function openCallCounts({ sql }: Database) {
  type Counts = Map<string, Record<string, number>>;
  const counts: Counts = new Map();
  /** Counts from before a reset. */
  const erased: Counts = new Map();
  const countIn = (all: Counts, operation: string, status: number | string, calls: number) => {
    const byStatus = all.get(operation) ?? {};
    byStatus[status] = (byStatus[status] ?? 0) + calls;
    all.set(operation, byStatus);
  };
  const addTo = (all: Counts, added: Counts) => {
    for (const [operation, byStatus] of added)
      for (const [status, calls] of Object.entries(byStatus)) countIn(all, operation, status, calls);
    return all;
  };
  const count = (operation: string | null | undefined, status: number, calls: number) => {
    if (operation != null) countIn(counts, operation, status, calls);
  };
  const before = sql
    .prepare<[], { operation: string | null; status: number; calls: number }>(
      "select operation, status, count(*) as calls from request_log group by operation, status",
    )
    .all();
  for (const { operation, status, calls } of before) count(operation, status, calls);
  return {
    count,
    statusCounts: (withErased: boolean) => (withErased ? addTo(addTo(new Map(), erased), counts) : counts),
    eraseCounts() {
      addTo(erased, counts);
      counts.clear();
    },
  };
}
