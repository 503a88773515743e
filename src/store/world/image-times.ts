// Where the times of a seeded database stand in its bytes, so that a start can move them to the present without seeding again:
// rewriting 600 rows through SQLite takes ten milliseconds, overwriting their times takes one.

import Sqlite from "better-sqlite3";
import type { DateUnit, Resource } from "../../contracts/resource.ts";
import type { DueRecord } from "../records/due-records.ts";
import { isDay, shiftDay, shiftSeconds, shiftTo, timesIn } from "./date-shift.ts";
import type { Fixture } from "./fixtures.ts";

/** The times of the fixtures that were written for the same day, and that move by the same unit. */
export interface ImageTimes {
  asOf: string;
  unit: DateUnit;
  /** Unix seconds with their positions: as ten digits in the bodies, and as integers of four bytes in the column `created` and in its index; ascending. */
  seconds: [value: number, digits: number[], integers: number[]][];
  /** Days and months in the bodies, with their positions. */
  days: [text: string, positions: number[]][];
  /** The records that time takes to another state, and when. */
  due: DueRecord[];
}

/** Positions by value, while they are found. */
interface Positions extends Pick<ImageTimes, "asOf" | "unit" | "due"> {
  digits: Map<number, number[]>;
  integers: Map<number, number[]>;
  days: Map<string, number[]>;
}

interface DocumentRow {
  merchant: string;
  kind: string;
  id: string;
  created: number;
  status: string | null;
  body: string;
  due: number | null;
}

const HOUR = 3_600_000;
const INTEGER_BYTES = 4;
/** Unix seconds between these have ten digits, and SQLite stores them in four bytes: 2001 to 2038. */
const LEAST_SECONDS = 1_000_000_000;
const MOST_SECONDS = 2 ** 31 - 1;

/** The times of a database that was seeded with fixtures whose dates have not moved. */
export function findImageTimes(bytes: Buffer, fixtures: readonly Fixture[], resources: readonly Resource[]): ImageTimes[] {
  const writtenFor = new Map(fixtures.map(({ merchant, asOf }) => [merchant.id, asOf]));
  const units = new Map(resources.map(({ kind, datesMoveBy }) => [kind, datesMoveBy]));
  const groups = new Map<string, Positions>();
  for (const row of rowsIn(bytes)) {
    const asOf = writtenFor.get(row.merchant);
    const unit = units.get(row.kind);
    if (asOf === undefined || unit === undefined) continue;
    const group: Positions = groups.get(asOf + unit) ?? { asOf, unit, digits: new Map(), integers: new Map(), days: new Map(), due: [] };
    groups.set(asOf + unit, group);
    addTimesOf(row, bytes, group);
    const { merchant, kind, id, due } = row;
    if (due !== null) group.due.push({ merchant, kind, id, due });
  }
  return [...groups.values()].map(({ asOf, unit, digits, integers, days, due }) => {
    const values = [...new Set([...digits.keys(), ...integers.keys()])].sort((one, other) => one - other);
    const seconds = values.map((value): ImageTimes["seconds"][number] => [value, digits.get(value) ?? [], integers.get(value) ?? []]);
    return { asOf, unit, seconds, days: [...days], due };
  });
}

/** Whether all times keep their length when they move to `now`, in sandbox milliseconds. */
export const canMoveImage = (times: readonly ImageTimes[], now: number) =>
  times.every(({ asOf, unit, seconds }) => {
    const [first, last] = [seconds.at(0), seconds.at(-1)].map((entry) => shiftSeconds(entry?.[0] ?? 0, shiftTo(asOf, now), unit));
    return first !== undefined && last !== undefined && first >= LEAST_SECONDS && last <= MOST_SECONDS;
  });

/** Moves all times in the bytes to `now`, and returns the bytes. */
export function moveImage(moved: Buffer, times: readonly ImageTimes[], now: number): Buffer {
  for (const { asOf, unit, seconds, days } of times) {
    const shift = shiftTo(asOf, now);
    for (const [value, digits, integers] of seconds) {
      const shifted = shiftSeconds(value, shift, unit);
      const text = String(shifted);
      for (const position of digits) writeText(moved, text, position);
      for (const position of integers) writeInteger(moved, shifted, position);
    }
    for (const [day, positions] of days) {
      const shifted = shiftDay(day, shift, unit);
      for (const position of positions) writeText(moved, shifted, position);
    }
  }
  return moved;
}

/**
 * The due times at `now`, an hour early: the hour of a day depends on summer time, and the first use of a time zone takes 15 ms. Life on the
 * clock looks at the date itself when a record is due, and waits for the rest.
 */
export const dueTimesAt = (times: readonly ImageTimes[], now: number): DueRecord[] =>
  times.flatMap(({ asOf, unit, due }) => {
    const shift = shiftTo(asOf, now);
    return due.map((record) => ({ ...record, due: shiftSeconds(record.due / 1_000, shift, unit) * 1_000 - HOUR }));
  });

/** `Buffer.write` and `writeInt32BE` take three times as long in a process that has just started. */
function writeText(bytes: Buffer, text: string, position: number): void {
  for (let index = 0; index < text.length; index++) bytes[position + index] = text.charCodeAt(index);
}

function writeInteger(bytes: Buffer, value: number, position: number): void {
  for (let index = 0; index < INTEGER_BYTES; index++) bytes[position + index] = value >>> (24 - 8 * index);
}

function rowsIn(bytes: Buffer): DocumentRow[] {
  const sql = new Sqlite(bytes);
  try {
    return sql.prepare<[], DocumentRow>("select merchant, kind, id, created, status, body, due from documents").all();
  } finally {
    sql.close();
  }
}

/**
 * SQLite stores the columns of a row one after another, and the body unbroken while the row fits on a page. The free space of a page may
 * hold an old copy of a row, whose times move as well.
 */
function addTimesOf({ merchant, kind, created, status, body }: DocumentRow, bytes: Buffer, { digits, integers, days }: Positions): void {
  const bodies = positionsOf(Buffer.from(body), bytes);
  if (bodies.length === 0) throw new Error(`The image contains no ${kind} on one page with the body ${body.slice(0, 100)}.`);
  for (const { text, index } of timesIn(body)) {
    const positions = bodies.map((start) => start + Buffer.byteLength(body.slice(0, index)));
    if (isDay(text)) add(days, text, positions);
    else add(digits, Number(text), positions);
  }
  const key = Buffer.from(`${merchant}${kind}....`);
  key.writeInt32BE(created, key.length - INTEGER_BYTES);
  const columns = bodies.map((start) => start - Buffer.byteLength(status ?? "") - INTEGER_BYTES);
  const indexed = positionsOf(key, bytes).map((position) => position + key.length - INTEGER_BYTES);
  add(integers, created, [...columns, ...indexed]);
}

function positionsOf(needle: Buffer, bytes: Buffer): number[] {
  const positions: number[] = [];
  for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + 1)) positions.push(at);
  return positions;
}

function add<Value>(places: Map<Value, number[]>, value: Value, positions: readonly number[]): void {
  places.set(value, [...new Set([...(places.get(value) ?? []), ...positions])]);
}
