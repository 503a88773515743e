// The log of delivery attempts, each written when it has ended.

import type { Statement } from "better-sqlite3";
import type { AttemptFault } from "../../contracts/fault.ts";
import type { AttemptError, AttemptStatus, WebhookDelivery } from "../../contracts/webhook.ts";
import { tryParseJson } from "../../kernel/attempt.ts";
import { sortKeyIn } from "../../kernel/random.ts";
import { traceIdOf } from "../../kernel/trace-context.ts";
import type { PageQuery } from "../../schema/shapes.ts";
import { DEFAULT_PAGE, failInvalidCursor, type Page, pageOf } from "../records/record-pages.ts";
import type { LoggedDelivery } from "../request-log/run-summary.ts";
import type { Database } from "../sqlite/database.ts";
import type { Retention } from "./retention.ts";

/** An attempt as it is sent. */
export interface AttemptStart {
  id: string;
  merchant: string;
  endpoint: string;
  delivery: number;
  trigger: WebhookDelivery["trigger"];
  attempt: number;
  allowed: number;
  url: string;
  headers: Record<string, string>;
  /** Null when the body is the unchanged event. */
  body: string | null;
  /** Null when no fault rule applied. */
  fault: AttemptFault | null;
  /** Sandbox milliseconds. */
  started: number;
}

/** The outcome of an attempt. */
export interface AttemptEnd {
  status: AttemptStatus;
  responseStatus: number | null;
  responseBody: string | null;
  responseTruncated: boolean;
  errorCode: AttemptError | null;
  errorMessage: string | null;
  /** When the next attempt is due, in sandbox milliseconds; null when there is none. */
  nextDue: number | null;
  ended: number;
  /** Real milliseconds. */
  duration: number | null;
}

export interface AttemptQuery extends PageQuery {
  id?: string | undefined;
  eventId?: string | undefined;
  requestId?: string | undefined;
  endpointId?: string | undefined;
  type?: string | undefined;
  status?: string | undefined;
  /** Only attempts to a URL that contains this text. */
  path?: string | undefined;
}

export type Attempts = ReturnType<typeof openAttempts>;

/** An attempt as it is stored, with its event. */
interface AttemptRow extends Omit<AttemptStart, "headers" | "body" | "fault">, Omit<AttemptEnd, "responseTruncated"> {
  sequence: number;
  /** JSON. */
  requestHeaders: string;
  requestBody: string | null;
  /** JSON. */
  fault: string | null;
  responseTruncated: 0 | 1;
  eventId: string;
  eventType: string;
  /** The body of the event. */
  body: string;
  trace: string | null;
  deliveryState: LoggedDelivery["state"];
}

const LOG = `select a.*, e.id as eventId, e.type as eventType, e.trace, e.body, d.state as deliveryState from attempts a
  join deliveries d on d.sequence = a.delivery join events e on e.sequence = d.event`;

type OrderColumn = "ended" | "delivery" | "attempt" | "sequence";

/** No attempt has this sequence. */
const NO_SEQUENCE = 0;
/** Attempts that ended in the same millisecond are ordered by delivery, so that the order does not depend on a race. */
const BY_END: OrderColumn[] = ["ended", "delivery", "attempt"];
const AS_WRITTEN: OrderColumn[] = ["sequence"];
/** The parameters of a cursor. */
const FROM = {
  ended: "fromEnded",
  delivery: "fromDelivery",
  attempt: "fromAttempt",
  sequence: "fromSequence",
} as const;
/** The filters of a page. `+` hides columns and values from the planner; see tables.ts. */
const FILTERS = {
  sequence: "a.sequence = @sequence",
  merchant: "a.merchant = @merchant",
  endpointId: "a.endpoint = @endpointId",
  status: "a.status = +@status",
  path: "instr(a.url, +@path)",
  type: "e.type = @type",
  eventId:
    "a.delivery in (select d.sequence from deliveries d join events e on e.sequence = d.event where e.id = @eventId)",
  requestId:
    "a.delivery in (select d.sequence from events e join deliveries d on d.event = e.sequence " +
    "where e.request = @requestId)",
};
type Filter = keyof typeof FILTERS;
const FILTER_NAMES = Object.keys(FILTERS) as Filter[];

