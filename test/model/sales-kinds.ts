// The kinds of records of sales: merchants, customers, payments, payouts, orders, bookings, memberships and products.

import { at, atWith, dayOf, daysLater, eventsOf, type Fields, type Home, type Kind, none, transitions } from "./kind-parts.ts";

/** Basis points of the amount, and a fixed part. Japan has its own for two methods. */
const FEES: Record<string, [number, number]> = {
  card: [150, 25],
  bank_transfer: [80, 0],
  mobile_money: [200, 0],
  "JP card": [360, 0],
  "JP bank_transfer": [0, 250],
};

function feeOf({ amount, method }: Fields, { country }: Home): number | null {
  if (typeof amount !== "number") return null;
  const [points, fixed] = FEES[`${country} ${method ?? "card"}`] ?? FEES[String(method ?? "card")] ?? [150, 25];
  return Math.min(Math.round((amount * points) / 10_000) + fixed, amount);
}

const FAILURES: Record<string, string> = { bank_transfer: "insufficient_funds", mobile_money: "timeout" };

export const salesKinds = {
  merchant: {
    prefix: "mer",
    defaults: { status: "active", ...none("name email phone country currency suspendedAt suspensionReason") },
    transitions: transitions("active > suspended", "suspended > active"),
    emits: { active: "merchant.reactivated", suspended: "merchant.suspended", updated: "merchant.updated" },
    sets: {
      active: () => ({ suspendedAt: null, suspensionReason: null }),
      suspended: atWith("suspendedAt", "suspensionReason", "under_review"),
    },
    orders: ["created suspendedAt"],
  },

  customer: {
    prefix: "cus",
    defaults: {},
    transitions: {},
    emits: { created: "customer.created", updated: "customer.updated" },
  },

  payment: {
    prefix: "pay",
    defaults: {
      status: "pending",
      ...none("amount currency method customerId reference description fee failureCode paidAt failedAt refundedAt payoutId"),
      refundedAmount: 0,
      paidOutAmount: 0,
    },
    transitions: transitions("pending > succeeded failed", "succeeded > refunded"),
    emits: {
      created: "payment.pending",
      succeeded: "payment.succeeded",
      failed: "payment.failed",
      refunded: "payment.refunded",
      updated: "payment.updated",
    },
    sets: {
      succeeded: (now, payment, home) => ({ fee: payment.fee ?? feeOf(payment, home), paidAt: now }),
      failed: (now, { method, failureCode }) => ({
        failedAt: now,
        failureCode: failureCode ?? FAILURES[String(method)] ?? "card_declined",
      }),
      refunded: (now, { amount }) => ({ refundedAmount: amount ?? 0, refundedAt: now }),
    },
    orders: ["created paidAt refundedAt", "created failedAt"],
  },

  payout: {
    prefix: "po",
    defaults: {
      status: "pending",
      ...none("amount currency payoutMethodId arrivalDate failureCode sentAt paidAt failedAt canceledAt"),
      payments: [],
    },
    transitions: transitions("pending > in_transit canceled", "in_transit > paid failed"),
    emits: { created: "payout.created", ...eventsOf("payout", "in_transit", "paid", "failed", "canceled", "updated") },
    sets: {
      pending: (_now, payout, home) => ({ payoutMethodId: payout.payoutMethodId ?? home.payoutMethodId }),
      in_transit: at("sentAt"),
      paid: at("paidAt"),
      failed: atWith("failedAt", "failureCode", "account_closed"),
      canceled: at("canceledAt"),
    },
    orders: ["created sentAt paidAt", "sentAt failedAt", "created canceledAt"],
  },

  payout_method: {
    prefix: "pom",
    defaults: {
      status: "pending_verification",
      ...none("type last4 accountName bankName bankCode country currency failureCode verifiedAt failedAt replacedAt"),
      isDefault: true,
    },
    transitions: transitions("pending_verification > verified failed replaced", "verified > replaced", "failed > replaced"),
    emits: { created: "payout_method.updated", ...eventsOf("payout_method", "verified", "failed", "replaced", "updated") },
    sets: {
      verified: at("verifiedAt"),
      failed: atWith("failedAt", "failureCode", "account_not_found"),
      replaced: (now) => ({ isDefault: false, replacedAt: now }),
    },
    orders: ["created verifiedAt replacedAt", "created failedAt replacedAt"],
  },

  marketplace_order: {
    prefix: "ord",
    defaults: {
      status: "pending",
      ...none("number channel customerId shippingAmount amount currency shippingAddress trackingNumber"),
      ...none("expectedDelivery acceptedAt shippedAt deliveredAt refusedAt canceledAt"),
      items: [],
    },
    transitions: transitions("pending > accepted refused canceled", "accepted > shipped canceled", "shipped > delivered canceled"),
    emits: {
      created: "marketplace_order.created",
      ...eventsOf("marketplace_order", "accepted", "shipped", "delivered", "refused", "canceled", "updated"),
    },
    sets: {
      accepted: at("acceptedAt"),
      shipped: (now, { id, trackingNumber }, home) => ({
        shippedAt: now,
        trackingNumber: trackingNumber ?? `TRK${String(id).slice(4).toUpperCase()}`,
        expectedDelivery: daysLater(dayOf(now, home), 3),
      }),
      delivered: at("deliveredAt"),
      refused: at("refusedAt"),
      canceled: at("canceledAt"),
    },
    orders: ["created acceptedAt shippedAt deliveredAt", "created refusedAt", "created acceptedAt shippedAt canceledAt"],
  },

  pricing_rule: {
    prefix: "prl",
    defaults: {
      status: "active",
      ...none("name adjustmentType adjustmentValue roomTypeId startDate endDate daysOfWeek minNights maxNights deactivatedAt"),
      priority: 0,
    },
    transitions: transitions("active > inactive", "inactive > active"),
    emits: {
      created: "pricing_rule.created",
      active: "pricing_rule.activated",
      inactive: "pricing_rule.deactivated",
      updated: "pricing_rule.updated",
    },
    sets: { active: () => ({ deactivatedAt: null }), inactive: at("deactivatedAt") },
    orders: ["created deactivatedAt"],
  },

  booking: {
    prefix: "bkg",
    defaults: {
      status: "pending",
      ...none("guestName customerId roomTypeId checkIn checkOut guests amount currency declineReason declinedAt"),
      ...none("nightlyRate paymentId confirmedAt cancelledAt checkedInAt checkedOutAt noShowAt"),
    },
    transitions: transitions(
      "pending > confirmed declined cancelled",
      "confirmed > checked_in no_show cancelled",
      "checked_in > checked_out",
    ),
    emits: {
      created: "booking.created",
      ...eventsOf("booking", "confirmed", "declined", "cancelled", "checked_in", "checked_out", "no_show", "updated"),
    },
    sets: {
      confirmed: at("confirmedAt"),
      declined: at("declinedAt"),
      cancelled: at("cancelledAt"),
      checked_in: at("checkedInAt"),
      checked_out: at("checkedOutAt"),
      no_show: at("noShowAt"),
    },
    orders: [
      "created confirmedAt checkedInAt checkedOutAt",
      "created declinedAt",
      "created confirmedAt cancelledAt",
      "confirmedAt noShowAt",
    ],
  },

  membership_renewal: {
    prefix: "ren",
    defaults: {
      status: "pending",
      ...none("membershipId customerId plan amount currency dueDate periodStart periodEnd renewedAt"),
      ...none("graceAt graceUntil lapsedAt canceledAt"),
      autoRenew: false,
    },
    transitions: transitions("pending > renewed grace canceled", "grace > renewed lapsed canceled"),
    emits: { created: "membership_renewal.due", ...eventsOf("membership_renewal", "renewed", "grace", "lapsed", "canceled", "updated") },
    sets: {
      grace: (now, { dueDate }, home) => ({ graceAt: now, graceUntil: daysLater(String(dueDate ?? dayOf(now, home)), 14) }),
      // The records of the model have a known end of the period, or no plan: a year.
      renewed(now, { dueDate, ...record }, home) {
        const periodStart = String(record.periodStart ?? dueDate ?? dayOf(now, home));
        const nextYear = `${Number(periodStart.slice(0, 4)) + 1}${periodStart.slice(4)}`;
        return { renewedAt: now, periodStart, periodEnd: record.periodEnd ?? daysLater(nextYear, -1) };
      },
      lapsed: at("lapsedAt"),
      canceled: at("canceledAt"),
    },
    orders: ["created graceAt renewedAt", "created graceAt lapsedAt", "created graceAt canceledAt"],
  },

  event_organizer: {
    prefix: "org",
    defaults: {
      status: "active",
      ...none("name description email phone website suspendedAt suspensionReason"),
      verified: false,
      upcomingEvents: 0,
      pastEvents: 0,
    },
    transitions: transitions("active > suspended", "suspended > active"),
    emits: {
      created: "event_organizer.created",
      active: "event_organizer.reactivated",
      suspended: "event_organizer.suspended",
      updated: "event_organizer.updated",
    },
    sets: {
      active: () => ({ suspendedAt: null, suspensionReason: null }),
      suspended: atWith("suspendedAt", "suspensionReason", "under_review"),
    },
    orders: ["created suspendedAt"],
  },

  product: {
    prefix: "prod",
    defaults: { status: "active", ...none("name description archivedAt") },
    transitions: transitions("active > archived", "archived > active"),
    emits: { created: "product.created", active: "product.restored", archived: "product.archived", updated: "product.updated" },
    sets: { active: () => ({ archivedAt: null }), archived: at("archivedAt") },
    orders: ["created archivedAt"],
  },

  product_variant: {
    prefix: "var",
    defaults: {
      status: "active",
      ...none("productId sku price name currency stockQuantity barcode archivedAt"),
      options: {},
    },
    transitions: transitions("active > archived", "archived > active"),
    emits: {
      created: "product_variant.created",
      active: "product_variant.restored",
      archived: "product_variant.archived",
      updated: "product_variant.updated",
    },
    sets: { active: () => ({ archivedAt: null }), archived: at("archivedAt") },
    orders: ["created archivedAt"],
  },
} satisfies Record<string, Kind>;
