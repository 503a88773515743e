// Reads the log of requests: the newest that match a filter, and one by its id.

import type { LoggedRequest } from "../../contracts/logged-request.ts";
import { isoTime } from "../../kernel/clock.ts";
import type { Database } from "../sqlite/database.ts";
import { merchantIn } from "./request-numbers.ts";

/** A request as the log stores it, without its headers and bodies. */
export interface RequestSummaryRow extends Omit<LoggedRequest, "at" | "durationMs"> {
  /** Sandbox milliseconds. */
  at: number;
  /** Real milliseconds. */
  duration: number;
  /**
   * Microseconds from the request's arrival to the end of each stage that it reached, and to the first byte of the
   * response.
   */
  stages: string;
}

export interface RequestRow extends RequestSummaryRow {
  /** JSON. */
  requestHeaders: string;
  requestBody: string;
  requestBytes: number;
  /** JSON. */
  responseHeaders: string;
  responseBody: string;
  responseBytes: number;
}

export function shownRequest(row: RequestSummaryRow): LoggedRequest {
  const { id, sequence, method, path, query, operation, merchant, status } = row;
  const { key, idempotencyKey, replayOf, fault, trace } = row;
  const request = { id, sequence, at: isoTime(row.at), method, path, query, operation, merchant, status };
  return {
    ...request,
    durationMs: Math.round(row.duration * 1_000) / 1_000,
    key,
    idempotencyKey,
    replayOf,
    fault,
    ignored: row.ignored,
    summary: row.summary,
    trace,
  };
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
  /** Only requests whose path with its query contains this text. */
  path?: string | undefined;
  /** Only requests of the trace with this id. */
  trace?: string | undefined;
  /** Only requests with a higher sequence. */
  after?: number | undefined;
}

export const CALL_COLUMNS =
  "sequence, id, at, merchant, operation, method, path, query, status, duration, stages, key, idempotencyKey, " +
  "replayOf, fault, ignored, summary, trace";

/** Selects rows with headers and bodies. A row may refer to an earlier one that stores the same response body. */
const WHOLE = `select ${CALL_COLUMNS}, requestHeaders, requestBody, requestBytes, responseHeaders, responseBytes,
    iif(sameResponseAs is null, responseBody,
      (select same.responseBody from request_log same where same.sequence = log.sameResponseAs))
      as responseBody
  from request_log log`;

/** `flush` writes the requests that are buffered. */
export function readRequests({ sql }: Database, flush: () => void) {
  const where = `where sequence < @before and sequence > @after
      and (@operation is null or operation = @operation) and (@merchant is null or merchant = @merchant)
      and (@status is null or status like +@status) and (@key is null or key like +@key)
      and (@since is null or at >= @since)
      and (@path is null or instr(case query when '' then path else path || '?' || query end, +@path))
      and (@trace is null or trace = @trace)
    order by sequence desc limit @limit + 0`;
  const find = sql.prepare<[Record<string, unknown>], RequestRow>(`${WHOLE} ${where}`);
  const summaries = sql.prepare<[Record<string, unknown>], RequestSummaryRow>(
    `select ${CALL_COLUMNS} from request_log ${where}`,
  );
  const ofTrace = sql.prepare<[{ trace: string; limit: number }], RequestRow>(
    `${WHOLE} where trace = @trace order by sequence limit @limit + 0`,
  );
  const floorOf = sql
    .prepare<[{ before: number; limit: number }], number | null>(
      `select min(sequence) from
       (select sequence from request_log where sequence < @before order by sequence desc limit @limit + 0)`,
    )
    .pluck();
  // Skips the bodies of reads, because a list contains the id of every record in it.
  const naming = sql.prepare<[{ id: string; merchant: string | null; before: number; floor: number }], RequestRow>(
    `select * from (${WHOLE} where sequence < @before and sequence >= @floor
       and (@merchant is null or merchant = @merchant))
     where instr(path, @id) or instr(query, @id)
       or (method <> 'GET' and (instr(requestBody, @id) or instr(responseBody, @id)))
     order by sequence desc`,
  );
  const bySequence = sql.prepare<[number], RequestRow>(`${WHOLE} where sequence = ?`);
  const position = sql
    .prepare<[{ id: string; merchant: string | null }], number>(
      "select sequence from request_log where merchant is @merchant and id = @id",
    )
    .pluck();
  const search = sql.prepare<[string], number>("select sequence from request_log where id = ?").pluck();
  /** The sequence of a request in the log; 0 if the log does not have it. */
  const sequenceOf = (id: string) => {
    flush();
    // If a merchant's id has an unusual form, the ids of its requests contain a hash of it, and the search has no
    // index.
    return position.get({ id, merchant: merchantIn(id) }) ?? search.get(id) ?? 0;
  };
  const parametersOf = ({ before, ...filter }: RequestFilter, limit: number) =>
    parameters(filter, before === undefined ? Number.MAX_SAFE_INTEGER : sequenceOf(before), limit);
  const faults = sql.prepare<[], { fault: string }>("select distinct fault from request_log where fault is not null");
  return {
    /** The newest requests that match. */
    find(filter: RequestFilter, limit: number) {
      flush();
      return find.all(parametersOf(filter, limit));
    },
    /** The earliest requests of a trace, oldest first. */
    ofTrace(trace: string, limit: number) {
      flush();
      return ofTrace.all({ trace, limit });
    },
    /** Like `find`, without headers and bodies, which are most of a row. */
    summaries(filter: RequestFilter, limit: number) {
      flush();
      return summaries.all(parametersOf(filter, limit));
    },
    /**
     * Searches the `limit` requests before a sequence for this id, newest first: the path and query of each, and the
     * bodies of writes. `floor` is the `before` of the next call; null at the start of the log.
     */
    naming({ id, merchant, before }: { id: string; merchant: string | null; before: number }, limit: number) {
      flush();
      const floor = floorOf.get({ before, limit }) ?? null;
      return { floor, rows: floor === null ? [] : naming.all({ id, merchant, before, floor }) };
    },
    get: (id: string) => bySequence.get(sequenceOf(id)),
    sequenceOf,
    /** The ids of the fault rules that applied to requests in the log. */
    ruleIds() {
      flush();
      return faults.all().flatMap(({ fault }) => fault.split(","));
    },
  };
}

function parameters(filter: Omit<RequestFilter, "before">, before: number, limit: number) {
  const { operation, merchant, status, key, since, after = 0, path, trace } = filter;
  return {
    operation: operation ?? null,
    merchant: merchant ?? null,
    since: since ?? null,
    path: path ?? null,
    trace: trace?.toLowerCase() ?? null,
    status: status?.replace("xx", "__") ?? null,
    key: key === undefined ? null : `%${key.slice(-4)}`,
    before,
    after,
    limit,
  };
}
