// The part of a payment that no payout contains yet.

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

/** The part of a payment that goes to the merchant: zero before success; minus the fee after a full refund. */
const netOf = ({ status, amount, fee, refundedAmount }: SettledPayment) =>
  status === "succeeded" || status === "refunded" ? (amount ?? 0) - (fee ?? 0) - refundedAmount : 0;

/** The part of a payment that is in no payout. Failed and canceled payouts do not count. */
export const unpaidOf = (payment: SettledPayment) => netOf(payment) - payment.paidOutAmount;
