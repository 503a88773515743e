// The kinds of records: how their ids begin, what a new one holds where nobody said, which states follow which, and who is told.

export type Fields = Record<string, unknown>;

export interface Kind {
  prefix: string;
  /** What a record holds where nobody said otherwise, its first state among it. */
  blank: Fields;
  /** From each state, those that may follow. */
  moves: Record<string, string[]>;
  /** The type of event that each arrival makes: `created`, or the state that was reached. */
  tells: Record<string, string>;
}

const none = (...names: string[]): Fields => Object.fromEntries(names.map((name) => [name, null]));

/** States as they are read: `pending > paid failed` says that paid and failed may follow pending. */
const moves = (...lines: string[]): Record<string, string[]> =>
  Object.fromEntries(
    lines.map((line) => {
      const [from = "", to = ""] = line.split(">").map((part) => part.trim());
      return [from, to.split(" ").filter(Boolean)];
    }),
  );

const merchant: Kind = {
  prefix: "mer",
  blank: { status: "active", ...none("name", "email", "phone", "country", "currency") },
  moves: moves("active > suspended", "suspended > active"),
  tells: {},
};

const customer: Kind = { prefix: "cus", blank: none("email", "name", "phone"), moves: {}, tells: { created: "customer.created" } };

const payment: Kind = {
  prefix: "pay",
  blank: {
    status: "pending",
    ...none("amount", "currency", "method", "customerId", "reference", "description", "fee", "failureCode"),
    refundedAmount: 0,
  },
  moves: moves("pending > succeeded failed", "succeeded > refunded", "failed >", "refunded >"),
  tells: { created: "payment.pending", succeeded: "payment.succeeded", failed: "payment.failed", refunded: "payment.refunded" },
};

const payout: Kind = {
  prefix: "po",
  blank: { status: "pending", ...none("amount", "currency", "payoutMethodId", "arrivalDate", "failureCode") },
  moves: moves("pending > in_transit canceled", "in_transit > paid failed", "paid >", "failed >", "canceled >"),
  tells: { created: "payout.created", paid: "payout.paid", failed: "payout.failed" },
};

const payoutMethod: Kind = {
  prefix: "pom",
  blank: {
    status: "pending_verification",
    ...none("type", "last4", "accountName", "bankName", "bankCode", "country", "currency"),
    isDefault: true,
  },
  moves: moves("pending_verification > verified failed", "verified >", "failed >"),
  tells: { created: "payout_method.updated", verified: "payout_method.updated", failed: "payout_method.updated" },
};

const order: Kind = {
  prefix: "ord",
  blank: { status: "pending", ...none("number", "channel", "customerId", "amount", "currency", "shippingAddress"), items: [] },
  moves: moves(
    "pending > accepted refused canceled",
    "accepted > shipped canceled",
    "shipped > delivered canceled",
    "delivered >",
    "refused >",
    "canceled >",
  ),
  tells: {
    created: "marketplace_order.created",
    ...Object.fromEntries(["accepted", "shipped", "delivered", "refused", "canceled"].map((state) => [state, "marketplace_order.updated"])),
  },
};

const pricingRule: Kind = {
  prefix: "prl",
  blank: {
    status: "active",
    ...none("name", "adjustmentType", "adjustmentValue", "roomTypeId", "startDate", "endDate", "daysOfWeek", "minNights", "maxNights"),
    priority: 0,
  },
  moves: moves("active > inactive", "inactive > active"),
  tells: { created: "pricing_rule.created" },
};

const booking: Kind = {
  prefix: "bkg",
  blank: {
    status: "pending",
    ...none("guestName", "customerId", "roomTypeId", "checkIn", "checkOut", "guests", "amount", "currency", "declineReason", "declinedAt"),
  },
  moves: moves(
    "pending > confirmed declined cancelled",
    "confirmed > checked_in no_show cancelled",
    "checked_in > checked_out",
    "checked_out >",
    "no_show >",
    "cancelled >",
    "declined >",
  ),
  tells: { created: "booking.created", confirmed: "booking.confirmed", declined: "booking.declined", cancelled: "booking.cancelled" },
};

const payroll: Kind = {
  prefix: "pyr",
  blank: {
    status: "draft",
    ...none("periodStart", "periodEnd", "payDate", "currency"),
    items: [],
    totals: { employees: 0, grossAmount: 0, deductionAmount: 0, netAmount: 0 },
  },
  moves: moves(
    "draft > pending",
    "pending > processing",
    "processing > paid partially_paid failed",
    "paid >",
    "partially_paid >",
    "failed >",
  ),
  tells: { created: "payroll.created", paid: "payroll.paid" },
};

