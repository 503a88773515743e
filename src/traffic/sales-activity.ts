// Sales traffic: payments and their payouts, bookings, orders, renewals and new customers.

import type { Scene } from "./activity-context.ts";
import { type Kind, money, number, whose } from "./kind.ts";

const amountOf = (record: object) => Number((record as { amount?: unknown }).amount ?? 0);

const payment: Kind = {
  weight: 40,
  begin: (scene) => ({
    ...money(scene, 400),
    ...whose(scene),
    method: scene.pick("method", ["card", "card", "card", "bank_transfer", "mobile_money"]),
    reference: number("INV", scene),
  }),
  life: { pending: { succeeded: 0.9, failed: 0.1 }, succeeded: { refunded: 0.05 } },
  arrive: {
    succeeded: (_, payment) => ({ fee: Math.round(amountOf(payment) * 0.029) }),
    failed: (scene) => ({ failureCode: scene.pick("failure", ["card_declined", "insufficient_funds", "expired_card"]) }),
    refunded: (_, payment) => ({ refundedAmount: amountOf(payment) }),
  },
  note({ cast }, payment) {
    if (payment.status === "succeeded") cast.till += amountOf(payment) - Number(payment.fee ?? 0);
    if (payment.status === "refunded") cast.till -= amountOf(payment);
  },
};

const payout: Kind = {
  weight: 6,
  begin: (scene) => ({
    ...money(scene, 5_000),
    ...(scene.cast.till > 0 ? { amount: scene.cast.till } : {}),
    payoutMethodId: scene.cast.payoutMethodId,
    arrivalDate: scene.day(2),
  }),
  life: { pending: { in_transit: 0.97, canceled: 0.03 }, in_transit: { paid: 0.95, failed: 0.05 } },
  arrive: { failed: () => ({ failureCode: "account_closed" }) },
  note({ cast }, payout) {
    if (payout.status === "pending") cast.till = 0;
  },
};

const booking: Kind = {
  weight: 14,
  begin(scene) {
    const arrival = scene.between("arrival", 1, 60);
    const guest = scene.customer();
    return {
      ...money(scene, 1_200),
      guestName: guest?.name ?? null,
      customerId: guest?.id ?? null,
      checkIn: scene.day(arrival),
      checkOut: scene.day(arrival + scene.between("nights", 1, 9)),
      guests: scene.between("guests", 1, 4),
    };
  },
  life: { pending: { confirmed: 0.75, declined: 0.15, cancelled: 0.1 }, confirmed: { cancelled: 0.1 } },
  arrive: {
    declined: (scene) => ({ declineReason: scene.pick("reason", ["The house is full.", "Closed for repairs."]), declinedAt: scene.now }),
  },
};

const order: Kind = {
  weight: 12,
  begin(scene) {
    const items = scene.pick("lines", [["one"], ["one"], ["one", "two"]]).map((line) => lineOf(scene, line));
    return {
      ...whose(scene),
      number: number("TR", scene),
      channel: scene.pick("channel", ["Feira Verde", "Casa e Mesa"]),
      items,
      amount: items.reduce((sum, { quantity, unitAmount }) => sum + quantity * unitAmount, 0),
      currency: scene.cast.currency,
    };
  },
  life: {
    pending: { accepted: 0.9, refused: 0.05, canceled: 0.05 },
    accepted: { shipped: 0.96, canceled: 0.04 },
    shipped: { delivered: 0.98 },
  },
};

function lineOf(scene: Scene, line: string) {
  const { goods } = scene.cast;
  const { id, productId, sku, name, price } = goods.length > 0 ? scene.pick(`goods ${line}`, goods) : ANYTHING;
  return {
    productId,
    variantId: id,
    sku,
    name: String(name ?? sku),
    quantity: scene.between(`quantity ${line}`, 1, 4),
    unitAmount: Number(price ?? ANYTHING.price),
  };
}

/** Sold by merchants without products. */
const ANYTHING = { id: null, productId: null, sku: null, name: "Gift box", price: 2_500 };

const renewal: Kind = {
  weight: 5,
  begin: (scene) => ({
    ...money(scene, 120),
    ...whose(scene),
    membershipId: `mbs_${scene.number}`,
    plan: scene.pick("plan", ["monthly", "yearly"]),
    dueDate: scene.day(7),
    periodStart: scene.day(7),
    periodEnd: scene.day(37),
    autoRenew: scene.chance("auto") < 0.5,
  }),
  life: { pending: { renewed: 0.8, grace: 0.2 }, grace: { renewed: 0.5, lapsed: 0.4, canceled: 0.1 } },
  arrive: { renewed: (scene) => ({ renewedAt: scene.now }) },
};

const NAMES = ["Amara Okafor", "Zoë Müller", "Tiago Nunes", "小林 さくら", "Noor Haddad", "Siobhán Byrne", "Łucja Nowak", "Mateo Ibáñez"];

const customer: Kind = {
  weight: 6,
  begin: (scene) => ({ name: scene.pick("name", NAMES), email: `customer-${scene.number}@mail.example`, phone: null }),
  life: {},
  note: ({ cast }, { id, name }) => void cast.customers.push({ id, name }),
};

export const sales: Readonly<Record<string, Kind>> = {
  payment,
  booking,
  marketplace_order: order,
  customer,
  payout,
  membership_renewal: renewal,
};
