// Translates SQLite's errors about its file, such as a full disk or a lock, into messages with a remedy.

import { SandboxError } from "../../kernel/errors.ts";

export const OR_ANOTHER_FILE = "or choose another file with --db <file>, or keep everything in memory with --memory.";

const LOCKED =
  "Another program keeps the SQLite file locked. Let it end its transaction; programs may read the file at any time.";

/** The start of SQLite's error code, and the message for it. SQLite has already rolled back the statement. */
const MESSAGES: [code: string, message: (reason: string) => string][] = [
  ["SQLITE_BUSY", () => LOCKED],
  ["SQLITE_FULL", () => `The disk of the SQLite file is full. Make room on it, ${OR_ANOTHER_FILE}`],
  [
    "SQLITE_READONLY",
    (reason) =>
      `The SQLite file cannot be written: ${reason}. ` +
      `Let this user write it and the folder around it, ${OR_ANOTHER_FILE}`,
  ],
  ["SQLITE_IOERR", (reason) => `The SQLite file cannot be written: ${reason}. Check its disk, ${OR_ANOTHER_FILE}`],
  [
    "SQLITE_CANTOPEN",
    (reason) => `The SQLite file cannot be written: ${reason}. Check the folder around it, ${OR_ANOTHER_FILE}`,
  ],
  [
    "SQLITE_CORRUPT",
    (reason) => `The SQLite file is damaged: ${reason}. Move it away to start afresh, ${OR_ANOTHER_FILE}`,
  ],
  [
    "SQLITE_NOTADB",
    (reason) => `The SQLite file is damaged: ${reason}. Move it away to start afresh, ${OR_ANOTHER_FILE}`,
  ],
];

/** Returns a SandboxError for an error of SQLite, and any other error unchanged. */
export function translateError(error: unknown): unknown {
  const code = String((error as { code?: unknown } | undefined)?.code);
  const translation = MESSAGES.find(([start]) => code.startsWith(start));
  return translation ? new SandboxError(translation[1]((error as Error).message)) : error;
}

/** Runs `work` and translates the error that it throws. */
export function withTranslatedErrors<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw translateError(error);
  }
}

export const isLocked = (error: unknown) => error instanceof SandboxError && error.message === LOCKED;
