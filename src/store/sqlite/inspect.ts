// Checks a SQLite file before it is used: another program, another version or an attacker may have written it.

import { existsSync, statSync } from "node:fs";
import { basename } from "node:path";
import Sqlite from "better-sqlite3";
import { once } from "../../kernel/once.ts";
import { APPLICATION_ID, SCHEMA, SCHEMA_VERSION } from "./tables.ts";

/**
 * Why the sandbox cannot use a file, as the rest of a sentence; undefined if it is a database of this version. Opens
 * the file read-only, so that SQLite does not replay its log.
 */
export function problemOf(file: string): string | undefined {
  let sql: Sqlite.Database | undefined;
  try {
    // SQLite would wait for a writer of a pipe for ever.
    if (!statSync(file).isFile()) throw new Error("it is no plain file");
    sql = new Sqlite(file, { readonly: true });
    const application = sql.pragma("application_id", { simple: true });
    const version = sql.pragma("user_version", { simple: true });
    if (application !== APPLICATION_ID) return foreignProblem(sql, file);
    if (version !== SCHEMA_VERSION)
      return `was written by another version of merchant-sandbox (schema ${version}, this one has ${SCHEMA_VERSION})`;
    const damage = String(sql.pragma("quick_check(1)", { simple: true }));
    if (damage !== "ok") throw new Error(damage.replaceAll("\n", " "));
    const differing = differingObject(definitionsIn(sql));
    return differing && `has another ${differing} than this version of merchant-sandbox creates`;
  } catch (error) {
    return `is not a usable SQLite file: ${reason(error)}`;
  } finally {
    sql?.close();
  }
}

/**
 * Until the first checkpoint, everything that a sandbox wrote is in the write-ahead log, so a copy of the file without
 * its log is empty.
 */
function foreignProblem(sql: Sqlite.Database, file: string): string {
  const isEmpty = definitionsIn(sql).size === 0 && sql.pragma("journal_mode", { simple: true }) === "wal";
  if (!isEmpty) return "is a SQLite database of another program";
  return `is empty without its write-ahead log, ${basename(file)}-wal: copy both files, or save a snapshot`;
}

/**
 * The definitions of tables, indexes and triggers. Views are left out: each start recreates them, and the sandbox never
 * reads them.
 */
function definitionsIn(sql: Sqlite.Database): Map<string, string> {
  const rows = sql
    .prepare<[], { name: string; definition: string }>(
      "select type || ' ' || name as name, sql as definition from sqlite_master where type <> 'view' and name not glob 'sqlite_*'",
    )
    .all();
  return new Map(rows.map(({ name, definition }) => [name, definition]));
}

const expectedDefinitions = once(() => {
  const sql = new Sqlite(":memory:");
  sql.exec(SCHEMA);
  const definitions = definitionsIn(sql);
  sql.close();
  return definitions;
});

/** The first table, index or trigger that is missing, added or changed. */
function differingObject(found: Map<string, string>): string | undefined {
  const expected = expectedDefinitions();
  return [...expected.keys(), ...found.keys()].find((name) => expected.get(name) !== found.get(name));
}

export interface FileOwner {
  pid: number;
  url: string;
}

/** The text with which a sandbox notes in a file that it has the file open. */
export const describeOwner = ({ pid, url }: FileOwner) => `process ${pid} at ${url}`;

/**
 * The sandbox that opened a file last and did not close it. Undefined if there is none, or if another program wrote the
 * file.
 */
export function lastOwner(file: string): FileOwner | undefined {
  // Closing removes the write-ahead log. Without this check, reading would create one.
  if (!existsSync(`${file}-wal`)) return undefined;
  let sql: Sqlite.Database | undefined;
  try {
    sql = new Sqlite(file, { readonly: true });
    // A foreign file may define a view of this name whose query never ends.
    if (definitionsIn(sql).get("table settings") !== expectedDefinitions().get("table settings")) return undefined;
    const text = sql.prepare<[], string>("select value from settings where name = 'owner'").pluck().get();
    const [, pid, url] = /^process (\d+) at (http:\S+)$/.exec(text ?? "") ?? [];
    return url !== undefined && URL.canParse(url) ? { pid: Number(pid), url } : undefined;
  } catch {
    return undefined;
  } finally {
    sql?.close();
  }
}

export const reason = (error: unknown) => (error instanceof Error ? error.message : String(error));
