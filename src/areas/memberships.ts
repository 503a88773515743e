// Memberships: the renewals of memberships.

import type { Arrival, RecordBase } from "../contracts/resource.ts";
import { addDays, addMonths } from "../kernel/calendar.ts";
import { amount, currency, day, flag, id, nullables, text, timestamp } from "../schema/shapes.ts";
import { listEndpoint } from "./declare/operation.ts";
import { resource } from "./declare/resource.ts";
import { inOrder } from "./declare/rules.ts";
import { merchantDay, onDay } from "./merchants.ts";
import { takePayment } from "./payments.ts";
import { GRACE_DAYS, monthsOf } from "./samples/renewed-periods.ts";
import { sampleRenewal } from "./samples/sales.ts";

export const membershipRenewals = resource({
  kind: "membership_renewal",
  prefix: "ren",
  view: "membership_renewals",
  sample: sampleRenewal,
  fitDates: ({ written, moved }) => (written.periodEnd === endOf(written) ? { periodEnd: endOf(moved) } : {}),
  fields: {
    ...nullables({
      membershipId: text("Id of the membership"),
      customerId: id("cus", "Customer who holds the membership"),
      plan: text("Membership plan"),
      amount: amount("Price of the new period", { minimum: 0 }),
      currency: currency(),
      dueDate: day("Date on which the renewal is due"),
      periodStart: day("First day of the new period"),
      periodEnd: day("Last day of the new period"),
    }),
    autoRenew: flag("Whether the membership renews automatically"),
    ...nullables({
      renewedAt: timestamp("Time of renewal"),
      graceAt: timestamp("Time at which the grace period began"),
      graceUntil: day("Last day of the grace period"),
      paymentId: id("pay", "Payment of the new period"),
      lapsedAt: timestamp("Time at which the membership lapsed"),
      canceledAt: timestamp("Time at which the renewal was canceled"),
    }),
  },
  defaults: { autoRenew: false },
  states: {
    pending: {
      to: ["renewed", "grace", "canceled"],
      event: "membership_renewal.due",
      sets: ({ record }) => (record.dueDate === null ? {} : newPeriod(record, record.dueDate)),
      next: (renewal) =>
        onDay(renewal, renewal.record.dueDate, "opening", renewal.record.autoRenew ? "renewed" : "grace"),
    },
    grace: {
      to: ["renewed", "lapsed", "canceled"],
      event: "membership_renewal.grace",
      next: (renewal) =>
        onDay(renewal, renewal.record.graceUntil && addDays(renewal.record.graceUntil, 1), "midnight", "lapsed"),
      at: "graceAt",
      sets: ({ record, now, own }) => ({
        graceUntil: addDays(record.dueDate ?? merchantDay({ record, own }, now), GRACE_DAYS),
      }),
    },
    renewed: {
      to: [],
      event: "membership_renewal.renewed",
      at: "renewedAt",
      sets: ({ record, now, own }) => newPeriod(record, record.dueDate ?? merchantDay({ record, own }, now)),
      arrive: takePrice,
    },
    lapsed: { to: [], event: "membership_renewal.lapsed", at: "lapsedAt" },
    canceled: { to: [], event: "membership_renewal.canceled", at: "canceledAt" },
  },
  updated: "membership_renewal.updated",
  rules: [inOrder("periodStart", "periodEnd"), inOrder("dueDate", "graceUntil")],
  references: { customerId: "customer", paymentId: "payment" },
});

/**
 * A period ends on the day before its anniversary. Seeding moves a renewal and its payment by whole weeks, so that the
 * payment stays in the payout of its week. The moved period no longer has whole months, so its end is computed again.
 */
const endOf = ({ plan, periodStart }: Readonly<Record<string, unknown>>) =>
  addDays(addMonths(String(periodStart), monthsOf(plan)), -1);

function newPeriod(renewal: Record<"plan" | "periodStart" | "periodEnd", string | null>, from: string) {
  const periodStart = renewal.periodStart ?? from;
  return { periodStart, periodEnd: renewal.periodEnd ?? endOf({ ...renewal, periodStart }) };
}

type Renewal = RecordBase &
  Record<"paymentId" | "customerId" | "plan" | "currency", string | null> & { amount: number | null };

function takePrice(renewal: Arrival<Renewal>): boolean {
  const { id, amount, plan } = renewal.record;
  return takePayment(membershipRenewals, renewal, "paymentId", {
    amount: amount ?? 0,
    description: plan,
    metadata: { renewalId: id },
  });
}

const listRenewals = listEndpoint(membershipRenewals, {
  id: "renewals.list",
  position: 11,
  area: "Memberships",
  path: "/memberships/renewals",
  summary: "List all membership renewals",
});

export const operations = [listRenewals];

export const resources = [membershipRenewals];
