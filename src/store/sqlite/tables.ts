// Every table of the file. They are strict, so that a file written by another program cannot contain values of another
// type. Times are sandbox milliseconds, except inside documents, which have the times that the API returns. Checks list
// the values of a column with `or`: for an `in` with more than two values, SQLite fills a table at each write, which
// costs more than the row.
//
// SQLite reads a bound value where a partial index may depend on it, and in `limit` and `like`. It then plans the
// statement again for every value: 22 of the 32 microseconds of a page of records. `+` hides the value from the
// planner, so statements say `kind = +@kind`, `status = +@status`, `limit @limit + 0` and `like +@key`.
// test/store/query-plans.test.ts checks this and the index of every statement.

import { createHash } from "node:crypto";
import type { Sql } from "./lazy-statements.ts";

/** "MSBX": distinguishes these files from other SQLite files. */
export const APPLICATION_ID = 0x4d534258;

/** Raise it if stored values get another meaning in the same tables. */
const MEANING = 1;

/** Up to the end of time for a JavaScript date, in milliseconds. */
const TIME = "between 0 and 8640000000000000";
/** More ids, copies or replays than a sandbox can make. */
const COUNT = "between 0 and 1000000000000";
/** More attempts, steps or hints than any schedule or lesson has. */
const STEP = "between 0 and 10000";
const STATUS = "between 100 and 599";
/** Every status that undici reads: any three digits from 100 on. */
const RECEIVED_STATUS = "between 100 and 999";
const TRACEPARENT = `glob '00-${hexDigits(32)}-${hexDigits(16)}-${hexDigits(2)}'`;
const REQUEST_ID = "glob 'req_*[0-9]' and length(request) <= 90";

function hexDigits(count: number) {
  return "[0-9a-f]".repeat(count);
}

/** Checks `json_valid` first, because `json_type` throws on invalid JSON. */
const ifJson = (column: string, condition: string) => `iif(json_valid(${column}), ${condition}, 0)`;
const json = (column: string, type: "object" | "array") =>
  `check (${column} is null or ${ifJson(column, `json_type(${column}) = '${type}'`)})`;
const typesIn = (column: string, types: Readonly<Record<string, string>>) =>
  Object.entries(types)
    .map(([path, type]) => `json_type(${column}, '$.${path}') is '${type}'`)
    .join(" and ");

/** The effects of fault rules on an attempt, as the control API returns them. */
const ATTEMPT_FAULT = typesIn("fault", {
  id: "text",
  copy: "integer",
  effects: "array",
  "wouldHaveSent.body": "text",
  "wouldHaveSent.headers": "object",
});
/** The state before a step: the baseline that the verifier takes. */
const BASELINE = typesIn("mark", {
  request: "integer",
  delivery: "integer",
  attempt: "integer",
  verdict: "integer",
  records: "object",
  fired: "object",
  scenarios: "array",
});

