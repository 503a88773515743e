// A country's days, business days and times of day, in its main time zone.

import { memoize } from "./bounded-cache.ts";
import { isoTime, LATEST_TIME, parseTime, readAnyTime } from "./clock.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * One time zone per country: where a country has several, the zone of its largest business centre. Countries not listed
 * use UTC.
 */
const ZONES = new Map(
  (
    "AE:Asia/Dubai AO:Africa/Luanda AR:America/Argentina/Buenos_Aires AT:Europe/Vienna AU:Australia/Sydney " +
    "BD:Asia/Dhaka BE:Europe/Brussels BG:Europe/Sofia BR:America/Sao_Paulo CA:America/Toronto CH:Europe/Zurich " +
    "CI:Africa/Abidjan CL:America/Santiago CM:Africa/Douala CN:Asia/Shanghai CO:America/Bogota CY:Asia/Nicosia " +
    "CZ:Europe/Prague DE:Europe/Berlin DK:Europe/Copenhagen EE:Europe/Tallinn EG:Africa/Cairo ES:Europe/Madrid " +
    "ET:Africa/Addis_Ababa FI:Europe/Helsinki FR:Europe/Paris GB:Europe/London GH:Africa/Accra GR:Europe/Athens " +
    "HK:Asia/Hong_Kong HR:Europe/Zagreb HU:Europe/Budapest ID:Asia/Jakarta IE:Europe/Dublin IL:Asia/Jerusalem " +
    "IN:Asia/Kolkata IS:Atlantic/Reykjavik IT:Europe/Rome JP:Asia/Tokyo KE:Africa/Nairobi KR:Asia/Seoul " +
    "LT:Europe/Vilnius LU:Europe/Luxembourg LV:Europe/Riga MA:Africa/Casablanca MT:Europe/Malta " +
    "MX:America/Mexico_City MY:Asia/Kuala_Lumpur MZ:Africa/Maputo NG:Africa/Lagos NL:Europe/Amsterdam " +
    "NO:Europe/Oslo NZ:Pacific/Auckland PE:America/Lima PH:Asia/Manila PK:Asia/Karachi PL:Europe/Warsaw " +
    "PT:Europe/Lisbon RO:Europe/Bucharest RW:Africa/Kigali SA:Asia/Riyadh SE:Europe/Stockholm SG:Asia/Singapore " +
    "SI:Europe/Ljubljana SK:Europe/Bratislava SN:Africa/Dakar TH:Asia/Bangkok TN:Africa/Tunis TR:Europe/Istanbul " +
    "TW:Asia/Taipei TZ:Africa/Dar_es_Salaam UA:Europe/Kyiv UG:Africa/Kampala US:America/New_York " +
    "UY:America/Montevideo VN:Asia/Ho_Chi_Minh ZA:Africa/Johannesburg ZM:Africa/Lusaka"
  )
    .split(" ")
    .map((entry) => entry.split(":") as [string, string]),
);

/** The time of day in a country as sandbox milliseconds; undefined if `day` is invalid. `hour` may be a fraction. */
export function timeOfDay(country: string | null, day: string, hour: number): number | undefined {
  const start = parseTime(day);
  if (start === undefined) return undefined;
  const time = start + hour * HOUR;
  // Guesses with the offset at the same UTC time, then corrects the guess, because summer time may begin or end between
  // the two times.
  const guess = time - offsetAt(country, time);
  return Math.min(Math.max(time - offsetAt(country, guess), 0), LATEST_TIME);
}

/** The day in a country, such as 2026-01-05, at a time in sandbox milliseconds. */
export const dayAt = (country: string | null, time: number) => dayText(time + offsetAt(country, time));

/** Adds days, or subtracts them if `count` is negative. Returns an invalid day unchanged. */
export function addDays(day: string, count: number): string {
  const number = dayNumber(day);
  return Number.isNaN(number) ? day : dayText((number + count) * DAY);
}

/** Adds months. A day that the month does not have becomes its last day. Returns an invalid day unchanged. */
export function addMonths(day: string, count: number): string {
  const month = monthIndex(day) + count;
  if (Number.isNaN(month)) return day;
  return dayOfMonth(month, Math.min(Number(day.slice(8, 10)), daysIn(month)));
}

