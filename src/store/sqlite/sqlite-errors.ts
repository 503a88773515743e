// What keeps SQLite from its file, in words with a remedy: a full disk or a lock is no defect of ours.

import { SandboxError } from "../../kernel/errors.ts";

export const OR_ANOTHER_FILE = "or choose another file with --db <file>, or keep everything in memory with --memory.";

const LOCKED = "Another program keeps the SQLite file locked. Let it end its transaction; reading the file is welcome at any time.";

/** The beginning of SQLite's code, and what it means here. What the statement was about is undone. */
const MESSAGES: [code: string, words: (said: string) => string][] = [
  ["SQLITE_BUSY", () => LOCKED],
  ["SQLITE_FULL", () => `The disk of the SQLite file is full. Make room on it, ${OR_ANOTHER_FILE}`],
  [
    "SQLITE_READONLY",
    (said) => `The SQLite file cannot be written: ${said}. Let this user write it and the folder around it, ${OR_ANOTHER_FILE}`,
  ],
  ["SQLITE_IOERR", (said) => `The SQLite file cannot be written: ${said}. Look after its disk, ${OR_ANOTHER_FILE}`],
  ["SQLITE_CANTOPEN", (said) => `The SQLite file cannot be written: ${said}. Look after the folder around it, ${OR_ANOTHER_FILE}`],
  ["SQLITE_CORRUPT", (said) => `The SQLite file is damaged: ${said}. Move it away to start afresh, ${OR_ANOTHER_FILE}`],
  ["SQLITE_NOTADB", (said) => `The SQLite file is damaged: ${said}. Move it away to start afresh, ${OR_ANOTHER_FILE}`],
];

/** The error that SQLite threw as it is to be told; any other error as it is. */
export function translateError(error: unknown): unknown {
  const code = String((error as { code?: unknown } | undefined)?.code);
  const trouble = MESSAGES.find(([beginning]) => code.startsWith(beginning));
  return trouble ? new SandboxError(trouble[1]((error as Error).message)) : error;
}

/** Runs `work`, and tells in words what kept SQLite from it. */
export function withTranslatedErrors<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw translateError(error);
  }
}

export const isLocked = (error: unknown) => error instanceof SandboxError && error.message === LOCKED;
