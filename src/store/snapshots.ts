// Named copies of the whole state, each a SQLite file of its own that any tool can open.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import Sqlite from "better-sqlite3";
import { fail, SandboxError } from "../kernel/errors.ts";
import type { Database } from "./database.ts";
import { APPLICATION_ID, SCHEMA_VERSION } from "./schema.ts";

export interface Snapshot {
  name: string;
  file: string;
  bytes: number;
}

export interface Snapshots {
  list(): Snapshot[];
  save(name: string): Snapshot;
  /** Puts the state back as it was. The journal goes on: it tells of what was asked, whatever the state. */
  restore(name: string): void;
  restoreFile(file: string): void;
  remove(name: string): void;
  close(): void;
}

const SUFFIX = ".snapshot.db";
/** The journal tells of this process; the owner and the views are made at each start. */
const LEFT_ALONE = new Set(["journal", "settings"]);

export function openSnapshots(database: Database): Snapshots {
  const { sql, file } = database;
  const temporary = file === undefined;
  let folder = file === undefined ? undefined : join(dirname(file), "snapshots");
  const place = () => {
    folder ??= mkdtempSync(join(tmpdir(), "merchant-sandbox-"));
    mkdirSync(folder, { recursive: true });
    return folder;
  };
  const fileOf = (name: string) => join(place(), `${name}${SUFFIX}`);
  const known = (name: string) => {
    const found = fileOf(checkName(name));
    return existsSync(found) ? found : fail("resource_not_found", `There is no snapshot ${name}.`);
  };
  const describe = (name: string): Snapshot => ({ name, file: fileOf(name), bytes: statSync(fileOf(name)).size });

  return {
    list() {
      const names = readdirSync(place()).filter((entry) => entry.endsWith(SUFFIX));
      return names.map((entry) => describe(entry.slice(0, -SUFFIX.length)));
    },
    save(name) {
      const target = fileOf(checkName(name));
      rmSync(target, { force: true });
      sql.prepare("vacuum into ?").run(target);
      return describe(name);
    },
    restore: (name) => copyInto(sql, known(name)),
    restoreFile(source) {
      checkFile(source);
      copyInto(sql, source);
    },
    remove: (name) => rmSync(known(name)),
    close() {
      if (temporary && folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

function checkName(name: string): string {
  if (/^[\w-]{1,64}$/.test(name)) return name;
  return fail("validation_failed", `A snapshot is named with letters, digits, - and _, at most 64; received ${JSON.stringify(name)}.`);
}

function checkFile(source: string): void {
  const remedy = "Make one with PUT /_sandbox/snapshots/NAME.";
  if (!existsSync(source)) throw new SandboxError(`There is no snapshot file ${source}. ${remedy}`, "usage");
  let application: unknown;
  let version: unknown;
  try {
    const opened = new Sqlite(source, { readonly: true });
    application = opened.pragma("application_id", { simple: true });
    version = opened.pragma("user_version", { simple: true });
    opened.close();
  } catch {
    throw new SandboxError(`${source} is no SQLite file. ${remedy}`, "usage");
  }
  if (application !== APPLICATION_ID || version !== SCHEMA_VERSION)
    throw new SandboxError(`${source} is no snapshot of this version of merchant-sandbox. ${remedy}`, "usage");
}

/** Replaces the rows of every table by those of the snapshot, in one transaction. */
function copyInto(sql: Sqlite.Database, source: string): void {
  sql.prepare("attach ? as snapshot").run(source);
  try {
    const tables = sql
      .prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'")
      .pluck()
      .all() as string[];
    sql.transaction(() => {
      sql.pragma("defer_foreign_keys = on");
      for (const table of tables.filter((name) => !LEFT_ALONE.has(name))) {
        sql.exec(`delete from main.${table}`);
        sql.exec(`insert into main.${table} select * from snapshot.${table}`);
      }
      sql.exec("delete from main.sqlite_sequence; insert into main.sqlite_sequence select * from snapshot.sqlite_sequence");
    })();
  } finally {
    sql.exec("detach snapshot");
  }
}
