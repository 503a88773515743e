// The freshly seeded world as the bytes of a SQLite database. It is built once per process, and new worlds start as a copy of it.

import { existsSync, readFileSync } from "node:fs";
import Sqlite from "better-sqlite3";
import type { Resource } from "../../contracts/resource.ts";
import type { Clock } from "../../kernel/clock.ts";
import { createViews } from "../records/views.ts";
import type { Database } from "../sqlite/database.ts";
import type { SqlValue } from "../sqlite/insert-row.ts";
import type { Stores } from "../stores.ts";
import type { Fixture } from "./fixtures.ts";
import { openSeeder } from "./seed.ts";

export interface SeedImage {
  /** A database with the views and every fixture in it. */
  readonly bytes: Buffer;
  /** Copies its rows into empty tables. To be called inside a transaction. */
  copyInto(database: Database): void;
}

interface SeedImageOptions {
  fixtures: readonly Fixture[];
  resources: readonly Resource[];
  seed: number;
  clock: Clock;
  /** Opens empty stores in memory that work with this seed and this clock. */
  open(): Stores;
}

/** Images by fixtures, seed and, for fixtures without dates, time. */
const cache = new WeakMap<readonly Fixture[], Map<string, SeedImage>>();
const MOST_CACHED = 8;

export function getSeedImage(options: SeedImageOptions): SeedImage {
  const { fixtures, seed, clock } = options;
  const isDated = fixtures.every(({ merchant }) => merchant.created !== undefined);
  const name = isDated ? String(seed) : `${seed} ${clock.seconds()}`;
  const images = cache.get(fixtures) ?? new Map<string, SeedImage>();
  cache.set(fixtures, images);
  const image = images.get(name) ?? imageOf(serialized(options));
  if (images.size >= MOST_CACHED) images.clear();
  images.set(name, image);
  return image;
}

/** Reads an image that the build wrote; undefined if there is no such file. */
export const readSeedImage = (file: string): SeedImage | undefined => (existsSync(file) ? imageOf(readFileSync(file)) : undefined);

function serialized({ fixtures, resources, clock, open }: SeedImageOptions): Buffer {
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
  let tables: TableRows[] | undefined;
  return {
    bytes,
    copyInto({ sql }) {
      tables ??= tablesIn(bytes);
      for (const { table, columns, rows } of tables) {
        const insert = sql.insert(`insert into ${table}`, columns);
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

/** The rows of each table; tables that others refer to come first. */
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