const disciplinaryRecord: Kind = {
  prefix: "dis",
  blank: { status: "open", ...none("employeeId", "type", "category", "description", "incidentDate", "issuedDate") },
  moves: moves("open > acknowledged appealed", "acknowledged > closed appealed", "appealed > closed", "closed >"),
  tells: { created: "disciplinary_record.created" },
};

const appraisal: Kind = {
  prefix: "apr",
  blank: {
    status: "draft",
    ...none("employeeId", "reviewerId", "cycle", "periodStart", "periodEnd", "finalScore", "remarks"),
    goals: [],
  },
  moves: moves("draft > submitted cancelled", "submitted > completed cancelled", "completed >", "cancelled >"),
  tells: { completed: "appraisal.completed" },
};

const renewal: Kind = {
  prefix: "ren",
  blank: {
    status: "pending",
    ...none("membershipId", "customerId", "plan", "amount", "currency", "dueDate", "periodStart", "periodEnd", "renewedAt"),
    autoRenew: false,
  },
  moves: moves("pending > renewed grace canceled", "grace > renewed lapsed canceled", "renewed >", "lapsed >", "canceled >"),
  tells: { created: "membership_renewal.due", renewed: "membership_renewal.renewed" },
};

const organizer: Kind = {
  prefix: "org",
  blank: {
    status: "active",
    ...none("name", "description", "email", "phone", "website"),
    verified: false,
    upcomingEvents: 0,
    pastEvents: 0,
  },
  moves: moves("active > suspended", "suspended > active"),
  tells: {},
};

const syncLog: Kind = {
  prefix: "syl",
  blank: {
    status: "running",
    ...none("integration", "entity", "direction", "startedAt", "finishedAt", "errorMessage"),
    recordsProcessed: 0,
    recordsFailed: 0,
  },
  moves: moves("running > succeeded partial failed", "succeeded >", "partial >", "failed >"),
  tells: { succeeded: "integration_sync.succeeded", failed: "integration_sync.failed" },
};

const product: Kind = {
  prefix: "prod",
  blank: { status: "active", ...none("name", "description") },
  moves: moves("active > archived", "archived > active"),
  tells: {},
};

const variant: Kind = {
  prefix: "var",
  blank: { status: "active", ...none("productId", "sku", "price", "name", "currency", "stockQuantity", "barcode"), options: {} },
  moves: moves("active > archived", "archived > active"),
  tells: { created: "product_variant.created" },
};

const remittance: Kind = {
  prefix: "rem",
  blank: {
    status: "pending",
    ...none("scheme", "agency", "period", "amount", "employeeAmount", "employerAmount", "currency", "dueDate", "paidAt"),
    ...none("paymentReference", "receiptNumber", "confirmedDate", "note", "confirmedAt"),
  },
  moves: moves(
    "pending > paid overdue confirmed cancelled",
    "paid > confirmed",
    "overdue > paid confirmed cancelled",
    "confirmed >",
    "cancelled >",
  ),
  tells: { created: "remittance.created", confirmed: "remittance.confirmed" },
};

const settings: Kind = {
  prefix: "sts",
  blank: { ...none("country", "currency", "payFrequency", "remittanceDueDay", "updated"), autoRemit: false, schemes: [] },
  moves: {},
  tells: { updated: "statutory_settings.updated" },
};

const unposted = { status: "unposted", ...none("journalEntryId", "debitAccount", "creditAccount", "memo", "postedAt") };

const govPayment: Kind = {
  prefix: "gov",
  blank: { status: "pending", ...none("agency", "purpose", "reference", "amount", "currency", "paidAt"), bookkeeping: unposted },
  moves: moves("pending > paid failed cancelled", "paid >", "failed >", "cancelled >"),
  tells: { paid: "gov_payment.paid" },
};

const endpoint: Kind = {
  prefix: "we",
  blank: { status: "enabled", ...none("url", "events") },
  moves: moves("enabled > disabled", "disabled > enabled"),
  tells: {},
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

/** Told by operations, beside what arrivals tell. */
const TOLD_BY_OPERATIONS = ["merchant.created", "payroll_item.overridden", "gov_payment.posted"];

/** Every type of event that the service sends. */
export const eventTypes: ReadonlySet<string> = new Set([
  ...TOLD_BY_OPERATIONS,
  ...Object.values<Kind>(kinds).flatMap(({ tells }) => Object.values(tells)),
]);
