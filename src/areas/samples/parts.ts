// Parts that the sample records share: an earlier record to resemble, the next number of a series, a customer.

import type { AnyRecord, SampleContext } from "../../contracts/resource.ts";
import { parseTime } from "../../kernel/clock.ts";

/** One of the merchant's newest records of a kind: a new record resembles it, so that it fits the merchant's business. */
export const earlier = ({ newest, pick }: SampleContext, kind: string): Partial<AnyRecord> => pick(`earlier ${kind}`, newest(kind)) ?? {};

export const textOf = (value: unknown, otherwise: string) => (typeof value === "string" && value !== "" ? value : otherwise);

export const numberOf = (value: unknown, otherwise: number) => (typeof value === "number" ? value : otherwise);

/** The number after that of the merchant's newest record, such as INV-1002 after INV-1001. */
export function nextNumber({ newest, number }: SampleContext, kind: string, field: string, prefix: string): string {
  const [, start, digits] = /^(.*?)(\d+)$/.exec(textOf(newest(kind)[0]?.[field], "")) ?? [];
  return digits === undefined ? `${prefix}-${1_000 + number}` : start + String(Number(digits) + 1).padStart(digits.length, "0");
}

export const customerOf = ({ newest, pick }: SampleContext): AnyRecord | undefined => pick("customer", newest("customer"));

/** An amount in the merchant's currency: that of an earlier record, or a random one. */
export function moneyLike(context: SampleContext, { amount, currency }: Partial<AnyRecord>, most: number) {
  const home = context.merchant.currency ?? null;
  const isLike = typeof amount === "number" && amount > 0 && currency === home;
  return { amount: isLike ? amount : context.between("amount", 5, most) * 100, currency: home };
}

const DAY = 86_400_000;

const timeOf = (day: unknown) => parseTime(`${day}T00:00:00Z`) ?? 0;

/** Days between two calendar days. */
export const daysBetween = (from: unknown, to: unknown) => Math.round((timeOf(to) - timeOf(from)) / DAY);

/** December 9999. */
const LAST_MONTH = 9_999 * 12 + 11;

/** The same day of the month this many months later, at most the 28th. */
export function monthsLater(day: string, months: number): string {
  const count = Math.min(Number(day.slice(0, 4)) * 12 + Number(day.slice(5, 7)) - 1 + months, LAST_MONTH);
  const date = Math.min(Number(day.slice(8, 10)), 28);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${Math.floor(count / 12)}-${two((count % 12) + 1)}-${two(date)}`;
}
