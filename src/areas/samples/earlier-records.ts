// Uses a merchant's earlier records as models for samples, so that samples fit the merchant's business.

import type { AnyRecord, SampleContext } from "../../contracts/resource.ts";
import { grouped } from "../../kernel/grouped.ts";
import { inCurrency } from "./currency-worth.ts";

/**
 * Picks one of the merchant's newest records of a kind, with the given values in `fields`; empty if there is none.
 * Prefers the least recently used values of the first field, because a pick among all records would make frequent
 * values ever more frequent.
 */
export function earlier({ newest, pick, given }: SampleContext, kind: string, ...fields: string[]): Partial<AnyRecord> {
  const fitting = newest(kind).filter((record) =>
    fields.every((field) => given[field] == null || record[field] === given[field]),
  );
  const [first = ""] = fields;
  const byValue = [...grouped(fitting, (record) => record[first]).values()];
  // The newest records come first, so the least recently used values are in the last groups.
  const leastRecent = pick(`earlier ${first}`, byValue.slice(-CANDIDATES)) ?? [];
  return pick(`earlier ${kind}`, leastRecent) ?? {};
}

const CANDIDATES = 3;

/** A context whose `newest` returns only records in the series of the given number, such as CM for CM-0006. */
export function ofSeries(context: SampleContext, kind: string, field: string): SampleContext {
  const { given, newest } = context;
  if (given[field] == null) return context;
  const seriesOf = (value: unknown) => String(value).replace(/-\d+$/, "");
  const series = seriesOf(given[field]);
  const inSeries = (record: AnyRecord) => seriesOf(record[field]) === series;
  return { ...context, newest: (other) => (other === kind ? newest(kind).filter(inSeries) : newest(other)) };
}

/**
 * The customer with the given id, or else with this name. Without an id and a name, one of the newest customers.
 * Undefined if none fits.
 */
export function customerOf({ newest, pick, given }: SampleContext, name?: unknown): AnyRecord | undefined {
  const customers = newest("customer");
  if (typeof given.customerId === "string") return customers.find(({ id }) => id === given.customerId);
  return typeof name === "string" ? customers.find((customer) => customer.name === name) : pick("customer", customers);
}

/** The amount of an earlier record in the wanted currency, or else a random one worth up to `most` euros. */
export function moneyLike(context: SampleContext, like: Partial<AnyRecord>, most: number) {
  const currency = context.given.currency ?? context.merchant.currency ?? null;
  const { amount } = like;
  const isUsable = typeof amount === "number" && amount > 0 && like.currency === currency;
  return { amount: isUsable ? amount : inCurrency(context.between("amount", 5, most), currency), currency };
}

export const textOf = (value: unknown, fallback: string) =>
  typeof value === "string" && value !== "" ? value : fallback;

export const numberOf = (value: unknown, fallback: number) => (typeof value === "number" ? value : fallback);
