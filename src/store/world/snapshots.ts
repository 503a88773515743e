// Snapshots: named copies of the whole state, each a SQLite file.

import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Resource } from "../../contracts/resource.ts";
import { WebhookDelivery } from "../../contracts/webhook.ts";
import { fail, SandboxError } from "../../kernel/errors.ts";
import { containsLiveKey } from "../../kernel/mask.ts";
import { ALPHABET } from "../../kernel/random.ts";
import { LIVE_KEY_STARTS_IN_BASE64 } from "../../kernel/secrets.ts";
import { usable } from "../../schema/as-sent.ts";
import { fieldErrors } from "../../schema/validator.ts";
import { isLink } from "../data-folder.ts";
import { SANDBOX } from "../records/id-counters.ts";
import type { RequestLog } from "../request-log/request-log.ts";
import type { Database } from "../sqlite/database.ts";
import { problemOf } from "../sqlite/inspect.ts";
import type { Sql } from "../sqlite/lazy-statements.ts";
import { allAttempts } from "../webhooks/attempts.ts";

export type Snapshots = ReturnType<typeof openSnapshots>;

const SUFFIX = ".snapshot.db";
/** Tables that describe this process rather than the state. */
const NOT_RESTORED = new Set(["request_log", "settings"]);

/** The number of the newest request that an event or a stored reply refers to: `req_12` is 12. */
const LAST_REQUEST = `select coalesce(max(cast(substr(request, 5) as integer)), 0)
  from (select request from snapshot.events union all select request from snapshot.replies)`;

const DIGITS = [-16, -15, -14, -13].map((place) => `(instr('${ALPHABET}', substr(id, ${place}, 1)) - 1)`);
/** Counts go on after the ids that exist, so that a file with a lower count does not make one of them again. */
const RAISE_COUNTS = `insert into counters (merchant, name, value)
  select owner, substr(id, 1, length(id) - 17), max(${DIGITS.reduce((number, digit) => `(${number} * ${ALPHABET.length} + ${digit})`)})
  from (select iif(kind = 'merchant', '${SANDBOX}', merchant) as owner, id from documents union all select merchant, id from events)
  where id glob '*_${"[0-9A-Za-z]".repeat(16)}' group by 1, 2
  on conflict do update set value = max(value, excluded.value)`;

/** Deliveries without a due time wait until the user asks for them. */
const HOLD_DELIVERIES =
  "update deliveries set state = 'pending', due = null, held = null where state = 'pending' or state = 'sending'";

