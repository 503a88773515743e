// The records of the stand-in for the real service, newest first.

export type Stored = Record<string, unknown>;

/** The clock of the stand-in at its start, in Unix seconds. */
export const START = 1_767_614_400;

const DAY = 86_400;
const LATER = {
  failureCode: null,
  paidAt: null,
  failedAt: null,
  refundedAt: null,
  payoutId: null,
  refundedAmount: 0,
  paidOutAmount: 0,
};

/** More payments than the longest page has, so that other pages follow the first page at any limit. */
export const payments = (): Stored[] =>
  Array.from({ length: 130 }, (_, index) => {
    const created = START - index * DAY - 5_000;
    const states: Stored[] = [
      { status: "pending", fee: null },
      { status: "succeeded", fee: 350, paidAt: created + 4 },
      { status: "failed", fee: null, failureCode: "card_declined", failedAt: created + 4 },
      { status: "refunded", fee: 350, paidAt: created + 4, refundedAt: created + 900, refundedAmount: 25_000 },
    ];
    return {
      id: `pay_R3al${String(index).padStart(12, "0")}`,
      object: "payment",
      merchantId: "mer_real",
      amount: 25_000,
      currency: "EUR",
      method: "card",
      customerId: "cus_real",
      reference: `R-${index}`,
      description: "Double room",
      ...LATER,
      ...states[index % states.length],
      metadata: {},
      created,
      livemode: true,
    };
  });

export const payouts = (): Stored[] =>
  Array.from({ length: 30 }, (_, index) => {
    const created = START - index * 7 * DAY;
    const isPaid = index > 0;
    return {
      id: `po_R3al${String(index).padStart(12, "0")}`,
      object: "payout",
      merchantId: "mer_real",
      status: isPaid ? "paid" : "pending",
      amount: 24_650,
      currency: "EUR",
      payoutMethodId: "pom_real",
      arrivalDate: new Date((created + 2 * DAY) * 1_000).toISOString().slice(0, 10),
      failureCode: null,
      sentAt: isPaid ? created + DAY : null,
      paidAt: isPaid ? created + 2 * DAY : null,
      failedAt: null,
      canceledAt: null,
      payments: [{ paymentId: `pay_R3al${String(index).padStart(12, "0")}`, amount: 24_650 }],
      metadata: {},
      created,
      livemode: true,
    };
  });

export const merchant = (): Stored => ({
  id: "mer_real",
  object: "merchant",
  merchantId: "mer_real",
  status: "active",
  name: "Casa Real",
  email: "casa@mail.example",
  phone: "+351 900 000 001",
  country: "PT",
  currency: "EUR",
  suspendedAt: null,
  suspensionReason: null,
  roomTypes: [],
  metadata: {},
  created: START - 400 * DAY,
  livemode: true,
});

export const customers = (): Stored[] => [
  {
    id: "cus_real",
    object: "customer",
    merchantId: "mer_real",
    email: "ana@mail.example",
    name: "Ana Sousa",
    phone: "+351 900 000 000",
    metadata: {},
    created: START - 300 * DAY,
  },
];

export const bookings = (): Stored[] =>
  ["one", "two"].map((name) => ({
    id: `bkg_${name}`,
    object: "booking",
    merchantId: "mer_real",
    status: "pending",
    guestName: "Ana Sousa",
    customerId: "cus_real",
    roomTypeId: "room_double",
    checkIn: "2026-02-10",
    checkOut: "2026-02-12",
    guests: 2,
    nightlyRate: 11_000,
    amount: 22_000,
    currency: "EUR",
    declineReason: null,
    declinedAt: null,
    paymentId: null,
    balancePaymentId: null,
    confirmedAt: null,
    cancelledAt: null,
    checkedInAt: null,
    checkedOutAt: null,
    noShowAt: null,
    metadata: {},
    created: START - 9 * DAY,
    livemode: true,
  }));
