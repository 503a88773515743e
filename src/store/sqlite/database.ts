// The SQLite database: opens the file, rejects files of other programs and versions, and locks it for this process.

import { accessSync, chmodSync, constants, existsSync, lstatSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import Sqlite from "better-sqlite3";
import { succeeds } from "../../kernel/attempt.ts";
import { SandboxError } from "../../kernel/errors.ts";
import { ANOTHER_PLACE, makeFolder, realPath, refuseLinkInDefaultFolder } from "../data-folder.ts";
import { openCheckpoints } from "./checkpoints.ts";
import { openCommits } from "./group-commit.ts";
import { describeOwner, lastOwner, problemOf, reason } from "./inspect.ts";
import { openLazily } from "./lazy-statements.ts";
import { requireAddon } from "./native-addon.ts";
import { OR_ANOTHER_FILE } from "./sqlite-errors.ts";
import { SCHEMA } from "./tables.ts";

/** The initial content of a database in memory. */
export interface DatabaseImage {
  bytes: Buffer;
}

export type Database = ReturnType<typeof openDatabase>;

/** Milliseconds. While a write waits for another program's lock, the process serves no request. */
const LOCK_TIMEOUT = 500;
const REMEDY = "Choose another file with --db <file>, or keep everything in memory with --memory.";

/** Opens the file, or without one a database in memory, which is empty or a copy of an image. */
export function openDatabase(path: string | undefined, image?: DatabaseImage) {
  requireAddon();
  if (path !== undefined) refuseLinkInDefaultFolder(path);
  const file = path === undefined ? undefined : realPath(path);
  const lock = file === undefined ? undefined : lockFile(file);
  const isNew = file !== undefined && !existsSync(file);
  const sql = openLazily(() => openNow(file, image));
  try {
    if (file !== undefined) inspect(file);
    // An image in memory cannot fail to open, so it is opened at its first use.
    if (image === undefined) sql.exec("");
  } catch (error) {
    lock?.remove();
    throw error;
  }
  const inodeOf = () => {
    const { dev, ino } = (file === undefined ? undefined : statSync(file, { throwIfNoEntry: false })) ?? {};
    return `${dev} ${ino}`;
  };
  const inode = inodeOf();
  const checkpoints = file === undefined ? undefined : openCheckpoints(sql, file);
  const isInPlace = () => inodeOf() === inode;
  const requireInPlace = () => {
    if (isInPlace()) return;
    const message = `The SQLite file ${file} was deleted or replaced, so nothing is kept. Start the sandbox again.`;
    throw new SandboxError(message, "runtime", { code: "database_missing" });
  };
  const close = () => {
    checkpoints?.close();
    sql.close();
  };
  const setOwner = sql.prepare("insert or replace into settings (name, value) values ('owner', ?)");
  return {
    file,
    /**
     * Whether it started as a copy of an image. It is then already seeded, and has no deliveries of an earlier process.
     */
    isCopy: image !== undefined,
    sql,
    ...openCommits(sql, { checkpoints, lockTimeout: LOCK_TIMEOUT, ...(file !== undefined && { requireInPlace }) }),
    /** Throws once the file was deleted or replaced: a later start would not find what is written then. */
    requireInPlace,
    /** Stores the name of this process, for the error message of a second process that opens the file. */
    noteOwner: (owner: string) => void (file !== undefined && setOwner.run(owner)),
    close() {
      close();
      lock?.release();
    },
    /** Closes it after a failed start, and removes the file if this start created it. */
    discard() {
      close();
      const isOurs = isNew && isInPlace();
      for (const suffix of isOurs ? ["", "-wal", "-shm"] : []) rmSync(file + suffix, { force: true });
      if (isOurs) lock?.remove();
      else lock?.release();
    },
  };
}

function openNow(file: string | undefined, image: DatabaseImage | undefined): Sqlite.Database {
  const sql = file === undefined ? new Sqlite(image?.bytes ?? ":memory:") : openFile(file);
  try {
    prepare(sql, file, image !== undefined);
    return sql;
  } catch (error) {
    sql.close();
    throw error;
  }
}

function openFile(file: string): Sqlite.Database {
  try {
    return new Sqlite(file, { timeout: LOCK_TIMEOUT });
  } catch (error) {
    throw new SandboxError(`Cannot open ${file}: ${reason(error)}. ${REMEDY}`);
  }
}

/** Rejects a file that this version did not write, before anything is written beside it. */
function inspect(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found && !found.isFile()) throw new SandboxError(`Cannot open ${file}: it is no file. ${REMEDY}`);
  if (found && !isWritable(file))
    throw new SandboxError(
      `Cannot write ${file}: it is read-only for this user. Let it be written (chmod u+w), ${OR_ANOTHER_FILE}`,
    );
  const problem = found && found.size > 0 ? problemOf(file) : undefined;
  if (problem !== undefined)
    throw new SandboxError(
      `${file} ${problem}. It was left as it is; move it away to start afresh, or choose another with --db <file>.`,
    );
}

function prepare(sql: Sqlite.Database, file: string | undefined, isFilled: boolean): void {
  try {
    sql.exec("pragma foreign_keys = on; pragma temp_store = memory");
    if (isFilled) return;
    if (file !== undefined) chmodSync(file, 0o600);
    sql.exec("pragma journal_mode = wal; pragma synchronous = full");
    const tables = sql.prepare("select count(*) from sqlite_master").pluck().get();
    if (tables === 0) sql.transaction(() => sql.exec(SCHEMA))();
  } catch (error) {
    throw new SandboxError(`Cannot write ${file}: ${reason(error)}. ${REMEDY}`);
  }
}

/**
 * Locks the file for this process with an exclusive SQLite transaction on a second file beside it. The lock ends with
 * the process, even after a crash, and other programs can still read the database.
 */
function lockFile(file: string) {
  makeFolder(dirname(file));
  const path = `${file}-lock`;
  const isNew = !existsSync(path);
  let lock: Sqlite.Database | undefined;
  try {
    // A repository may contain a symbolic link here. Opening it would create the link's target or change its mode.
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() === false)
      throw new Error(`${path} is not a plain file; remove it`);
    lock = new Sqlite(path, { timeout: 0 });
    chmodSync(path, 0o600);
    lock.exec("begin exclusive");
  } catch (error) {
    lock?.close();
    if (!isBusy(error)) throw new SandboxError(`Cannot write in ${dirname(file)}: ${reason(error)}. ${ANOTHER_PLACE}`);
    throw new SandboxError(`${file} is in use by ${describeOwnerOf(file)}. Stop that one, ${OR_ANOTHER_FILE}`);
  }
  const release = () => lock.close();
  /** Removes the lock file if it is new, so that nothing is left beside a rejected database. */
  const remove = () => {
    release();
    if (isNew) rmSync(path, { force: true });
  };
  return { release, remove };
}

const isWritable = (file: string) => succeeds(() => accessSync(file, constants.W_OK));

function describeOwnerOf(file: string): string {
  const owner = lastOwner(file);
  return owner ? describeOwner(owner) : "another process that is just starting";
}

const isBusy = (error: unknown) => String((error as { code?: unknown }).code).startsWith("SQLITE_BUSY");
