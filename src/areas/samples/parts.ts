// Helpers that several samples share: an earlier record as a model, a customer, amounts, initials and due dates.

import type { AnyRecord, SampleContext } from "../../contracts/resource.ts";
import { addDays, addMonths, businessDayUntil } from "../../kernel/calendar.ts";
import { grouped } from "../../kernel/grouped.ts";

/**
 * One of the merchant's newest records of a kind, as a model, so that a new record fits the merchant's business. It has
 * the given values of these fields; empty if no record has them. Its first field has one of the three values that were
 * used least lately: chosen among all records, what was copied often would be copied more often, until only a few wares
 * were left.
 */
export function earlier(
  { newest, pick, given }: SampleContext,
  kind: string,
  ...fields: readonly string[]
): Partial<AnyRecord> {
  const fitting = newest(kind).filter((record) =>
    fields.every((field) => given[field] == null || record[field] === given[field]),
  );
  const byValue = [...grouped(fitting, (record) => record[fields[0] ?? ""]).values()];
  return pick(`earlier ${kind}`, pick(`earlier ${fields[0]}`, byValue.slice(-LEAST_LATELY)) ?? []) ?? {};
}

const LEAST_LATELY = 3;

/** The samples of a kind whose number is of the given one's series, such as CM of CM-0006; all if none is given. */
export const ofSeries = (context: SampleContext, kind: string, field: string): SampleContext => {
  const seriesOf = (value: unknown) => String(value).replace(/-\d+$/, "");
  const fits = (record: AnyRecord) =>
    context.given[field] == null || seriesOf(record[field]) === seriesOf(context.given[field]);
  return {
    ...context,
    newest: (other) => (other === kind ? context.newest(kind).filter(fits) : context.newest(other)),
  };
};

export const textOf = (value: unknown, otherwise: string) =>
  typeof value === "string" && value !== "" ? value : otherwise;

export const numberOf = (value: unknown, otherwise: number) => (typeof value === "number" ? value : otherwise);

/** The initials of the first two words with a capital, such as QR of Quinta da Ribeira. */
export const initialsOf = (name: string | null, otherwise: string) =>
  (name ?? "")
    .normalize("NFD")
    .match(/(?<!\p{L}\p{M}*)[A-Z]/gu)
    ?.slice(0, 2)
    .join("") || otherwise;

/**
 * The given customer, the one with the given name, or one of the merchant's newest; undefined for a name or an id that
 * no customer has.
 */
export function customerOf({ newest, pick, given }: SampleContext, name?: unknown): AnyRecord | undefined {
  const customers = newest("customer");
  if (typeof given.customerId === "string") return customers.find(({ id }) => id === given.customerId);
  return typeof name === "string" ? customers.find((customer) => customer.name === name) : pick("customer", customers);
}

/** About what one euro is worth in the smallest unit of a currency (default: 100). */
const WORTH: Readonly<Record<string, number>> = {
  ...{
    BRL: 600,
    CZK: 2_500,
    HUF: 40_000,
    INR: 9_500,
    JPY: 160,
    KES: 14_000,
    KRW: 1_500,
    MXN: 2_000,
    NGN: 170_000,
    NOK: 1_200,
    PHP: 6_500,
  },
  ...{
    RWF: 1_500,
    SEK: 1_200,
    THB: 3_800,
    TRY: 4_500,
    TZS: 270_000,
    UGX: 4_000,
    VND: 28_000,
    XAF: 656,
    XOF: 656,
    ZAR: 2_000,
    ZMW: 2_700,
  },
};

/** About so many euros in another currency, in its smallest unit. */
export const inCurrency = (euros: number, currency: unknown) => euros * (WORTH[String(currency)] ?? 100);

/** An amount in the merchant's currency: the amount of an earlier record, or else a random one. */
export function moneyLike(context: SampleContext, { amount, currency }: Partial<AnyRecord>, most: number) {
  const home = context.given.currency ?? context.merchant.currency ?? null;
  const isLike = typeof amount === "number" && amount > 0 && currency === home;
  return { amount: isLike ? amount : inCurrency(context.between("amount", 5, most), home), currency: home };
}

/** The months of a membership's period. */
export const monthsOf = (plan: unknown) => (/month/i.test(String(plan)) ? 1 : 12);

/** How long a membership that was not renewed goes on. */
export const GRACE_DAYS = 14;

/** Whether one of the remittances is of a scheme and month. Cancelled ones do not count. */
export const isRemitted = (
  remittances: readonly { scheme?: unknown; period?: unknown; status?: unknown }[],
  scheme: unknown,
  period: string,
) => remittances.some((one) => one.scheme === scheme && one.period === period && one.status !== "cancelled");

const DEFAULT_DUE_DAY = 15;

/** When the remittances of a month are due: on a business day by the due day of the month after it. */
export const dueDateOf = (period: string, dueDay: unknown) =>
  businessDayUntil(addDays(addMonths(`${period}-01`, 1), numberOf(dueDay, DEFAULT_DUE_DAY) - 1));
