// Moves the dates of a fixture from the day it was written for to the present of the sandbox clock, by whole days,
// weeks or months.

import type { AnyRecord, DateUnit, Resource } from "../../contracts/resource.ts";
import { memoize } from "../../kernel/bounded-cache.ts";
import { addDays, addMonths, dayOfMonth, daysIn, lastDayOf, monthIndex, monthText } from "../../kernel/calendar.ts";
import { isoTime, LATEST_TIME, parseTime } from "../../kernel/clock.ts";
import type { Fixture, FixtureMerchant, FixtureRecord } from "./fixtures.ts";

/** How far the dates of a fixture move. */
export type DateShift = Readonly<Record<"days" | "weeks" | "months", number>>;

/** The length in months of the units that are whole numbers of months. */
const MONTHS: Readonly<Partial<Record<DateUnit, number>>> = { months: 1, quarters: 3, "half-years": 6 };

/** How many units of dates there are. */
const UNITS = 5;

const DAY = 86_400_000;
const WEEK = 7 * DAY;

/**
 * Dates stay two years away from both ends of the calendar, even if the clock is closer to one. Otherwise, the dates of
 * a fixture would not fit, and two different dates could become equal.
 */
const EARLIEST_PRESENT = parseTime("1972-01-01") ?? 0;
export const LATEST_PRESENT = parseTime("9998-01-01") ?? 0;

/**
 * The most days, weeks and months by which the day `asOf` can move without being later than `clock`, in sandbox
 * milliseconds.
 */
export function shiftTo(asOf: string, clock: number): DateShift {
  const now = Math.min(Math.max(clock, EARLIEST_PRESENT), LATEST_PRESENT);
  const start = parseTime(asOf) ?? 0;
  const months = monthIndex(isoTime(now)) - monthIndex(asOf);
  const isLater = (parseTime(moveMonths(asOf, months)) ?? 0) > now;
  return {
    days: Math.floor((now - start) / DAY),
    weeks: Math.floor((now - start) / WEEK),
    months: isLater ? months - 1 : months,
  };
}

/**
 * Matches the times that move: Unix seconds in fields such as `created` and `paidAt`, and days and months in any text,
 * such as `2025-10-31` and `2025-10`. Ids are matched first, so that no date is found in them: they do not move.
 */
const TIMES =
  /"(?:id|\w*Id)":"[^"]*"|"(?:created|updated|at|\w+At)":(\d+)|(?<![\w-])(\d{4}-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)(?=T\d|[^\w-])/g;

/** A record as JSON with its times moved. */
export const shiftJson = (json: string, shift: DateShift, unit: DateUnit): string =>
  json.replace(TIMES, (found, seconds: string | undefined, day: string | undefined) => {
    if (day !== undefined) return shiftDay(day, shift, unit);
    return seconds === undefined ? found : found.slice(0, -seconds.length) + shiftSeconds(Number(seconds), shift, unit);
  });

interface DatedKind extends Pick<Resource, "datesMoveBy" | "fitDates"> {}

/** `fitDates` moves a date by at most a weekend. */
const WEEKEND = 2 * 86_400;

/**
 * Moves a record as JSON. `due` moves the time at which a change is due; its result may be too early, but never too
 * late.
 */
export function shiftRecord(
  json: string,
  shift: DateShift,
  { datesMoveBy, fitDates }: DatedKind,
  settings: FixtureRecord = {},
) {
  const unit = typeof datesMoveBy === "string" ? datesMoveBy : datesMoveBy(JSON.parse(json));
  const seconds = (time: number) => shiftSeconds(time, shift, unit);
  const moved = shiftJson(json, shift, unit);
  if (fitDates === undefined) return { json: moved, created: seconds, due: seconds };
  const record = JSON.parse(moved) as AnyRecord;
  const fits = fitDates({ written: JSON.parse(json), moved: record, settings });
  const fitted = { ...record, ...fits };
  const isEarlier = Object.keys(fits).some((field) => String(fitted[field]) < String(record[field]));
  return {
    json: JSON.stringify(fitted),
    created: () => fitted.created,
    due: (time: number) => seconds(time) - (isEarlier ? WEEKEND : 0),
  };
}

