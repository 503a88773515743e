// The merchant's earlier records as a model of new ones, so that a sample fits the merchant's business.

import type { AnyRecord, SampleContext } from "../../contracts/resource.ts";
import { grouped } from "../../kernel/grouped.ts";
import { inCurrency } from "./currency-worth.ts";

/**
 * One of the merchant's newest records of a kind that has the given values of these fields; empty if none has them.
 * The values of the first field take turns: a pick among all records would copy what is frequent more and more often.
 */
export function earlier({ newest, pick, given }: SampleContext, kind: string, ...fields: string[]): Partial<AnyRecord> {
  const fitting = newest(kind).filter((record) =>
    fields.every((field) => given[field] == null || record[field] === given[field]),
  );
  const [first = ""] = fields;
  const byValue = [...grouped(fitting, (record) => record[first]).values()];
  // The newest records come first, so the last groups have the values that were not used for longest.
  const leastRecent = pick(`earlier ${first}`, byValue.slice(-CANDIDATES)) ?? [];
  return pick(`earlier ${kind}`, leastRecent) ?? {};
}

const CANDIDATES = 3;

/** The samples of a kind whose number is of the given one's series, such as CM of CM-0006; all if none is given. */
export function ofSeries(context: SampleContext, kind: string, field: string): SampleContext {
  const { given, newest } = context;
  if (given[field] == null) return context;
  const seriesOf = (value: unknown) => String(value).replace(/-\d+$/, "");
  const series = seriesOf(given[field]);
  const inSeries = (record: AnyRecord) => seriesOf(record[field]) === series;
  return { ...context, newest: (other) => (other === kind ? newest(kind).filter(inSeries) : newest(other)) };
}

/** The given customer, the one of this name, or one of the newest; undefined if no customer fits. */
export function customerOf({ newest, pick, given }: SampleContext, name?: unknown): AnyRecord | undefined {
  const customers = newest("customer");
  if (typeof given.customerId === "string") return customers.find(({ id }) => id === given.customerId);
  return typeof name === "string" ? customers.find((customer) => customer.name === name) : pick("customer", customers);
}

/** An amount in the merchant's currency: the amount of an earlier record, or else a random one up to `most` euros. */
export function moneyLike(context: SampleContext, { amount, currency }: Partial<AnyRecord>, most: number) {
  const home = context.given.currency ?? context.merchant.currency ?? null;
  const isLike = typeof amount === "number" && amount > 0 && currency === home;
  return { amount: isLike ? amount : inCurrency(context.between("amount", 5, most), home), currency: home };
}

export const textOf = (value: unknown, fallback: string) =>
  typeof value === "string" && value !== "" ? value : fallback;

export const numberOf = (value: unknown, fallback: number) => (typeof value === "number" ? value : fallback);
