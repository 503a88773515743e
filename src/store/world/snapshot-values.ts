// Checks the values of a restored snapshot: its tables have the right types, but another program may have written its values.

import type { Resource } from "../../contracts/resource.ts";
import { WebhookDelivery } from "../../contracts/webhook.ts";
import { usable } from "../../schema/as-sent.ts";
import { fieldErrors } from "../../schema/validator.ts";
import type { Sql } from "../sqlite/lazy-statements.ts";
import { allAttempts } from "../webhooks/attempts.ts";

/** The end of time for a JavaScript date, in milliseconds. */
const LAST_TIME = 8_640_000_000_000_000;
/** More ids, copies or replays than a sandbox can make. */
const MOST = 1_000_000_000_000;
/** More attempts, steps or hints than any schedule or lesson has. */
const MOST_STEPS = 10_000;

const between = (column: string, least: number, most: number) => `(${column} is null or ${column} between ${least} and ${most})`;
const times = (...columns: string[]) => columns.map((column) => between(column, 0, LAST_TIME));
const counts = (...columns: string[]) => columns.map((column) => between(column, 0, MOST));
const steps = (...columns: string[]) => columns.map((column) => between(column, 0, MOST_STEPS));
const json = (column: string, type: "object" | "array") =>
  `(${column} is null or iif(json_valid(${column}), json_type(${column}) = '${type}', 0))`;
const requestId = "(request is null or (request glob 'req_[0-9]*' and length(request) < 20))";
/** An injection that lacks one of these would stop every delivery. */
const injections = `(decided is null or iif(json_valid(decided), not exists (
  select 1 from json_each(decided) where type <> 'object' or value ->> '$.effect.kind' is null or value ->> '$.firing.ruleId' is null), 0))`;
/** The effects of fault rules on an attempt, as the control API returns them. */
const attemptFault = `(fault is null or iif(json_valid(fault), ${[
  ...["id", "wouldHaveSent.body"].map((name) => `json_type(fault, '$.${name}') = 'text'`),
  "json_type(fault, '$.copy') = 'integer'",
  "json_type(fault, '$.wouldHaveSent.headers') = 'object'",
  "json_type(fault, '$.effects') = 'array'",
].join(" and ")} and not exists (
  select 1 from json_each(fault, '$.effects') where type <> 'object' or value ->> '$.id' is null or value ->> '$.effect.kind' is null), 0))`;

const ownMerchant = "merchant in (select id from main.documents where kind = 'merchant')";

/** The baseline that `takeBaseline` of the verifier stores. A learner without a lesson has none. */
const baseline = `(mark = 'null' or iif(json_valid(mark) and lesson is not null, ${[
  ...["request", "delivery", "attempt", "verdict"].map((name) => `json_type(mark, '$.${name}') = 'integer'`),
  ...["records", "fired"].map((name) => `json_type(mark, '$.${name}') = 'object'`),
  "json_type(mark, '$.scenarios') = 'array'",
].join(" and ")}, 0))`;

/** The conditions that each row of a table must meet, by table. */
const RULES: Readonly<Record<string, readonly string[]>> = {
  sqlite_sequence: ["typeof(name) = 'text'", "typeof(seq) = 'integer'", ...counts("seq")],
  counters: counts("value"),
  keys: [...counts("sequence"), ...times("expires")],
  logins: ["email = lower(email)"],
  origins: [json("still", "array")],
  documents: [...counts("sequence"), ...times("created", "due"), json("body", "object"), "body ->> 'id' = id"],
  replies: [requestId, between("status", 100, 599), ...times("expires")],
  events: ["id <> ''", requestId, ...counts("sequence"), ...times("created"), json("body", "object")],
  subscriptions: ["(merchant, 'webhook_endpoint', endpoint) in (select merchant, kind, id from main.documents)"],
  deliveries: [
    ...steps("attempts", "aborted", "allowed"),
    ...counts("sequence", "replay", "copy"),
    ...times("due", "created"),
    json("decided", "array"),
    injections,
  ],
  attempts: [
    ...counts("sequence"),
    ...steps("attempt", "allowed"),
    between("response_status", 100, 599),
    ...times("next_due", "started", "ended"),
    json("request_headers", "object"),
    "not exists (select 1 from json_each(request_headers) where type <> 'text')",
    attemptFault,
  ],
  let_go: counts("emitted", "delivered"),
  learners: [...counts("sequence"), ...steps("step", "hints"), ...times("began"), ownMerchant, baseline],
  left_steps: [...steps("step", "hints", "place"), ...times("ended")],
};

/**
 * Why the rows cannot be kept, as the rest of a sentence; undefined if they can. With `bodies: open`, records may hold values that do not match
 * their schema, as requests may send them.
 */
export function wrongValue(sql: Sql, resources: readonly Resource[], bodies: "checked" | "open"): string | undefined {
  for (const [table, rules] of Object.entries(RULES))
    for (const rule of rules) {
      const wrong = sql.prepare<[], number>(`select 1 from main.${table} where not coalesce(${rule}, 0) limit 1`).pluck().get();
      if (wrong !== undefined) return `holds a row of ${table} for which this is false: ${rule.replace(/\s+/g, " ")}`;
    }
  return wrongAttempt(sql) ?? wrongRecord(sql, new Map(resources.map((resource) => [resource.kind, resource])), bodies);
}

/** The API returns logged attempts without another check. */
function wrongAttempt(sql: Sql): string | undefined {
  for (const attempt of allAttempts(sql)) {
    const [error] = fieldErrors(WebhookDelivery, attempt);
    if (error) return `holds the attempt ${JSON.stringify(attempt.id)}, which is invalid: ${error.message.replace(/\.$/, "")}`;
  }
  return undefined;
}

/** Fields that no request can set to a value of another type. */
const SERVICE_FIELDS = ["id", "object", "merchantId", "status", "created", "livemode"];

/** The API returns stored records without another check. */
function wrongRecord(sql: Sql, resources: ReadonlyMap<string, Resource>, bodies: "checked" | "open"): string | undefined {
  const rows = sql.prepare<[], { kind: string; id: string; body: string }>("select kind, id, body from main.documents").all();
  for (const { kind, id, body } of rows) {
    const resource = resources.get(kind);
    if (!resource) return `holds a record of the unknown kind ${JSON.stringify(kind)}`;
    const record = JSON.parse(body);
    const service = Object.fromEntries(SERVICE_FIELDS.filter((name) => Object.hasOwn(record, name)).map((name) => [name, record[name]]));
    const checked = bodies === "open" ? { ...usable(resource.schema, record, resource.defaults), ...service } : record;
    const [error] = fieldErrors(resource.schema, checked);
    if (error) return `holds the ${kind} ${id}, which is invalid: ${error.message.replace(/\.$/, "")}`;
  }
  return undefined;
}
