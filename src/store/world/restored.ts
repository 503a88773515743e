// Builds the database that a restore puts in place of the present one: a copy of the snapshot. Another program may have
// written the snapshot, so it is checked like a database file at a start.

import { chmodSync, closeSync, constants, copyFileSync, existsSync, fsyncSync, openSync } from "node:fs";
import Sqlite from "better-sqlite3";
import type { Resource } from "../../contracts/resource.ts";
import { createViews } from "../records/views.ts";
import { unsafeSnapshot } from "../sqlite/file-checks.ts";
import { isMarked } from "../sqlite/file-mark.ts";
import { openTransactions } from "../sqlite/group-commit.ts";
import { problemIn, reason } from "../sqlite/inspect.ts";
import { openLazily, type Sql } from "../sqlite/lazy-statements.ts";
import { HOLD_DELIVERIES } from "../webhooks/held-endpoints.ts";
import { adoptRows, type RowCheck, wrongRow } from "./check-rows.ts";

export interface SnapshotToRestore {
  source: string;
  /** The file to build. */
  target: string;
  /** Whether the user trusts snapshots of other users, so that the deliveries in them are sent at once. */
  trust: boolean;
  /** Whether the snapshot's deliveries wait even if this user saved it. */
  holdsDeliveries: boolean;
}

/** The built database, or the reason why the snapshot cannot be restored, as the rest of a sentence. */
export type Restored = { wrong: string } | { isTrusted: boolean };

export function buildRestored(
  { source, target, trust, holdsDeliveries }: SnapshotToRestore,
  resources: { stored: readonly Resource[]; shown: readonly Resource[] },
  bodies: RowCheck["bodies"],
): Restored {
  const unsafe = existsSync(source) ? unsafeSnapshot(source) : "does not exist";
  if (unsafe !== undefined) return { wrong: unsafe };
  copyFileSync(source, target, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
  chmodSync(target, 0o600);
  let opened: Sqlite.Database | undefined;
  try {
    opened = new Sqlite(target);
    const connection = opened;
    const sql = openLazily(() => connection);
    const wrong = problemIn(connection) ?? makeWritable(sql) ?? wrongRow(sql, { resources: resources.stored, bodies });
    if (wrong !== undefined) return { wrong };
    const isTrusted = trust || isMarked(sql, source);
    const { transaction } = openTransactions(sql);
    transaction(() => {
      createViews({ sql, transaction }, resources.shown);
      sql.exec("delete from request_log; delete from settings; update request_numbers set sequence = 0");
      adoptRows(sql, resources.stored);
      if (holdsDeliveries || !isTrusted) sql.exec(HOLD_DELIVERIES);
    });
    return { isTrusted };
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (String(code).startsWith("SQLITE_CONSTRAINT"))
      return { wrong: `holds rows that contradict one another: ${reason(error)}` };
    if (/^SQLITE_(CORRUPT|NOTADB)/.test(String(code)))
      return { wrong: `is not a usable SQLite file: ${reason(error)}` };
    throw error;
  } finally {
    opened?.close();
    syncFile(target);
  }
}

function syncFile(file: string): void {
  const fd = openSync(file, "r+");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Rebuilds every index, because another program may have left an index without some rows. */
function makeWritable(sql: Sql): undefined {
  sql.exec("pragma journal_mode = memory; pragma synchronous = off; reindex");
}
