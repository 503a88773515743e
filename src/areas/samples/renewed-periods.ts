// Payments that recur every period. Finds the taxes that are due, the memberships that end soon, and the customers who
// may join.

import type { AnyRecord } from "../../contracts/resource.ts";
import { addDays, addMonths, dayAt, monthIndex, monthText } from "../../kernel/calendar.ts";

const PERIOD = /^(.*), (\d{4}-\d\d) to (\d{4}-\d\d)$/;

/**
 * The taxes and fees that are due today, the earliest first. The next period of a tax is computed from its latest
 * payment: after `2025-10 to 2025-12` comes `2026-01 to 2026-03`. The tax is due once that period is over. A fee
 * without a period is due a year after its last payment. Failed payments do not count.
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
  return [...next.values()]
    .filter(({ from }) => from <= today)
    .sort((one, other) => one.from.localeCompare(other.from));
}

/** A membership can be renewed from this many days before the end of its period. */
const RENEWED_AHEAD = 20;

/** The months of a membership's period. */
export const monthsOf = (plan: unknown) => (/month/i.test(String(plan)) ? 1 : 12);

/** Days that a membership continues after its end without renewal. */
export const GRACE_DAYS = 14;

const STANDING = ["pending", "grace", "renewed"];

const endOf = ({ periodEnd }: AnyRecord) => String(periodEnd ?? "9");

/**
 * The latest renewal of each membership that neither lapsed nor was canceled. The membership that ends first is first.
 */
export function memberships(renewals: readonly AnyRecord[]): AnyRecord[] {
  const latestFirst = renewals.toSorted((one, other) => endOf(other).localeCompare(endOf(one)));
  const latest = latestFirst.filter(
    ({ membershipId }, index) => latestFirst.findIndex((one) => one.membershipId === membershipId) === index,
  );
  return latest.filter(({ status }) => STANDING.includes(status ?? "")).reverse();
}

/** The latest renewals of the memberships that can be renewed today. */
export const endingMemberships = (renewals: readonly AnyRecord[], today: string) =>
  memberships(renewals).filter(
    (renewal) => renewal.status === "renewed" && endOf(renewal) < addDays(today, RENEWED_AHEAD),
  );

/** Whether a customer may join: the customer has no membership, and no canceled one that is still in its period. */
export function mayJoin(customer: AnyRecord, renewals: readonly AnyRecord[], today: string): boolean {
  const held = renewals.filter(({ customerId }) => customerId === customer.id);
  return (
    memberships(held).length === 0 && held.every((one) => !STANDING.includes(one.status ?? "") || endOf(one) < today)
  );
}
