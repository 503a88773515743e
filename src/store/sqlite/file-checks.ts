// Checks a database file and the files beside it before SQLite opens any of them. A checkout may contain them, and
// SQLite trusts what lies beside a database: it replays a journal, deletes the file that the journal names as its
// super-journal, and waits for ever for the writer of a pipe.

import { accessSync, closeSync, constants, lstatSync, openSync, readSync, type Stats } from "node:fs";
import { attempt, succeeds } from "../../kernel/attempt.ts";
import { SandboxError } from "../../kernel/errors.ts";
import { ANOTHER_PLACE } from "../data-folder.ts";
import { OR_ANOTHER_FILE } from "./sqlite-errors.ts";
import { APPLICATION_ID, SCHEMA_VERSION } from "./tables.ts";

/** The files that SQLite keeps beside a database in write-ahead mode. */
export const LOG_FILES = ["-wal", "-shm"] as const;
/** The files that SQLite keeps beside a database in any mode. */
export const SQLITE_FILES = ["-journal", ...LOG_FILES] as const;
export const LOCK = "-lock";
export const SESSION = "-session";
/** A file of this length, in bytes, holds no database yet. */
const EMPTY = 0;

/** Throws if SQLite cannot safely open this database. The log beside it is checked once the database is locked. */
export function refuseUnsafeFiles(file: string): void {
  const found = look(file);
  if (found && !found.isFile()) throw new SandboxError(`Cannot open ${file}: it is not a file. ${ANOTHER_PLACE}`);
  // SQLite would keep a log for each name, and each log would overwrite what the other one wrote.
  if (found && found.nlink > 1)
    throw new SandboxError(
      `${file} has a second name (a hard link), and SQLite would damage it under two names. ` +
        "Use a copy of it, or remove the other name.",
    );
  refuseJournal(file);
  for (const suffix of [...LOG_FILES, SESSION]) refuseOddFile(file + suffix);
  refuseUnsafeLock(file + LOCK);
}

/** Throws if this user may not read and write the file. Only its owner can change its mode. */
export function requireAccess(file: string): void {
  const allows = (mode: number) => succeeds(() => accessSync(file, mode));
  const isReadable = allows(constants.R_OK);
  if (isReadable && allows(constants.W_OK)) return;
  const isOwner = process.platform === "win32" || look(file)?.uid === process.getuid?.();
  const [problem, mode] = isReadable
    ? [`Cannot write ${file}: it is read-only for this user.`, "Let it be written (chmod u+w)"]
    : [`Cannot read ${file}: this user may not read it.`, "Let it be read and written (chmod u+rw)"];
  throw new SandboxError(`${problem} ${isOwner ? mode : "Run as its owner"}, ${OR_ANOTHER_FILE}`);
}

/** This program's databases are in write-ahead mode, and its snapshots are complete: neither has a journal. */
function refuseJournal(file: string): void {
  if (!look(`${file}-journal`)) return;
  throw new SandboxError(
    `${file}-journal was not left by a sandbox, and SQLite would change ${file} by it. Remove it, and start again.`,
  );
}

/** The lock is an empty file, so that SQLite reads nothing from it. */
function refuseUnsafeLock(lock: string): void {
  const found = look(lock);
  if (found && !found.isFile()) throw new SandboxError(`${lock} is not a regular file; remove it. ${ANOTHER_PLACE}`);
  if (found && (found.size > EMPTY || found.nlink > 1))
    throw new SandboxError(`${lock} is not the empty file that a sandbox makes; remove it. ${ANOTHER_PLACE}`);
  const beside = SQLITE_FILES.map((suffix) => lock + suffix).find((path) => look(path));
  if (beside !== undefined) throw new SandboxError(`${beside} was not left by a sandbox; remove it. ${ANOTHER_PLACE}`);
}

/** Throws if the path is a pipe, a device, a folder or a link. */
function refuseOddFile(path: string): void {
  if (look(path)?.isFile() === false)
    throw new SandboxError(`${path} is not a regular file; remove it. ${ANOTHER_PLACE}`);
}

/** Why SQLite cannot safely open a complete file, such as a snapshot, as the rest of a sentence. */
export function unsafeSnapshot(file: string): string | undefined {
  if (look(file)?.isFile() === false) return "is not a usable SQLite file: it is not a regular file";
  const beside = SQLITE_FILES.find((suffix) => look(file + suffix));
  return beside && `has ${file}${beside} beside it, which was not left by a sandbox; remove that`;
}

/** The path itself, not the target of a link; undefined if this user can see no file there. */
export const look = (path: string): Stats | undefined => attempt(() => lstatSync(path));

/** Whether there is a file with content. SQLite creates an empty write-ahead log for each reader. */
export const holdsAnything = (path: string): boolean => (look(path)?.size ?? EMPTY) > EMPTY;

interface Header {
  application: number;
  version: number;
  /** Whether the database is in write-ahead mode. */
  isLogged: boolean;
  /** Whether the file itself has no table yet: all content is in its log. */
  isBare: boolean;
}

const HEADER_LENGTH = 100;
const MAGIC = "SQLite format 3\0";

/** The header of a SQLite file; undefined for other files. Read without SQLite, which would create files beside it. */
export function headerOf(file: string): Header | undefined {
  const bytes = firstBytes(file, HEADER_LENGTH);
  if (bytes?.toString("latin1", 0, MAGIC.length) !== MAGIC) return undefined;
  return {
    application: bytes.readUInt32BE(68),
    version: bytes.readUInt32BE(60),
    isLogged: bytes[18] === 2,
    // A database without tables has one page, which holds the empty schema.
    isBare: bytes[18] === 2 && bytes.readUInt32BE(28) === 1,
  };
}

/** Reads the first bytes of a file; undefined for a shorter one. */
function firstBytes(file: string, length: number): Buffer | undefined {
  const bytes = Buffer.alloc(length);
  const fd = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    return readSync(fd, bytes, 0, length, 0) < length ? undefined : bytes;
  } finally {
    // Closing any descriptor of a file ends this process's POSIX locks on it, so no sandbox of this process may have it
    // open.
    closeSync(fd);
  }
}

/** Why a file with this header is not a database of this version, as the rest of a sentence. */
export function foreignHeader({ application, version }: Pick<Header, "application" | "version">): string | undefined {
  if (application !== APPLICATION_ID) return "is a SQLite database of another program";
  if (version === SCHEMA_VERSION) return undefined;
  return `was written by another version of merchant-sandbox (schema ${version}, this one has ${SCHEMA_VERSION})`;
}
