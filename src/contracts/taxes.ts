// Taxes and fees that are paid again and again: which of them are due.

import { addMonths, dayAt, monthIndex, monthText } from "../kernel/calendar.ts";
import type { AnyRecord } from "./resource.ts";

const PERIOD = /^(.*), (\d{4}-\d\d) to (\d{4}-\d\d)$/;

/**
 * The taxes that can be paid today, the earliest first: `Value added tax, 2025-10 to 2025-12` follows the payment for the months before once these
 * three are over, and a fee without a period follows after a year. A failed payment is made again.
 */
export function dueTaxes(payments: readonly AnyRecord[], today: string) {
  const next = new Map<string, { like: AnyRecord; purpose: string; from: string }>();
  for (const like of payments.filter(({ status }) => status !== "failed" && status !== "cancelled")) {
    const label = String(like.purpose);
    const [, name = label, first, last] = PERIOD.exec(label) ?? [];
    const end = monthIndex(String(last));
    const [start, over] = [end + 1, 2 * end + 2 - monthIndex(String(first))];
    const tax =
      last === undefined
        ? { like, purpose: label, from: addMonths(dayAt(null, like.created * 1_000), 12) }
        : { like, purpose: `${name}, ${monthText(start)} to ${monthText(over - 1)}`, from: `${monthText(over)}-01` };
    if ((next.get(name)?.from ?? "") < tax.from) next.set(name, tax);
  }
  return [...next.values()].filter(({ from }) => from <= today).sort((one, other) => one.from.localeCompare(other.from));
}
