// The freshly seeded world as the bytes of a SQLite database. It is built once per process, and new worlds start as a copy of it.

import { existsSync, readFileSync } from "node:fs";
import Sqlite from "better-sqlite3";
import type { Resource } from "../../contracts/resource.ts";
import type { Clock } from "../../kernel/clock.ts";
import { once } from "../../kernel/once.ts";
import { writeDueTimes } from "../records/due-records.ts";
import { createViews } from "../records/views.ts";
import type { Database, DatabaseImage } from "../sqlite/database.ts";
import type { SqlValue } from "../sqlite/insert-row.ts";
import type { Sql } from "../sqlite/lazy-statements.ts";
import type { Stores } from "../stores.ts";
import { dayOf, shiftTo } from "./date-shift.ts";
import type { Fixture } from "./fixtures.ts";
import { canMoveImage, dueTimesAt, type ImageTimes, moveImage } from "./image-times.ts";
import { openSeeder } from "./seed.ts";

/** A database with the views and every fixture in it. */
export interface SeedImage extends DatabaseImage {
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

interface SeededImage extends SeedImage {
  /** When the next of its records falls due, which a later seeding has to carry out, in sandbox milliseconds. */
  until: number;
}

/** Images by fixtures, seed and time, as far as dates depend on it. */
const cache = new WeakMap<readonly Fixture[], Map<string, SeededImage>>();
const MOST_CACHED = 8;

export function getSeedImage(options: SeedImageOptions): SeedImage {
  const { fixtures, seed, clock } = options;
  const isDated = fixtures.every(({ merchant }) => merchant.created !== undefined);
  const images = cache.get(fixtures) ?? new Map<string, SeededImage>();
  cache.set(fixtures, images);
  const now = clock.now();
  const names = isDated ? [`${seed} ${datesAt(fixtures, now)}`, `${seed} ${now}`] : [`${seed} ${now}`];
  const known = names.map((name) => images.get(name)).find((image) => image !== undefined && now < image.until);
  if (known) return known;
  const { bytes, changes, until } = serialized(options);
  const name = changes === 0 ? names[0] : names.at(-1);
  return keep(images, name ?? "", { ...imageOf(() => bytes), bytes, until });
}

/** An image that the build wrote, with its dates moved to `now`; undefined if seeding has to make it. */
export type BuiltImage = (now: number) => SeedImage | undefined;

/** Reads an image and its times from the files that the build wrote; undefined if there are none. */
export function readSeedImage(files: { image: string; times: string }): BuiltImage | undefined {
  if (!existsSync(files.image)) return undefined;
  const times = JSON.parse(readFileSync(files.times, "utf8")) as ImageTimes[];
  const images = new Map<string, SeedImage>();
  const imageAt = (now: number) => {
    const dates = datesAt(times, now);
    const known = images.get(dates);
    if (known || !canMoveImage(times, now)) return known;
    return keep(images, dates, builtImage(files.image, times, now));
  };
  // Dates move at midnight: most sandboxes of a process are created on the same day.
  let last: { day: number; image: SeedImage | undefined } | undefined;
  return (now) => {
    const day = dayOf(now);
    if (last?.day !== day) last = { day, image: imageAt(now) };
    return last.image;
  };
}

function builtImage(file: string, times: readonly ImageTimes[], now: number): SeedImage {
  const moved = imageOf(() => moveImage(readFileSync(file), times, now));
  const opened = (sql: Pick<Sql, "prepare" | "exec">) => writeDueTimes(sql, dueTimesAt(times, now));
  return {
    get bytes() {
      return moved.bytes;
    },
    opened,
    copyInto(database) {
      moved.copyInto(database);
      opened(database.sql);
    },
  };
}

/** Equal for times to which the dates move alike. */
function datesAt(written: readonly { asOf?: string | undefined }[], now: number): string {
  const days = new Set(written.map(({ asOf }) => asOf));
  return JSON.stringify([...days].map((asOf) => asOf !== undefined && shiftTo(asOf, now)));
}

function keep<Image extends SeedImage>(images: Map<string, Image>, name: string, image: Image): Image {
  if (images.size >= MOST_CACHED) images.clear();
  images.set(name, image);
  return image;
}

function serialized({ fixtures, resources, clock, open }: SeedImageOptions): { bytes: Buffer; changes: number; until: number } {
  const stores = open();
  try {
    createViews(stores.database, resources);
    const { seed } = openSeeder(stores, resources, clock);
    const seedAll = () => fixtures.reduce((changes, fixture) => changes + seed(fixture, { ...asWritten(fixture), place: null }), 0);
    const changes = stores.database.transaction(seedAll);
    return { bytes: stores.database.sql.serialize(), changes, until: stores.dueRecords.soonest() ?? Infinity };
  } finally {
    stores.close();
  }
}

const asWritten = ({ merchant: { id, apiKey, email } }: Fixture) => ({ id, key: apiKey, email });

/** Makes the bytes at their first use: many tests create a sandbox and end before they call it. */
function imageOf(make: () => Buffer): SeedImage {
  const bytes = once(make);
  const tables = once(() => tablesIn(bytes()));
  return {
    get bytes() {
      return bytes();
    },
    copyInto({ sql }) {
      for (const { table, columns, rows } of tables()) {
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
