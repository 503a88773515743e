// What was asked and answered. A buffer that is flushed in one transaction, bounded in rows and bytes, never on an answer's way.

import { afterRealTime } from "../kernel/clock.ts";
import { redact, redactJson, redactText } from "../kernel/redact.ts";
import type { Database } from "./database.ts";

/** One request as it is noted down the moment it is answered; secrets are masked when it is written. */
export interface JournalEntry {
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
  /** The last characters of the key. */
  key: string | undefined;
  idempotencyKey: string | undefined;
  replayOf: string | undefined;
  requestHeaders: NodeJS.Dict<string | string[]>;
  requestBody: string;
  responseHeaders: Record<string, string | number>;
  responseBody: string;
}

/** A request as it was written. */
export interface JournalRow {
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
  /** JSON: headers and bodies, both ways. */
  detail: string;
}

export interface JournalFilter {
  operation?: string | undefined;
  merchant?: string | undefined;
  /** A status such as 429, or a class such as 4xx. */
  status?: string | undefined;
  key?: string | undefined;
  since?: number | undefined;
  /** Only requests that came before this one. */
  before?: string | undefined;
}

export interface Journal {
  /** The number of the next request. */
  next(): number;
  add(entry: JournalEntry): void;
  /** Writes what waits in the buffer: at most a moment's requests, and before anybody reads. */
  flush(): void;
  /** The newest requests that fit. */
  find(filter: JournalFilter, limit: number): JournalRow[];
  get(id: string): JournalRow | undefined;
  /** For each operation that was called, how often it answered with which status. */
  coverage(): Map<string, Record<string, number>>;
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
const MOST_ROWS = 10_000;
const MOST_BYTES = 64 * 1_048_576;
const LONGEST_BODY = 16_384;

export function openJournal(database: Database): Journal {
  const { sql } = database;
  const insert = sql.prepare(
    `insert into journal (sequence, id, at, merchant, operation, method, path, query, status, duration, key, idempotency_key, replay_of, detail)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const trim = sql.prepare("delete from journal where sequence < ?");
  const kept = sql
    .prepare<[], { sequence: number; bytes: number }>("select sequence, length(detail) as bytes from journal order by sequence")
    .all();
  let buffer: JournalEntry[] = [];
  let cancel: (() => void) | undefined;
  let last = kept.at(-1)?.sequence ?? 0;
  let total = kept.reduce((sum, { bytes }) => sum + bytes, 0);

  const coverage = new Map<string, Record<string, number>>();
  const cover = (operation: string | undefined, status: number, calls: number) => {
    if (operation === undefined) return;
    const byStatus = coverage.get(operation) ?? {};
    byStatus[status] = (byStatus[status] ?? 0) + calls;
    coverage.set(operation, byStatus);
  };
  for (const row of sql.prepare<[], Covered>("select operation, status, count(*) as calls from journal group by operation, status").all())
    cover(row.operation ?? undefined, row.status, row.calls);

  const write = (entry: JournalEntry) => {
    const detail = describe(entry);
    insert.run(
      entry.sequence,
      entry.id,
      entry.at,
      entry.merchant ?? null,
      entry.operation ?? null,
      entry.method,
      redactText(entry.path),
      redactText(entry.search),
      entry.status,
      entry.duration,
      entry.key ?? null,
      entry.idempotencyKey ?? null,
      entry.replayOf ?? null,
      detail,
    );
    kept.push({ sequence: entry.sequence, bytes: detail.length });
    total += detail.length;
  };
  const shrink = () => {
    let dropped = 0;
    while (kept.length - dropped > MOST_ROWS || total > MOST_BYTES) total -= kept[dropped++]?.bytes ?? 0;
    if (dropped === 0) return;
    kept.splice(0, dropped);
    trim.run(kept[0]?.sequence ?? last);
  };
  const flush = () => {
    cancel?.();
    cancel = undefined;
    if (buffer.length === 0) return;
    const entries = buffer;
    buffer = [];
    database.commitNow(() => {
      for (const entry of entries) write(entry);
      shrink();
    });
  };

  const select = sql.prepare<[Record<string, unknown>], JournalRow>(
    `select * from journal
     where sequence < coalesce((select sequence from journal where id = @before), 9e15)
       and (@operation is null or operation = @operation) and (@merchant is null or merchant = @merchant)
       and (@status is null or status like @status) and (@key is null or key like @key) and (@since is null or at >= @since)
     order by sequence desc limit @limit`,
  );
  const byId = sql.prepare<[string], JournalRow>("select * from journal where id = ?");

  return {
    find({ operation = null, merchant = null, status, key, since = null, before = null }, limit) {
      flush();
      const like = { status: status?.replace("xx", "__") ?? null, key: key === undefined ? null : `%${key.slice(-4)}` };
      return select.all({ operation, merchant, since, before, limit, ...like });
    },
    get(id) {
      flush();
      return byId.get(id);
    },
    next: () => ++last,
    add(entry) {
      buffer.push(entry);
      cover(entry.operation, entry.status, 1);
      cancel ??= afterRealTime(FLUSH_AFTER, flush);
    },
    flush,
    coverage: () => coverage,
    forget(merchant) {
      buffer = buffer.filter((entry) => merchant !== undefined && entry.merchant !== merchant);
      if (merchant !== undefined) return;
      coverage.clear();
      kept.length = 0;
      last = 0;
      total = 0;
    },
    close: flush,
  };
}

function describe(entry: JournalEntry): string {
  return JSON.stringify({
    request: {
      headers: redact(entry.requestHeaders),
      body: cut(redactJson(entry.requestBody)),
      bytes: Buffer.byteLength(entry.requestBody),
    },
    response: { headers: entry.responseHeaders, body: cut(redactJson(entry.responseBody)), bytes: Buffer.byteLength(entry.responseBody) },
  });
}

const cut = (text: string) => (text.length > LONGEST_BODY ? text.slice(0, LONGEST_BODY) : text);
