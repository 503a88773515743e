// What was asked and answered. A buffer that is flushed in one transaction, bounded in rows and bytes, never on an answer's way.

import { createBoundedCache } from "../../kernel/bounded-cache.ts";
import { afterRealTime } from "../../kernel/clock.ts";
import { once } from "../../kernel/once.ts";
import { redactHeaders, redactJson } from "../../kernel/redact.ts";
import type { Database } from "../sqlite/database.ts";
import { openRequestNumbers } from "./request-numbers.ts";

export interface Connection {
  /** Real milliseconds. */
  readonly opened: number;
}

/** One request as it is noted down the moment it is answered; secrets in headers and bodies are masked when it is written. */
export interface LoggedRequest {
  sequence: number;
  id: string;
  /** Sandbox milliseconds. */
  at: number;
  merchant: string | undefined;
  operation: string | undefined;
  method: string;
  path: string;
  search: string;
  status: number;
  /** Real milliseconds from arrival to answer. */
  duration: number;
  /** When it arrived, in real milliseconds: what a client's patience is measured by. */
  arrived: number;
  /** The connection it came by: the same object for all that came by the same one. */
  connection: Connection;
  /** The last characters of the key. */
  key: string | undefined;
  idempotencyKey: string | undefined;
  replayOf: string | undefined;
  /** The fault rules that touched it, parted by commas. */
  fault: string | undefined;
  requestHeaders: Record<string, string | string[] | undefined>;
  requestBody: string;
  responseHeaders: Record<string, string | number>;
  responseBody: string;
}

/** A request as it was written. */
export interface RequestRow {
  sequence: number;
  id: string;
  at: number;
  merchant: string | null;
  operation: string | null;
  method: string;
  path: string;
  query: string;
  status: number;
  duration: number;
  key: string | null;
  idempotency_key: string | null;
  replay_of: string | null;
  fault: string | null;
  /** JSON. */
  request_headers: string;
  request_body: string;
  request_bytes: number;
  /** JSON. */
  response_headers: string;
  response_body: string;
  response_bytes: number;
}

export interface RequestFilter {
  operation?: string | undefined;
  merchant?: string | undefined;
  /** A status such as 429, or a class such as 4xx. */
  status?: string | undefined;
  key?: string | undefined;
  since?: number | undefined;
  /** Only requests that came before this one. */
  before?: string | undefined;
  /** Only requests with a higher number. */
  after?: number | undefined;
}

export interface RequestLog {
  /** The number of the next request. */
  next(): number;
  /** The number of the newest request. */
  last(): number;
  /** Counts how often the numbers began again at one: a number is unique only within its era. */
  era(): number;
  /** Numbers that are used already, by requests that events and remembered answers tell of, are not used again. */
  goOnAfter(number: number): void;
  add(entry: LoggedRequest): void;
  /** Writes what waits in the buffer: at most a moment's requests, and before anybody reads. */
  flush(): void;
  /** The newest requests that fit. */
  find(filter: RequestFilter, limit: number): RequestRow[];
  get(id: string): RequestRow | undefined;
  /** For each operation that was called, how often it answered with which status. */
  statusCounts(): Map<string, Record<string, number>>;
  /** Drops what memory holds of requests that were erased; without a merchant, all of it, and counts from one again. */
  forget(merchant?: string): void;
  close(): void;
}

interface Covered {
  operation: string | null;
  status: number;
  calls: number;
}

const FLUSH_AFTER = 50;
const TRY_AGAIN_AFTER = 2_000;
const MOST_ROWS = 10_000;
const MOST_BYTES = 64 * 1_048_576;
const LONGEST_BODY = 16_384;
const MOST_ANSWERS = 100;

export function openRequestLog(database: Database): RequestLog {
  // What the file holds is read when the first request comes, or somebody asks: a sandbox that is quiet reads nothing.
  const rows = once(() => writer(database));
  const numbers = openRequestNumbers(database);
  const coverage = once(() => openCoverage(database));
  let buffer: LoggedRequest[] = [];
  let cancel: (() => void) | undefined;

  // A file that somebody else keeps locked is no reason to fail: what was asked waits, as much of it as would be kept anyway.
  const flush = () => {
    cancel?.();
    cancel = undefined;
    if (buffer.length === 0) return;
    try {
      numbers.setAside();
      database.transaction(() => rows().write(buffer), "relaxed");
      buffer = [];
    } catch {
      buffer = buffer.slice(-MOST_ROWS);
      cancel = afterRealTime(TRY_AGAIN_AFTER, flush);
    }
  };
  return {
    ...reader(database, flush),
    next: numbers.next,
    last: numbers.last,
    era: numbers.era,
    goOnAfter: numbers.goOnAfter,
    add(entry) {
      buffer.push(entry);
      coverage().count(entry.operation, entry.status, 1);
      cancel ??= afterRealTime(FLUSH_AFTER, flush);
    },
    flush,
    statusCounts: () => coverage().counts,
    forget(merchant) {
      buffer = buffer.filter((entry) => merchant !== undefined && entry.merchant !== merchant);
      if (merchant !== undefined) return;
      coverage().counts.clear();
      rows().forget();
      numbers.restart();
    },
    close() {
      flush();
      cancel?.();
      numbers.close();
    },
  };
}

