// The share of each payment that a payout contains, and the rules that hold the two together.

import type { Arrival, OwnRecords, RecordBase, Rule } from "../contracts/resource.ts";
import { problem } from "../contracts/rules.ts";
import { amount, id, type Static, Type } from "../schema/shapes.ts";
import { netOf, payments } from "./payments.ts";

/** How many of the newest payments a payout looks at: older ones are settled. */
const MOST_PAYMENTS = 1_000;

export const paymentShare = Type.Object({
  paymentId: id("pay", "Payment in the payout"),
  amount: amount("What the payout contains of it: the payment less fee and refunds; negative for a refund after an earlier payout"),
});

type PaymentShare = Static<typeof paymentShare>;

/** The shares of payments that no standing payout contains, the oldest first. */
export function unpaidShares(own: OwnRecords): PaymentShare[] {
  const newest = own(payments).newestOf(MOST_PAYMENTS).reverse();
  return newest
    .map((payment) => ({ paymentId: payment.id, amount: netOf(payment) - payment.paidOutAmount }))
    .filter((share) => share.amount !== 0);
}

export const total = (shares: readonly PaymentShare[]) => shares.reduce((sum, share) => sum + share.amount, 0);

/** Adds the shares of a payout to its payments, or takes them back. */
export function settle({ record, own }: Arrival<RecordBase & { payments: PaymentShare[] }>, sign: 1 | -1): void {
  for (const share of record.payments) {
    const payment = own(payments).require(share.paymentId);
    const payoutId = sign === 1 ? record.id : payment.payoutId === record.id ? null : payment.payoutId;
    own(payments).update(payment, { payoutId, paidOutAmount: payment.paidOutAmount + sign * share.amount }, null);
  }
}

export interface PayoutAmounts {
  amount: number | null;
  payments: PaymentShare[];
}

export const sumOfPayments: Rule<RecordBase & PayoutAmounts> = ({ amount, payments: shares }) =>
  shares.length === 0 || amount === total(shares)
    ? undefined
    : problem("amount", "wrong_sum", `amount must be the sum of its payments, ${total(shares)}; received ${amount}.`);

/** A new payout takes of each payment what no other payout has; afterwards its payments are fixed. */
export const paymentsFree: Rule<RecordBase & PayoutAmounts> = ({ payments: shares }, { before, own }) => {
  if (before === undefined) {
    for (const [index, { paymentId, amount }] of shares.entries()) {
      const payment = own(payments).find(paymentId);
      const field = `payments/${index}/paymentId`;
      if (!payment) return problem(field, "unknown_reference", `${field} must be the id of a payment of yours; received "${paymentId}".`);
      const left = netOf(payment) - payment.paidOutAmount;
      if (amount !== left)
        return problem(`payments/${index}/amount`, "wrong_sum", `${paymentId} has ${left} that no payout contains; received ${amount}.`);
    }
    return undefined;
  }
  return JSON.stringify(shares) === JSON.stringify(before.payments)
    ? undefined
    : problem("payments", "fixed", "payments of a payout are fixed at its creation: cancel it and make another.");
};
