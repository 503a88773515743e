// The summary of a run: the state of each delivery, the counts of events by type, and how many rows the logs have.

import type { Database } from "../sqlite/database.ts";
import { ENDPOINT_KIND } from "../webhooks/deliveries.ts";

export interface LoggedDelivery {
  sequence: number;
  merchant: string;
  /** The id of the event. */
  event: string;
  type: string;
  endpoint: string;
  /** Null when the endpoint was removed. */
  url: string | null;
  state: "pending" | "sending" | "succeeded" | "failed" | "cancelled";
  /** How many attempts were started. */
  attempts: number;
  /** The number of the newest attempt; 0 before the first. */
  lastAttempt: number;
  /** The request that emitted the event; null when no request did. */
  request: string | null;
}

/** The sequences of the newest delivery and the newest attempt. */
export interface Newest {
  delivery: number;
  attempt: number;
}

/** The number of rows of the logs by merchant; "" counts requests without a known merchant. */
export interface StoredCounts {
  requests: Map<string, number>;
  attempts: Map<string, number>;
  /** The sequence of the newest attempt. */
  lastAttempt: number;
}

export type RunSummary = ReturnType<typeof openRunSummary>;

export function openRunSummary({ sql }: Database) {
  const deliveries = sql.prepare<[{ merchant: string | null }], LoggedDelivery>(
    `select d.sequence, d.merchant, e.id as event, e.type, d.endpoint, d.state, d.attempts, e.request,
       coalesce((select max(sequence) from attempts where delivery = d.sequence), 0) as lastAttempt,
       (select body ->> 'url' from documents
        where merchant = d.merchant and kind = '${ENDPOINT_KIND}' and id = d.endpoint) as url
     from deliveries d join events e on e.sequence = d.event
     where d.merchant = coalesce(@merchant, d.merchant) order by d.sequence`,
  );
  const lastError = sql
    .prepare<[number], string | null>("select errorMessage from attempts where sequence = ?")
    .pluck();
  const failedUnchanged = sql
    .prepare<[number], number>("select 1 from attempts where sequence = ? and status = 'failed' and fault is null")
    .pluck();
  const eventCounts = openEventCounts(sql);
  const newest = sql.prepare<[], Newest>(
    `select (select coalesce(max(sequence), 0) from deliveries) as delivery,
      (select coalesce(max(sequence), 0) from attempts) as attempt`,
  );
  const statuses = sql.prepare<[number], { status: number; calls: number }>(
    "select status, count(*) as calls from request_log where sequence > ? group by status",
  );
  const byMerchant = (table: string) =>
    sql.prepare<[], { merchant: string | null; rows: number }>(
      `select merchant, count(*) as rows from ${table} group by merchant`,
    );
  const ofMerchants = { requests: byMerchant("request_log"), attempts: byMerchant("attempts") };
  const rowsOf = (table: keyof typeof ofMerchants) =>
    new Map(ofMerchants[table].all().map(({ merchant, rows }) => [merchant ?? "", rows]));
  const kept = sql.prepare<[], { requests: number; attempts: number }>(
    "select (select count(*) from request_log) as requests, (select count(*) from attempts) as attempts",
  );
  const failed = sql.prepare<[], number>("select count(*) from deliveries where failed = 1").pluck();
  return {
    storedCounts: (): StoredCounts => ({
      requests: rowsOf("requests"),
      attempts: rowsOf("attempts"),
      lastAttempt: newest.get()?.attempt ?? 0,
    }),
    /** How many rows the logs have. */
    kept: () => kept.get() as { requests: number; attempts: number },
    /**
     * The number of deliveries that failed for good: no other delivery of the event to that endpoint is later or open.
     */
    failedDeliveries: () => failed.get() ?? 0,
    /** The number of logged requests after this sequence with each response status. */
    statuses: (after: number) => statuses.all(after),
    newest: () => newest.get() as Newest,
    /** The deliveries of one merchant or of all, oldest first. */
    deliveries: (merchant?: string) => deliveries.all({ merchant: merchant ?? null }),
    /** Why the delivery's newest attempt failed; undefined if it did not fail or is no longer logged. */
    lastError: ({ lastAttempt }: LoggedDelivery) => lastError.get(lastAttempt) ?? undefined,
    /** Whether the delivery's newest attempt failed, and no fault rule had changed it. */
    failedUnchanged: ({ lastAttempt }: LoggedDelivery) => failedUnchanged.get(lastAttempt) !== undefined,
    /** For each type, the number of events and the number of their deliveries that succeeded. */
    events: eventCounts.all,
    keepEventCounts: eventCounts.keep,
    keepEventCountsOf: eventCounts.keepOf,
  };
}

interface EventCounts {
  emitted: number;
  delivered: number;
}

/** Counts events by type, and keeps the counts of events that a reset erases. */
function openEventCounts(sql: Database["sql"]) {
  const countsOf = (condition: string) =>
    sql.prepare<[{ merchant?: string }], EventCounts & { type: string }>(
      `select type, sum(emitted) as emitted, sum(delivered) as delivered from (
         select type, count(*) as emitted, 0 as delivered from events ${condition} group by type
         union all select e.type, 0, count(*) from events e join deliveries d on d.event = e.sequence
           ${condition.replace("merchant", "e.merchant")} ${condition === "" ? "where" : "and"} d.state = 'succeeded'
           group by e.type
         union all select type, emitted, delivered from deleted_event_counts ${condition}
       ) group by type order by type`,
    );
  const [ofAll, ofOne] = [countsOf(""), countsOf("where merchant = @merchant")];
  /** The counts of erased events, by type. */
  let erased = new Map<string, EventCounts>();
  const stored = () => new Map(ofAll.all({}).map(({ type, ...counts }) => [type, counts]));
  const all = (withErased: boolean) => (withErased ? combine(stored(), erased, (one, other) => one + other) : stored());
  return {
    /** `withErased` includes events from before a reset. */
    all,
    /** Call before all events are replaced, and call the returned function afterwards. */
    keep() {
      const before = all(true);
      return () => {
        // A snapshot may restore some of the erased events.
        erased = combine(before, stored(), (one, other) => Math.max(0, one - other));
      };
    },
    /** Call before the events of a merchant are erased. */
    keepOf(merchant: string) {
      const gone = ofOne.all({ merchant }).map(({ type, ...counts }) => [type, counts] as const);
      if (gone.length > 0) erased = combine(erased, new Map(gone), (one, other) => one + other);
    },
  };
}

function combine(
  counts: ReadonlyMap<string, EventCounts>,
  others: ReadonlyMap<string, EventCounts>,
  of: (one: number, other: number) => number,
): Map<string, EventCounts> {
  const none = { emitted: 0, delivered: 0 };
  const sums = [...new Set([...counts.keys(), ...others.keys()])].map((type) => {
    const [one, other] = [counts.get(type) ?? none, others.get(type) ?? none];
    return [type, { emitted: of(one.emitted, other.emitted), delivered: of(one.delivered, other.delivered) }] as const;
  });
  return new Map(sums);
}