const monthsOf = ({ months }: DateShift, unit: DateUnit) => {
  const length = MONTHS[unit] ?? 1;
  return Math.floor(months / length) * length;
};
const daysOf = ({ days, weeks }: DateShift, unit: DateUnit) => (unit === "days" ? days : weeks * 7);

/** Unix seconds, never below zero. */
export function shiftSeconds(seconds: number, shift: DateShift, unit: DateUnit): number {
  return unit in MONTHS
    ? laterSeconds(seconds, monthsOf(shift, unit))
    : Math.max(0, seconds + (daysOf(shift, unit) * DAY) / 1_000);
}

/** A day, such as `2025-10-31`, or a month, such as `2025-10`, which always moves by months. */
export function shiftDay(text: string, shift: DateShift, unit: DateUnit): string {
  if (text.length === "2025-10".length) return monthText(monthIndex(text) + monthsOf(shift, unit));
  return unit in MONTHS ? moveMonths(text, monthsOf(shift, unit)) : addDays(text, daysOf(shift, unit));
}

/** Moves a day by months. The last day of a month stays the last; a day that the new month lacks becomes its last. */
const moveMonths = (day: string, months: number): string => {
  const moved = addMonths(day, months);
  return day === lastDayOf(day) ? lastDayOf(moved) : moved;
};

/**
 * Moves a time by months. A time on a day that the month lacks becomes the end of the month, so that times stay in
 * order.
 */
function laterSeconds(seconds: number, months: number): number {
  const time = isoTime(Math.min(seconds * 1_000, LATEST_TIME));
  const month = monthIndex(time) + months;
  const number = Number(time.slice(8, 10));
  const isMissing = number > daysIn(month);
  const moved = parseTime(
    `${dayOfMonth(month, isMissing ? daysIn(month) : number)}T${isMissing ? "23:59:59Z" : time.slice(11)}`,
  );
  return Math.floor((moved ?? 0) / 1_000);
}

/** The last result for each fixture, because tests create many merchants from the same fixture. */
const cache = new WeakMap<Fixture, { shift: DateShift; dated: Fixture }>();

/** The fixture with its dates moved to `now`, in sandbox milliseconds. Without `asOf`, its dates do not move. */
export function fixtureAt(fixture: Fixture, kinds: ReadonlyMap<string, Resource>, now: number): Fixture {
  if (fixture.asOf === undefined) return fixture;
  const shift = shiftTo(fixture.asOf, now);
  const known = cache.get(fixture);
  if (known?.shift.days === shift.days) return known.dated;
  const dated = shifted(fixture, kinds, shift);
  cache.set(fixture, { shift, dated });
  return dated;
}

/**
 * Returns a function of a record: the start of the fixture's day `asOf`, moved like the dates of the record, in sandbox
 * milliseconds. The function returns undefined if the fixture has no `asOf`.
 */
export function startsOfFixture(
  { asOf }: Fixture,
  now: number,
): (resource: Resource, record: FixtureRecord) => number | undefined {
  if (asOf === undefined) return () => undefined;
  const shift = shiftTo(asOf, now);
  const startBy = memoize(UNITS, (unit) => parseTime(shiftDay(asOf, shift, unit as DateUnit)));
  return ({ datesMoveBy }, record) => startBy(typeof datesMoveBy === "string" ? datesMoveBy : datesMoveBy(record));
}

function shifted(fixture: Fixture, kinds: ReadonlyMap<string, Resource>, shift: DateShift): Fixture {
  if (shift.days === 0) return fixture;
  const [settings] = fixture.records.statutory_settings ?? [];
  const move = (record: FixtureRecord, kind: DatedKind) =>
    JSON.parse(shiftRecord(JSON.stringify(record), shift, kind, settings).json) as FixtureRecord;
  const { apiKey, password, ...profile } = fixture.merchant;
  const lists = Object.entries(fixture.records).map(([kind, records]) => {
    const resource = kinds.get(kind) ?? { datesMoveBy: "weeks" };
    return [kind, records.map((record) => move(record, resource))] as const;
  });
  const merchant = { ...move(profile, { datesMoveBy: "weeks" }), apiKey, password } as FixtureMerchant;
  return { ...fixture, merchant, records: Object.fromEntries(lists) };
}
