// Checks a SQLite file before it is used: another program, another version or an attacker may have written it.

import Sqlite from "better-sqlite3";
import { once } from "../../kernel/once.ts";
import { foreignHeader, headerOf, unsafeSnapshot } from "./file-checks.ts";
import { SCHEMA } from "./tables.ts";

/**
 * Checks a file without journal or log, such as a snapshot. Returns why the sandbox cannot use it, as the rest of a
 * sentence that begins with the file's name; undefined if it has the structure of this version's databases.
 */
export function problemOf(file: string): string | undefined {
  let sql: Sqlite.Database | undefined;
  try {
    const unsafe = unsafeSnapshot(file);
    if (unsafe !== undefined) return unsafe;
    const header = headerOf(file);
    const foreign = header && foreignHeader(header);
    if (foreign !== undefined) return foreign;
    // For a file in write-ahead mode, a read-only connection would leave its -wal and -shm files behind.
    sql = new Sqlite(file, { readonly: header?.isLogged !== true });
    return problemIn(sql);
  } catch (error) {
    return unusable(error);
  } finally {
    sql?.close();
  }
}

/** Checks an open database in the same way. */
export function problemIn(sql: Sqlite.Database): string | undefined {
  try {
    const application = Number(sql.pragma("application_id", { simple: true }));
    const version = Number(sql.pragma("user_version", { simple: true }));
    const foreign = foreignHeader({ application, version });
    if (foreign !== undefined) return foreign;
    // Rows that break a constraint are found later, with their values.
    sql.exec("pragma ignore_check_constraints = on");
    const damage = String(sql.pragma("integrity_check(1)", { simple: true }));
    sql.exec("pragma ignore_check_constraints = off");
    if (damage !== "ok" && !BROKEN_ROW.test(damage)) throw new Error(damage.replaceAll("\n", " "));
    const differing = differingObject(definitionsIn(sql));
    return differing && `has another ${differing} than this version of merchant-sandbox creates`;
  } catch (error) {
    return unusable(error);
  }
}

/** Matches SQLite's message about a row that breaks a constraint of its table. */
const BROKEN_ROW = /^(CHECK constraint failed|NULL value in|non-\w+ value in|\w+ value in) /;

const unusable = (error: unknown) => `is not a usable SQLite file: ${reason(error)}`;

/**
 * The definitions of tables, indexes and triggers. Views are left out: each start recreates them, and the sandbox never
 * reads them.
 */
function definitionsIn(sql: Sqlite.Database): Map<string, string> {
  const rows = sql
    .prepare<[], { name: string; definition: string }>(
      `select type || ' ' || name as name, sql as definition from sqlite_master
       where type <> 'view' and name not glob 'sqlite_*'`,
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

export function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return "code" in error && error.code === "ENOSPC" ? `the disk is full (${error.message})` : error.message;
}
