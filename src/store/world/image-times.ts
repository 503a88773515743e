// Where the times of a seeded database stand in its bytes, so that a start can move them to the present without seeding again:
// rewriting 600 rows through SQLite takes ten milliseconds, overwriting their times takes one.

import Sqlite from "better-sqlite3";
import type { DateUnit, Resource } from "../../contracts/resource.ts";
import { shiftTime, shiftTo, timesIn } from "./date-shift.ts";
import type { Fixture } from "./fixtures.ts";

/** The times of the fixtures that were written for the same day, and that move by the same unit. */
export interface ImageTimes {
  asOf: string;
  unit: DateUnit;
  /** The positions of each text in the bodies, such as `2025-10-31` or `1765881803`. */
  texts: Record<string, number[]>;
  /** The positions of the same Unix seconds as integers of four bytes, in the column `created` and in its index. */
  integers: Record<string, number[]>;
}

interface DocumentRow {
  merchant: string;
  kind: string;
  created: number;
  status: string | null;
  body: string;
}

const INTEGER_BYTES = 4;
/** SQLite stores integers between these in four bytes. */
const LEAST_INTEGER = 2 ** 23;
const MOST_INTEGER = 2 ** 31 - 1;

/** The times of a database that was seeded with fixtures whose dates have not moved. */
export function findImageTimes(bytes: Buffer, fixtures: readonly Fixture[], resources: readonly Resource[]): ImageTimes[] {
  const days = new Map(fixtures.map(({ merchant, asOf }) => [merchant.id, asOf]));
  const units = new Map(resources.map(({ kind, datesMoveBy }) => [kind, datesMoveBy]));
  const groups = new Map<string, ImageTimes>();
  const groupOf = ({ merchant, kind }: DocumentRow) => {
    const asOf = days.get(merchant);
    const unit = units.get(kind);
    if (asOf === undefined || unit === undefined) return undefined;
    const group = groups.get(asOf + unit) ?? { asOf, unit, texts: {}, integers: {} };
    groups.set(asOf + unit, group);
    return group;
  };
  for (const row of rowsIn(bytes)) {
    const group = groupOf(row);
    if (group) addTimesOf(row, bytes, group);
  }
  return [...groups.values()];
}

/** The bytes with all times moved to `now`, in sandbox milliseconds; undefined if a moved time would have another length. */
export function moveImage(bytes: Buffer, times: readonly ImageTimes[], now: number): Buffer | undefined {
  const moved = Buffer.from(bytes);
  for (const { asOf, unit, texts, integers } of times) {
    const shift = shiftTo(asOf, now);
    for (const [text, positions] of Object.entries(texts)) {
      const shifted = shiftTime(text, shift, unit);
      if (shifted.length !== text.length) return undefined;
      for (const position of positions) moved.write(shifted, position, "latin1");
    }
    for (const [text, positions] of Object.entries(integers)) {
      const shifted = Number(shiftTime(text, shift, unit));
      if (shifted < LEAST_INTEGER || shifted > MOST_INTEGER) return undefined;
      for (const position of positions) moved.writeUInt32BE(shifted, position);
    }
  }
  return moved;
}

function rowsIn(bytes: Buffer): DocumentRow[] {
  const sql = new Sqlite(bytes);
  try {
    return sql.prepare<[], DocumentRow>("select merchant, kind, created, status, body from documents").all();
  } finally {
    sql.close();
  }
}

/**
 * SQLite stores the columns of a row one after another, and the body unbroken while the row fits on a page. The free space of a page may
 * hold an old copy of a row, whose times move as well.
 */
function addTimesOf({ merchant, kind, created, status, body }: DocumentRow, bytes: Buffer, { texts, integers }: ImageTimes): void {
  const bodies = positionsOf(Buffer.from(body), bytes);
  if (bodies.length === 0) throw new Error(`The image contains no ${kind} on one page with the body ${body.slice(0, 100)}.`);
  for (const { text, index } of timesIn(body))
    for (const start of bodies) add(texts, text, start + Buffer.byteLength(body.slice(0, index)));
  const key = Buffer.from(`${merchant}${kind}....`);
  key.writeUInt32BE(created, key.length - INTEGER_BYTES);
  const columns = bodies.map((start) => start - Buffer.byteLength(status ?? "") - INTEGER_BYTES);
  const indexed = positionsOf(key, bytes).map((position) => position + key.length - INTEGER_BYTES);
  for (const position of [...columns, ...indexed]) add(integers, String(created), position);
}

function positionsOf(needle: Buffer, bytes: Buffer): number[] {
  const positions: number[] = [];
  for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + 1)) positions.push(at);
  return positions;
}

function add(places: Record<string, number[]>, text: string, position: number): void {
  const known = places[text] ?? [];
  places[text] = known;
  if (!known.includes(position)) known.push(position);
}
