// The shares of payments that no payout contains yet, used by payouts.

/** The fields of a payment that determine its share in a payout. */
export interface SettledPayment {
  id: string;
  status?: string | undefined;
  amount: number | null;
  currency: string | null;
  fee: number | null;
  refundedAmount: number;
  paidOutAmount: number;
}

/** A payment's amount in a payout; negative for a refund after an earlier payout. */
export interface PaymentShare {
  paymentId: string;
  amount: number;
}

/** The part of a payment that goes to the merchant: zero before success; minus the fee after a full refund. */
const netOf = ({ status, amount, fee, refundedAmount }: SettledPayment) =>
  status === "succeeded" || status === "refunded" ? (amount ?? 0) - (fee ?? 0) - refundedAmount : 0;

/** The part of a payment that is in no payout. Failed and canceled payouts do not count. */
export const unpaidOf = (payment: SettledPayment) => netOf(payment) - payment.paidOutAmount;

/** The unpaid shares of the payments in one currency. Skips shares that would make the sum inexact. */
export function unpaidShares(payments: readonly SettledPayment[], currency: string | null): PaymentShare[] {
  let sum = 0;
  return payments
    .filter((payment) => payment.currency === currency)
    .map((payment) => ({ paymentId: payment.id, amount: unpaidOf(payment) }))
    .filter(({ amount }) => {
      if (amount === 0 || !Number.isSafeInteger(sum + amount)) return false;
      sum += amount;
      return true;
    });
}

export const total = (shares: readonly PaymentShare[]) => shares.reduce((sum, { amount }) => sum + amount, 0);
