// The takings of a merchant: income from payments that no payout contains yet. Payouts and refunds of traffic stay within them.

import type { AnyRecord } from "../contracts/sample.ts";
import type { PaidOut, StepContext } from "./step-context.ts";

interface Payment extends AnyRecord {
  amount: number | null;
  fee: number | null;
  refundedAmount: number;
  paidOutAmount: number;
}

interface PaymentShare {
  paymentId: string;
  amount: number;
}

/** How many of the newest payments a step looks at: older ones are settled. */
const MOST_PAYMENTS = 1_000;

const netOf = ({ status, amount, fee, refundedAmount }: Payment) =>
  status === "succeeded" || status === "refunded" ? (amount ?? 0) - (fee ?? 0) - refundedAmount : 0;

/** The amount that may be paid out or refunded. */
export const available = (step: StepContext) => total(takings(step)) - step.paidOut.excess;

/** As many takings as are available, the oldest first. */
export function payableShares(step: StepContext): PaymentShare[] {
  let left = available(step);
  return takings(step).filter(({ amount }) => {
    if (amount > left) return false;
    left -= amount;
    return true;
  });
}

/** The oldest first. */
function takings(step: StepContext): PaymentShare[] {
  const { currency } = step.merchant();
  const payments = step.newest("payment", MOST_PAYMENTS).reverse() as Payment[];
  return payments
    .filter((payment) => payment.currency === currency && payment.created > step.paidOut.until)
    .map((payment) => ({ paymentId: payment.id, amount: netOf(payment) - payment.paidOutAmount }))
    .filter(({ amount }) => amount !== 0);
}

export const total = (shares: readonly PaymentShare[]) => shares.reduce((sum, { amount }) => sum + amount, 0);

export function readPaidOut(payments: readonly AnyRecord[], payouts: readonly AnyRecord[]): PaidOut {
  const unlisted = payouts.filter(
    ({ payments, status }) => (payments as unknown[]).length === 0 && status !== "canceled" && status !== "failed",
  );
  const until = Math.max(0, ...unlisted.map(({ created }) => created));
  const paidOut = unlisted.reduce((sum, { amount }) => sum + Number(amount ?? 0), 0);
  const received = payments.filter(({ created }) => created <= until).reduce((sum, payment) => sum + netOf(payment as Payment), 0);
  return { until, excess: Math.max(0, paidOut - received) };
}
