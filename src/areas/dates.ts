// The days and hours at which time takes a record to its next state, in the time zone of its merchant.

import type { Arrival, OwnRecords, RecordBase } from "../contracts/resource.ts";
import { dayAt, timeOfDay } from "../kernel/calendar.ts";
import { merchants } from "./merchants.ts";

type Waiting = Pick<Arrival<RecordBase>, "record" | "own">;

/** Hours of the day in the merchant's time zone. */
const HOURS = { midnight: 0, morning: 8, opening: 9, checkOut: 11, checkIn: 15 };

/** The next state of a record at an hour of a day; undefined without that day. */
export function onDay<S extends string>(
  { record, own }: Waiting,
  day: string | null,
  hour: keyof typeof HOURS,
  status: S,
): { at: number; status: S } | undefined {
  const at = day === null ? undefined : timeOfDay(countryOf(record, own), day, HOURS[hour]);
  return at === undefined ? undefined : { at, status };
}

/** The merchant's day at a time in Unix seconds. */
export const homeDay = ({ record, own }: Waiting, seconds: number) => dayAt(countryOf(record, own), seconds * 1000);

const countryOf = ({ merchantId }: RecordBase, own: OwnRecords) => own(merchants).find(merchantId)?.country ?? null;
