// The SQLite database: opens the file, rejects files of other programs and versions, and locks it for this process.

import { chmodSync, closeSync, fsyncSync, openSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import Sqlite from "better-sqlite3";
import { attempt } from "../../kernel/attempt.ts";
import { SandboxError } from "../../kernel/errors.ts";
import { once } from "../../kernel/once.ts";
import { realPath, refuseLinkInDefaultFolder } from "../data-folder.ts";
import { openCheckpoints } from "./checkpoints.ts";
import {
  foreignHeader,
  headerOf,
  holdsAnything,
  LOG_FILES,
  look,
  refuseUnsafeFiles,
  requireAccess,
  SESSION,
} from "./file-checks.ts";
import { identityOf, isMarked, mark, unmark } from "./file-mark.ts";
import { openCommits } from "./group-commit.ts";
import { problemIn, reason } from "./inspect.ts";
import { openLazily, type Sql } from "./lazy-statements.ts";
import { lockFile } from "./lock-file.ts";
import { requireAddon } from "./native-addon.ts";
import { openReplace, removeUnfinished, unfinishedFile } from "./replace.ts";
import { isAsLeft, markCreated, openSession, ownSession } from "./session-file.ts";
import { SCHEMA } from "./tables.ts";

/** The initial content of a database in memory. */
export interface DatabaseImage {
  bytes: Buffer;
}

interface RowsCheck {
  /** Why the rows cannot be used, as the rest of a sentence; undefined if they can. Writes nothing. */
  check(sql: Sql): string | undefined;
  /** Called after the rows were found usable. */
  adopt(sql: Sql): void;
}

export interface DatabaseOptions {
  /** The initial content of a database in memory (default: empty). */
  image?: DatabaseImage | undefined;
  /** Whether the user trusts the file and its log (default: false). If so, the log is read, and deliveries are sent. */
  trust?: boolean | undefined;
  /** Checks the rows of a file that another program may have written. */
  rows?: RowsCheck | undefined;
}

export type Database = ReturnType<typeof openDatabase>;

/** Milliseconds. While a write waits for another program's lock, the process serves no request. */
const LOCK_TIMEOUT = 500;
const REMEDY = "Choose another file with --db <file>, or keep everything in memory with --memory.";

/** Opens the file. Without a file, opens a database in memory, which is empty or a copy of an image. */
export function openDatabase(path: string | undefined, { image, ...options }: DatabaseOptions = {}) {
  requireAddon();
  if (path !== undefined) refuseLinkInDefaultFolder(path);
  const opened = path === undefined ? undefined : openFile(realPath(path), options);
  const sql = opened?.sql ?? openLazily(() => openInMemory(image));
  // An image in memory cannot fail to open, so it is opened at its first use.
  if (!opened && image === undefined) sql.exec("");
  const file = opened?.file;
  let isTrusted = opened?.isTrusted ?? true;
  const own = file === undefined ? undefined : holdOpen(sql, file, () => opened?.session.reopened());
  const requireInPlace = own?.requireInPlace ?? (() => {});
  const close = () => {
    own?.stopCheckpoints();
    sql.close();
  };
  const commits = openCommits(sql, { checkpoints: own, lockTimeout: LOCK_TIMEOUT, requireInPlace });
  const setTrusted = (wanted: boolean) => {
    isTrusted = wanted;
    if (file === undefined) return;
    if (wanted) mark(sql, file);
    else unmark(sql);
  };
  return {
    file,
    /**
     * Whether the database started as a copy of an image. Such a database is already seeded, and has no deliveries of
     * an earlier process.
     */
    isCopy: image !== undefined,
    sql,
    ...commits,
    ...openReplace({
      sql,
      file,
      transaction: commits.transaction,
      whileClosed: own?.whileClosed,
      openInMemory: (bytes) => openInMemory({ bytes }),
      setTrusted,
    }),
    /** Throws if the file was deleted or replaced, because a later start would not find what is written from now on. */
    requireInPlace,
    /** Stores where this process listens, for commands and for a second process that opens the file. */
    listensAt: (url: string) => opened?.session.listensAt(url),
    /** Whether this user's sandboxes wrote the data, or the user has trusted it. */
    isTrusted: () => isTrusted,
    /**
     * Stores whether the data is trusted: the next start sends deliveries only from a trusted file. Call inside a
     * transaction.
     */
    setTrusted,
    close() {
      close();
      if (own?.isInPlace()) opened?.session.close();
      opened?.lock.release();
    },
    /** Closes the database after a failed start, and removes the file if this start created it. */
    discard() {
      close();
      const isOurs = opened?.isNew && own?.isInPlace();
      if (isOurs && file !== undefined) removeDatabase(file);
      if (isOurs) opened?.lock.remove();
      else {
        if (own?.isInPlace()) opened?.session.close();
        opened?.lock.release();
      }
    },
  };
}

/** Watches an open file: checks that the file is still in its place, and copies the log into it. */
function holdOpen(sql: Sql, file: string, reopened: () => void) {
  const inodeOf = () => {
    const { dev, ino } = statSync(file, { throwIfNoEntry: false }) ?? {};
    return `${dev} ${ino}`;
  };
  let inode = inodeOf();
  let checkpoints = openCheckpoints(sql, file);
  const isInPlace = () => inodeOf() === inode;
  const requireInPlace = () => {
    if (isInPlace()) return;
    const message = `The SQLite file ${file} was deleted or replaced, so nothing is kept. Start the sandbox again.`;
    throw new SandboxError(message, "runtime", { code: "database_missing" });
  };
  const reopen = () => {
    const connection = connect(file);
    prepare(connection, file);
    reopened();
    return connection;
  };
  return {
    isInPlace,
    requireInPlace,
    committed: () => checkpoints.committed(),
    stopCheckpoints: () => checkpoints.close(),
    /** Closes the file, calls `move`, which may replace the file, and opens the file again. */
    whileClosed(move: () => void) {
      requireInPlace();
      checkpoints.close();
      sql.reconnect(reopen);
      try {
        move();
      } finally {
        inode = inodeOf();
        checkpoints = openCheckpoints(sql, file);
        sql.exec("");
      }
    },
  };
}

/** Opens a file after checking it and the files beside it. A refused file and its folder stay as they were. */
function openFile(file: string, { trust = false, rows }: Omit<DatabaseOptions, "image">) {
  refuseUnsafeFiles(file);
  const lock = lockFile(file);
  const isNew = !holdsAnything(file);
  let connection: Sqlite.Database | undefined;
  try {
    if (isNew) create(file);
    else requireUsable(file, trust);
    // Reads the session before SQLite opens the file, because SQLite then creates an empty log.
    const session = ownSession(file);
    if (!trust && !isNew) requireOwnLog(file, session?.log ?? undefined);
    const isChecked = isNew || isAsLeft(file, session);
    const opened = connect(file);
    connection = opened;
    const sql = openLazily(() => opened);
    const problem = isChecked ? undefined : contentProblem(opened, file, () => rows?.check(sql));
    if (problem !== undefined) throw refusal(file, problem);
    prepare(opened, file);
    // A process that was killed during a restore may have left this file.
    attempt(() => removeUnfinished(unfinishedFile(file)));
    const begun = openSession(file);
    if (!isChecked) rows?.adopt(sql);
    const isOwn = isMarked(sql, file);
    if (!isOwn && (isNew || trust)) mark(sql, file);
    return { file, sql, lock, isNew, session: begun, isTrusted: isOwn || isNew || trust };
  } catch (error) {
    connection?.close();
    if (isNew) removeDatabase(file);
    lock.remove();
    throw error instanceof SandboxError ? error : new SandboxError(`Cannot write ${file}: ${reason(error)}. ${REMEDY}`);
  }
}

function removeDatabase(file: string): void {
  for (const suffix of ["", ...LOG_FILES, SESSION]) rmSync(file + suffix, { force: true });
}

/** Why a file that another program may have written cannot be used, as the rest of a sentence. */
const contentProblem = (sql: Sqlite.Database, file: string, checkRows: () => string | undefined) =>
  problemIn(sql) ?? missingLog(sql, file) ?? checkRows();

const refusal = (file: string, problem: string) =>
  new SandboxError(
    `${file} ${problem}. It was left as it is; move it away to start afresh, or choose another with --db <file>.`,
  );

/** Rejects a file that this user cannot read and write, and a file whose header shows another program or version. */
function requireUsable(file: string, trust: boolean): void {
  requireAccess(file);
  const header = headerOf(file);
  // The current header may be in the log.
  if ((trust || header?.isBare) && holdsAnything(`${file}-wal`)) return;
  if (!header) throw refusal(file, "is not a usable SQLite file: file is not a database");
  const problem = header.isBare ? withoutLog(file) : foreignHeader(header);
  if (problem !== undefined) throw refusal(file, problem);
}

/**
 * Rejects a log that belongs to no session of this user. SQLite would replay it, and its frames replace whole pages of
 * the database.
 */
function requireOwnLog(file: string, own: string | undefined): void {
  const [log, index] = [`${file}-wal`, `${file}-shm`];
  const isForeign = holdsAnything(log) && identityOf(log) !== own;
  // SQLite removes the index before the log, so it did not leave an index without a log.
  if (!isForeign && (look(log) || !look(index))) return;
  const foreign = isForeign ? log : index;
  throw new SandboxError(
    `${foreign} was not left by a sandbox of this user, so ${file} is not opened. ` +
      "Choose another file with --db <file>, add --trust to start with what it holds, or remove it to start without.",
  );
}

/**
 * Until the first checkpoint, everything that a sandbox wrote is in the write-ahead log, so a copy of the file without
 * its log is empty.
 */
const missingLog = (sql: Sqlite.Database, file: string) =>
  sql.prepare("select 1 from settings").get() ? undefined : withoutLog(file);

const withoutLog = (file: string) =>
  `is empty without its write-ahead log, ${basename(file)}-wal: copy both files, or save a snapshot`;

/**
 * The bytes of a database without rows, in write-ahead mode. Creating the tables in the file would need a journal
 * beside it.
 */
const emptyDatabase = once(() => {
  const sql = new Sqlite(":memory:");
  sql.exec(SCHEMA);
  const bytes = sql.serialize();
  sql.close();
  bytes[18] = 2;
  bytes[19] = 2;
  return bytes;
});

/**
 * Writes a complete database and renames it. First removes a deleted database's log, which SQLite would replay over it.
 */
function create(file: string): void {
  const unfinished = unfinishedFile(file);
  for (const path of [unfinished, ...LOG_FILES.map((suffix) => file + suffix)]) rmSync(path, { force: true });
  const fd = openSync(unfinished, "wx", 0o600);
  try {
    writeFileSync(fd, emptyDatabase());
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  markCreated(file, unfinished);
  renameSync(unfinished, file);
}

function connect(file: string): Sqlite.Database {
  try {
    return new Sqlite(file, { timeout: LOCK_TIMEOUT });
  } catch (error) {
    throw new SandboxError(`Cannot open ${file}: ${reason(error)}. ${REMEDY}`);
  }
}

function openInMemory(image: DatabaseImage | undefined): Sqlite.Database {
  const sql = new Sqlite(image?.bytes ?? ":memory:");
  sql.exec("pragma foreign_keys = on; pragma temp_store = memory");
  if (image === undefined) sql.exec(SCHEMA);
  return sql;
}

/** Sets the modes of a file's connection. SQLite then creates the log, so that the session file can name it. */
function prepare(sql: Sqlite.Database, file: string): void {
  chmodSync(file, 0o600);
  sql.exec(
    "pragma foreign_keys = on; pragma temp_store = memory; pragma journal_mode = wal; pragma synchronous = full",
  );
  sql.prepare("select count(*) from settings").get();
}
