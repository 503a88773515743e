// The log of delivery attempts: each written when it is over, and read newest first.

import type { Statement } from "better-sqlite3";
import type { DeliveryEffect } from "../../contracts/fault.ts";
import { sortKeyIn } from "../../kernel/random.ts";
import type { PageQuery } from "../../schema/shapes.ts";
import { failInvalidCursor, type Page } from "../records/collection.ts";
import type { Database } from "../sqlite/database.ts";
import type { Retention } from "./retention.ts";

/** An attempt as it is sent. */
export interface AttemptStart {
  id: string;
  merchant: string;
  endpoint: string;
  delivery: number;
  trigger: "event" | "retry" | "replay" | "test";
  attempt: number;
  allowed: number;
  url: string;
  headers: Record<string, string>;
  /** Null when it is the event as it was made. */
  body: string | null;
  /** Null when no rule touched the attempt. */
  fault: AttemptFault | null;
  /** Sandbox milliseconds. */
  started: number;
}

/** What fault rules did to an attempt. */
export interface AttemptFault {
  /** The first of them. */
  id: string;
  name: string | null;
  effects: { id: string; action: string; effect: DeliveryEffect }[];
  /** Counts the deliveries that a rule made of one; 0 for that one. */
  copy: number;
  wouldHaveSent: { headers: Record<string, string>; body: string };
}

export type AttemptStatus = "succeeded" | "failed" | "aborted";

/** Why an attempt failed. */
export const ATTEMPT_ERRORS = [
  "timeout",
  "connection_refused",
  "dns",
  "tls",
  "reset",
  "redirect_not_followed",
  "http_status",
  "target_not_allowed",
  "dropped",
] as const;

export type AttemptError = (typeof ATTEMPT_ERRORS)[number];

/** How an attempt went. */
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

/** A row of the log as the API shows it. */
export interface AttemptRecord {
  id: string;
  object: "webhook_delivery";
  merchantId: string;
  eventId: string;
  eventType: string;
  endpointId: string;
  url: string;
  trigger: AttemptStart["trigger"];
  attempt: number;
  maxAttempts: number;
  status: AttemptStatus;
  responseStatus: number | null;
  responseBody: string | null;
  responseTruncated: boolean;
  errorCode: AttemptError | null;
  errorMessage: string | null;
  durationMs: number;
  requestHeaders: Record<string, string>;
  requestBody: string;
  nextAttemptAt: number | null;
  livemode: false;
  created: number;
}

export interface AttemptQuery extends PageQuery {
  id?: string | undefined;
  eventId?: string | undefined;
  endpointId?: string | undefined;
  type?: string | undefined;
  status?: string | undefined;
}

export interface Attempts {
  /** Writes an attempt that is over. */
  add(start: AttemptStart, end: AttemptEnd): void;
  /** The log of one merchant, in the order in which attempts ended, or of all, in the order in which they were written. */
  page(merchant: string | undefined, query: AttemptQuery): Page<AttemptRecord>;
  /** What a logged attempt was about; undefined when the merchant, or anybody, has none of that id. */
  find(merchant: string | undefined, id: string): AttemptSubject | undefined;
  /** What fault rules did to a logged attempt; null when they did nothing. */
  faultOf(merchant: string, id: string): AttemptFault | null;
}

export interface AttemptSubject {
  merchant: string;
  eventId: string;
  endpointId: string;
}

interface Row {
  sequence: number;
  merchant: string;
  delivery: number;
  attempt: number;
  ended: number;
  id: string;
  endpoint: string;
  url: string;
  trigger: AttemptRecord["trigger"];
  allowed: number;
  status: AttemptStatus;
  response_status: number | null;
  response_body: string | null;
  response_truncated: number;
  error_code: AttemptError | null;
  error_message: string | null;
  started: number;
  request_headers: string;
  request_body: string | null;
  next_due: number | null;
  event_id: string;
  event_type: string;
  body: string;
}

type Column = "ended" | "delivery" | "attempt" | "sequence";

const DEFAULT_PAGE = 25;
/** The number of no attempt. */
const NONE = 0;
/** Attempts that ended in one moment stand in the order of what they deliver, so that no race shows in the log. */
const BY_END: Column[] = ["ended", "delivery", "attempt"];
const AS_WRITTEN: Column[] = ["sequence"];
/** What narrows the log, in the order in which the values are bound. */
const FILTERS = {
  sequence: "a.sequence = ?",
  merchant: "a.merchant = ?",
  endpointId: "a.endpoint = ?",
  status: "a.status = ?",
  type: "e.type = ?",
  eventId: "a.delivery in (select d.sequence from deliveries d join events e on e.sequence = d.event where e.id = ?)",
};
type Filter = keyof typeof FILTERS;
const FILTER_NAMES = Object.keys(FILTERS) as Filter[];

/** Whose id begins like that of an event between these two. */
interface Named {
  id: string;
  merchant: string | null;
  from: string;
  to: string;
}

export function openAttempts(database: Database, retention: Retention): Attempts {
  return { add: adder(database, retention), ...reading(database) };
}

