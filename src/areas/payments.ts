// Payments: payments by customers.

import type {
  AnyRecord,
  Arrival,
  OwnRecords,
  RecordBase,
  RecordFields,
  Resource,
  Rule,
  Warning,
} from "../contracts/resource.ts";
import { amount, currency, documentedPageQuery, id, listOf, nullables, text, timestamp } from "../schema/shapes.ts";
import { initialsOf } from "./declare/initials.ts";
import { listEndpoint } from "./declare/operation.ts";
import { resource } from "./declare/resource.ts";
import { inOrder, problem } from "./declare/rules.ts";
import { profileOf } from "./merchants.ts";
import { samplePayment } from "./samples/sales.ts";
import { type SettledPayment, unpaidOf } from "./settled-payment.ts";
import { unsettledPayments } from "./world-checks.ts";

/** A share of the amount in basis points, and a fixed part in the currency's smallest unit. */
type FeeRate = readonly [basisPoints: number, fixed: number];

const FEES: Readonly<Record<string, Readonly<Record<string, FeeRate>>>> = {
  JP: { card: [360, 0], bank_transfer: [0, 250] },
};
const USUAL_FEES: Readonly<Record<string, FeeRate>> = {
  card: [150, 25],
  bank_transfer: [80, 0],
  mobile_money: [200, 0],
};

/**
 * The fixtures mark bank transfers, payouts and their payments with the schedule `daily`. Such records are pending for
 * days, not weeks, so seeding moves their dates by days.
 */
export const daysIfDaily: Exclude<Resource["datesMoveBy"], string> = ({ metadata }) =>
  (metadata as { schedule?: unknown } | undefined)?.schedule === "daily" ? "days" : "weeks";

/** The fee by payment method and the merchant's country. It never exceeds the amount. */
function feeOf(
  { amount, method, merchantId }: RecordBase & { amount: number | null; method: string | null },
  own: OwnRecords,
) {
  if (amount === null) return null;
  const country = profileOf(merchantId, own).country ?? "";
  const name = method ?? "card";
  const [basisPoints, fixed] = FEES[country]?.[name] ?? USUAL_FEES[name] ?? (USUAL_FEES.card as FeeRate);
  return Math.min(Math.round((amount * basisPoints) / 10_000) + fixed, amount);
}

/** A payment that was refunded, fully or in part, must have the time of the refund. */
const refundKeepsTime: Rule<RecordBase & SettledPayment & { refundedAt: number | null }> = (payment) =>
  payment.refundedAt === null && (payment.refundedAmount > 0 || payment.status === "refunded")
    ? problem("refundedAt", "out_of_order", "refundedAt must not be null: the payment was refunded.")
    : undefined;

const refundWithinAmount: Rule<RecordBase & SettledPayment> = ({ status, amount, refundedAmount }) => {
  if (refundedAmount === 0 && status !== "refunded") return undefined;
  const wrong = (code: string, says: string) => problem("refundedAmount", code, `refundedAmount ${says}.`);
  if (status !== "succeeded" && status !== "refunded")
    return wrong("out_of_range", `must be 0 while the payment is ${status}; received ${refundedAmount}`);
  if (status === "refunded" && amount !== null && refundedAmount !== amount)
    return wrong("wrong_sum", `of a refunded payment must be its amount, ${amount}; received ${refundedAmount}`);
  if (refundedAmount > (amount ?? 0))
    return wrong("out_of_range", `must not exceed the amount, ${amount}; received ${refundedAmount}`);
  if (status === "succeeded" && refundedAmount === amount)
    return wrong("out_of_range", `is the whole amount, ${amount}: set the status to refunded instead`);
  return undefined;
};

/** A payout has a single currency, so a payment in a payout cannot change its currency. */
const currencyOfPayout: Rule<RecordBase & SettledPayment & { payoutId: string | null }> = (
  { currency, payoutId, paidOutAmount },
  { before },
) =>
  before === undefined || (paidOutAmount === 0 && payoutId === null) || currency === before.currency
    ? undefined
    : problem(
        "currency",
        "fixed",
        `currency of a payment in a payout is fixed, ${before.currency}; received ${currency}.`,
      );

const feeBeyondAmount: Warning<RecordBase & SettledPayment> = ({ amount, fee }, { before }) => {
  const isSame = before?.amount === amount && before.fee === fee;
  return isSame || (fee ?? 0) <= (amount ?? fee ?? 0) ? undefined : `The fee, ${fee}, exceeds the amount, ${amount}.`;
};

