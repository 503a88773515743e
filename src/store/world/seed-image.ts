// The freshly seeded world as the bytes of a SQLite database. It is built once per process, and new worlds start as a copy of it.

import { existsSync, readFileSync } from "node:fs";
import Sqlite from "better-sqlite3";
import type { Resource } from "../../contracts/resource.ts";
import type { Clock } from "../../kernel/clock.ts";
import { createViews } from "../records/views.ts";
import type { Database } from "../sqlite/database.ts";
import type { SqlValue } from "../sqlite/insert-row.ts";
import type { Stores } from "../stores.ts";
import { shiftTo } from "./date-shift.ts";
import type { Fixture } from "./fixtures.ts";
import { type ImageTimes, moveImage } from "./image-times.ts";
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

/** Images by fixtures, seed and time, as far as dates depend on it. */
const cache = new WeakMap<readonly Fixture[], Map<string, SeedImage>>();
const MOST_CACHED = 8;

export function getSeedImage(options: SeedImageOptions): SeedImage {
  const { fixtures, seed, clock } = options;
  const isDated = fixtures.every(({ merchant }) => merchant.created !== undefined);
  const dates = isDated ? datesAt(fixtures, clock.now()) : String(clock.seconds());
  const images = cache.get(fixtures) ?? new Map<string, SeedImage>();
  cache.set(fixtures, images);
  return cached(images, `${seed} ${dates}`, () => imageOf(serialized(options)));
}

/** An image that the build wrote, with its dates moved to `now`; undefined if seeding has to make it. */
export type BuiltImage = (now: number) => SeedImage | undefined;

/** Reads an image and its times from the files that the build wrote; undefined if there are none. */
export function readSeedImage(files: { image: string; times: string }): BuiltImage | undefined {
  if (!existsSync(files.image)) return undefined;
  const bytes = readFileSync(files.image);
  const times = JSON.parse(readFileSync(files.times, "utf8")) as ImageTimes[];
  const images = new Map<string, SeedImage | undefined>();
  return (now) => {
    const make = () => {
      const moved = moveImage(bytes, times, now);
      return moved && imageOf(moved);
    };
    return cached(images, datesAt(times, now), make);
  };
}

/** Equal for times to which the dates move alike. */
function datesAt(written: readonly { asOf?: string | undefined }[], now: number): string {
  const days = new Set(written.map(({ asOf }) => asOf));
  return JSON.stringify([...days].map((asOf) => asOf !== undefined && shiftTo(asOf, now)));
}

function cached<Image>(images: Map<string, Image>, name: string, make: () => Image): Image {
  const found = images.get(name);
  if (found !== undefined) return found;
  const image = make();
  if (images.size >= MOST_CACHED) images.clear();
  images.set(name, image);
  return image;
}

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
