// The shares of payments that no payout contains yet. Payouts and background traffic use the same shares.

/** The fields of a payment that decide what a payout may contain of it. */
export interface SettledPayment {
  id: string;
  status?: string | undefined;
  amount: number | null;
  currency: string | null;
  fee: number | null;
  refundedAmount: number;
  paidOutAmount: number;
}

/** The amount of a payment that a payout contains; negative for a refund after an earlier payout. */
export interface PaymentShare {
  paymentId: string;
  amount: number;
}

/** The part of a payment that goes to the merchant: nothing before it succeeded, and after a refund at most the fee is lost. */
const netOf = ({ status, amount, fee, refundedAmount }: SettledPayment) =>
  status === "succeeded" || status === "refunded" ? (amount ?? 0) - (fee ?? 0) - refundedAmount : 0;

/** The part of a payment that no standing payout contains. */
export const unpaidOf = (payment: SettledPayment) => netOf(payment) - payment.paidOutAmount;

/** The shares of these payments in one currency that no standing payout contains, as far as their sum is exact. */
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