const TABLES = `
create table settings (name text primary key, value any) without rowid, strict;

-- How many ids of a kind a merchant has used: new ids are derived from these counts.
create table counters (
  merchant text, name text, value integer not null check (value ${COUNT}), primary key (merchant, name)
) without rowid, strict;

-- API keys, which do not expire, and SHA-256 hashes of the session tokens of logins, which do.
create table keys (
  sequence integer primary key check (sequence ${COUNT}), key text not null unique, merchant text not null,
  kind text not null check (kind = 'key' or kind = 'session'), expires integer check (expires ${TIME})
) strict;
create index keys_of on keys (merchant);

-- The logins of merchants. E-mail addresses are in lower case, and unique among all merchants.
create table logins (email text primary key check (email = lower(email)), merchant text not null, password text) without rowid, strict;
create index logins_of on logins (merchant);

-- The fixture, identity and position of each seeded merchant, from which a reset restores it.
-- 'still' lists the kinds of record that time does not change, as JSON; '*' is all kinds.
create table seeded_merchants (
  place integer primary key, merchant text not null unique, fixture text not null, key text not null, email text not null,
  still text not null default '[]' ${json("still", "array")}
) strict;

-- Every record of every kind, as the JSON that the API shows. Ids are unique within a merchant, so that each merchant
-- that is created from a fixture has the same readable ids. 'due' is when time takes the record to its next state; null
-- if no change is scheduled.
-- 'outstanding' is 1 for a record that a change of another may need, as its kind declares; null for the others.
create table documents (
  sequence integer primary key autoincrement check (sequence ${COUNT}),
  merchant text not null, kind text not null, id text not null,
  created integer not null check (created ${TIME}), status text, body text not null, due integer check (due ${TIME}),
  outstanding integer check (outstanding = 1),
  check (${ifJson("body", "json_type(body) = 'object' and body ->> 'id' is id")}),
  unique (merchant, kind, id)
) strict;
-- Read backwards: the newest first, and records of the same second by their sequence, with which every index ends.
create index documents_newest on documents (merchant, kind, created);
-- The kinds that are looked up without a merchant.
create index documents_of_all on documents (kind, id) where kind = 'merchant' or kind = 'webhook_endpoint';
create index documents_due on documents (due) where due is not null;
create index documents_outstanding on documents (merchant, kind, created) where outstanding = 1;

-- The values that must be unique among a merchant's records of a kind: SKUs, sets of options, e-mail addresses.
-- No foreign key: with one, SQLite would delete all documents one by one, half the time of a reset.
create table uniques (
  merchant text, kind text, field text, value text, document integer not null,
  primary key (merchant, kind, field, value)
) without rowid, strict;
create index uniques_of on uniques (document);

-- The replies stored for an Idempotency-Key.
create table replies (
  merchant text, key text, fingerprint text not null, request text not null check (request ${REQUEST_ID}),
  status integer not null check (status ${STATUS}), body text not null, expires integer not null check (expires ${TIME}),
  primary key (merchant, key)
) without rowid, strict;
create index replies_expiring on replies (expires);

-- The outbox. The body of an event is the exact text that each attempt signs and sends. 'trace' is the span of the
-- request that caused it, as a traceparent. 'clock' is the origin of a change that a record's date brought.
create table events (
  sequence integer primary key autoincrement check (sequence ${COUNT}),
  id text not null check (id <> ''), merchant text not null, type text not null, created integer not null check (created ${TIME}),
  origin text not null check (origin = 'event' or origin = 'test' or origin = 'clock'), request text check (request ${REQUEST_ID}),
  trace text check (trace ${TRACEPARENT}), body text not null ${json("body", "object")},
  unique (id, merchant)
) strict;
create index events_by_request on events (request);
create index events_of on events (merchant);
create index events_by_trace on events (substr(trace, 4, 32)) where trace is not null;

-- The types of events that an endpoint subscribes to; '*' is all types.
create table subscriptions (
  merchant text, type text, endpoint text, primary key (merchant, type, endpoint)
) without rowid, strict;

-- Deliveries of events to endpoints. 'replay' numbers the replays of a merchant; it is 0 for a new event.
-- An attempt that a crash interrupted is counted in 'attempts' and in 'aborted': it does not count against 'allowed'.
-- For fault rules: 'decided' is what they do to the next attempt, 'held' what it waits for, at the latest until 'due',
-- and 'copy' numbers the extra copies that a rule made of a delivery.
-- 'failed' is 1 for a delivery that failed for good, unless another one of the same event to the same endpoint is newer
-- or still open.
create table deliveries (
  sequence integer primary key autoincrement check (sequence ${COUNT}),
  merchant text not null, endpoint text not null, event integer not null references events,
  trigger text not null check (trigger = 'event' or trigger = 'test' or trigger = 'replay'),
  replay integer not null default 0 check (replay ${COUNT}),
  state text not null check (state = 'pending' or state = 'sending' or state = 'succeeded' or state = 'failed' or state = 'cancelled'),
  attempts integer not null default 0 check (attempts ${STEP}), aborted integer not null default 0 check (aborted ${STEP}),
  allowed integer not null check (allowed ${STEP}), due integer check (due ${TIME}), created integer not null check (created ${TIME}),
  decided text ${json("decided", "array")}, held text, copy integer not null default 0 check (copy ${COUNT}),
  failed integer check (failed = 1)
) strict;
create index deliveries_open on deliveries (merchant, endpoint, state, due) where state = 'pending' or state = 'sending';
create index deliveries_of on deliveries (event, endpoint);
create index deliveries_undecided on deliveries (due) where state = 'pending' and decided is null;
create index deliveries_held on deliveries (held) where held is not null;
create index deliveries_failed on deliveries (event, endpoint) where failed = 1;
-- Each dashboard counts these once a second. For 10,000 failed deliveries that took 15 ms, and 0.1 ms with the index.
create trigger deliveries_ended after update of state on deliveries when new.state <> 'pending' and new.state <> 'sending' begin
  update deliveries set failed = 1 where state = 'failed'
    and sequence = (select max(sequence) from deliveries where event = new.event and endpoint = new.endpoint) and not exists (
      select 1 from deliveries where event = new.event and endpoint = new.endpoint and (state = 'pending' or state = 'sending'));
end;
create trigger deliveries_again after insert on deliveries when new.replay > 0 or new.copy > 0 begin
  update deliveries set failed = null
    where event = new.event and endpoint = new.endpoint and failed = 1 and sequence < new.sequence;
end;

-- The delivery log: one row for each finished attempt. An id has no index: it starts like the id of its event, so it is
-- looked up among the attempts of the events with that start.
-- 'ended - started' is sandbox time, 'duration' the receiver's response time in real milliseconds. 'requestBody' is
-- null when the unchanged event was sent, and 'fault' when no fault rule applied.
create table attempts (
  sequence integer primary key autoincrement check (sequence ${COUNT}),
  id text not null, merchant text not null, endpoint text not null, delivery integer not null references deliveries,
  trigger text not null check (trigger = 'event' or trigger = 'retry' or trigger = 'replay' or trigger = 'test'),
  attempt integer not null check (attempt ${STEP}), allowed integer not null check (allowed ${STEP}),
  status text not null check (status = 'succeeded' or status = 'failed' or status = 'aborted'),
  url text not null, requestHeaders text not null ${json("requestHeaders", "object")}, requestBody text,
  fault text check (fault is null or ${ifJson("fault", ATTEMPT_FAULT)}),
  responseStatus integer check (responseStatus ${RECEIVED_STATUS}), responseBody text, responseTruncated integer not null default 0,
  errorCode text, errorMessage text, nextDue integer check (nextDue ${TIME}),
  started integer not null check (started ${TIME}), ended integer not null check (ended ${TIME}), duration real,
  unique (delivery, attempt)
) strict;
create index attempts_newest on attempts (merchant, ended desc, delivery desc, attempt desc);
create index attempts_of_endpoint on attempts (merchant, endpoint, ended, delivery, attempt, status);
create index attempts_failed on attempts (merchant, endpoint, ended, delivery, attempt) where status = 'failed';

-- Counts of the events that retention deleted from the log, and of their deliveries that had succeeded.
-- Removed merchants are counted under ''.
create table deleted_event_counts (
  merchant text, type text, emitted integer not null check (emitted ${COUNT}), delivered integer not null check (delivered ${COUNT}),
  primary key (merchant, type)
) without rowid, strict;

-- The learner of a merchant: the current lesson and step, when the step began, how many of its hints were shown,
-- and the state before the step as JSON ('mark'). After the last step, 'step' is one higher than the number of steps.
-- 'lesson' is null before the first.
create table learners (
  sequence integer primary key autoincrement check (sequence ${COUNT}), merchant text not null unique, name text not null unique,
  lesson text, step integer not null check (step ${STEP}), hints integer not null check (hints ${STEP}),
  began integer not null check (began ${TIME}), mark text not null,
  check (mark = 'null' or lesson is not null and ${ifJson("mark", BASELINE)})
) strict;

-- The steps that learners have finished.
create table finished_steps (
  merchant text, lesson text, step integer check (step ${STEP}),
  how text not null check (how = 'completed' or how = 'skipped' or how = 'prepared'),
  hints integer not null check (hints ${STEP}), ended integer not null check (ended ${TIME}), place integer not null check (place ${STEP}),
  primary key (merchant, lesson, step)
) without rowid, strict;

-- The request log: bounded to the newest rows, and written after the responses.
-- 'stages' are the microseconds after which each stage ended.
-- 'trace' is the id of its trace.
-- 'sameResponseAs' is the row with the body of the response, if an earlier response to the same call had the same one.
create table request_log (
  sequence integer primary key, id text not null, at integer not null, merchant text, operation text,
  method text not null, path text not null, query text not null, status integer not null, duration real not null, stages text not null,
  key text, idempotencyKey text, replayOf text, fault text, ignored text, summary text, trace text,
  requestHeaders text not null, requestBody text not null, requestBytes integer not null, sameResponseAs integer,
  responseHeaders text not null, responseBody text not null, responseBytes integer not null
) strict;
create index request_log_of on request_log (merchant, id);
create index request_log_by_trace on request_log (trace) where trace is not null;

-- How many requests each merchant has made, from which the ids of the next ones follow, and the sequence of the last
-- one that the log had when this was written. '' has the requests without a known key.
create table request_numbers (
  merchant text primary key, made integer not null check (made ${COUNT}), sequence integer not null check (sequence ${COUNT})
) without rowid, strict;
`;

/** Identifies the tables and their meaning. A file of another version is rejected from its header, never migrated. */
export const SCHEMA_VERSION = positiveInteger(`${MEANING} ${TABLES.replaceAll(/^--.*/gm, "")}`);

export const SCHEMA = `
pragma application_id = ${APPLICATION_ID};
pragma user_version = ${SCHEMA_VERSION};
${TABLES}`;

/** A digest that fits the 31 bits of a positive `user_version`. */
function positiveInteger(text: string): number {
  return createHash("sha256").update(text).digest().readUInt32BE() >>> 1;
}

/** The tables of a database in the order of the schema: those that others refer to come first. */
export const tablesIn = (sql: Sql): string[] =>
  sql
    .prepare<[], string>(
      "select name from main.sqlite_master where type = 'table' and name not glob 'sqlite_*' order by rowid",
    )
    .pluck()
    .all();
