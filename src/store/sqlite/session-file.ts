// The session file beside a database: the process that has the database open, the write-ahead log that belongs to it,
// and the state in which the last process left it. The next start reads a log only if this file names it, and checks
// the rows of a database only if another program has written to it since.

import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { attempt, tryParseJson } from "../../kernel/attempt.ts";
import { isSameToken } from "../../kernel/random.ts";
import { nullable, type Static, Type } from "../../schema/shapes.ts";
import { matchesSchema } from "../../schema/validator.ts";
import { isPrivate, markOf } from "../user-state.ts";
import { SESSION } from "./file-checks.ts";
import { contentOf, identityOf } from "./file-mark.ts";

const Session = Type.Object({
  pid: Type.Integer({ minimum: 1 }),
  /** The URL at which the process listens; null before it listens. */
  url: nullable(Type.String()),
  /** The write-ahead log; null once the database was closed. */
  log: nullable(Type.String()),
  /** The length and time of the database when it was closed; null while it is open. */
  content: nullable(Type.String()),
  mark: Type.String(),
});

type Session = Static<typeof Session>;

/** Bytes. A longer file was not written by this program. */
const LONGEST = 4_096;

/** The session file, even of another user. Undefined if there is none, or if its content is not a session. */
function readSession(file: string): Session | undefined {
  const found = tryParseJson(attempt(() => readPlainFile(file + SESSION)));
  return matchesSchema(Session, found) ? (found as Session) : undefined;
}

function readPlainFile(path: string): string | undefined {
  if (!lstatSync(path).isFile()) return undefined;
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0));
  try {
    return fstatSync(fd).size > LONGEST ? undefined : readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}

/** The session file if this user's sandboxes wrote it for this very database. */
export function ownSession(file: string): Session | undefined {
  const session = readSession(file);
  return session && isSameToken(session.mark, markOfSession(file, session)) ? session : undefined;
}

const markOfSession = (file: string, { pid, url, log, content }: Omit<Session, "mark">) =>
  markOf(`session ${identityOf(file)} ${JSON.stringify([pid, url, log, content])}`);

/** The text of a session file about a database. */
const textOf = (file: string, session: Omit<Session, "mark">) =>
  JSON.stringify({ ...session, mark: markOfSession(file, session) });

/** Writes the session file of a new database, which still has the name `created`. */
export function markCreated(file: string, created: string): void {
  const session = { pid: process.pid, url: null, log: null, content: contentNow(created) };
  replace(file + SESSION, textOf(created, session), false);
}

export interface FileOwner {
  pid: number;
  url: string;
}

/** The text with which an error and a command name the sandbox that has a file open. */
export const describeOwner = ({ pid, url }: FileOwner) => `process ${pid} at ${url}`;

/**
 * The last sandbox that opened a file and did not close it. Its process may have ended, and another program may have
 * written the session file, so verify it with a request to the URL.
 */
export function lastOwner(file: string): FileOwner | undefined {
  if (!isPrivate(file + SESSION)) return undefined;
  const { pid, url = null } = readSession(file) ?? {};
  return pid !== undefined && url !== null && URL.canParse(url) ? { pid, url } : undefined;
}

/** Whether the database is as a sandbox of this user left it, whether that sandbox closed it or was killed. */
export function isAsLeft(file: string, session: Session | undefined): boolean {
  if (!session) return false;
  if (session.content === null) return session.log !== null && session.log === identityOf(`${file}-wal`);
  return session.content === contentNow(file) && identityOf(`${file}-wal`) === undefined;
}

const contentNow = (file: string) => contentOf(lstatSync(file, { bigint: true }));

/** Writes the session of this process. */
export function openSession(file: string) {
  const log = identityOf(`${file}-wal`) ?? null;
  let current = { pid: process.pid, url: null as string | null, log, content: null as string | null };
  const write = (isDurable: boolean) => replace(file + SESSION, textOf(file, current), isDurable);
  // Must be on the disk before the log has content: after a crash of the machine, the next start reads a log only if
  // this file names it.
  write(true);
  return {
    /** Stores where this process listens, for commands and for a second process that opens the file. */
    listensAt(url: string) {
      current = { ...current, url };
      write(false);
    },
    /** Call after SQLite has opened the database again. The file may be another one. */
    reopened() {
      current = { ...current, log: identityOf(`${file}-wal`) ?? null };
      write(true);
    },
    /** Call once SQLite has closed the database. */
    close() {
      // A reader in another program keeps SQLite from copying the log into the database and removing it.
      const isOpen = identityOf(`${file}-wal`) !== undefined;
      attempt(() => setBack(file));
      current = { ...current, url: null, ...(!isOpen && { log: null, content: contentNow(file) }) };
      attempt(() => write(false));
    },
  };
}

/** Seconds. */
const SET_BACK = 1;

/**
 * Sets the time of a file's last change back. Otherwise, another program's change in the same tick of the file system's
 * clock, which lasts up to 10 ms, would leave the time unchanged.
 */
function setBack(file: string): void {
  const { atimeMs, mtimeMs } = lstatSync(file);
  utimesSync(file, atimeMs / 1_000, mtimeMs / 1_000 - SET_BACK);
}

/** Replaces a file as a whole. A link in its place is replaced, not followed. */
function replace(path: string, text: string, isDurable: boolean): void {
  const unfinished = `${path}-unfinished`;
  rmSync(unfinished, { force: true });
  const fd = openSync(unfinished, "wx", 0o600);
  try {
    writeFileSync(fd, `${text}\n`);
    if (isDurable) fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(unfinished, path);
}