const REQUEST =
  "id, merchant, endpoint, delivery, trigger, attempt, allowed, url, requestHeaders, requestBody, fault, started";
const RESULT =
  "status, responseStatus, responseBody, responseTruncated, errorCode, errorMessage, nextDue, ended, duration";
const COLUMNS = `${REQUEST}, ${RESULT}` as const;

/** An attempt's id contains the sort key of its event's id, so `from` and `to` bound the event's id. */
type AttemptKey = Record<"id" | "from" | "to", string> & { merchant: string | null };

export function openAttempts({ sql }: Database, retention: Retention) {
  const insert = sql.insert("insert into attempts", COLUMNS);
  const find = finder(sql);
  const read = reader(sql, find);
  const effects = "json_each(attempts.fault, '$.effects') effect";
  const rules = sql
    .prepare<[], string>(
      `select distinct json_extract(effect.value, '$.id') from attempts, ${effects} where attempts.fault is not null`,
    )
    .pluck();
  return {
    /** Writes an attempt that has ended, and returns its number. */
    add(start: AttemptStart, end: AttemptEnd) {
      const { lastInsertRowid } = insert({
        ...start,
        ...end,
        requestHeaders: JSON.stringify(start.headers),
        requestBody: start.body,
        fault: start.fault && JSON.stringify(start.fault),
        responseTruncated: end.responseTruncated ? 1 : 0,
      });
      retention.rowAdded();
      return Number(lastInsertRowid);
    },
    /**
     * The merchant, event and endpoint of a logged attempt; undefined if the merchant (default: any) has no such
     * attempt.
     */
    find(merchant: string | undefined, id: string) {
      const row = find(id, merchant);
      return row && { merchant: row.merchant, eventId: row.eventId, endpointId: row.endpoint };
    },
    /**
     * A page of a merchant's log in the order in which attempts ended, or of the whole log in the order in which they
     * were written.
     */
    page: (merchant: string | undefined, query: AttemptQuery): Page<WebhookDelivery> => read(merchant, query, show),
    /** Like `page`, with the fields that only the control API shows. */
    log: (merchant: string | undefined, query: AttemptQuery): Page<StoredAttempt> => read(merchant, query, showLogged),
    /** The ids of the fault rules that applied to logged attempts. */
    ruleIds: () => rules.all(),
  };
}

/** Finds an attempt by its event, because an index of ids would be written for every attempt. */
function finder(sql: Database["sql"]) {
  const named = sql.prepare<[AttemptKey], AttemptRow>(
    `select a.*, e.id as eventId from events e
     cross join deliveries d on d.event = e.sequence cross join attempts a on a.delivery = d.sequence
     where e.id >= :from and e.id < :to and a.id = :id and a.merchant = coalesce(:merchant, a.merchant)`,
  );
  return (id: string, merchant: string | undefined) => {
    const from = `evt_${sortKeyIn(id)}`;
    return named.get({ id, merchant: merchant ?? null, from, to: `${from}~` });
  };
}

