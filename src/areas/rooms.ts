// Room availability: finds nights in which all of a merchant's rooms of a type are taken.

import { addDays } from "../kernel/calendar.ts";
import type { Static } from "../schema/shapes.ts";
import type { roomTypes } from "./merchants.ts";

export type RoomType = Static<typeof roomTypes>[number];

export type Nights = Record<"roomTypeId" | "checkIn" | "checkOut", string | null>;

/** The first night from `checkIn` to `checkOut` in which the other stays take all rooms of the type. */
export const fullNight = (
  { id, rooms }: RoomType,
  checkIn: string,
  checkOut: string,
  others: readonly Nights[],
): string | undefined => {
  const stays = others.filter(({ roomTypeId }) => roomTypeId === id);
  const isIn = (night: string) => (stay: Nights) => (stay.checkIn ?? "9") <= night && night < (stay.checkOut ?? "");
  return nightsOf(checkIn, checkOut).find((night) => stays.filter(isIn(night)).length >= rooms);
};

const MOST_NIGHTS = 1_000;

export function nightsOf(checkIn: string, checkOut: string): string[] {
  const nights: string[] = [];
  for (let night = checkIn; night < checkOut && nights.length < MOST_NIGHTS; night = addDays(night, 1))
    nights.push(night);
  return nights;
}
