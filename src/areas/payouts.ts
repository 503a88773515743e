// Payouts: transfers of the proceeds of payments to the merchant's payout method.

import type { Arrival, OwnRecords, RecordBase, SampleContext } from "../contracts/resource.ts";
import { businessDayFrom, dayAt, nextBusinessDay, previousBusinessDay } from "../kernel/calendar.ts";
import { once } from "../kernel/once.ts";
import { exactSum } from "../schema/field-rules.ts";
import { amount, currency, day, id, listOf, nullables, Type, text, timestamp } from "../schema/shapes.ts";
import { listEndpoint } from "./declare/operation.ts";
import { resource } from "./declare/resource.ts";
import { merchantDay, onDay, profileOf } from "./merchants.ts";
import { daysIfDaily, payments } from "./payments.ts";
import { defaultMethod, onReplaced, payoutMethods } from "./payout-methods.ts";
import {
  type PayoutAmounts,
  paidOutTwice,
  paymentShare,
  paymentsFit,
  sumOfPayments,
  total,
  unpaidShares,
} from "./payout-shares.ts";
import { earlier, moneyLike } from "./samples/earlier-records.ts";
import { mixedCurrencies } from "./world-checks.ts";

/**
 * Without a given amount, the payout contains payments. If there are none to pay out, the amount resembles an earlier
 * payout. A paid payout arrives today.
 */
function samplePayout(context: SampleContext) {
  const { given, merchant, own, now, status } = context;
  const profile = profileOf(merchant.id, own);
  const arrival = status === "paid" ? { arrivalDate: dayAt(profile.country, now * 1_000) } : {};
  const currency = (given.currency as string | null | undefined) ?? profile.currency;
  const isOfPayments = given.amount == null && (given.payments != null || total(unpaidShares(own, currency)) > 0);
  return isOfPayments ? arrival : { ...moneyLike(context, earlier(context, "payout"), 5_000), ...arrival };
}

export const payouts = resource({
  kind: "payout",
  prefix: "po",
  view: "payouts",
  sample: samplePayout,
  datesMoveBy: daysIfDaily,
  fitDates: ({ moved: { arrivalDate } }) =>
    typeof arrivalDate === "string" ? { arrivalDate: businessDayFrom(arrivalDate) } : {},
  fields: {
    ...nullables({
      amount: amount("Amount of the payout", { minimum: 0 }),
      currency: currency(),
      payoutMethodId: id("pom", "Payout method that receives the funds"),
      arrivalDate: day("Expected date of arrival"),
      failureCode: text("Reason for the failure"),
      sentAt: timestamp("Time at which the payout was sent"),
      paidAt: timestamp("Time of arrival"),
      failedAt: timestamp("Time at which the payout failed"),
      canceledAt: timestamp("Time at which the payout was canceled"),
    }),
    payments: Type.Array(paymentShare, {
      description: "Payments in the payout; empty if the payout was created with an amount only",
    }),
  },
  defaults: { payments: [] },
  states: {
    pending: {
      to: ["in_transit", "canceled"],
      event: "payout.created",
      sets: openPayout,
      arrive: (payout) => settle(payout, 1),
      next: (payout) => onDay(payout, sendingDay(payout), "morning", "in_transit"),
    },
    in_transit: {
      to: ["paid", "failed"],
      event: "payout.in_transit",
      at: "sentAt",
      next: (payout) => onDay(payout, payout.record.arrivalDate, "opening", "paid"),
    },
    paid: { to: [], event: "payout.paid", at: "paidAt" },
    failed: {
      to: [],
      event: "payout.failed",
      at: "failedAt",
      fills: { failureCode: "account_closed" },
      arrive: (payout) => settle(payout, -1),
    },
    canceled: { to: [], event: "payout.canceled", at: "canceledAt", arrive: (payout) => settle(payout, -1) },
  },
  updated: "payout.updated",
  worldChecks: [mixedCurrencies],
  rules: [sumOfPayments, paymentsFit],
  warnings: [paidOutTwice],
  references: { payoutMethodId: "payout_method" },
  outstanding: ({ status }) => status === "pending",
});

// Pending payouts to a replaced method go to the default method.
onReplaced((replaced, own) => {
  const target = defaultMethod(own);
  if (!target) return;
  const waiting = own(payouts)
    .outstanding()
    .filter(({ payoutMethodId }) => payoutMethodId === replaced.id);
  for (const payout of waiting) own(payouts).update(payout, { payoutMethodId: target.id });
});

/** Adds a payout's shares to `paidOutAmount` of its payments (`sign` 1), or subtracts them (-1). */
function settle({ record, own }: Arrival<RecordBase & PayoutAmounts>, sign: 1 | -1): void {
  const standing = once(() =>
    own(payouts)
      .all()
      .filter(({ id, status }) => id !== record.id && status !== "failed" && status !== "canceled"),
  );
  /** The newest other payout that contains the payment and neither failed nor was canceled. */
  const standingPayoutOf = (paymentId: string) =>
    standing().findLast(({ payments }) => payments.some((share) => share.paymentId === paymentId))?.id ?? null;
  for (const share of record.payments) {
    const payment = own(payments).require(share.paymentId);
    let { payoutId } = payment;
    if (sign === 1) payoutId = record.id;
    else if (payoutId === record.id) payoutId = standingPayoutOf(share.paymentId);
    const paidOutAmount = exactSum([payment.paidOutAmount, sign * share.amount], "payments");
    own(payments).update(payment, { payoutId, paidOutAmount }, null);
  }
}

/**
 * If neither payments nor an amount are given, a new payout contains all shares of payments in its currency that are
 * not paid out yet.
 */
function openPayout({ record, own }: Arrival<RecordBase & PayoutAmounts & { payoutMethodId: string | null }>) {
  const profile = profileOf(record.merchantId, own);
  const [first] = record.payments;
  const currency =
    record.currency ?? (first ? (own(payments).find(first.paymentId)?.currency ?? null) : profile.currency);
  const shares = first || record.amount !== null ? record.payments : unpaidShares(own, currency);
  const sum = total(shares);
  const amount = record.amount ?? (first || sum > 0 ? sum : null);
  if (amount === null) return {};
  const method = record.payoutMethodId ?? defaultMethod(own)?.id ?? null;
  return {
    amount,
    payments: shares,
    currency,
    payoutMethodId: method,
    arrivalDate: arrivalOf(record.created, method, profile.country, own),
  };
}

/** The business day before the payout arrives, or at the earliest the first business day after its creation. */
function sendingDay(payout: Pick<Arrival<RecordBase & { arrivalDate: string | null }>, "record" | "own">): string {
  const { arrivalDate, created } = payout.record;
  const earliest = nextBusinessDay(merchantDay(payout, created));
  const latest = arrivalDate === null ? earliest : previousBusinessDay(arrivalDate);
  return latest > earliest ? latest : earliest;
}

/** A payout arrives after one business day as mobile money, and after two business days in a bank account. */
function arrivalOf(now: number, methodId: string | null, country: string | null, own: OwnRecords): string {
  const method = methodId === null ? undefined : own(payoutMethods).find(methodId);
  const next = nextBusinessDay(dayAt(method?.country ?? country, now * 1_000));
  return method?.type === "mobile_money" ? next : nextBusinessDay(next);
}

const listPayouts = listEndpoint(
  payouts,
  { id: "payouts.list", position: 7, area: "Payouts", path: "/payouts", summary: "List all payouts" },
  { reply: listOf(payouts.schema) },
);

export const operations = [listPayouts];

export const resources = [payouts];
