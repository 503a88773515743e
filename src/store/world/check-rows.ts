// Checks the rows of a database file or a restored snapshot, which another program may have written. Checks the
// constraints of the tables, references, values that the API returns without another check, and live keys. The message
// about an invalid row names its table, key and column.

import type { Resource } from "../../contracts/resource.ts";
import { WebhookDelivery } from "../../contracts/webhook.ts";
import { containsLiveKey } from "../../kernel/mask.ts";
import { LIVE_KEY_STARTS_IN_BASE64 } from "../../kernel/secrets.ts";
import { fieldErrors, matchesSchema } from "../../schema/validator.ts";
import { type Bodies, invalidRow, LIVE_KEY, setUnchecked, wrongBody } from "../records/stored-record.ts";
import type { Sql } from "../sqlite/lazy-statements.ts";
import { tablesIn } from "../sqlite/tables.ts";
import { attemptsAfter } from "../webhooks/attempts.ts";
import { distinct, raiseCounts } from "./raise-counts.ts";

export interface RowCheck {
  resources: readonly Resource[];
  bodies: Bodies;
}

type Row = Record<string, unknown>;

/** A file with more records than this is large, and most of its records are checked when they are read. */
const MOST_RECORDS = 100_000;

const isLarge = (sql: Sql): boolean =>
  Number(sql.prepare("select count(*) from main.documents").pluck().get()) > MOST_RECORDS;

/**
 * Why the rows of a file cannot be used, as the rest of a sentence; undefined if they can. In a large file, leaves most
 * records to `openStoredCheck`.
 */
export function wrongRow(sql: Sql, check: RowCheck): string | undefined {
  const isLazy = isLarge(sql);
  return (
    brokenConstraint(sql, isLazy) ??
    brokenReference(sql) ??
    falseCondition(sql, FILE_CONDITIONS) ??
    wrongValue(sql, check, isLazy)
  );
}

/** Makes a file with usable rows ready for this sandbox. */
export function adoptRows(sql: Sql, resources: readonly Resource[]): void {
  raiseCounts(sql, resources);
  setUnchecked(sql, isLarge(sql));
}

interface Constraint {
  column: string;
  /** A SQL condition that is true for an invalid row. */
  broken: string;
  says: string;
}

/**
 * The first row that breaks a constraint of its table. SQLite does not check the constraints of a file that it opens.
 */
function brokenConstraint(sql: Sql, isLazy: boolean): string | undefined {
  for (const table of tablesIn(sql)) {
    const constraints = constraintsOf(sql, table).filter(({ broken }) => !(isLazy && PARSES_RECORDS.test(broken)));
    const any = constraints.map(({ broken }) => `(${broken})`).join(" or ");
    const [found] = rowsWhere(sql, table, any);
    if (!found) continue;
    const constraint = constraints.find(({ broken }) => rowsWhere(sql, table, broken).length > 0);
    const [row = found] = constraint ? rowsWhere(sql, table, constraint.broken) : [];
    return sentence(sql, table, row, constraint?.column ?? "", constraint?.says ?? "it is invalid");
  }
  return undefined;
}

/** The constraint of `documents` that parses each record. */
const PARSES_RECORDS = /json_valid\(body\).* is id/;

const rowsWhere = (sql: Sql, table: string, condition: string): Row[] =>
  sql.prepare(`select * from main.${table} where ${condition} limit 1`).all() as Row[];

const TYPES: Readonly<Record<string, string>> = { INTEGER: "integer", TEXT: "text", REAL: "real" };

function constraintsOf(sql: Sql, table: string): Constraint[] {
  const columns = sql
    .prepare('select name, type, "notnull" or pk > 0 as needed from pragma_table_info(?)')
    .all(table) as {
    name: string;
    type: string;
    needed: number;
  }[];
  const definition = sql
    .prepare<[string], string>("select sql from main.sqlite_master where name = ?")
    .pluck()
    .get(table);
  const typed = columns.flatMap(({ name, type, needed }): Constraint[] => {
    const isTyped = type in TYPES;
    if (!isTyped) return needed ? [{ column: name, broken: `${name} is null`, says: "it is missing" }] : [];
    if (needed)
      return [
        { column: name, broken: `typeof(${name}) <> '${TYPES[type]}'`, says: `it is not of type ${TYPES[type]}` },
      ];
    const broken = `typeof(${name}) not in ('${TYPES[type]}', 'null')`;
    return [{ column: name, broken, says: `it is not of type ${TYPES[type]}` }];
  });
  const names = columns.map(({ name }) => name);
  return [...typed, ...checksIn(definition ?? "").map((condition) => falseFor(names, condition))];
}

/** A condition that every row must meet. An error about it names the first column in the condition. */
function falseFor(columns: readonly string[], condition: string): Constraint {
  const words: string[] = condition.match(/\w+/g) ?? [];
  const column = words.find((word) => columns.includes(word)) ?? "";
  return { column, broken: `not (${condition})`, says: falseText(condition) };
}

