// The freshly seeded world as the bytes of a database: made once in a process, and what every world begins as a copy of.

import { existsSync, readFileSync } from "node:fs";
import Sqlite from "better-sqlite3";
import type { Resource } from "../../contracts/resource.ts";
import type { Clock } from "../../kernel/clock.ts";
import { once } from "../../kernel/once.ts";
import { createViews } from "../records/views.ts";
import type { Database } from "../sqlite/database.ts";
import { insertRow, type SqlValue } from "../sqlite/insert-row.ts";
import type { Stores } from "../stores.ts";
import type { Fixture } from "./fixtures.ts";
import { openSeeder } from "./seed.ts";

export interface SeedImage {
  /** A database with the views and every fixture in it. */
  readonly bytes: Buffer;
  /** Puts its rows into tables that are empty. Only inside a transaction. */
  copyInto(database: Database): void;
}

interface Needs {
  fixtures: readonly Fixture[];
  resources: readonly Resource[];
  seed: number;
  clock: Clock;
  /** Opens empty stores in memory that work with this seed and this clock. */
  open(): Stores;
}

/** Images by what they are made from; fixtures that were read anew make a new one. */
const known = new WeakMap<readonly Fixture[], Map<string, SeedImage>>();
const MOST_KNOWN = 8;

export function getSeedImage(needs: Needs): SeedImage {
  const { fixtures, seed, clock } = needs;
  const isDated = fixtures.every(({ merchant }) => merchant.created !== undefined);
  const name = isDated ? String(seed) : `${seed} ${clock.seconds()}`;
  const images = known.get(fixtures) ?? new Map<string, SeedImage>();
  known.set(fixtures, images);
  const image = images.get(name) ?? imageOf(serialized(needs));
  if (images.size >= MOST_KNOWN) images.clear();
  images.set(name, image);
  return image;
}

/** An image that was made earlier, of the same things; undefined where there is no such file. */
export const readSeedImage = (file: string): SeedImage | undefined => (existsSync(file) ? imageOf(readFileSync(file)) : undefined);

function serialized({ fixtures, resources, clock, open }: Needs): Buffer {
  const stores = open();
  try {
    createViews(stores.database, resources);
    const { seed } = openSeeder(stores, resources, clock);
    stores.database.transaction(() => {
      for (const fixture of fixtures) seed(fixture, { ...asWritten(fixture), place: null });
    });
    return stores.database.sql.serialize();
  } finally {
    stores.close();
  }
}

const asWritten = ({ merchant: { id, apiKey, email } }: Fixture) => ({ id, key: apiKey, email });

function imageOf(bytes: Buffer): SeedImage {
  const tables = once(() => tablesIn(bytes));
  return {
    bytes,
    copyInto({ sql }) {
      for (const { table, columns, rows } of tables()) {
        const insert = insertRow(sql, `insert into ${table}`, columns);
        for (const row of rows) insert(row);
      }
    },
  };
}

interface TableRows {
  table: string;
  columns: string;
  rows: Record<string, SqlValue>[];
}

/** The rows of each table, tables that others refer to first. */
function tablesIn(bytes: Buffer): TableRows[] {
  const sql = new Sqlite(bytes);
  const names = sql
    .prepare<[], string>("select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by rowid")
    .pluck()
    .all();
  const all = names.map((table) => {
    const rows = sql.prepare<[], Record<string, SqlValue>>(`select * from ${table}`).all();
    return { table, columns: Object.keys(rows[0] ?? {}).join(", "), rows };
  });
  sql.close();
  return all.filter(({ rows }) => rows.length > 0);
}
