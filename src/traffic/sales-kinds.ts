// Sales traffic: payments and their payouts, bookings, orders, renewals and new customers.

import { type SettledPayment, total, unpaidShares } from "../contracts/payment-shares.ts";
import type { AnyRecord } from "../contracts/resource.ts";
import type { JsonObject } from "../schema/schema.ts";
import type { TrafficKind } from "./kind.ts";
import { dayOf, type StepContext } from "./step-context.ts";

/** Income in the merchant's currency from payments that no payout contains yet. */
function takings({ own, merchant }: StepContext): number {
  const payments = own("payment").outstanding() as unknown as SettledPayment[];
  return total(unpaidShares(payments, (merchant().currency as string | undefined) ?? null));
}

const payment: TrafficKind = {
  weight: 40,
  transitions: { pending: { succeeded: 0.9, failed: 0.1 }, succeeded: { refunded: 0.05 } },
  prepare: { refunded: (step, { amount }) => takings(step) >= Number(amount) },
};

const payout: TrafficKind = {
  weight: 6,
  basedOn: ["payout", "payout_method"],
  newRecord: payOut,
  transitions: { pending: { in_transit: 0.97, canceled: 0.03 }, in_transit: { paid: 0.95, failed: 0.05 } },
};

/** Pays out all takings, once a day or as soon as there are many payments, to a payout method that did not fail. */
function payOut(step: StepContext): JsonObject | undefined {
  const [last] = step.newest("payout", 1);
  const isPaidOutToday = last !== undefined && dayOf(last.created) === step.today;
  if (isPaidOutToday && step.newest("payment", MANY_PAYMENTS).some(({ paidOutAmount }) => paidOutAmount !== 0)) return undefined;
  const method = step.newest("payout_method", MOST_METHODS).find(({ isDefault, status }) => isDefault === true && status !== "failed");
  if (!method) return undefined;
  return takings(step) > 0 ? { payoutMethodId: method.id } : undefined;
}

const MANY_PAYMENTS = 100;
const MOST_METHODS = 100;

const booking: TrafficKind = {
  weight: 14,
  transitions: { pending: { confirmed: 0.75, declined: 0.15, cancelled: 0.1 }, confirmed: { cancelled: 0.1 } },
  onEnter: { declined: (step) => ({ declineReason: step.pick("reason", ["The house is full.", "Closed for repairs."]) }) },
};

const order: TrafficKind = {
  weight: 12,
  transitions: {
    pending: { accepted: 0.9, refused: 0.05, canceled: 0.05 },
    accepted: { shipped: 0.96, canceled: 0.04 },
    shipped: { delivered: 0.98 },
  },
  prepare: { accepted: restock },
};

interface OrderItem {
  variantId: string | null;
  quantity: number;
}

/** Buys stock for the items that are almost sold out. */
function restock({ own }: StepContext, { items }: AnyRecord): boolean {
  const variants = own("product_variant");
  for (const { variantId, quantity } of items as OrderItem[]) {
    const variant = variantId === null ? undefined : (variants.find(variantId) as AnyRecord | undefined);
    if (typeof variant?.stockQuantity !== "number" || variant.stockQuantity >= quantity + LOW_STOCK) continue;
    variants.update(variant, { stockQuantity: variant.stockQuantity + quantity + PURCHASE });
  }
  return true;
}

const LOW_STOCK = 5;
const PURCHASE = 50;

const renewal: TrafficKind = {
  weight: 5,
  newRecord: (step) => ({ autoRenew: step.chance("auto") < 0.5 }),
  // The date alone begins the period of grace, and ends it.
  transitions: { pending: { renewed: 0.3, canceled: 0.05 }, grace: { renewed: 0.5, canceled: 0.1 } },
};

const customer: TrafficKind = { weight: 6, transitions: {} };

export const sales: Readonly<Record<string, TrafficKind>> = {
  payment,
  booking,
  marketplace_order: order,
  customer,
  payout,
  membership_renewal: renewal,
};