export const payments = resource({
  kind: "payment",
  prefix: "pay",
  view: "payments",
  sample: samplePayment,
  datesMoveBy: daysIfDaily,
  fields: {
    ...nullables({
      amount: amount("Amount of the payment", { minimum: 0 }),
      currency: currency(),
      method: text("Payment method, such as `card`, `bank_transfer` or `mobile_money`"),
      customerId: id("cus", "Customer who made the payment"),
      reference: text("The merchant's own reference, such as an invoice number"),
      description: text("Description of the payment"),
      fee: amount("Fee charged by the service", { minimum: 0 }),
      failureCode: text("Reason for the failure"),
      paidAt: timestamp("Time at which the payment succeeded"),
      failedAt: timestamp("Time at which the payment failed"),
      refundedAt: timestamp("Time of the newest refund"),
      payoutId: id("po", "Newest payout that contains the payment and neither failed nor was canceled"),
    }),
    refundedAmount: amount("Amount refunded", { minimum: 0 }),
    paidOutAmount: amount("Amount in payouts that neither failed nor were canceled"),
  },
  defaults: { refundedAmount: 0, paidOutAmount: 0 },
  states: {
    pending: { to: ["succeeded", "failed"], event: "payment.pending" },
    succeeded: {
      to: ["refunded"],
      event: "payment.succeeded",
      at: "paidAt",
      sets: ({ record, now, own }) => ({
        fee: record.fee ?? feeOf(record, own),
        ...(record.refundedAmount > 0 &&
          record.refundedAmount !== record.amount && {
            refundedAmount: record.refundedAmount,
            refundedAt: record.refundedAt ?? Math.max(now, record.paidAt ?? now),
          }),
      }),
    },
    failed: {
      to: [],
      event: "payment.failed",
      at: "failedAt",
      sets: ({ record }) => ({ failureCode: record.failureCode ?? failureOf(record.method) }),
    },
    refunded: {
      to: [],
      event: "payment.refunded",
      sets: ({ record, now }) => ({ refundedAmount: record.amount ?? 0, refundedAt: now }),
    },
  },
  updated: {
    "payment.partially_refunded": {
      when: (before, after) => after.refundedAmount > before.refundedAmount,
      trigger: {
        status: "succeeded",
        change: ({ amount }) => ({ refundedAmount: Math.round((amount ?? 0) / 2) }),
        flags: "--refunded-amount 1.00",
      },
    },
    "payment.updated": {},
  },
  worldChecks: [unsettledPayments],
  rules: [refundWithinAmount, currencyOfPayout, refundKeepsTime, inOrder("paidAt", "refundedAt")],
  warnings: [feeBeyondAmount],
  corrects: (record, { before, now }) =>
    before && record.refundedAmount > before.refundedAmount && record.refundedAt === before.refundedAt
      ? { refundedAt: now }
      : undefined,
  references: { customerId: "customer", payoutId: "payout" },
  derived: ["payoutId", "paidOutAmount"],
  series: [{ field: "reference", prefix: ({ merchantId }, own) => initialsOf(profileOf(merchantId, own).name, "INV") }],
  outstanding: (payment) => unpaidOf(payment) !== 0,
});

/**
 * Takes a payment from the customer of a record and stores its id in `field`, unless `field` already names a payment.
 */
export function takePayment<R extends RecordBase & Record<"customerId" | "currency", string | null>>(
  resource: Resource<R>,
  { record, own }: Arrival<RecordBase & Record<"customerId" | "currency", string | null>>,
  field: "paymentId" | "balancePaymentId",
  sale: { amount: number; description: string | null; metadata: Record<string, string> },
): boolean {
  if ((record as unknown as AnyRecord)[field] !== null || sale.amount <= 0) return false;
  const { currency, customerId } = record;
  const payment = own(payments).create({ status: "succeeded", currency, customerId, method: "card", ...sale });
  own(resource).update(own(resource).require(record.id), { [field]: payment.id } as RecordFields<R>, null);
  return true;
}

function failureOf(method: string | null): string {
  if (method === "bank_transfer") return "insufficient_funds";
  return method === "mobile_money" ? "timeout" : "card_declined";
}

const listPayments = listEndpoint(
  payments,
  { id: "payments.list", position: 9, area: "Payments", path: "/payments", summary: "List all payments" },
  { reply: listOf(payments.schema), query: documentedPageQuery },
);

export const operations = [listPayments];

export const resources = [payments];