function reader(sql: Database["sql"], find: ReturnType<typeof finder>) {
  const statements = new Map<string, Statement<[Record<string, unknown>], AttemptRow>>();
  const list = (where: string, order: string) => {
    const text = `${LOG} where ${where} order by ${order} limit @limit + 0`;
    const known = statements.get(text) ?? sql.prepare<[Record<string, unknown>], AttemptRow>(text);
    statements.set(text, known);
    return known;
  };
  return <Shown>(merchant: string | undefined, query: AttemptQuery, shown: (row: AttemptRow) => Shown): Page<Shown> => {
    const { limit = DEFAULT_PAGE, ending_before: before, starting_after: after = before, id, ...filters } = query;
    const columns = merchant === undefined ? AS_WRITTEN : BY_END;
    const from =
      after === undefined ? undefined : (find(after, merchant) ?? failInvalidCursor(query, "webhook_delivery"));
    const sequence = id === undefined ? undefined : (find(id, merchant)?.sequence ?? NO_SEQUENCE);
    const wanted: { [Name in Filter]?: string | number | undefined } = { sequence, merchant, ...filters };
    const given = FILTER_NAMES.filter((name) => wanted[name] !== undefined);
    const conditions = [
      // `+a.merchant` keeps SQLite from scanning the merchant's whole log for the few attempts of one event.
      ...given.map((name) =>
        name === "merchant" && filters.eventId !== undefined ? `+${FILTERS[name]}` : FILTERS[name],
      ),
      // A literal instead of a parameter, so that SQLite uses the partial index of failed attempts.
      ...(filters.status === "failed" ? ["a.status = 'failed'"] : []),
      ...(from
        ? [
            `(${columns.map((column) => `a.${column}`)}) ${before === undefined ? "<" : ">"} ` +
              `(${columns.map((one) => `@${FROM[one]}`)})`,
          ]
        : []),
    ];
    const order = columns.map((column) => `a.${column} ${before === undefined ? "desc" : "asc"}`).join();
    const cursor = Object.fromEntries(columns.map((column) => [FROM[column], from?.[column]]));
    const rows = list(conditions.join(" and ") || "true", order).all({ ...wanted, ...cursor, limit: limit + 1 });
    const page = pageOf(rows, limit, query);
    return { ...page, data: page.data.map(shown) };
  };
}

/** Reads attempts of all merchants after a sequence, in the order of their sequences. */
export function attemptsAfter(sql: Pick<Database["sql"], "prepare">, most: number) {
  const page = sql.prepare<[number], AttemptRow & { sequence: number }>(
    `${LOG} where a.sequence > ? order by a.sequence limit ${most}`,
  );
  return (sequence: number) => page.all(sequence).map((row) => ({ sequence: row.sequence, attempt: show(row) }));
}

function show(row: AttemptRow): WebhookDelivery {
  return {
    id: row.id,
    object: "webhook_delivery",
    merchantId: row.merchant,
    eventId: row.eventId,
    eventType: row.eventType,
    endpointId: row.endpoint,
    url: row.url,
    trigger: row.trigger,
    attempt: row.attempt,
    maxAttempts: row.allowed,
    status: row.status,
    responseStatus: row.responseStatus,
    responseBody: row.responseBody,
    responseTruncated: row.responseTruncated === 1,
    errorCode: row.errorCode,
    errorMessage: row.errorMessage,
    durationMs: Math.max(0, row.ended - row.started),
    requestHeaders: JSON.parse(row.requestHeaders) as Record<string, string>,
    requestBody: row.requestBody ?? row.body,
    nextAttemptAt: row.nextDue === null ? null : Math.floor(row.nextDue / 1000),
    livemode: false,
    created: Math.floor(row.ended / 1000),
  };
}

const LONGEST_SUMMARY = 300;

/** Why an attempt failed: the message or the first line of the response, or else the error. */
export function summaryOf({
  status,
  responseBody,
  errorMessage,
}: Pick<AttemptEnd, "status" | "responseBody" | "errorMessage">) {
  if (status === "succeeded") return null;
  const { message, error } = (tryParseJson(responseBody ?? "") ?? {}) as { message?: unknown; error?: unknown };
  const said = [message, error].find((one) => typeof one === "string") ?? responseBody?.trim().split("\n")[0];
  return (said || errorMessage)?.toString().slice(0, LONGEST_SUMMARY) ?? null;
}

export type StoredAttempt = ReturnType<typeof showLogged>;

/** An attempt with the fields that only the control API shows. */
const showLogged = (row: AttemptRow) => ({
  ...show(row),
  /** When the attempt ended, in sandbox milliseconds. */
  at: row.ended,
  sequence: row.sequence,
  delivery: row.delivery,
  deliveryState: row.deliveryState,
  trace: traceIdOf(row.trace),
  summary: summaryOf(row),
  /** The effect of fault rules on the attempt; null if none applied. */
  fault: row.fault === null ? null : (JSON.parse(row.fault) as AttemptFault),
  /** The receiver's response time in real milliseconds; null if the attempt was aborted. */
  durationMs: row.duration,
});
