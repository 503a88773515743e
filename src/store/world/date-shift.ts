// Moves the dates of a fixture from the day it was written for to the present of the sandbox clock, by whole weeks or whole months.

import type { DateUnit } from "../../contracts/resource.ts";
import { isoTime, LATEST_TIME, parseTime } from "../../kernel/clock.ts";

/** How far the dates of a fixture move. */
export type DateShift = Readonly<Record<DateUnit, number>>;

const DAY = 86_400_000;
const WEEK = 7 * DAY;

/** The most weeks, and the most months, after which the day `asOf` still is not later than `now` in sandbox milliseconds. */
export function shiftTo(asOf: string, now: number): DateShift {
  const start = parseTime(asOf) ?? 0;
  const months = monthIndex(isoTime(now)) - monthIndex(asOf);
  const isLater = (parseTime(addMonths(asOf, months)) ?? 0) > now;
  return { weeks: Math.floor((now - start) / WEEK), months: isLater ? months - 1 : months };
}

/**
 * Ids, which do not move, and what does: Unix seconds in fields such as `created` and `paidAt`, and days and months in any text, such as
 * `2025-10-31` and `2025-10`.
 */
const TIMES =
  /"(?:id|\w*Id)":"[^"]*"|"(?:created|updated|at|\w+At)":(\d+)|(?<![\w-])(\d{4}-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)(?=T\d|[^\w-])/g;

/** The Unix seconds, days and months in a record as JSON, with their positions. */
export function* timesIn(json: string): Generator<{ text: string; index: number }> {
  for (const match of json.matchAll(TIMES)) {
    const text = match[1] ?? match[2];
    if (text !== undefined) yield { text, index: match.index + match[0].length - text.length };
  }
}

/** A record as JSON with its times moved. */
export function shiftJson(json: string, shift: DateShift, unit: DateUnit): string {
  let shifted = "";
  let end = 0;
  for (const { text, index } of timesIn(json)) {
    shifted += json.slice(end, index) + shiftTime(text, shift, unit);
    end = index + text.length;
  }
  return shifted + json.slice(end);
}

/** One of the texts that `timesIn` finds. Months, such as `2025-10`, always move by months. */
export function shiftTime(text: string, { weeks, months }: DateShift, unit: DateUnit): string {
  if (!text.includes("-"))
    return String(unit === "weeks" ? Math.max(0, Number(text) + (weeks * WEEK) / 1_000) : laterSeconds(text, months));
  if (text.length === "2025-10".length) return monthText(monthIndex(text) + months);
  if (unit === "months") return addMonths(text, months);
  const day = parseTime(text);
  return day === undefined ? text : isoTime(Math.min(Math.max(day + weeks * WEEK, 0), LATEST_TIME)).slice(0, 10);
}

/** The same day of another month. The last day of a month stays the last; a day that the month lacks becomes its last. */
function addMonths(day: string, months: number): string {
  const month = monthIndex(day) + months;
  const number = Number(day.slice(8, 10));
  const isLast = number === daysIn(monthIndex(day));
  return `${monthText(month)}-${pad(isLast ? daysIn(month) : Math.min(number, daysIn(month)))}`;
}

/** A time on a day that the month lacks becomes the end of the month, so that times stay in their order. */
function laterSeconds(seconds: string, months: number): number {
  const time = isoTime(Math.min(Number(seconds) * 1_000, LATEST_TIME));
  const month = monthIndex(time) + months;
  const number = Number(time.slice(8, 10));
  const isMissing = number > daysIn(month);
  const moved = parseTime(`${monthText(month)}-${pad(isMissing ? daysIn(month) : number)}T${isMissing ? "23:59:59Z" : time.slice(11)}`);
  return Math.floor((moved ?? 0) / 1_000);
}

/** Months since the year 0. */
const monthIndex = (text: string) => Number(text.slice(0, 4)) * 12 + Number(text.slice(5, 7)) - 1;

const FIRST_MONTH = monthIndex("1970-01");
const LAST_MONTH = monthIndex("9999-12");

function monthText(index: number): string {
  const within = Math.min(Math.max(index, FIRST_MONTH), LAST_MONTH);
  return `${Math.floor(within / 12)}-${pad((within % 12) + 1)}`;
}

function daysIn(month: number): number {
  const year = Math.floor(month / 12);
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month % 12] as number;
}

const pad = (number: number) => String(number).padStart(2, "0");