function writer({ sql }: Database) {
  const insert = sql.prepare(
    `insert into journal (sequence, id, at, merchant, operation, method, path, query, status, duration, key, idempotency_key, replay_of, fault,
       request_headers, request_body, request_bytes, response_headers, response_body, response_bytes)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const trim = sql.prepare("delete from journal where sequence <= ?");
  const sizes = "length(request_headers) + length(request_body) + length(response_headers) + length(response_body)";
  const kept = sql
    .prepare<[], { sequence: number; size: number }>(`select sequence, ${sizes} as size from journal order by sequence`)
    .all();
  let total = kept.reduce((sum, { size }) => sum + size, 0);

  const shrink = () => {
    let dropped = 0;
    while (kept.length - dropped > MOST_ROWS || total > MOST_BYTES) total -= kept[dropped++]?.size ?? 0;
    const gone = kept.splice(0, dropped).at(-1);
    if (gone) trim.run(gone.sequence);
  };
  return {
    write(entries: readonly LoggedRequest[]) {
      for (const entry of entries) {
        const row = rowOf(entry);
        insert.run(row);
        const size = (row[14] as string).length + (row[15] as string).length + (row[17] as string).length + (row[18] as string).length;
        kept.push({ sequence: entry.sequence, size });
        total += size;
      }
      shrink();
    },
    forget() {
      kept.length = 0;
      total = 0;
    },
  };
}

/** A row in the order of the insert, its secrets masked. */
function rowOf(entry: LoggedRequest): unknown[] {
  const { requestHeaders, requestBody, responseHeaders } = entry;
  const answer = answerTo(`${entry.method} ${entry.path}${entry.search}`, entry.responseBody);
  return [
    entry.sequence,
    entry.id,
    entry.at,
    entry.merchant,
    entry.operation,
    entry.method,
    entry.path,
    entry.search,
    entry.status,
    entry.duration,
    entry.key,
    entry.idempotencyKey,
    entry.replayOf,
    entry.fault,
    redactHeaders(requestHeaders),
    redactJson(cut(requestBody)),
    Buffer.byteLength(requestBody),
    JSON.stringify(responseHeaders),
    answer.masked,
    answer.bytes,
  ];
}

interface Answer {
  body: string;
  /** As it is kept. */
  masked: string;
  bytes: number;
}

/** Who asks the same again is mostly answered the same, which need not be looked through again. */
const answers = createBoundedCache<Answer>(MOST_ANSWERS);

function answerTo(call: string, body: string): Answer {
  const last = answers.get(call);
  if (last?.body === body) return last;
  const answer = { body, masked: redactJson(cut(body)), bytes: Buffer.byteLength(body) };
  if (body.length <= LONGEST_BODY) answers.set(call, answer);
  return answer;
}

/** The id of a request tells its number: `req_12` is 12. */
function numberOf(id: string): number | undefined {
  const digits = /^req_(\d{1,15})$/.exec(id)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

const cut = (text: string) => (text.length > LONGEST_BODY ? text.slice(0, LONGEST_BODY) : text);

function reader({ sql }: Database, flush: () => void): Pick<RequestLog, "find" | "get"> {
  const select = sql.prepare<[Record<string, unknown>], RequestRow>(
    `select * from journal
     where sequence < @before and sequence > @after
       and (@operation is null or operation = @operation) and (@merchant is null or merchant = @merchant)
       and (@status is null or status like @status) and (@key is null or key like @key) and (@since is null or at >= @since)
     order by sequence desc limit @limit`,
  );
  const bySequence = sql.prepare<[number], RequestRow>("select * from journal where sequence = ?");
  return {
    find({ operation = null, merchant = null, status, key, since = null, before: newer, after = 0 }, limit) {
      flush();
      const before = (newer === undefined ? undefined : numberOf(newer)) ?? Number.MAX_SAFE_INTEGER;
      const like = { status: status?.replace("xx", "__") ?? null, key: key === undefined ? null : `%${key.slice(-4)}` };
      return select.all({ operation, merchant, since, before, after, limit, ...like });
    },
    get(id) {
      flush();
      return bySequence.get(numberOf(id) ?? 0);
    },
  };
}

/** How often each operation answered with which status: kept in memory, begun from what the file holds. */
function openCoverage({ sql }: Database) {
  const counts = new Map<string, Record<string, number>>();
  const count = (operation: string | null | undefined, status: number, calls: number) => {
    if (operation == null) return;
    const byStatus = counts.get(operation) ?? {};
    byStatus[status] = (byStatus[status] ?? 0) + calls;
    counts.set(operation, byStatus);
  };
  const before = sql.prepare<[], Covered>("select operation, status, count(*) as calls from journal group by operation, status").all();
  for (const { operation, status, calls } of before) count(operation, status, calls);
  return { counts, count };
}
