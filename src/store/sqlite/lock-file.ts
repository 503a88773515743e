// Locks a database for this process: an exclusive SQLite transaction on an empty file beside it. The lock ends with the
// process, even after a crash, and other programs can still read the database.

import { chmodSync, existsSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import Sqlite from "better-sqlite3";
import { SandboxError } from "../../kernel/errors.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import { ANOTHER_PLACE, makeFolder } from "../data-folder.ts";
import { LOCK } from "./file-checks.ts";
import { reason } from "./inspect.ts";
import { describeOwner, lastOwner } from "./session-file.ts";
import { OR_ANOTHER_FILE } from "./sqlite-errors.ts";

/** Call after `refuseUnsafeFiles`: SQLite reads nothing from an empty file without files beside it. */
export function lockFile(file: string) {
  makeFolder(dirname(file));
  const path = file + LOCK;
  const isNew = !existsSync(path);
  let lock: Sqlite.Database | undefined;
  try {
    lock = new Sqlite(path, { timeout: 0 });
    chmodSync(path, 0o600);
    // A crash would leave a journal file behind.
    lock.exec("pragma journal_mode = memory; begin exclusive");
  } catch (error) {
    lock?.close();
    if (!isBusy(error)) throw new SandboxError(`Cannot write in ${dirname(file)}: ${reason(error)}. ${ANOTHER_PLACE}`);
    throw new SandboxError(`${file} is in use by ${ownerAndRemedy(file)}, ${OR_ANOTHER_FILE}`);
  }
  const release = (): void => void lock.close();
  /** Removes the lock file if it is new, so that nothing is left beside a rejected database. */
  const remove = () => {
    release();
    if (isNew) rmSync(path, { force: true });
  };
  return { release, remove };
}

function ownerAndRemedy(file: string): string {
  const owner = lastOwner(file);
  return owner
    ? `${describeOwner(owner)}. Show it with ${PROGRAM} attach ${owner.url}, stop it`
    : "another process, which is just starting or of an earlier version. Stop that one";
}

const isBusy = (error: unknown) => String((error as { code?: unknown }).code).startsWith("SQLITE_BUSY");
