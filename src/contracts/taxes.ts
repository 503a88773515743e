// Taxes and fees that are paid again and again: which period comes next, and when it is due.

import { addMonths, dayAt, monthIndex, monthText } from "../kernel/calendar.ts";
import type { AnyRecord } from "./resource.ts";

export interface Tax {
  /** An earlier payment of it. */
  like: AnyRecord;
  /** The purpose of the next payment. */
  purpose: string;
  /** The first day on which it can be paid: that after its period, or the anniversary of a fee without one. */
  from: string;
}

const PERIOD = /^(.*), (\d{4}-\d\d) to (\d{4}-\d\d)$/;

/** The next payment of each tax, such as that of `Value added tax, 2025-10 to 2025-12`, the earliest first. A failed payment is made again. */
function nextTaxes(payments: readonly AnyRecord[]): Tax[] {
  const next = new Map<string, Tax>();
  for (const like of payments) {
    const purpose = String(like.purpose);
    const [, name = purpose, first, last] = PERIOD.exec(purpose) ?? [];
    if (like.status === "failed" || like.status === "cancelled") continue;
    const tax = first === undefined || last === undefined ? yearly(like, purpose) : following(like, name, first, last);
    if ((next.get(name)?.from ?? "") < tax.from) next.set(name, tax);
  }
  return [...next.values()].sort((one, other) => one.from.localeCompare(other.from));
}

/** The taxes that can be paid today. */
export const dueTaxes = (payments: readonly AnyRecord[], today: string): Tax[] => nextTaxes(payments).filter(({ from }) => from <= today);

const yearly = (like: AnyRecord, purpose: string): Tax => ({ like, purpose, from: addMonths(dayAt(null, like.created * 1_000), 12) });

function following(like: AnyRecord, name: string, first: string, last: string): Tax {
  const [end, length] = [monthIndex(last), monthIndex(last) - monthIndex(first) + 1];
  return { like, purpose: `${name}, ${monthText(end + 1)} to ${monthText(end + length)}`, from: `${monthText(end + length + 1)}-01` };
}
