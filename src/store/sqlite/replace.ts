// Replaces all rows of an open database: a reset and a restore build a new database beside it, and put that in its
// place within one turn of the event loop. A process that is killed meanwhile leaves the old database or the new one.

import {
  close,
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import Sqlite from "better-sqlite3";
import { attempt } from "../../kernel/attempt.ts";
import { nextTurn } from "../../kernel/clock.ts";
import { SQLITE_FILES } from "./file-checks.ts";
import { mark } from "./file-mark.ts";
import type { Sql } from "./lazy-statements.ts";
import { tablesIn } from "./tables.ts";

/** A complete database: its bytes, or a file that no process has open. The file is moved or removed. */
export type Content = { bytes: Buffer } | { file: string };

export interface Replacement {
  content: Content;
  /** Whether its data is this user's. */
  isTrusted: boolean;
  /** Whether the request log and the clock are kept, because they describe the process and not the state. */
  keepsLog: boolean;
}

interface ReplaceOptions {
  sql: Sql;
  /** Undefined in memory. */
  file: string | undefined;
  transaction<T>(work: () => T): T;
  /** Closes the file, calls `move`, which may replace the file, and opens the file again. Undefined in memory. */
  whileClosed: ((move: () => void) => void) | undefined;
  openInMemory(bytes: Buffer): Sqlite.Database;
  setTrusted(wanted: boolean): void;
}

/**
 * Bytes. A larger database of a sandbox in memory stays in an unlinked file, because copying 400 MB takes most of a
 * second.
 */
const MOST_IN_MEMORY = 16 * 1_048_576;
/** Rows of the request log that are copied in a turn of the event loop. */
const LOG_ROWS = 100;

const LOG = "request_log";
const KEPT = new Set([LOG, "settings"]);

export const unfinishedFile = (file: string) => `${file}-unfinished`;

/** Removes an unfinished file and any journal beside it, which SQLite would replay over the next file of this name. */
export function removeUnfinished(path: string): void {
  for (const suffix of ["", ...SQLITE_FILES]) freeInThread(path + suffix, (file) => rmSync(file, { force: true }));
}

/**
 * Removes or replaces a file, if there is one. Keeps it open meanwhile and closes it in another thread, because freeing
 * 300 MB takes a third of a second.
 */
export function freeInThread(file: string, remove: (file: string) => void): void {
  // On Windows, an open file cannot be removed.
  const old = process.platform !== "win32" && existsSync(file) ? openSync(file, "r") : undefined;
  try {
    remove(file);
  } finally {
    if (old !== undefined) close(old, () => {});
  }
}

export function openReplace(options: ReplaceOptions) {
  const replace = openExchange(options);
  const listeners: (() => void)[] = [];
  return {
    /** Runs one piece of work at a time that builds, replaces or copies the whole database. */
    oneAtATime: openTurns(),
    /**
     * Replaces all rows and calls `replaced` in one turn of the event loop. Until then, reads and writes use the old
     * rows. Call inside `oneAtATime`.
     */
    replaceWith: (replacement: Replacement, replaced: () => void) =>
      replace(replacement, () => {
        options.setTrusted(replacement.isTrusted);
        for (const listener of listeners) listener();
        replaced();
      }),
    /** Calls back when all rows were replaced. Temporary tables, triggers and functions are gone then. */
    onReplaced: (listener: () => void) => void listeners.push(listener),
  };
}

/** Returns a function that runs pieces of work one after another. */
function openTurns() {
  let last: Promise<unknown> = Promise.resolve();
  return <T>(work: () => T | Promise<T>): Promise<T> => {
    const result = last.then(work);
    last = result.catch(() => {});
    return result;
  };
}

function openExchange({ sql, file, transaction, whileClosed, openInMemory }: ReplaceOptions) {
  const moveIntoPlace = (path: string, target: string) => {
    let isMoved = false;
    setWriteAheadMode(path);
    whileClosed?.(() => {
      // SQLite removes the log with the last connection. If the log remains, another program has the file open and
      // would write to it.
      if (existsSync(`${target}-wal`)) return;
      move(path, target);
      isMoved = true;
    });
    return isMoved;
  };
  const moveIntoMemory = (path: string) => {
    if (statSync(path).size <= MOST_IN_MEMORY) {
      const bytes = readFileSync(path);
      sql.reconnect(() => openInMemory(bytes));
    } else {
      sql.reconnect(() => openWithoutName(path));
      sql.exec("select 1");
    }
  };
  return async ({ content, isTrusted, keepsLog }: Replacement, replaced: () => void): Promise<void> => {
    const path = "file" in content ? content.file : file && (await written(content.bytes, unfinishedFile(file)));
    if (path === undefined) {
      const { bytes } = content as { bytes: Buffer };
      sql.reconnect(() => openInMemory(bytes));
      return replaced();
    }
    try {
      await attached(sql, path, async () => {
        sql.exec(`pragma replacement.journal_mode = off; pragma replacement.synchronous = off;
          insert or replace into replacement.settings select * from main.settings where name = 'requests'
            or name = 'clock' and ${keepsLog}`);
        if (file !== undefined && isTrusted) mark(sql, path, "replacement");
        if (!keepsLog) return;
        await copyLog(sql);
        raiseNumbers(sql);
      });
      if (file === undefined) moveIntoMemory(path);
      else if (!moveIntoPlace(path, file)) await attached(sql, path, () => transaction(() => copyRows(sql, keepsLog)));
      replaced();
    } finally {
      removeUnfinished(path);
    }
  };
}

/** Writes and syncs the file in another thread, so that the turn that moves it waits only for what was added since. */
async function written(bytes: Buffer, path: string): Promise<string> {
  removeUnfinished(path);
  await writeFile(path, bytes, { mode: 0o600, flag: "wx", flush: true });
  return path;
}

async function attached(sql: Sql, path: string, work: () => void | Promise<void>): Promise<void> {
  sql.prepare("attach ? as replacement").run(path);
  try {
    await work();
  } finally {
    if (sql.open) sql.exec("detach replacement");
  }
}

/** Copies the request log in slices. The turn that copies the last rows also replaces the database. */
async function copyLog(sql: Sql): Promise<void> {
  const copy = sql.prepare(
    `insert into replacement.${LOG} select * from main.${LOG}
     where sequence > (select coalesce(max(sequence), 0) from replacement.${LOG}) order by sequence limit ${LOG_ROWS}`,
  );
  while (copy.run().changes === LOG_ROWS) await nextTurn();
  sql.exec(`delete from replacement.${LOG} where sequence < (select min(sequence) from main.${LOG})`);
}

/** Request numbers continue after those of this process and those of the new data, whose events refer to requests. */
function raiseNumbers(sql: Sql): void {
  sql.exec(`insert into replacement.request_numbers select * from main.request_numbers where true
    on conflict do update set made = max(made, excluded.made), sequence = excluded.sequence`);
}

/**
 * Sets write-ahead mode in the header. SQLite would do it with a journal file; if the process were killed meanwhile,
 * the next start would reject that file.
 */
function setWriteAheadMode(path: string): void {
  const fd = openSync(path, "r+");
  try {
    writeSync(fd, Buffer.from([2, 2]), 0, 2, 18);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function move(path: string, target: string): void {
  freeInThread(target, () => renameSync(path, target));
  attempt(() => syncFolder(dirname(target)));
}

function syncFolder(folder: string): void {
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function openWithoutName(path: string): Sqlite.Database {
  const sql = new Sqlite(path);
  sql.exec(
    "pragma foreign_keys = on; pragma temp_store = memory; pragma journal_mode = memory; pragma synchronous = off",
  );
  // On Windows, an open file cannot be removed.
  attempt(() => rmSync(path));
  return sql;
}

/** Copies the rows while another program has the file open. Other requests wait until the copy is complete. */
function copyRows(sql: Sql, keepsLog: boolean): void {
  // Tables that others refer to are filled first and emptied last.
  const replaced = tablesIn(sql).filter((name) => !KEPT.has(name));
  if (!keepsLog) sql.exec(`delete from main.${LOG}`);
  for (const table of replaced.toReversed()) sql.exec(`delete from main.${table}`);
  for (const table of replaced) sql.exec(`insert into main.${table} select * from replacement.${table}`);
  sql.exec(
    "delete from main.sqlite_sequence; insert into main.sqlite_sequence select * from replacement.sqlite_sequence",
  );
  sql.exec(`delete from main.settings;
    insert into main.settings select * from replacement.settings where name <> 'mark'`);
}
