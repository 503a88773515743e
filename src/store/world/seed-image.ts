// The freshly seeded fixtures as the bytes of a SQLite database, made once per process; new sandboxes start as a copy.
// Trick. Reason: seeding writes thousands of records. Figure: without the image, a start takes 1.4 times the CPU time.

import { existsSync, readFileSync } from "node:fs";
import Sqlite from "better-sqlite3";
import type { Resource } from "../../contracts/resource.ts";
import { memoize } from "../../kernel/bounded-cache.ts";
import { type Clock, machineTime, parseTime } from "../../kernel/clock.ts";
import { once, oncePerKey } from "../../kernel/once.ts";
import { createViews } from "../records/views.ts";
import type { DatabaseImage } from "../sqlite/database.ts";
import type { Stores } from "../stores.ts";
import { LATEST_PRESENT, shiftRecord, shiftTo } from "./date-shift.ts";
import type { Fixture } from "./fixtures.ts";
import { keptImage } from "./kept-image.ts";
import { openSeeder } from "./seed.ts";

/** A database with the views and every fixture in it. */
export type SeedImage = DatabaseImage;

interface SeedImageOptions {
  fixtures: readonly Fixture[];
  resources: readonly Resource[];
  seed: number;
  clock: Clock;
  /** Opens empty stores in memory that use the same seed and clock. */
  open(): Stores;
}

const MOST_CACHED = 8;

/**
 * For each list of fixtures, the images by seed and time: tests with a frozen clock create many sandboxes at one time.
 */
const seededImages = oncePerKey((_: readonly Fixture[]) =>
  memoize(MOST_CACHED, (_key, options: SeedImageOptions) => seededImage(options)),
);

export const getSeedImage = (options: SeedImageOptions): SeedImage =>
  seededImages(options.fixtures)(`${options.seed} ${options.clock.now()}`, options);

/**
 * Reads the image that the build made of the package's fixtures; undefined if there is none. Returns a function that
 * moves the image's dates to a time. That function returns undefined for a time at which the fixtures must be seeded
 * instead.
 */
export function readSeedImage(files: { image: string; about: string }, resources: readonly Resource[]) {
  if (!existsSync(files.image)) return undefined;
  const { asOf, build } = JSON.parse(readFileSync(files.about, "utf8")) as { asOf: string; build: string };
  // Most sandboxes of a process are created on one day, and dates move by whole days.
  const moved = memoize(MOST_CACHED, (shift: string, now: number) => {
    const make = () => moveDates(readFileSync(files.image), asOf, resources, now);
    const isToday = shift === JSON.stringify(shiftTo(asOf, parseTime(machineTime()) ?? 0));
    return imageOf(isToday ? () => keptImage(`${build}-${shiftTo(asOf, now).days}`, make) : make);
  });
  return (now: number): SeedImage | undefined =>
    now < EARLIEST || now > LATEST_PRESENT ? undefined : moved(JSON.stringify(shiftTo(asOf, now)), now);
}

const HOUR = 3_600_000;
/** Until 1996, the time of Portugal differed from today's by up to two hours, so due times would be too late. */
const EARLIEST = parseTime("2000-01-01") ?? 0;

/**
 * Moves the dates of all records from the day `asOf` to `now`. Due times are set an hour early: summer time may shift
 * them, and the first use of a time zone takes 15 ms. When a record is due, src/life computes the exact time from its
 * date, and waits for it.
 */
function moveDates(image: Buffer, asOf: string, resources: readonly Resource[], now: number): Buffer {
  const shift = shiftTo(asOf, now);
  const kinds = new Map(resources.map((resource) => [resource.kind, resource]));
  const sql = new Sqlite(image);
  const records = sql.prepare<[], DatedRow>("select sequence, merchant, kind, created, body, due from documents").all();
  const settings = new Map(
    records
      .filter(({ kind }) => kind === "statutory_settings")
      .map(({ merchant, body }) => [merchant, JSON.parse(body)]),
  );
  const update = sql.prepare("update documents set created = ?, body = ?, due = ? where sequence = ?");
  const moveAll = sql.transaction(() => {
    for (const { sequence, merchant, kind, created, body, due } of records) {
      const moved = shiftRecord(body, shift, kinds.get(kind) as Resource, settings.get(merchant));
      update.run(moved.created(created), moved.json, due && moved.due(due / 1_000) * 1_000 - HOUR, sequence);
    }
  });
  moveAll();
  const moved = sql.serialize();
  sql.close();
  return moved;
}

type DatedRow = Record<"merchant" | "kind" | "body", string> &
  Record<"sequence" | "created", number> & { due: number | null };

function seededImage({ fixtures, resources, clock, open }: SeedImageOptions): SeedImage {
  const stores = open();
  try {
    createViews(stores.database, resources);
    const { seed } = openSeeder(stores, resources, clock);
    stores.database.transaction(() => {
      for (const fixture of fixtures) {
        const { id, apiKey: key, email } = fixture.merchant;
        seed(fixture, { id, key, email, place: null });
      }
    });
    const bytes = stores.database.sql.serialize();
    return imageOf(() => bytes);
  } finally {
    stores.close();
  }
}

/** Makes the bytes at their first use, because many tests create a sandbox and end before they call it. */
function imageOf(make: () => Buffer): SeedImage {
  const bytes = once(make);
  return {
    get bytes() {
      return bytes();
    },
  };
}