export function openSnapshots(
  database: Database,
  requestLog: RequestLog,
  resources: readonly Resource[],
  bodies: "checked" | "open",
) {
  const { sql, file } = database;
  const temporary = file === undefined;
  let folder = file === undefined ? undefined : join(dirname(file), "snapshots");
  const ensureFolder = () => {
    folder ??= mkdtempSync(join(tmpdir(), "merchant-sandbox-"));
    refuseLink(folder);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  };
  const fileOf = (name: string) => join(ensureFolder(), `${name}${SUFFIX}`);
  const names = () => {
    if (folder === undefined || !existsSync(folder)) return [];
    refuseLink(folder);
    // Plain files only: a checkout may contain links.
    const files = readdirSync(folder, { withFileTypes: true }).filter(
      (entry) => entry.isFile() && entry.name.endsWith(SUFFIX),
    );
    return files
      .map(({ name }) => name)
      .sort()
      .map((entry) => entry.slice(0, -SUFFIX.length));
  };
  const existing = (name: string) => {
    const found = fileOf(checkName(name));
    if (lstatSync(found, { throwIfNoEntry: false })?.isFile()) return found;
    const choice =
      names().length > 0 ? `There are ${names().join(", ")}.` : `Save one with merchant-sandbox snapshot save ${name}.`;
    return fail("resource_not_found", `There is no snapshot ${name}. ${choice}`);
  };
  const restoreFrom = (source: string, refuse: (wrong: string) => never) => {
    const wrong = existsSync(source) ? problemOf(source) : "does not exist";
    if (wrong !== undefined) refuse(wrong);
    requestLog.goOnAfter(copyInto(database, source, (sql) => wrongValue(sql, resources, bodies), refuse));
  };
  const describe = (name: string) => ({ name, file: fileOf(name), bytes: statSync(fileOf(name)).size });

  return {
    list: () => names().map(describe),
    save(name: string) {
      write(sql, fileOf(checkName(name)));
      return describe(name);
    },
    /** Restores the state. The request log is kept: it describes this process. */
    restore(name: string) {
      const source = existing(name);
      restoreFrom(source, (wrong) =>
        fail("validation_failed", `The snapshot ${name} cannot be restored: ${source} ${wrong}.`),
      );
    },
    /**
     * Restores the state from any file, and holds its pending deliveries. A file that is not a snapshot is rejected and
     * not changed.
     */
    restoreFile(source: string) {
      restoreFrom(source, (wrong) => {
        throw new SandboxError(
          `The snapshot ${source} ${wrong}. Save one with merchant-sandbox snapshot save <name>.`,
          "usage",
        );
      });
      // The file may be another person's, and its endpoints programs on this machine.
      database.transaction(() => sql.exec(HOLD_DELIVERIES));
    },
    remove: (name: string) => rmSync(existing(name)),
    close() {
      if (temporary && folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A checkout may contain a link in place of the folder, and saving or deleting would reach the files behind it. */
function refuseLink(folder: string): void {
  if (isLink(folder))
    fail("invalid_state", `${folder} is a symbolic link, which the sandbox does not follow. Remove it.`);
}

/**
 * Writes the snapshot beside the target and renames it, so that the target is always complete. Only its owner can ever
 * read it.
 */
function write(sql: Sql, target: string): void {
  const unfinished = `${target}-unfinished`;
  rmSync(unfinished, { force: true });
  // SQLite accepts an empty file; one that it creates itself would have the default mode.
  writeFileSync(unfinished, "", { mode: 0o600 });
  sql.prepare("vacuum into ?").run(unfinished);
  renameSync(unfinished, target);
}

function checkName(name: string): string {
  if (/^[\w-]{1,64}$/.test(name)) return name;
  return fail(
    "validation_failed",
    `A snapshot is named with letters, digits, - and _, at most 64; received ${JSON.stringify(name)}.`,
  );
}

/**
 * Replaces the rows of every table with the snapshot's in one transaction. Returns the number of the newest request
 * that they refer to.
 */
function copyInto(
  { sql, transaction }: Database,
  source: string,
  wrongIn: (sql: Database["sql"]) => string | undefined,
  refuse: (wrong: string) => never,
): number {
  sql.prepare("attach ? as snapshot").run(source);
  try {
    // In the order of the schema, tables that others refer to come first. They are filled first and emptied last.
    const tables = sql
      .prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by rowid")
      .pluck()
      .all() as string[];
    const replaced = tables.filter((name) => !NOT_RESTORED.has(name));
    transaction(() => {
      for (const table of replaced.toReversed()) sql.exec(`delete from main.${table}`);
      for (const table of replaced) {
        const refused = refusedRow(sql, table);
        if (refused !== undefined) refuse(refused);
      }
      sql.exec(
        "delete from main.sqlite_sequence; insert into main.sqlite_sequence select * from snapshot.sqlite_sequence",
      );
      sql.exec(RAISE_COUNTS);
      const wrong = wrongIn(sql);
      if (wrong !== undefined) refuse(wrong);
    });
    return sql.prepare(LAST_REQUEST).pluck().get() as number;
  } finally {
    sql.exec("detach snapshot");
  }
}

/** Copies a table; returns why its constraints refuse a row, as the rest of a sentence. */
function refusedRow(sql: Sql, table: string): string | undefined {
  try {
    // Without `where true`, SQLite would copy the pages of an equal table and check no row.
    sql.exec(`insert into main.${table} select * from snapshot.${table} where true`);
    return undefined;
  } catch (error) {
    const { code, message } = error as Error & { code?: unknown };
    if (code === "SQLITE_CONSTRAINT_CHECK") return falseFor(table, message.replace("CHECK constraint failed: ", ""));
    if (!String(code).startsWith("SQLITE_CONSTRAINT")) throw error;
    return `holds rows that contradict one another: ${message}`;
  }
}

const falseFor = (table: string, condition: string) =>
  `holds a row of ${table} for which this is false: ${condition.replace(/\s+/g, " ")}`;

/**
 * Conditions that the tables cannot check themselves: on SQLite's own table, on other tables, and on each element of a
 * JSON array.
 */
const CONDITIONS = {
  sqlite_sequence: "typeof(name) = 'text' and typeof(seq) = 'integer' and seq between 0 and 1000000000000",
  subscriptions: "(merchant, 'webhook_endpoint', endpoint) in (select merchant, kind, id from main.documents)",
  uniques: "document in (select sequence from main.documents)",
  learners: "merchant in (select id from main.documents where kind = 'merchant')",
  // A delivery to an endpoint without a secret cannot be signed.
  documents: "kind <> 'webhook_endpoint' or (typeof(body ->> 'secret') = 'text' and body ->> 'secret' <> '')",
  // An injection that lacks one of these would stop every delivery.
  deliveries: `merchant = (select merchant from main.events where sequence = event) and (decided is null or not exists (select 1 from json_each(decided)
    where type <> 'object' or value ->> '$.effect.kind' is null or value ->> '$.firing.ruleId' is null))`,
  // The next attempt of a delivery gets the next number.
  attempts: `(merchant, endpoint) = (select merchant, endpoint from main.deliveries where sequence = delivery)
    and attempt <= (select attempts from main.deliveries where sequence = delivery) and (fault is null or not exists (select 1 from json_each(fault, '$.effects')
    where type <> 'object' or value ->> '$.id' is null or value ->> '$.effect.kind' is null))`,
};

/** The prefix of live keys, and that in base64, as patterns of SQLite. */
const LIVE_KEYS = ["sk!_live!_", ...LIVE_KEY_STARTS_IN_BASE64];

/** The texts that a request wrote, in which no live key may be. */
const TEXTS = {
  keys: "key",
  documents: "body",
  replies: "body",
  events: "body",
  attempts: "url || requestHeaders || coalesce(requestBody, '')",
};

/**
 * Why the rows cannot be kept, as the rest of a sentence; undefined if they can. With `bodies: open`, records may hold
 * values that do not match their schema, as requests may send them.
 */
function wrongValue(sql: Sql, resources: readonly Resource[], bodies: "checked" | "open"): string | undefined {
  for (const [table, condition] of Object.entries(CONDITIONS))
    if (sql.prepare(`select 1 from main.${table} where not coalesce(${condition}, 0) limit 1`).get())
      return falseFor(table, condition);
  // Only a text with an escape can hold a key that is not written as it is, or in base64.
  for (const [table, text] of Object.entries(TEXTS))
    for (const found of sql
      .prepare<[], string>(
        `select ${text} from main.${table} where instr(${text}, '\\') or instr(${text}, '%') or ${LIVE_KEYS.map((key) => `${text} like '%${key}%' escape '!'`).join(" or ")}`,
      )
      .pluck()
      .all())
      if (containsLiveKey(found)) return `holds a live key in the table ${table}. Rotate that key`;
  return wrongAttempt(sql) ?? wrongRecord(sql, new Map(resources.map((resource) => [resource.kind, resource])), bodies);
}

/** The API returns logged attempts without another check. */
function wrongAttempt(sql: Sql): string | undefined {
  for (const attempt of allAttempts(sql)) {
    const [error] = fieldErrors(WebhookDelivery, attempt);
    if (error)
      return `holds the attempt ${JSON.stringify(attempt.id)}, which is invalid: ${error.message.replace(/\.$/, "")}`;
  }
  return undefined;
}

/** Fields that no request can set to a value of another type. */
const SERVICE_FIELDS = ["id", "object", "merchantId", "status", "created", "livemode"];

/** The API returns stored records without another check. */
function wrongRecord(
  sql: Sql,
  resources: ReadonlyMap<string, Resource>,
  bodies: "checked" | "open",
): string | undefined {
  const rows = sql
    .prepare<[], { kind: string; id: string; body: string }>("select kind, id, body from main.documents")
    .all();
  for (const { kind, id, body } of rows) {
    const resource = resources.get(kind);
    if (!resource) return `holds a record of the unknown kind ${JSON.stringify(kind)}`;
    const record = JSON.parse(body);
    const service = Object.fromEntries(
      SERVICE_FIELDS.filter((name) => Object.hasOwn(record, name)).map((name) => [name, record[name]]),
    );
    const checked = bodies === "open" ? { ...usable(resource.schema, record, resource.defaults), ...service } : record;
    const [error] = fieldErrors(resource.schema, checked);
    if (error) return `holds the ${kind} ${id}, which is invalid: ${error.message.replace(/\.$/, "")}`;
  }
  return undefined;
}