/** A repeated character class, such as the 32 hex digits of a trace id, is written once, with its number. */
function falseText(condition: string): string {
  const counted = (run: string, one: string) => `${one}{${run.length / one.length}}`;
  return `this is false: ${condition.replace(/\s+/g, " ").replace(/(\[[^\]]+\])\1+/g, counted)}`;
}

/** The conditions of `check (…)` in the definition of a table. */
function checksIn(definition: string): string[] {
  return [...definition.matchAll(/\bcheck \(/g)].map(({ index, 0: { length } }) => {
    const rest = definition.slice(index + length);
    let depth = 1;
    const end = [...rest].findIndex((character) => {
      depth += Number(character === "(") - Number(character === ")");
      return depth === 0;
    });
    return rest.slice(0, end);
  });
}

/** The first row that refers to a missing row. */
function brokenReference(sql: Sql): string | undefined {
  const found = sql.prepare('select "table", rowid as number, parent from pragma_foreign_key_check limit 1').get() as
    | { table: string; number: number; parent: string }
    | undefined;
  if (!found) return undefined;
  const { table, number, parent } = found;
  const column = { deliveries: "event", attempts: "delivery" }[table] ?? parent;
  return sentence(sql, table, { sequence: number }, column, `there is no such row of ${parent}`);
}

/** The columns by which a message names a row (default: the primary key). */
const NAMES: Readonly<Record<string, string[]>> = {
  documents: ["merchant", "kind", "id"],
  events: ["merchant", "id"],
  attempts: ["sequence", "id"],
  learners: ["name"],
};
function sentence(sql: Sql, table: string, row: Row, column: string, says: string): string {
  const keys = NAMES[table] ?? primaryKey(sql, table);
  return invalidRow(
    table,
    Object.fromEntries(keys.filter((key) => key in row).map((key) => [key, row[key]])),
    column,
    says,
  );
}

const primaryKey = (sql: Sql, table: string): string[] =>
  sql.prepare<[string], string>("select name from pragma_table_info(?) where pk > 0").pluck().all(table);

/** Conditions by table and column. */
type Conditions = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * Conditions beyond a table's own constraints. Most concern SQLite's own table, other tables, or each element of a JSON
 * array, which a constraint cannot.
 */
const CONDITIONS: Conditions = {
  sqlite_sequence: {
    name: "typeof(name) = 'text'",
    seq: "typeof(seq) = 'integer' and seq between 0 and 1000000000000",
  },
  subscriptions: {
    endpoint: "(merchant, 'webhook_endpoint', endpoint) in (select merchant, kind, id from main.documents)",
  },
  uniques: { document: "document in (select sequence from main.documents)" },
  learners: { merchant: "merchant in (select id from main.documents where kind = 'merchant')" },
  // A delivery to an endpoint without a secret cannot be signed.
  // `iif`, because SQLite evaluates both sides of `or`, and would parse every record.
  documents: {
    body: `iif(kind = 'webhook_endpoint',
      iif(json_valid(body), typeof(body ->> 'secret') = 'text' and body ->> 'secret' <> '', 0), 1)`,
  },
  deliveries: {
    merchant: "merchant = (select merchant from main.events where sequence = event)",
    // Without these fields, a stored decision about faults would make the dispatcher fail.
    decided: `decided is null or not exists (select 1 from json_each(decided)
      where type <> 'object' or value ->> '$.effect.kind' is null or value ->> '$.firing.ruleId' is null)`,
  },
  attempts: {
    delivery: "(merchant, endpoint) = (select merchant, endpoint from main.deliveries where sequence = delivery)",
    // The next attempt of a delivery gets the number after `attempts`.
    attempt: "attempt <= (select attempts from main.deliveries where sequence = delivery)",
    fault: `fault is null or not exists (select 1 from json_each(fault, '$.effects')
      where type <> 'object' or value ->> '$.id' is null or value ->> '$.effect.kind' is null)`,
  },
};

const isJsonObject = (column: string) => `iif(json_valid(${column}), json_type(${column}) = 'object', 0)`;

/** Conditions on the tables that a snapshot does not replace. */
const FILE_CONDITIONS: Conditions = {
  // `requests` is the number of the last reserved request.
  settings: {
    value: "value is not null and (name <> 'requests' or typeof(value) in ('integer', 'real') and value >= 0)",
  },
  request_log: {
    id: "id glob 'req_*[0-9]' and length(id) <= 90",
    at: "at between 0 and 8640000000000000",
    status: "status between 0 and 999",
    duration: "duration >= 0",
    stages: "stages not glob '*[^0-9., ]*'",
    requestHeaders: isJsonObject("requestHeaders"),
    responseHeaders: isJsonObject("responseHeaders"),
  },
};

/** The columns that store text from requests, where no live key may be. */
const TEXTS: Readonly<Record<string, string[]>> = {
  keys: ["key"],
  documents: ["body"],
  replies: ["body"],
  events: ["body"],
  attempts: ["url", "requestHeaders", "requestBody"],
};

/**
 * SQL that is true if a text may hold a live key: it contains the prefix of live keys, plain or in base64, or an
 * escape, which may hide the prefix.
 */
function mayHoldLiveKey(column: string): string {
  const starts = ["sk!_live!_", ...LIVE_KEY_STARTS_IN_BASE64].map((key) => `${column} like '%${key}%' escape '!'`);
  return `(instr(${column}, '\\') or instr(${column}, '%') or ${starts.join(" or ")})`;
}

/**
 * Why rows that meet the constraints of their tables cannot be used, as the rest of a sentence; undefined if they can.
 */
const wrongValue = (sql: Sql, check: RowCheck, isLazy: boolean): string | undefined =>
  falseCondition(sql, CONDITIONS) ??
  liveKey(sql, isLazy) ??
  wrongAttempt(sql) ??
  wrongKind(sql, check) ??
  wrongRecord(sql, check, isLazy);

function falseCondition(sql: Sql, conditions: Conditions): string | undefined {
  for (const [table, columns] of Object.entries(conditions)) {
    const isFalse = Object.values(columns).map((condition) => `not coalesce((${condition}), 0)`);
    if (rowsWhere(sql, table, isFalse.join(" or ")).length === 0) continue;
    for (const [column, condition] of Object.entries(columns)) {
      const [row] = rowsWhere(sql, table, `not coalesce((${condition}), 0)`);
      if (row) return sentence(sql, table, row, column, falseText(condition));
    }
  }
  return undefined;
}

function liveKey(sql: Sql, isLazy: boolean): string | undefined {
  sql.function("holds_live_key", (text) => (containsLiveKey(String(text)) ? 1 : 0));
  for (const [table, columns] of Object.entries(TEXTS))
    for (const column of columns) {
      const isRead = isLazy && table === "documents" ? READ_BY_SQL : "true";
      const found = `${isRead} and ${mayHoldLiveKey(column)} and holds_live_key(${column})`;
      const [row] = rowsWhere(sql, table, found);
      if (row) return sentence(sql, table, row, column, LIVE_KEY);
    }
  return undefined;
}

/** The number of rows that are read at once. */
const PAGE = 5_000;

/** Reads every row of a table in pages, so that a large table does not fill the memory. */
function* inPages<R extends { sequence: number }>(read: (after: number) => R[]): Generator<R> {
  for (let page = read(-1); page.length > 0; page = read(page.at(-1)?.sequence ?? 0)) yield* page;
}

/** Checks logged attempts, because the API returns them without another check. */
function wrongAttempt(sql: Sql): string | undefined {
  for (const { sequence, attempt } of inPages(attemptsAfter(sql, PAGE))) {
    const [error] = matchesSchema(WebhookDelivery, attempt) ? [] : fieldErrors(WebhookDelivery, attempt);
    if (error)
      return sentence(
        sql,
        "attempts",
        { sequence, id: attempt.id },
        error.pointer.split("/")[1] ?? "",
        error.message.replace(/\.$/, ""),
      );
  }
  return undefined;
}

function wrongKind(sql: Sql, { resources }: RowCheck): string | undefined {
  const known = new Set(resources.map(({ kind }) => kind));
  const wrong = distinct(sql, "merchant, kind", "documents").find(({ kind }) => !known.has(kind ?? ""));
  if (!wrong) return undefined;
  const [row = {}] = sql
    .prepare("select * from main.documents where merchant = @merchant and kind = @kind limit 1")
    .all(wrong) as Row[];
  return sentence(sql, "documents", row, "kind", "there is no such kind");
}

/** The kinds that SQL statements look into. They are checked even in a large file: an index finds their records. */
const READ_BY_SQL = "(kind = 'merchant' or kind = 'webhook_endpoint')";

/** Checks stored records, because the API returns them without another check. */
function wrongRecord(sql: Sql, { resources, bodies }: RowCheck, isLazy: boolean): string | undefined {
  const kinds = new Map(resources.map((resource) => [resource.kind, resource]));
  const page = sql.prepare<[number], { sequence: number; merchant: string; kind: string; id: string; body: string }>(
    `select sequence, merchant, kind, id, body from main.documents
     where sequence > ?${isLazy ? ` and ${READ_BY_SQL}` : ""} order by sequence limit ${PAGE}`,
  );
  for (const row of inPages((after) => page.all(after))) {
    const wrong = wrongBody(kinds.get(row.kind) as Resource, row.body, bodies);
    if (wrong !== undefined) return sentence(sql, "documents", { ...row }, "body", wrong);
  }
  return undefined;
}
