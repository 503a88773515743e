// Damaged copies of a database file: a sandbox must refuse to start on them and leave them unchanged.

import { createHash } from "node:crypto";
import { chmodSync, closeSync, cpSync, openSync, readFileSync, statSync, truncateSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import Sqlite from "better-sqlite3";
import { SCHEMA_VERSION } from "../../src/store/sqlite/tables.ts";
import { plainUser } from "../support/plain-user.ts";
import { folder, launchCommand } from "../support/program.ts";
import { startOn } from "./subject.ts";

export interface Spoilt {
  what: string;
  spoil(db: string): void;
  says: RegExp;
}

const PAGE = 4_096;

function scribble(db: string, at: number, length: number): void {
  const handle = openSync(db, "r+");
  writeSync(handle, Buffer.alloc(length, 0xa5), 0, length, at);
  closeSync(handle);
}

const withSql = (db: string, work: (sql: Sqlite.Database) => void) => {
  const sql = new Sqlite(db);
  work(sql);
  sql.close();
};

export const spoilt: Spoilt[] = [
  { what: "cut in half", spoil: (db) => truncateSync(db, Math.floor(statSync(db).size / 2)), says: /is not a usable SQLite file/ },
  { what: "cut within its header", spoil: (db) => truncateSync(db, 60), says: /is not a usable SQLite file/ },
  { what: "garbage for a header", spoil: (db) => scribble(db, 0, 100), says: /is not a usable SQLite file/ },
  {
    what: "garbage for pages in its middle",
    spoil(db) {
      const pages = Math.floor(statSync(db).size / PAGE);
      for (let page = Math.floor(pages / 3); page < pages / 2; page++) scribble(db, page * PAGE, PAGE);
    },
    says: /is not a usable SQLite file/,
  },
  {
    what: "of a newer version",
    spoil: (db) => withSql(db, (sql) => sql.pragma(`user_version = ${SCHEMA_VERSION + 1}`)),
    says: /another version/,
  },
  { what: "of another program", spoil: (db) => withSql(db, (sql) => sql.pragma("application_id = 1")), says: /another program/ },
  { what: "read-only", spoil: (db) => chmodSync(db, 0o444), says: /^merchant-sandbox: Cannot write \S+: it is read-only/ },
  { what: "in a read-only folder", spoil: (db) => chmodSync(dirname(db), 0o555), says: /^merchant-sandbox: Cannot write in / },
];

export interface Refused {
  code: number | null;
  error: string;
  /** Mode and content. */
  before: string;
  after: string;
}

/** Starts the program on a damaged copy of a file, as a user for whom file modes count; undefined where this system cannot do that. */
export async function tryOn(db: string, { spoil }: Spoilt): Promise<Refused | undefined> {
  const user = plainUser();
  if (typeof user === "string") return undefined;
  const place = folder();
  const copy = join(place, "data.db");
  cpSync(db, copy);
  user.own(place, copy);
  spoil(copy);
  const before = contents(copy);
  const [command, ...words] = user.command(...startOn(copy));
  const { code, error } = await launchCommand(command, words, {}, "/").ended;
  chmodSync(place, 0o700);
  return { code, error, before, after: contents(copy) };
}

const contents = (file: string) =>
  `${(statSync(file).mode & 0o777).toString(8)} ${createHash("sha256").update(readFileSync(file)).digest("hex")}`;
