// Numbers, durations and times as text.

import { isoTime, parseTime } from "../../src/kernel/clock.ts";

const grouped = new Intl.NumberFormat("en");

/** `13,259`. */
export const count = (value: number): string => grouped.format(value);

/** `1 attempt`, `3 attempts`. */
export const counted = (value: number, noun: string): string => `${count(value)} ${noun}${value === 1 ? "" : "s"}`;

/** A measured time: `1.2 ms`, `940 ms`, `12.5 s`. */
export function duration(ms: number): string {
  if (ms < 100) return `${ms.toFixed(1)} ms`;
  if (ms < 10_000) return `${count(Math.round(ms))} ms`;
  return `${count(Math.round(ms / 100) / 10)} s`;
}

/** A remaining time: `4 s`, `9:41`, `23 h`, `6 d`. */
export function countdown(seconds: number): string {
  const left = Math.max(0, Math.ceil(seconds));
  if (left < 60) return `${left} s`;
  if (left < 3_600) return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  if (left < 48 * 3_600) return `${Math.round(left / 3_600)} h`;
  return `${count(Math.round(left / 86_400))} d`;
}

/** The milliseconds of an ISO time. */
export const milliseconds = (iso: string) => parseTime(iso) ?? 0;

/** `09:12:44.130`. */
export const timeOfDay = (time: number) => isoTime(time).slice(11, 23);

/** `2026-01-05 09:12:44.130`. */
export const dateTime = (time: number) => isoTime(time).slice(0, 23).replace("T", " ");

/** `2026-01-05 09:12:44`. */
export const dateTimeToSecond = (time: number) => dateTime(time).slice(0, 19);
