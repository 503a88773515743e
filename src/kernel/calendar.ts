// The calendar of a country: its days, business days and times of day, in the time zone of its business.

import { memoize } from "./bounded-cache.ts";
import { isoTime, LATEST_TIME, parseTime } from "./clock.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** One time zone per country: of several, that of its largest business centre. Other countries use UTC. */
const ZONES = new Map(
  (
    "AE:Asia/Dubai AO:Africa/Luanda AR:America/Argentina/Buenos_Aires AT:Europe/Vienna AU:Australia/Sydney BD:Asia/Dhaka BE:Europe/Brussels " +
    "BG:Europe/Sofia BR:America/Sao_Paulo CA:America/Toronto CH:Europe/Zurich CI:Africa/Abidjan CL:America/Santiago CM:Africa/Douala " +
    "CN:Asia/Shanghai CO:America/Bogota CY:Asia/Nicosia CZ:Europe/Prague DE:Europe/Berlin DK:Europe/Copenhagen EE:Europe/Tallinn " +
    "EG:Africa/Cairo ES:Europe/Madrid ET:Africa/Addis_Ababa FI:Europe/Helsinki FR:Europe/Paris GB:Europe/London GH:Africa/Accra " +
    "GR:Europe/Athens HK:Asia/Hong_Kong HR:Europe/Zagreb HU:Europe/Budapest ID:Asia/Jakarta IE:Europe/Dublin IL:Asia/Jerusalem " +
    "IN:Asia/Kolkata IS:Atlantic/Reykjavik IT:Europe/Rome JP:Asia/Tokyo KE:Africa/Nairobi KR:Asia/Seoul LT:Europe/Vilnius " +
    "LU:Europe/Luxembourg LV:Europe/Riga MA:Africa/Casablanca MT:Europe/Malta MX:America/Mexico_City MY:Asia/Kuala_Lumpur " +
    "MZ:Africa/Maputo NG:Africa/Lagos NL:Europe/Amsterdam NO:Europe/Oslo NZ:Pacific/Auckland PE:America/Lima PH:Asia/Manila " +
    "PK:Asia/Karachi PL:Europe/Warsaw PT:Europe/Lisbon RO:Europe/Bucharest RW:Africa/Kigali SA:Asia/Riyadh SE:Europe/Stockholm " +
    "SG:Asia/Singapore SI:Europe/Ljubljana SK:Europe/Bratislava SN:Africa/Dakar TH:Asia/Bangkok TN:Africa/Tunis TR:Europe/Istanbul " +
    "TW:Asia/Taipei TZ:Africa/Dar_es_Salaam UA:Europe/Kyiv UG:Africa/Kampala US:America/New_York UY:America/Montevideo " +
    "VN:Asia/Ho_Chi_Minh ZA:Africa/Johannesburg ZM:Africa/Lusaka"
  )
    .split(" ")
    .map((entry) => entry.split(":") as [string, string]),
);

/** The time of day in a country as sandbox milliseconds; undefined for a day that is none. `hour` may be a fraction. */
export function timeOfDay(country: string | null, day: string, hour: number): number | undefined {
  const start = parseTime(day);
  if (start === undefined) return undefined;
  const time = start + hour * HOUR;
  // The offset is that of the local time: the first guess may lie on the other side of a change to summer time.
  const guess = time - offsetAt(country, time);
  return Math.min(Math.max(time - offsetAt(country, guess), 0), LATEST_TIME);
}

/** The day in a country, such as 2026-01-05, at a time in sandbox milliseconds. */
export const dayAt = (country: string | null, time: number) => dayText(time + offsetAt(country, time));

/** The day this many days later, or earlier; a text that is no day stays as it is. */
export function addDays(day: string, count: number): string {
  const start = parseTime(day);
  return start === undefined ? day : dayText(start + count * DAY);
}

/** The same day of the month so many months later, or the last day of a shorter month. */
export function addMonths(day: string, count: number): string {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  const first = parseTime(`${monthText(year, month - 1 + count)}-01`) ?? 0;
  const next = parseTime(`${monthText(year, month + count)}-01`) ?? 0;
  return dayText(Math.min(first + (date - 1) * DAY, next - DAY));
}

/** `2026-02` for the year 2025 and the month 13, counted from 0. */
const monthText = (year: number, month: number) =>
  `${String(year + Math.floor(month / 12)).padStart(4, "0")}-${String((((month % 12) + 12) % 12) + 1).padStart(2, "0")}`;

/** The first day from Monday to Friday after this one; public holidays are not known. */
export function nextBusinessDay(day: string): string {
  const next = addDays(day, 1);
  return isWeekend(next) ? nextBusinessDay(next) : next;
}

/** The last day from Monday to Friday before this one. */
export function previousBusinessDay(day: string): string {
  const previous = addDays(day, -1);
  return isWeekend(previous) ? previousBusinessDay(previous) : previous;
}

/** Days since 1 January 1970, which was a Thursday. */
export const dayNumber = (day: string) => Math.floor((parseTime(day) ?? 0) / DAY);

const isWeekend = (day: string) => [0, 6].includes((dayNumber(day) + 4) % 7);

const dayText = (time: number) => isoTime(Math.min(Math.max(time, 0), LATEST_TIME)).slice(0, 10);

/** The offset from UTC in milliseconds. */
function offsetAt(country: string | null, time: number): number {
  const zone = ZONES.get(country ?? "");
  if (zone === undefined) return 0;
  const hour = Math.floor(time / HOUR);
  return offsetOf(`${zone} ${hour}`, zone, hour);
}

/** Intl takes ten microseconds for an offset, and a hundred for a new format. Offsets change on the hour at the earliest. */
const offsetOf = memoize(1_000, (_, zone: string, hour: number) => readOffset(formatOf(zone), hour * HOUR));
const formatOf = memoize(ZONES.size, (zone) => new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" }));

/** The format writes `1/5/2026, GMT+05:30`, or `GMT` alone for none. */
function readOffset(format: Intl.DateTimeFormat, time: number): number {
  const [, sign = "", hours = 0, minutes = 0] = /GMT([+-])(\d\d):(\d\d)$/.exec(format.format(time)) ?? [];
  return (sign === "-" ? -1 : 1) * (Number(hours) * HOUR + Number(minutes) * MINUTE);
}
