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
import Sqlite from "better-sqlite3";
import type { Resource } from "../../contracts/resource.ts";
import { attempt } from "../../kernel/attempt.ts";
import { fail, SandboxError } from "../../kernel/errors.ts";
import { isLink } from "../data-folder.ts";
import type { Database } from "../sqlite/database.ts";
import { SQLITE_FILES } from "../sqlite/file-checks.ts";
import { isMarked, mark } from "../sqlite/file-mark.ts";
import { problemOf } from "../sqlite/inspect.ts";
import type { Sql } from "../sqlite/lazy-statements.ts";
import type { Stores } from "../stores.ts";
import { brokenConstraint, wrongValue } from "./check-rows.ts";
import { raiseCounts } from "./raise-counts.ts";

export type Snapshots = ReturnType<typeof openSnapshots>;

const SUFFIX = ".snapshot.db";
/** Tables that describe this process rather than the state. */
const NOT_RESTORED = new Set(["request_log", "settings"]);
/** The numbers of requests go on after those of this process and those of the snapshot: events refer to them. */
const NUMBERS = "request_numbers";
const RAISED = "on conflict do update set made = max(made, excluded.made)";

interface SnapshotsOptions extends Pick<Stores, "database" | "requestLog" | "heldEndpoints"> {
  resources: readonly Resource[];
  bodies: "checked" | "open";
  /** The user knows the snapshots of others: what is in them is sent at once. */
  trust: boolean;
}

