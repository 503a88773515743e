// Snapshots: named copies of the whole state, each a SQLite file.

import {
  close,
  existsSync,
  fsync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import Sqlite from "better-sqlite3";
import { attempt } from "../../kernel/attempt.ts";
import { afterThisTurn } from "../../kernel/clock.ts";
import { fail, SandboxError } from "../../kernel/errors.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import { isLink } from "../data-folder.ts";
import type { Database } from "../sqlite/database.ts";
import { mark } from "../sqlite/file-mark.ts";
import { freeInThread, removeUnfinished, unfinishedFile } from "../sqlite/replace.ts";
import type { Stores } from "../stores.ts";
import type { Restored, SnapshotToRestore } from "./restored.ts";

export type Snapshots = ReturnType<typeof openSnapshots>;

const SUFFIX = ".snapshot.db";
/** Pages that are copied in a turn of the event loop: less than a megabyte. */
const PAGES = 200;

interface SnapshotsOptions extends Pick<Stores, "database" | "requestLog" | "runSummary" | "heldEndpoints"> {
  /** Builds a checked copy of a snapshot; in a thread if it is large. */
  build(snapshot: SnapshotToRestore): Promise<Restored>;
  /** Whether the user trusts snapshots of other users, so that the deliveries in them are sent at once. */
  trust: boolean;
  /** Clears the state in memory that depends on the replaced data. */
  dataReplaced(): void;
}

interface Restoring {
  refuse(wrong: string): never;
  holdsDeliveries: boolean;
  keepsLog: boolean;
}

export function openSnapshots(options: SnapshotsOptions) {
  const { database, requestLog, build, trust } = options;
  const { file } = database;
  let folder = file && join(dirname(file), "snapshots");
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
    return refuseUnknown(name, names());
  };
  const restoreFrom = (source: string, { refuse, holdsDeliveries, keepsLog }: Restoring) =>
    database.oneAtATime(async () => {
      const target = unfinishedFile(file ?? fileOf("restored"));
      try {
        removeUnfinished(target);
        const built = await build({ source, target, trust, holdsDeliveries });
        if ("wrong" in built) return refuse(built.wrong);
        const { isTrusted } = built;
        database.transaction(requestLog.numbers.store, "relaxed");
        const content = { file: target };
        await database.replaceWith({ content, isTrusted, keepsLog }, replacing(options, isTrusted, keepsLog));
      } finally {
        removeUnfinished(target);
      }
    });
  const describe = (name: string) => ({ name, file: fileOf(name), bytes: statSync(fileOf(name)).size });

  return {
    list: () => names().map(describe),
    save: (name: string) =>
      database.oneAtATime(async () => {
        database.transaction(requestLog.numbers.store, "relaxed");
        const replaced = names().includes(checkName(name));
        await write(database, fileOf(name));
        return { ...describe(name), replaced };
      }),
    /** Restores the state, but keeps the request log, which describes this process. */
    restore(name: string): Promise<void> {
      const source = existing(name);
      const refuse = (wrong: string) =>
        fail("validation_failed", `The snapshot ${name} cannot be restored: ${source} ${wrong}.`);
      return restoreFrom(source, { refuse, holdsDeliveries: false, keepsLog: true });
    },
    /**
     * Restores the state from any file. Holds its pending deliveries, unless the user trusts snapshots of other users.
     * A file that is not a snapshot is rejected and not changed.
     */
    restoreFile(source: string, { keepsLog }: { keepsLog: boolean }): Promise<void> {
      const refuse = (wrong: string) => {
        throw new SandboxError(
          `The snapshot ${source} ${wrong}. Save one with ${PROGRAM} snapshot save <name>.`,
          "usage",
        );
      };
      return restoreFrom(source, { refuse, holdsDeliveries: !trust, keepsLog });
    },
    remove: (name: string) => freeInThread(existing(name), rmSync),
    close() {
      if (file === undefined && folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Call before a snapshot replaces the data, and call the returned function afterwards. */
function replacing(
  { requestLog, runSummary, heldEndpoints, dataReplaced }: SnapshotsOptions,
  isTrusted: boolean,
  keepsLog: boolean,
): () => void {
  const keepEventCounts = runSummary.keepEventCounts();
  return () => {
    keepEventCounts();
    if (keepsLog) requestLog.numbers.reload();
    else requestLog.forget();
    heldEndpoints.forget();
    if (!isTrusted) heldEndpoints.holdStored();
    dataReplaced();
  };
}

function refuseUnknown(name: string, known: readonly string[]): never {
  const choice =
    known.length > 0 ? `There are ${known.join(", ")}.` : `Save one with ${PROGRAM} snapshot save ${name}.`;
  fail("resource_not_found", `There is no snapshot ${name}. ${choice}`);
}

/** The names of the snapshots. Only plain files count, because a checkout may contain links. */
function namesIn(folder: string): string[] {
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.map(({ name }) => name).filter((name) => name.endsWith(SUFFIX));
  return names.sort().map((name) => name.slice(0, -SUFFIX.length));
}

/** A checkout may contain a link in place of the folder. Saving or deleting would change the files behind the link. */
function refuseLink(folder: string): void {
  if (isLink(folder))
    fail("invalid_state", `${folder} is a symbolic link, which the sandbox does not follow. Remove it.`);
  if (lstatSync(folder, { throwIfNoEntry: false })?.isDirectory() === false)
    fail("invalid_state", `${folder} is not a folder, so it cannot hold snapshots. Remove it.`);
}

/**
 * Writes the snapshot beside the target and renames it, so that the target is always complete. Only the owner can read
 * the file, even while it is written.
 */
async function write({ sql, isTrusted }: Database, target: string): Promise<void> {
  const unfinished = unfinishedFile(target);
  for (const path of [target, unfinished]) refuseFolder(path);
  let stopSyncing = () => {};
  try {
    removeUnfinished(unfinished);
    // Creates the file, because SQLite would create it with the default mode. SQLite accepts an empty file.
    writeFileSync(unfinished, "", { mode: 0o600, flag: "wx" });
    stopSyncing = syncMeanwhile(unfinished);
    const isOurs = isTrusted();
    await sql.backup(unfinished, PAGES);
    finishSnapshot(unfinished, isOurs);
    freeInThread(target, () => renameSync(unfinished, target));
  } finally {
    stopSyncing();
    attempt(() => removeUnfinished(unfinished));
  }
}

/**
 * Syncs a file to the disk in another thread while it is written. Otherwise, the end of the copy would wait for the
 * whole file.
 */
function syncMeanwhile(file: string): () => void {
  const fd = openSync(file, "r+");
  let isWanted = true;
  const again = () => {
    if (isWanted) fsync(fd, () => afterThisTurn(again));
    else close(fd, () => {});
  };
  again();
  return () => {
    isWanted = false;
  };
}

/** Marks a snapshot as this user's. The mark identifies the file, which remains the same when it is renamed. */
function finishSnapshot(file: string, isOurs: boolean): void {
  const sql = new Sqlite(file);
  try {
    // In this mode, the snapshot is complete without a log beside it.
    sql.exec("pragma journal_mode = memory; pragma synchronous = off; delete from settings");
    if (isOurs) mark(sql, file);
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
