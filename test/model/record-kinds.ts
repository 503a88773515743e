// The kinds of records: id prefix, default fields, state transitions and the events they emit.

export type Fields = Record<string, unknown>;

export interface Kind {
  prefix: string;
  /** Fields of a new record, including its initial state. */
  defaults: Fields;
  /** For each state, the states that may follow. */
  transitions: Record<string, string[]>;
  /** Event types by trigger: `created`, or the state reached. */
  emits: Record<string, string>;
}

const none = (...names: string[]): Fields => Object.fromEntries(names.map((name) => [name, null]));

/** Parses transitions: in `pending > paid failed`, paid and failed may follow pending. */
const transitions = (...lines: string[]): Record<string, string[]> =>
  Object.fromEntries(
    lines.map((line) => {
      const [from = "", to = ""] = line.split(">").map((part) => part.trim());
      return [from, to.split(" ").filter(Boolean)];
    }),
  );

const merchant: Kind = {
  prefix: "mer",
  defaults: { status: "active", ...none("name", "email", "phone", "country", "currency") },
  transitions: transitions("active > suspended", "suspended > active"),
  emits: {},
};

const customer: Kind = { prefix: "cus", defaults: {}, transitions: {}, emits: { created: "customer.created" } };

const payment: Kind = {
  prefix: "pay",
  defaults: {
    status: "pending",
    ...none("amount", "currency", "method", "customerId", "reference", "description", "fee", "failureCode"),
    refundedAmount: 0,
  },
  transitions: transitions("pending > succeeded failed", "succeeded > refunded", "failed >", "refunded >"),
  emits: { created: "payment.pending", succeeded: "payment.succeeded", failed: "payment.failed", refunded: "payment.refunded" },
};

const payout: Kind = {
  prefix: "po",
  defaults: { status: "pending", ...none("amount", "currency", "payoutMethodId", "arrivalDate", "failureCode") },
  transitions: transitions("pending > in_transit canceled", "in_transit > paid failed", "paid >", "failed >", "canceled >"),
  emits: { created: "payout.created", paid: "payout.paid", failed: "payout.failed" },
};

const payoutMethod: Kind = {
  prefix: "pom",
  defaults: {
    status: "pending_verification",
    ...none("type", "last4", "accountName", "bankName", "bankCode", "country", "currency"),
    isDefault: true,
  },
  transitions: transitions("pending_verification > verified failed", "verified >", "failed >"),
  emits: { created: "payout_method.updated", verified: "payout_method.updated", failed: "payout_method.updated" },
};

const order: Kind = {
  prefix: "ord",
  defaults: { status: "pending", ...none("number", "channel", "customerId", "amount", "currency", "shippingAddress"), items: [] },
  transitions: transitions(
    "pending > accepted refused canceled",
    "accepted > shipped canceled",
    "shipped > delivered canceled",
    "delivered >",
    "refused >",
    "canceled >",
  ),
  emits: {
    created: "marketplace_order.created",
    ...Object.fromEntries(["accepted", "shipped", "delivered", "refused", "canceled"].map((state) => [state, "marketplace_order.updated"])),
  },
};

const pricingRule: Kind = {
  prefix: "prl",
  defaults: {
    status: "active",
    ...none("name", "adjustmentType", "adjustmentValue", "roomTypeId", "startDate", "endDate", "daysOfWeek", "minNights", "maxNights"),
    priority: 0,
  },
  transitions: transitions("active > inactive", "inactive > active"),
  emits: { created: "pricing_rule.created" },
};

const booking: Kind = {
  prefix: "bkg",
  defaults: {
    status: "pending",
    ...none("guestName", "customerId", "roomTypeId", "checkIn", "checkOut", "guests", "amount", "currency", "declineReason", "declinedAt"),
  },
  transitions: transitions(
    "pending > confirmed declined cancelled",
    "confirmed > checked_in no_show cancelled",
    "checked_in > checked_out",
    "checked_out >",
    "no_show >",
    "cancelled >",
    "declined >",
  ),
  emits: { created: "booking.created", confirmed: "booking.confirmed", declined: "booking.declined", cancelled: "booking.cancelled" },
};

const payroll: Kind = {
  prefix: "pyr",
  defaults: {
    status: "draft",
    ...none("periodStart", "periodEnd", "payDate", "currency"),
    items: [],
    totals: { employees: 0, grossAmount: 0, deductionAmount: 0, netAmount: 0 },
  },
  transitions: transitions(
    "draft > pending",
    "pending > processing",
    "processing > paid partially_paid failed",
    "paid >",
    "partially_paid >",
    "failed >",
  ),
  emits: { created: "payroll.created", paid: "payroll.paid" },
};

const disciplinaryRecord: Kind = {
  prefix: "dis",
  defaults: { status: "open", ...none("employeeId", "type", "category", "description", "incidentDate", "issuedDate") },
  transitions: transitions("open > acknowledged appealed", "acknowledged > closed appealed", "appealed > closed", "closed >"),
  emits: { created: "disciplinary_record.created" },
};

