// Memberships: which of them end soon, and which customers have none.

import { addDays } from "../kernel/calendar.ts";
import type { AnyRecord } from "./resource.ts";

/** A renewal is made this many days before the end of the period. */
const RENEWED_AHEAD = 20;

const STANDING = ["pending", "grace", "renewed"];

const endOf = ({ periodEnd }: AnyRecord) => String(periodEnd ?? "9");

/** The latest renewal of each membership, the one that ends first before the others; without memberships that lapsed or were canceled. */
export function memberships(renewals: readonly AnyRecord[]): AnyRecord[] {
  const latestFirst = renewals.toSorted((one, other) => endOf(other).localeCompare(endOf(one)));
  const latest = latestFirst.filter(
    ({ membershipId }, index) => latestFirst.findIndex((one) => one.membershipId === membershipId) === index,
  );
  return latest.filter(({ status }) => STANDING.includes(status ?? "")).reverse();
}

/** The memberships that are to be renewed today. */
export const endingMemberships = (renewals: readonly AnyRecord[], today: string) =>
  memberships(renewals).filter((renewal) => renewal.status === "renewed" && endOf(renewal) < addDays(today, RENEWED_AHEAD));

/** Whether a customer may join: without a membership that is to be renewed, or whose period goes on after it was canceled. */
export function mayJoin(customer: AnyRecord, renewals: readonly AnyRecord[], today: string): boolean {
  const held = renewals.filter(({ customerId }) => customerId === customer.id);
  return memberships(held).length === 0 && held.every((one) => !STANDING.includes(one.status ?? "") || endOf(one) < today);
}