export const lastDayOf = (day: string) => dayOfMonth(monthIndex(day), daysIn(monthIndex(day)));

/** Months since the year 0. */
export const monthIndex = (day: string) => Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7)) - 1;

const FIRST_MONTH = monthIndex("1970-01");
const LAST_MONTH = monthIndex("9999-12");

/** A day of a month. Days outside the range of the clock become its first or last. */
export function dayOfMonth(month: number, day: number): string {
  if (month < FIRST_MONTH) return "1970-01-01";
  return month > LAST_MONTH ? "9999-12-31" : `${monthText(month)}-${pad(day)}`;
}

/** A month, such as 2026-01, within the range of the clock. */
export function monthText(index: number): string {
  const within = Math.min(Math.max(index, FIRST_MONTH), LAST_MONTH);
  return `${Math.floor(within / 12)}-${pad((within % 12) + 1)}`;
}

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

export function daysIn(month: number): number {
  const year = Math.floor(month / 12);
  const isLeapDay = month % 12 === 1 && year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return isLeapDay ? 29 : (DAYS[month % 12] as number);
}

const pad = (number: number) => String(number).padStart(2, "0");

/** The first day from Monday to Friday after this one. Public holidays are ignored. */
export function nextBusinessDay(day: string): string {
  const next = addDays(day, 1);
  return isWeekend(next) ? nextBusinessDay(next) : next;
}

/** The last day from Monday to Friday before this one. */
export function previousBusinessDay(day: string): string {
  const previous = addDays(day, -1);
  return isWeekend(previous) ? previousBusinessDay(previous) : previous;
}

/** The day itself, or the business day before it if it is on a weekend. */
export const businessDayUntil = (day: string) => (isWeekend(day) ? previousBusinessDay(day) : day);

/** The day itself, or the business day after it if it is on a weekend. */
export const businessDayFrom = (day: string) => (isWeekend(day) ? nextBusinessDay(day) : day);

/** Moves the times in these fields by `later` seconds. A time on a weekend moves to the business day before. */
export const businessTimes = (record: Readonly<Record<string, unknown>>, fields: readonly string[], later = 0) =>
  Object.fromEntries(
    fields.flatMap((field) =>
      typeof record[field] === "number" ? [[field, businessTime(record[field] + later)]] : [],
    ),
  );

const businessTime = (seconds: number) => seconds + daysToFriday(dayText(seconds * 1_000)) * (DAY / 1_000);
const daysToFriday = (day: string) => dayNumber(businessDayUntil(day)) - dayNumber(day);

/** Days since 1 January 1970; NaN for a text that is not a day. */
export const dayNumber = (day: string) => Math.floor(readAnyTime(day) / DAY);

// 1 January 1970 was a Thursday.
const isWeekend = (day: string) => [0, 6].includes((dayNumber(day) + 4) % 7);

const dayText = (time: number) => isoTime(Math.min(Math.max(time, 0), LATEST_TIME)).slice(0, 10);

/** The offset from UTC in milliseconds. */
function offsetAt(country: string | null, time: number): number {
  const zone = ZONES.get(country ?? "");
  if (zone === undefined) return 0;
  const hour = Math.floor(time / HOUR);
  return offsetOf(`${zone} ${hour}`, zone, hour);
}

/**
 * Cached per hour: Intl takes 10 µs for an offset and 100 µs for a new format, and an offset changes only on the hour.
 */
const offsetOf = memoize(1_000, (_, zone: string, hour: number) => readOffset(formatOf(zone), hour * HOUR));
const formatOf = memoize(
  ZONES.size,
  (zone) => new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" }),
);

/** Parses the offset in `1/5/2026, GMT+05:30`. UTC is written as `GMT` alone. */
function readOffset(format: Intl.DateTimeFormat, time: number): number {
  const [, sign = "", hours = 0, minutes = 0] = /GMT([+-])(\d\d):(\d\d)$/.exec(format.format(time)) ?? [];
  return (sign === "-" ? -1 : 1) * (Number(hours) * HOUR + Number(minutes) * MINUTE);
}
