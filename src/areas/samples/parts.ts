// Helpers that several samples share: an earlier record as a model, the next number of a series, a customer.

import type { AnyRecord, SampleContext } from "../../contracts/resource.ts";
import { addMonths, dayNumber } from "../../kernel/calendar.ts";

/** One of the merchant's newest records of a kind, as a model, so that a new record fits the merchant's business. */
export const earlier = ({ newest, pick }: SampleContext, kind: string): Partial<AnyRecord> => pick(`earlier ${kind}`, newest(kind)) ?? {};

export const textOf = (value: unknown, otherwise: string) => (typeof value === "string" && value !== "" ? value : otherwise);

export const numberOf = (value: unknown, otherwise: number) => (typeof value === "number" ? value : otherwise);

/** The next number of the series in a field, such as INV-1002 if the merchant's newest record has INV-1001. */
export function nextNumber({ newest, number }: SampleContext, kind: string, field: string, prefix: string): string {
  const [, start, digits] = /^(.*?)(\d+)$/.exec(textOf(newest(kind)[0]?.[field], "")) ?? [];
  return digits === undefined ? `${prefix}-${1_000 + number}` : start + String(Number(digits) + 1).padStart(digits.length, "0");
}

export const customerOf = ({ newest, pick }: SampleContext): AnyRecord | undefined => pick("customer", newest("customer"));

/** An amount in the merchant's currency: the amount of an earlier record, or else a random one. */
export function moneyLike(context: SampleContext, { amount, currency }: Partial<AnyRecord>, most: number) {
  const home = context.merchant.currency ?? null;
  const isLike = typeof amount === "number" && amount > 0 && currency === home;
  return { amount: isLike ? amount : context.between("amount", 5, most) * 100, currency: home };
}

/** Days between two calendar days. */
export const daysBetween = (from: unknown, to: unknown) => dayNumber(String(to)) - dayNumber(String(from));

/** Adds months to a day. Days after the 28th become the 28th. */
export const monthsLater = (day: string, months: number) => addMonths(day.slice(8) > "28" ? `${day.slice(0, 8)}28` : day, months);