export function openSnapshots({ database, requestLog, heldEndpoints, resources, bodies, trust }: SnapshotsOptions) {
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
    return namesIn(folder);
  };
  const existing = (name: string) => {
    const found = fileOf(checkName(name));
    if (lstatSync(found, { throwIfNoEntry: false })?.isFile()) return found;
    const choice =
      names().length > 0 ? `There are ${names().join(", ")}.` : `Save one with merchant-sandbox snapshot save ${name}.`;
    return fail("resource_not_found", `There is no snapshot ${name}. ${choice}`);
  };
  const restoreFrom = (source: string, refuse: (wrong: string) => never, holdDeliveries: () => void) => {
    const wrong = existsSync(source) ? problemOf(source) : "does not exist";
    if (wrong !== undefined) refuse(wrong);
    const copied = (replaced: Sql) => {
      const found = wrongValue(replaced, { resources, bodies });
      if (found !== undefined) refuse(found);
      raiseCounts(replaced, resources);
      const isOurs = trust || isMarked(replaced, source, "snapshot");
      if (isOurs) holdDeliveries();
      else heldEndpoints.holdDeliveries();
      database.setTrusted(isOurs);
    };
    requestLog.numbers.store();
    copyInto(database, source, copied, refuse);
    requestLog.numbers.reload();
    heldEndpoints.forget();
    if (!database.isTrusted()) heldEndpoints.holdStored();
  };
  const describe = (name: string) => ({ name, file: fileOf(name), bytes: statSync(fileOf(name)).size });

  return {
    list: () => names().map(describe),
    save(name: string) {
      requestLog.numbers.store();
      write(sql, fileOf(checkName(name)), database.isTrusted());
      return describe(name);
    },
    /** Restores the state. The request log is kept: it describes this process. */
    restore(name: string) {
      const source = existing(name);
      const refuse = (wrong: string) =>
        fail("validation_failed", `The snapshot ${name} cannot be restored: ${source} ${wrong}.`);
      restoreFrom(source, refuse, () => {});
    },
    /**
     * Restores the state from any file, and holds its pending deliveries. A file that is not a snapshot is rejected and
     * not changed.
     */
    restoreFile(source: string) {
      const refuse = (wrong: string) => {
        throw new SandboxError(
          `The snapshot ${source} ${wrong}. Save one with merchant-sandbox snapshot save <name>.`,
          "usage",
        );
      };
      restoreFrom(source, refuse, trust ? () => {} : heldEndpoints.holdDeliveries);
    },
    remove: (name: string) => rmSync(existing(name)),
    close() {
      if (temporary && folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The names of the snapshots. Plain files only: a checkout may contain links. */
function namesIn(folder: string): string[] {
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.map(({ name }) => name).filter((name) => name.endsWith(SUFFIX));
  return names.sort().map((name) => name.slice(0, -SUFFIX.length));
}

/** A checkout may contain a link in place of the folder, and saving or deleting would reach the files behind it. */
function refuseLink(folder: string): void {
  if (isLink(folder))
    fail("invalid_state", `${folder} is a symbolic link, which the sandbox does not follow. Remove it.`);
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
    fail("invalid_state", `${folder} is no folder, so it cannot hold snapshots. Remove it.`);
}

/**
 * Writes the snapshot beside the target and renames it, so that the target is always complete. Only its owner can ever
 * read it.
 */
function write(sql: Sql, target: string, isOurs: boolean): void {
  const unfinished = `${target}-unfinished`;
  const removeAll = () => {
    // SQLite would replay a journal that lies there.
    for (const suffix of ["", ...SQLITE_FILES]) rmSync(unfinished + suffix, { force: true });
  };
  try {
    for (const path of [target, unfinished]) refuseFolder(path);
    removeAll();
    // SQLite accepts an empty file; one that it creates itself would have the default mode.
    writeFileSync(unfinished, "", { mode: 0o600, flag: "wx" });
    sql.prepare("vacuum into ?").run(unfinished);
    if (isOurs) markSnapshot(unfinished);
    renameSync(unfinished, target);
  } catch (error) {
    attempt(removeAll);
    throw error;
  }
}

/** Marks a snapshot as this user's. Renaming it does not change the file. */
function markSnapshot(file: string): void {
  const sql = new Sqlite(file);
  try {
    sql.exec("pragma journal_mode = memory; pragma synchronous = off");
    mark(sql, file);
  } finally {
    sql.close();
  }
}

function refuseFolder(path: string): void {
  if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory())
    fail("invalid_state", `${path} is a folder, where the snapshot would be. Remove it.`);
}

function checkName(name: string): string {
  if (/^[\w-]{1,64}$/.test(name)) return name;
  return fail(
    "validation_failed",
    `A snapshot is named with letters, digits, - and _, at most 64; received ${JSON.stringify(name)}.`,
  );
}

/**
 * Replaces the rows of every table with the snapshot's in one transaction.
 */
function copyInto(
  { sql, transaction }: Database,
  source: string,
  /** Called in the transaction, once the rows are replaced. */
  copied: (sql: Sql) => void,
  refuse: (wrong: string) => never,
): void {
  sql.prepare("attach ? as snapshot").run(source);
  try {
    // In the order of the schema, tables that others refer to come first. They are filled first and emptied last.
    const tables = sql
      .prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by rowid")
      .pluck()
      .all() as string[];
    const replaced = tables.filter((name) => !NOT_RESTORED.has(name));
    transaction(() => {
      for (const table of replaced.toReversed()) if (table !== NUMBERS) sql.exec(`delete from main.${table}`);
      for (const table of replaced) {
        const refused = refusedRow(sql, table);
        if (refused !== undefined) refuse(refused);
      }
      sql.exec(
        "delete from main.sqlite_sequence; insert into main.sqlite_sequence select * from snapshot.sqlite_sequence",
      );
      copied(sql);
    });
  } finally {
    sql.exec("detach snapshot");
  }
}

/** Copies a table; returns why its constraints refuse a row, as the rest of a sentence. */
function refusedRow(sql: Sql, table: string): string | undefined {
  try {
    // Without `where true`, SQLite would copy the pages of an equal table and check no row.
    sql.exec(`insert into main.${table} select * from snapshot.${table} where true ${table === NUMBERS ? RAISED : ""}`);
    return undefined;
  } catch (error) {
    const { code, message } = error as Error & { code?: unknown };
    if (!String(code).startsWith("SQLITE_CONSTRAINT")) throw error;
    return brokenConstraint(sql, "snapshot") ?? `holds rows that contradict one another: ${message}`;
  }
}
