// Moves the dates of a fixture from the day it was written for to the present of the sandbox clock, by whole weeks or whole months.

import type { DateUnit } from "../../contracts/resource.ts";
import { addDays, dayOfMonth, daysIn, monthIndex, monthText } from "../../kernel/calendar.ts";
import { isoTime, LATEST_TIME, parseTime } from "../../kernel/clock.ts";

/** How far the dates of a fixture move. */
export type DateShift = Readonly<Record<DateUnit, number>>;

const DAY = 86_400_000;
const WEEK = 7 * DAY;

/**
 * Two years from either end of the calendar: nearer to it, the dates of a fixture would not fit, and two different ones could become equal. With
 * such a clock, the records stay that far away from it.
 */
const EARLIEST_PRESENT = parseTime("1972-01-01") ?? 0;
export const LATEST_PRESENT = parseTime("9998-01-01") ?? 0;

/** The most weeks, and the most months, after which the day `asOf` still is not later than `clock` in sandbox milliseconds. */
export function shiftTo(asOf: string, clock: number): DateShift {
  const now = Math.min(Math.max(clock, EARLIEST_PRESENT), LATEST_PRESENT);
  const start = parseTime(asOf) ?? 0;
  const months = monthIndex(isoTime(now)) - monthIndex(asOf);
  const isLater = (parseTime(moveMonths(asOf, months)) ?? 0) > now;
  return { weeks: Math.floor((now - start) / WEEK), months: isLater ? months - 1 : months };
}

/**
 * Ids, which do not move, and what does: Unix seconds in fields such as `created` and `paidAt`, and days and months in any text, such as
 * `2025-10-31` and `2025-10`.
 */
const TIMES =
  /"(?:id|\w*Id)":"[^"]*"|"(?:created|updated|at|\w+At)":(\d+)|(?<![\w-])(\d{4}-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)(?=T\d|[^\w-])/g;

/** The Unix seconds, days and months in a record as JSON, with their positions. */
function* timesIn(json: string): Generator<{ text: string; index: number }> {
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

/** One of the texts that `timesIn` finds. */
export const shiftTime = (text: string, shift: DateShift, unit: DateUnit): string =>
  isDay(text) ? shiftDay(text, shift, unit) : String(shiftSeconds(Number(text), shift, unit));

/** Whether one of the texts that `timesIn` finds is a day or a month, not Unix seconds. */
const isDay = (text: string) => text.includes("-");

/** Unix seconds, never below zero. */
export function shiftSeconds(seconds: number, { weeks, months }: DateShift, unit: DateUnit): number {
  return unit === "weeks" ? Math.max(0, seconds + (weeks * WEEK) / 1_000) : laterSeconds(seconds, months);
}

/** A day, such as `2025-10-31`, or a month, such as `2025-10`, which always moves by months. */
export function shiftDay(text: string, { weeks, months }: DateShift, unit: DateUnit): string {
  if (text.length === "2025-10".length) return monthText(monthIndex(text) + months);
  return unit === "weeks" ? addDays(text, weeks * 7) : moveMonths(text, months);
}

/** The same day of another month. The last day of a month stays the last; a day that the month lacks becomes its last. */
function moveMonths(day: string, months: number): string {
  const month = monthIndex(day) + months;
  const number = Number(day.slice(8, 10));
  const isLast = number === daysIn(monthIndex(day));
  return dayOfMonth(month, isLast ? daysIn(month) : Math.min(number, daysIn(month)));
}

/** A time on a day that the month lacks becomes the end of the month, so that times stay in their order. */
function laterSeconds(seconds: number, months: number): number {
  const time = isoTime(Math.min(seconds * 1_000, LATEST_TIME));
  const month = monthIndex(time) + months;
  const number = Number(time.slice(8, 10));
  const isMissing = number > daysIn(month);
  const moved = parseTime(`${dayOfMonth(month, isMissing ? daysIn(month) : number)}T${isMissing ? "23:59:59Z" : time.slice(11)}`);
  return Math.floor((moved ?? 0) / 1_000);
}
