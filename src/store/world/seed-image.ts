// The freshly seeded world as the bytes of a SQLite database, built once per process; new worlds start as a copy of it.
// Trick. Reason: seeding writes thousands of records. Figure: without the image, a start takes 1.4 times the CPU time.

import { existsSync, readFileSync } from "node:fs";
import Sqlite from "better-sqlite3";
import type { Resource } from "../../contracts/resource.ts";
import { type Clock, parseTime } from "../../kernel/clock.ts";
import { once } from "../../kernel/once.ts";
import { createViews } from "../records/views.ts";
import type { Database, DatabaseImage } from "../sqlite/database.ts";
import type { SqlValue } from "../sqlite/lazy-statements.ts";
import type { Stores } from "../stores.ts";
import { LATEST_PRESENT, shiftJson, shiftSeconds, shiftTo } from "./date-shift.ts";
import type { Fixture } from "./fixtures.ts";
import { openSeeder } from "./seed.ts";

/** A database with the views and every fixture in it. */
export interface SeedImage extends DatabaseImage {
  /** Copies its rows into empty tables. Call inside a transaction. */
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
  /** Sandbox milliseconds at which its next record falls due: from then on, seeding must carry out that change too. */
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

/** The image that the build wrote, with its dates moved to `now`; undefined if seeding has to make it. */
export type BuiltImage = (now: number) => SeedImage | undefined;

/** Reads the image that the build wrote of the package's fixtures, and the day that they were written for; undefined if there is none. */
export function readSeedImage(files: { image: string; about: string }, resources: readonly Resource[]): BuiltImage | undefined {
  if (!existsSync(files.image)) return undefined;
  const about = JSON.parse(readFileSync(files.about, "utf8")) as { asOf: string };
  const images = new Map<string, SeedImage>();
  const imageAt = (now: number) => {
    const dates = datesAt([about], now);
    return (
      images.get(dates) ??
      keep(
        images,
        dates,
        imageOf(() => moveDates(readFileSync(files.image), about.asOf, resources, now)),
      )
    );
  };
  // Dates move at midnight, and most sandboxes of a process are created on the same day.
  let last: { day: number; image: SeedImage } | undefined;
  return (now) => {
    if (now < EARLIEST || now > LATEST_PRESENT) return undefined;
    const day = Math.floor(now / DAY);
    if (last?.day !== day) last = { day, image: imageAt(now) };
    return last.image;
  };
}

const HOUR = 3_600_000;
/** Until 1996, the time of Portugal differed from today's by up to two hours, so due times would be too late. */
const EARLIEST = parseTime("2000-01-01") ?? 0;
const DAY = 24 * HOUR;

/**
 * Moves the dates of all records from the day `asOf` to `now`. Due times are an hour early, because summer time may shift them and the first use
 * of a time zone takes 15 ms. When a record is due, src/life computes the exact time from its date, and waits for it.
 */
function moveDates(image: Buffer, asOf: string, resources: readonly Resource[], now: number): Buffer {
  const shift = shiftTo(asOf, now);
  const units = new Map(resources.map(({ kind, datesMoveBy }) => [kind, datesMoveBy]));
  const sql = new Sqlite(image);
  const records = sql.prepare<[], DatedRow>("select sequence, kind, created, body, due from documents").all();
  const update = sql.prepare("update documents set created = ?, body = ?, due = ? where sequence = ?");
  const moveAll = sql.transaction(() => {
    for (const { sequence, kind, created, body, due } of records) {
      const unit = units.get(kind) ?? "weeks";
      const seconds = (time: number) => shiftSeconds(time, shift, unit);
      update.run(seconds(created), shiftJson(body, shift, unit), due && seconds(due / 1_000) * 1_000 - HOUR, sequence);
    }
  });
  moveAll();
  const moved = sql.serialize();
  sql.close();
  return moved;
}

interface DatedRow {
  sequence: number;
  kind: string;
  created: number;
  body: string;
  due: number | null;
}

/** A cache key that is equal for times to which the dates move alike. */
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
