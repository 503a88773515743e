// Marks: texts that only this user's sandboxes can make, each about one file on this machine. A database or a snapshot
// without its mark may be a stranger's, so it sends nothing by itself.

import { type BigIntStats, lstatSync } from "node:fs";
import type Sqlite from "better-sqlite3";
import { markOf } from "../user-state.ts";

type Connection = Pick<Sqlite.Database, "prepare">;

/**
 * Identifies a file by its inode and its creation time. A clone, a pull and a copy make another file, even if it gets
 * the inode of a file that was just deleted. Where the file system stores no creation time, the device counts instead;
 * its number may change when the machine starts again.
 */
export function identityOf(file: string): string | undefined {
  const found = lstatSync(file, { bigint: true, throwIfNoEntry: false });
  return found && `${found.ino}/${found.birthtimeNs > 0n ? found.birthtimeNs : `device ${found.dev}`}`;
}

/** A text that changes when another program writes to the file. */
export const contentOf = ({ size, mtimeNs }: BigIntStats) => `${size}/${mtimeNs}`;

const fileMark = (file: string) => markOf(`file ${identityOf(file)}`);

/** Whether this user's sandboxes wrote the file that this connection has open, or the user has trusted it. */
export const isMarked = (sql: Connection, file: string): boolean =>
  sql.prepare<[], unknown>("select value from settings where name = 'mark'").pluck().get() === fileMark(file);

export const mark = (sql: Connection, file: string, schema: "main" | "replacement" = "main"): void =>
  void sql.prepare(`insert or replace into ${schema}.settings (name, value) values ('mark', ?)`).run(fileMark(file));

export const unmark = (sql: Connection): void => void sql.prepare("delete from settings where name = 'mark'").run();