const appraisal: Kind = {
  prefix: "apr",
  defaults: {
    status: "draft",
    ...none("employeeId", "reviewerId", "cycle", "periodStart", "periodEnd", "finalScore", "remarks"),
    goals: [],
  },
  transitions: transitions("draft > submitted cancelled", "submitted > completed cancelled", "completed >", "cancelled >"),
  emits: { completed: "appraisal.completed" },
};

const renewal: Kind = {
  prefix: "ren",
  defaults: {
    status: "pending",
    ...none("membershipId", "customerId", "plan", "amount", "currency", "dueDate", "periodStart", "periodEnd", "renewedAt"),
    autoRenew: false,
  },
  transitions: transitions("pending > renewed grace canceled", "grace > renewed lapsed canceled", "renewed >", "lapsed >", "canceled >"),
  emits: { created: "membership_renewal.due", renewed: "membership_renewal.renewed" },
};

const organizer: Kind = {
  prefix: "org",
  defaults: {
    status: "active",
    ...none("name", "description", "email", "phone", "website"),
    verified: false,
    upcomingEvents: 0,
    pastEvents: 0,
  },
  transitions: transitions("active > suspended", "suspended > active"),
  emits: {},
};

const syncLog: Kind = {
  prefix: "syl",
  defaults: {
    status: "running",
    ...none("integration", "entity", "direction", "startedAt", "finishedAt", "errorMessage"),
    recordsProcessed: 0,
    recordsFailed: 0,
  },
  transitions: transitions("running > succeeded partial failed", "succeeded >", "partial >", "failed >"),
  emits: { succeeded: "integration_sync.succeeded", failed: "integration_sync.failed" },
};

const product: Kind = {
  prefix: "prod",
  defaults: { status: "active", ...none("name", "description") },
  transitions: transitions("active > archived", "archived > active"),
  emits: {},
};

const variant: Kind = {
  prefix: "var",
  defaults: { status: "active", ...none("productId", "sku", "price", "name", "currency", "stockQuantity", "barcode"), options: {} },
  transitions: transitions("active > archived", "archived > active"),
  emits: { created: "product_variant.created" },
};

const remittance: Kind = {
  prefix: "rem",
  defaults: {
    status: "pending",
    ...none("scheme", "agency", "period", "amount", "employeeAmount", "employerAmount", "currency", "dueDate", "paidAt"),
    ...none("paymentReference", "receiptNumber", "confirmedDate", "note", "confirmedAt"),
  },
  transitions: transitions(
    "pending > paid overdue confirmed cancelled",
    "paid > confirmed",
    "overdue > paid confirmed cancelled",
    "confirmed >",
    "cancelled >",
  ),
  emits: { created: "remittance.created", confirmed: "remittance.confirmed" },
};

const settings: Kind = {
  prefix: "sts",
  defaults: { ...none("country", "currency", "payFrequency", "remittanceDueDay", "updated"), autoRemit: false, schemes: [] },
  transitions: {},
  emits: { updated: "statutory_settings.updated" },
};

const unposted = { status: "unposted", ...none("journalEntryId", "debitAccount", "creditAccount", "memo", "postedAt") };

const govPayment: Kind = {
  prefix: "gov",
  defaults: { status: "pending", ...none("agency", "purpose", "reference", "amount", "currency", "paidAt"), bookkeeping: unposted },
  transitions: transitions("pending > paid failed cancelled", "paid >", "failed >", "cancelled >"),
  emits: { paid: "gov_payment.paid" },
};

const endpoint: Kind = {
  prefix: "we",
  defaults: { status: "enabled", ...none("url", "events") },
  transitions: transitions("enabled > disabled", "disabled > enabled"),
  emits: {},
};

export const kinds = {
  merchant,
  customer,
  payment,
  payout,
  payout_method: payoutMethod,
  marketplace_order: order,
  pricing_rule: pricingRule,
  booking,
  payroll,
  disciplinary_record: disciplinaryRecord,
  appraisal,
  membership_renewal: renewal,
  event_organizer: organizer,
  sync_log: syncLog,
  product,
  product_variant: variant,
  remittance,
  statutory_settings: settings,
  gov_payment: govPayment,
  webhook_endpoint: endpoint,
} satisfies Record<string, Kind>;

export type KindName = keyof typeof kinds;

/** Events that operations emit in addition to those of creation and transitions. */
const TOLD_BY_OPERATIONS = ["merchant.created", "payroll_item.overridden", "gov_payment.posted"];

/** Every event type the service sends. */
export const eventTypes: ReadonlySet<string> = new Set([
  ...TOLD_BY_OPERATIONS,
  ...Object.values<Kind>(kinds).flatMap(({ emits }) => Object.values(emits)),
]);
