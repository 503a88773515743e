// The share of each payment in a payout, and the rules that keep payments and payouts consistent.

import type { OwnRecords, RecordBase, Rule, Warning } from "../contracts/resource.ts";
import { exactSum } from "../schema/field-rules.ts";
import { amount, id, type Static, Type } from "../schema/shapes.ts";
import { unknownReference } from "../store/records/record-rules.ts";
import { problem } from "./declare/rules.ts";
import { payments } from "./payments.ts";
import { unpaidOf } from "./settled-payment.ts";

export const paymentShare = Type.Object({
  paymentId: id("pay", "Payment in the payout"),
  amount: amount(
    "Amount of the payment in the payout, less fee and refunds; negative for a refund after an earlier payout",
  ),
});

/** The share of a payment in a payout; negative for a refund after an earlier payout. */
export type PaymentShare = Static<typeof paymentShare>;

export const total = (shares: readonly PaymentShare[]) =>
  exactSum(
    shares.map(({ amount }) => amount),
    "payments",
  );

/** The shares of payments that no payout contains yet, oldest first. Skips shares that would make the sum inexact. */
export function unpaidShares(own: OwnRecords, currency: string | null): PaymentShare[] {
  let sum = 0;
  return own(payments)
    .outstanding()
    .filter((payment) => payment.currency === currency)
    .map((payment) => ({ paymentId: payment.id, amount: unpaidOf(payment) }))
    .filter(({ amount }) => {
      if (amount === 0 || !Number.isSafeInteger(sum + amount)) return false;
      sum += amount;
      return true;
    });
}

export interface PayoutAmounts {
  amount: number | null;
  currency: string | null;
  payments: PaymentShare[];
}

export const sumOfPayments: Rule<RecordBase & PayoutAmounts> = ({ amount, payments: shares }) =>
  shares.length === 0 || amount === total(shares)
    ? undefined
    : problem("amount", "wrong_sum", `amount must be the sum of its payments, ${total(shares)}; received ${amount}.`);

/** The payments of a payout must have the payout's currency, and cannot change after its creation. */
export const paymentsFit: Rule<RecordBase & PayoutAmounts> = ({ payments: shares, currency }, { before, own }) => {
  if (before === undefined) {
    for (const [index, { paymentId }] of shares.entries()) {
      const payment = own(payments).find(paymentId);
      const field = `payments/${index}/paymentId`;
      if (!payment) return unknownReference(field, "payment", paymentId);
      if (payment.currency !== currency)
        return problem(
          field,
          "wrong_currency",
          `${paymentId} is in ${payment.currency}; the payout is in ${currency}.`,
        );
    }
    return undefined;
  }
  if (shares.length > 0 && currency !== before.currency)
    return problem(
      "currency",
      "fixed",
      `currency must be the payments' currency, ${before.currency}; received ${currency}.`,
    );
  return JSON.stringify(shares) === JSON.stringify(before.payments)
    ? undefined
    : problem("payments", "fixed", "payments of a payout are fixed at its creation: cancel it and make another.");
};

/** Warns if a new payout contains more or less of a payment than the part that is in no payout. */
export const paidOutTwice: Warning<RecordBase & PayoutAmounts> = ({ payments: shares }, { before, own }) => {
  if (before !== undefined) return undefined;
  for (const { paymentId, amount } of shares) {
    const payment = own(payments).find(paymentId);
    const left = payment === undefined ? amount : unpaidOf(payment);
    if (amount !== left) return `The payout contains ${amount} of ${paymentId}, of which ${left} is in no payout.`;
  }
  return undefined;
};