function adder({ sql }: Database, retention: Retention): Attempts["add"] {
  const insert = sql.prepare(
    `insert into attempts (id, merchant, endpoint, delivery, trigger, attempt, allowed, url, request_headers, request_body, fault, started,
       status, response_status, response_body, response_truncated, error_code, error_message, next_due, ended, duration)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (start, end) => {
    const { id, merchant, endpoint, delivery, trigger, attempt, allowed, url, headers, body, fault, started } = start;
    const { status, responseStatus, responseBody, responseTruncated, errorCode, errorMessage, nextDue, ended, duration } = end;
    const note = fault && JSON.stringify(fault);
    const asked = [id, merchant, endpoint, delivery, trigger, attempt, allowed, url, JSON.stringify(headers), body, note, started];
    const truncated = responseTruncated ? 1 : 0;
    insert.run(...asked, status, responseStatus, responseBody, truncated, errorCode, errorMessage, nextDue, ended, duration);
    retention.gained();
  };
}

/** Looks for an attempt by its event, beside which it stands: an index of ids would be written for each of them. */
function finder(sql: Database["sql"]) {
  const named = sql.prepare<[Named], Row & { event_id: string; fault: string | null }>(
    `select a.*, e.id as event_id from events e cross join deliveries d on d.event = e.sequence cross join attempts a on a.delivery = d.sequence
     where e.id >= :from and e.id < :to and a.id = :id and a.merchant = coalesce(:merchant, a.merchant)`,
  );
  return (id: string, merchant: string | undefined) => {
    const from = `evt_${sortKeyIn(id)}`;
    return named.get({ id, merchant: merchant ?? null, from, to: `${from}~` });
  };
}

function reading({ sql }: Database): Pick<Attempts, "page" | "find" | "faultOf"> {
  const find = finder(sql);
  const statements = new Map<string, Statement<unknown[], Row>>();
  const list = (where: string, order: string) => {
    const text = `select a.*, e.id as event_id, e.type as event_type, e.body from attempts a
      join deliveries d on d.sequence = a.delivery join events e on e.sequence = d.event where ${where} order by ${order} limit ?`;
    const known = statements.get(text) ?? sql.prepare<unknown[], Row>(text);
    statements.set(text, known);
    return known;
  };
  return {
    find(merchant, id) {
      const row = find(id, merchant);
      return row && { merchant: row.merchant, eventId: row.event_id, endpointId: row.endpoint };
    },
    faultOf(merchant, id) {
      const note = find(id, merchant)?.fault ?? null;
      return note === null ? null : (JSON.parse(note) as AttemptFault);
    },
    page(merchant, query) {
      const { limit = DEFAULT_PAGE, ending_before: before, starting_after: after = before, id, ...filters } = query;
      const columns = merchant === undefined ? AS_WRITTEN : BY_END;
      const from = after === undefined ? undefined : (find(after, merchant) ?? failInvalidCursor(query, "webhook_delivery"));
      const sequence = id === undefined ? undefined : (find(id, merchant)?.sequence ?? NONE);
      const wanted: { [Name in Filter]?: string | number | undefined } = { sequence, merchant, ...filters };
      const narrowed = FILTER_NAMES.filter((name) => wanted[name] !== undefined);
      const conditions = [
        // The plus keeps SQLite from walking the whole log of the merchant for the few attempts of one event.
        ...narrowed.map((name) => (name === "merchant" && filters.eventId !== undefined ? `+${FILTERS[name]}` : FILTERS[name])),
        // By the word itself, so that the index of those that failed is found.
        ...(filters.status === "failed" ? ["a.status = 'failed'"] : []),
        ...(from ? [`(${columns.map((column) => `a.${column}`)}) ${before === undefined ? "<" : ">"} (${columns.map(() => "?")})`] : []),
      ];
      const values = narrowed.map((name) => wanted[name]);
      const order = columns.map((column) => `a.${column} ${before === undefined ? "desc" : "asc"}`).join();
      const place = from ? columns.map((column) => from[column]) : [];
      const rows = list(conditions.join(" and ") || "true", order).all(...values, ...place, limit + 1);
      const data = rows.slice(0, limit).map(show);
      if (before !== undefined) data.reverse();
      return { object: "list", data, has_more: rows.length > limit };
    },
  };
}

function show(row: Row): AttemptRecord {
  return {
    id: row.id,
    object: "webhook_delivery",
    merchantId: row.merchant,
    eventId: row.event_id,
    eventType: row.event_type,
    endpointId: row.endpoint,
    url: row.url,
    trigger: row.trigger,
    attempt: row.attempt,
    maxAttempts: row.allowed,
    status: row.status,
    responseStatus: row.response_status,
    responseBody: row.response_body,
    responseTruncated: row.response_truncated === 1,
    errorCode: row.error_code,
    errorMessage: row.error_message,
    durationMs: Math.max(0, row.ended - row.started),
    requestHeaders: JSON.parse(row.request_headers) as Record<string, string>,
    requestBody: row.request_body ?? row.body,
    nextAttemptAt: row.next_due === null ? null : Math.floor(row.next_due / 1000),
    livemode: false,
    created: Math.floor(row.ended / 1000),
  };
}
