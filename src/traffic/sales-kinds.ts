// Sales traffic: payments and their payouts, bookings, orders, renewals and new customers.

import { customerField, type MerchantRecords, money, number, type TrafficKind } from "./kind.ts";
import type { StepContext, TrafficRecord } from "./step-context.ts";

const amountOf = (record: object) => Number((record as { amount?: unknown }).amount ?? 0);

const payment: TrafficKind = {
  weight: 40,
  newRecord: (step) => ({
    ...money(step, 400),
    ...customerField(step),
    method: step.pick("method", ["card", "card", "card", "bank_transfer", "mobile_money"]),
    reference: number("INV", step),
  }),
  transitions: { pending: { succeeded: 0.9, failed: 0.1 }, succeeded: { refunded: 0.05 } },
  onEnter: {
    succeeded: (_, payment) => ({ fee: Math.round(amountOf(payment) * 0.029) }),
    failed: (step) => ({ failureCode: step.pick("failure", ["card_declined", "insufficient_funds", "expired_card"]) }),
    refunded: (_, payment) => ({ refundedAmount: amountOf(payment) }),
  },
  afterStep({ merchantData }, payment) {
    if (payment.status === "succeeded") merchantData.unpaidOut += amountOf(payment) - Number(payment.fee ?? 0);
    if (payment.status === "refunded") merchantData.unpaidOut -= amountOf(payment);
  },
};

const payout: TrafficKind = {
  weight: 6,
  newRecord: (step) => ({
    ...money(step, 5_000),
    ...(step.merchantData.unpaidOut > 0 ? { amount: step.merchantData.unpaidOut } : {}),
    payoutMethodId: step.merchantData.payoutMethodId,
    arrivalDate: step.day(2),
  }),
  transitions: { pending: { in_transit: 0.97, canceled: 0.03 }, in_transit: { paid: 0.95, failed: 0.05 } },
  onEnter: { failed: () => ({ failureCode: "account_closed" }) },
  afterStep({ merchantData }, payout) {
    if (payout.status === "pending") merchantData.unpaidOut = 0;
  },
};

const booking: TrafficKind = {
  weight: 14,
  newRecord(step) {
    const arrival = step.between("arrival", 1, 60);
    const guest = step.customer();
    return {
      ...money(step, 1_200),
      guestName: guest?.name ?? null,
      customerId: guest?.id ?? null,
      checkIn: step.day(arrival),
      checkOut: step.day(arrival + step.between("nights", 1, 9)),
      guests: step.between("guests", 1, 4),
    };
  },
  transitions: { pending: { confirmed: 0.75, declined: 0.15, cancelled: 0.1 }, confirmed: { cancelled: 0.1 } },
  onEnter: {
    declined: (step) => ({ declineReason: step.pick("reason", ["The house is full.", "Closed for repairs."]), declinedAt: step.now }),
  },
};

const order: TrafficKind = {
  weight: 12,
  newRecord(step) {
    const items = step.pick("lines", [["one"], ["one"], ["one", "two"]]).map((line) => lineOf(step, line));
    return {
      ...customerField(step),
      number: number("TR", step),
      channel: step.pick("channel", ["Feira Verde", "Casa e Mesa"]),
      items,
      amount: items.reduce((sum, { quantity, unitAmount }) => sum + quantity * unitAmount, 0),
      currency: step.merchantData.currency,
    };
  },
  transitions: {
    pending: { accepted: 0.9, refused: 0.05, canceled: 0.05 },
    accepted: { shipped: 0.96, canceled: 0.04 },
    shipped: { delivered: 0.98 },
  },
  prepare: { accepted: restock },
};

/** Buys stock for the items that are sold out. */
function restock({ items }: TrafficRecord, own: MerchantRecords): void {
  const variants = own("product_variant");
  for (const { variantId, quantity } of items as { variantId: string | null; quantity: number }[]) {
    const variant = variantId === null ? undefined : (variants.find(variantId) as TrafficRecord | undefined);
    if (typeof variant?.stockQuantity !== "number" || variant.stockQuantity >= 2 * quantity) continue;
    variants.update(variant, { stockQuantity: variant.stockQuantity + RESTOCK });
  }
}

const RESTOCK = 50;

function lineOf(step: StepContext, line: string) {
  const { goods } = step.merchantData;
  const { id, productId, sku, name, price } = goods.length > 0 ? step.pick(`goods ${line}`, goods) : DEFAULT_ITEM;
  return {
    productId,
    variantId: id,
    sku,
    name: String(name ?? sku),
    quantity: step.between(`quantity ${line}`, 1, 4),
    unitAmount: Number(price ?? DEFAULT_ITEM.price),
  };
}

/** Sold by merchants without products. */
const DEFAULT_ITEM = { id: null, productId: null, sku: null, name: "Gift box", price: 2_500 };

const renewal: TrafficKind = {
  weight: 5,
  newRecord: (step) => ({
    ...money(step, 120),
    ...customerField(step),
    membershipId: `mbs_${step.number}`,
    plan: step.pick("plan", ["monthly", "yearly"]),
    dueDate: step.day(7),
    periodStart: step.day(7),
    periodEnd: step.day(37),
    autoRenew: step.chance("auto") < 0.5,
  }),
  transitions: { pending: { renewed: 0.8, grace: 0.2 }, grace: { renewed: 0.5, lapsed: 0.4, canceled: 0.1 } },
  onEnter: { renewed: (step) => ({ renewedAt: step.now }) },
};

const NAMES = ["Amara Okafor", "Zoë Müller", "Tiago Nunes", "小林 さくら", "Noor Haddad", "Siobhán Byrne", "Łucja Nowak", "Mateo Ibáñez"];

const customer: TrafficKind = {
  weight: 6,
  newRecord: (step) => ({ name: step.pick("name", NAMES), email: `customer-${step.number}@mail.example` }),
  transitions: {},
  afterStep: ({ merchantData }, { id, name }) => void merchantData.customers.push({ id, name }),
};

export const sales: Readonly<Record<string, TrafficKind>> = {
  payment,
  booking,
  marketplace_order: order,
  customer,
  payout,
  membership_renewal: renewal,
};
