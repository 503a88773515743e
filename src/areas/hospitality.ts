// Hospitality: pricing rules and bookings.

import type { AnyRecord, Arrival, OwnRecords, RecordBase, Rule, Warning } from "../contracts/resource.ts";
import { addDays, dayNumber } from "../kernel/calendar.ts";
import { assumed } from "../schema/assumed.ts";
import { exactSum } from "../schema/field-rules.ts";
import {
  amount,
  count,
  currency,
  day,
  id,
  metadata,
  nullables,
  oneOf,
  optionals,
  type Static,
  Type,
  text,
  timestamp,
} from "../schema/shapes.ts";
import { assumedBody, endpoint } from "./declare/operation.ts";
import { resource } from "./declare/resource.ts";
import { inOrder, problem } from "./declare/rules.ts";
import { merchants, onDay, profileOf } from "./merchants.ts";
import { payments, takePayment } from "./payments.ts";
import { fullNight, type Nights, nightsOf, type RoomType } from "./rooms.ts";
import { sampleBooking, samplePricingRule } from "./samples/sales.ts";
import { keptDeposits } from "./world-checks.ts";

const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;

const rule = {
  name: text("Name of the rule", { minLength: 1 }),
  adjustmentType: oneOf(["percentage", "fixed"], "Whether `adjustmentValue` is a percentage or a fixed amount"),
  adjustmentValue: amount("Adjustment, negative for a discount: basis points for `percentage`, an amount for `fixed`"),
};

const scope = {
  roomTypeId: text("Room type that the rule applies to; null for all room types"),
  startDate: day("First night that the rule applies to"),
  endDate: day("Last night that the rule applies to, on or after `startDate`"),
  daysOfWeek: Type.Array(oneOf(WEEKDAYS, "A day of the week"), {
    description: "Days of the week that the rule applies to; null for every day",
    maxItems: 7,
  }),
  minNights: count("Minimum length of stay, in nights", { minimum: 1 }),
  maxNights: count("Maximum length of stay, in nights", { minimum: 1 }),
};

const priority = count("Priority of the rule; if several rules apply, the highest priority wins");

/** 100 % in basis points, the maximum discount. */
const WHOLE = 10_000;

const belowMinusHundred: Warning<
  RecordBase & Record<"adjustmentType", string | null> & Record<"adjustmentValue", number | null>
> = ({ adjustmentType, adjustmentValue }) =>
  adjustmentType === "percentage" && (adjustmentValue ?? 0) < -WHOLE
    ? `adjustmentValue ${adjustmentValue} is below -10000, a discount of 100 %, so the nights cost nothing.`
    : undefined;

const roomTypesOf = (merchant: AnyRecord) => (merchant.roomTypes as RoomType[]).map(({ id }) => id);

const strangeRoomType: Warning<RecordBase & { roomTypeId: string | null }> = (rule, { before, own }) => {
  const { merchantId, roomTypeId } = rule;
  const known =
    roomTypeId === null || roomTypeId === before?.roomTypeId ? [] : (own(merchants).find(merchantId)?.roomTypes ?? []);
  if (known.length === 0 || known.some(({ id }) => id === roomTypeId)) return undefined;
  return `The rule applies to no booking: the merchant has no room type ${JSON.stringify(roomTypeId)}.`;
};

export const pricingRules = resource({
  kind: "pricing_rule",
  prefix: "prl",
  view: "pricing_rules",
  sample: samplePricingRule,
  fields: {
    ...nullables(rule),
    ...nullables(scope),
    priority,
    ...nullables({ deactivatedAt: timestamp("Time at which the rule was deactivated") }),
  },
  defaults: { priority: 0 },
  states: {
    active: { to: ["inactive"], event: "pricing_rule.activated" },
    inactive: { to: ["active"], event: "pricing_rule.deactivated", at: "deactivatedAt" },
  },
  created: "pricing_rule.created",
  updated: "pricing_rule.updated",
  rules: [inOrder("startDate", "endDate"), inOrder("minNights", "maxNights")],
  warnings: [belowMinusHundred, strangeRoomType],
  listed: { roomTypeId: roomTypesOf },
});

const leavesAfterArrival: Rule<RecordBase & Nights> = ({ checkIn, checkOut }) =>
  checkIn !== null && checkOut !== null && checkOut <= checkIn
    ? problem("checkOut", "out_of_order", `checkOut must come after checkIn; received ${checkOut} and ${checkIn}.`)
    : undefined;

type Booking = RecordBase &
  Stay & {
    guests: number | null;
    customerId: string | null;
    paymentId: string | null;
    balancePaymentId: string | null;
  };

/** The share of the price that a guest pays when the stay is confirmed. */
const DEPOSIT_SHARE = 0.2;

function takeDeposit(stay: Arrival<Booking>): boolean {
  const { id, amount } = stay.record;
  const deposit = Math.ceil((amount ?? 0) * DEPOSIT_SHARE);
  return takePayment(bookings, stay, "paymentId", {
    amount: deposit,
    description: "Deposit for a stay",
    metadata: { bookingId: id },
  });
}

/** Takes a payment of the price minus the deposit. */
function takeBalance(stay: Arrival<Booking>): boolean {
  const { id, amount, currency, paymentId } = stay.record;
  const deposit = paymentId === null ? undefined : stay.own(payments).find(paymentId);
  const isPaid = (deposit?.status === "succeeded" || deposit?.status === "refunded") && deposit.currency === currency;
  const paid = isPaid ? (deposit.amount ?? 0) - deposit.refundedAmount : 0;
  const rest = { amount: (amount ?? 0) - paid, description: "Rest for a stay", metadata: { bookingId: id } };
  return takePayment(bookings, stay, "balancePaymentId", rest);
}

/** The states in which a stay occupies a room. */
const HOLDING = ["confirmed", "checked_in"];
const isHolding = ({ status }: RecordBase) => HOLDING.includes(status ?? "");

/** The room type of a stay that newly occupies a room, or changes its room type, nights or guests. */
function newlyTaken(stay: Booking, before: Booking | undefined, own: OwnRecords): RoomType | undefined {
  const isSame =
    before !== undefined &&
    isHolding(before) &&
    (["roomTypeId", "checkIn", "checkOut", "guests"] as const).every((field) => before[field] === stay[field]);
  if (!isHolding(stay) || isSame) return undefined;
  return own(merchants)
    .find(stay.merchantId)
    ?.roomTypes.find(({ id }) => id === stay.roomTypeId);
}

const tooManyGuests: Warning<Booking> = (stay, { before, own }) => {
  const room = newlyTaken(stay, before, own);
  return room && (stay.guests ?? 0) > room.sleeps
    ? `${room.id} sleeps ${room.sleeps}; the booking has ${stay.guests} guests.`
    : undefined;
};

const roomIsFull: Warning<Booking> = (stay, { before, own }) => {
  const { id, checkIn, checkOut } = stay;
  const room = newlyTaken(stay, before, own);
  if (!room || checkIn === null || checkOut === null) return undefined;
  const others = own(bookings)
    .outstanding()
    .filter((other) => other.id !== id);
  const full = fullNight(room, checkIn, checkOut, others);
  if (full === undefined) return undefined;
  const taken = room.rooms === 1 ? "one room, which is" : `${room.rooms} rooms, which are`;
  return `${room.id} has ${taken} taken on ${full}.`;
};

/** Refunds a paid deposit to the guest. */
function refundDeposit({ record, own }: Arrival<RecordBase & { paymentId: string | null }>): void {
  const deposit = record.paymentId === null ? undefined : own(payments).find(record.paymentId);
  if (deposit?.status === "succeeded") own(payments).move(deposit, "refunded");
}

type Stay = Nights & Record<"nightlyRate" | "amount", number | null> & { currency: string | null };

/** The sum of the nightly rates, each adjusted by the applicable pricing rule with the highest priority. */
function priceOf(stay: RecordBase & Stay, own: OwnRecords) {
  const { checkIn, checkOut, nightlyRate } = stay;
  const currency = stay.currency ?? profileOf(stay.merchantId, own).currency;
  if (stay.amount !== null) return { currency };
  if (checkIn === null || checkOut === null || nightlyRate === null || checkOut <= checkIn) return {};
  const nights = nightsOf(checkIn, checkOut);
  const rules = own(pricingRules)
    .all()
    .filter((rule) => rule.status === "active" && appliesToStay(rule, stay, nights.length))
    .sort((one, other) => other.priority - one.priority);
  const ruleOf = (night: string) => rules.find((rule) => appliesToNight(rule, night));
  const prices = nights.map((night) => adjusted(nightlyRate, ruleOf(night)));
  return { amount: exactSum(prices, "nightlyRate"), currency };
}

type PricingRule = Static<typeof pricingRules.schema>;

const appliesToStay = ({ roomTypeId, minNights, maxNights }: PricingRule, stay: Stay, nights: number) =>
  (roomTypeId === null || roomTypeId === stay.roomTypeId) &&
  nights >= (minNights ?? 1) &&
  nights <= (maxNights ?? nights);

function appliesToNight({ startDate, endDate, daysOfWeek }: PricingRule, night: string): boolean {
  // 1 January 1970 was a Thursday, the fourth day of the list.
  const weekday = WEEKDAYS[(dayNumber(night) + 3) % 7] as (typeof WEEKDAYS)[number];
  return (
    (startDate ?? night) <= night &&
    (endDate ?? night) >= night &&
    (daysOfWeek === null || daysOfWeek.includes(weekday))
  );
}

function adjusted(rate: number, rule: PricingRule | undefined): number {
  const value = rule?.adjustmentValue ?? 0;
  const change = rule?.adjustmentType === "percentage" ? Math.round((rate * value) / WHOLE) : value;
  return Math.max(rate + change, 0);
}

export const bookings = resource({
  kind: "booking",
  prefix: "bkg",
  view: "bookings",
  sample: sampleBooking,
  fields: nullables({
    guestName: text("Name of the guest"),
    customerId: id("cus", "Customer who made the booking"),
    roomTypeId: text("Room type"),
    checkIn: day("Check-in date"),
    checkOut: day("Check-out date"),
    guests: count("Number of guests"),
    nightlyRate: amount("Price per night before pricing rules", { minimum: 0 }),
    amount: amount("Total price of the stay", { minimum: 0 }),
    currency: currency(),
    declineReason: text("Reason for declining the booking"),
    declinedAt: timestamp("Time at which the booking was declined"),
    paymentId: id("pay", "Payment of the deposit"),
    balancePaymentId: id("pay", "Payment of the rest of the price, at departure"),
    confirmedAt: timestamp("Time at which the booking was confirmed"),
    cancelledAt: timestamp("Time at which the booking was cancelled"),
    checkedInAt: timestamp("Time of arrival"),
    checkedOutAt: timestamp("Time of departure"),
    noShowAt: timestamp("Time at which the guest was reported missing"),
  }),
  states: {
    pending: {
      to: ["confirmed", "declined", "cancelled"],
      event: "booking.created",
      sets: ({ record, own }) => priceOf(record, own),
      // A booking can still be confirmed on the day of arrival, so it is cancelled after that day.
      next: (stay) => onDay(stay, stay.record.checkIn && addDays(stay.record.checkIn, 1), "midnight", "cancelled"),
    },
    confirmed: {
      to: ["checked_in", "no_show", "cancelled"],
      event: "booking.confirmed",
      at: "confirmedAt",
      arrive: takeDeposit,
      next: (stay) => onDay(stay, stay.record.checkIn, "checkIn", "checked_in"),
    },
    checked_in: {
      to: ["checked_out"],
      event: "booking.checked_in",
      at: "checkedInAt",
      next: (stay) => onDay(stay, stay.record.checkOut, "checkOut", "checked_out"),
    },
    checked_out: { to: [], event: "booking.checked_out", at: "checkedOutAt", arrive: takeBalance },
    no_show: { to: [], event: "booking.no_show", at: "noShowAt" },
    cancelled: { to: [], event: "booking.cancelled", at: "cancelledAt", arrive: refundDeposit },
    declined: { to: [], event: "booking.declined", at: "declinedAt", arrive: refundDeposit },
  },
  updated: "booking.updated",
  worldChecks: [keptDeposits],
  rules: [leavesAfterArrival],
  warnings: [tooManyGuests, roomIsFull],
  listed: { roomTypeId: roomTypesOf },
  outstanding: isHolding,
  references: { customerId: "customer", paymentId: "payment", balancePaymentId: "payment" },
});

const createPricingRule = endpoint({
  id: "pricing_rules.create",
  position: 2,
  area: "Hospitality",
  method: "POST",
  path: "/hospitality/pricing-rules",
  summary: "Create a pricing rule",
  body: assumedBody(
    { ...rule, ...optionals({ ...scope, priority, metadata: metadata() }) },
    "The service's documentation does not show this body; these fields are common to booking APIs.",
  ),
  example: {
    name: "Summer weekends",
    adjustmentType: "percentage",
    adjustmentValue: 1_500,
    startDate: "2026-06-01",
    endDate: "2026-08-31",
    daysOfWeek: ["friday", "saturday"],
  },
  reply: pricingRules.schema,
  errors: ["validation_failed"],
  emits: [assumed("pricing_rule.created", "Derived from the name of the operation.")],
  handle: ({ body, extra, own }) => own(pricingRules).create({ ...extra, ...body }),
});

const declineBooking = endpoint({
  id: "bookings.decline",
  position: 16,
  area: "Hospitality",
  method: "POST",
  path: "/hospitality/bookings/{id}/decline",
  summary: "Decline a pending booking",
  body: assumedBody(optionals({ reason: text("Reason for declining the booking") })),
  exampleParams: { id: "bkg_pending" },
  example: { reason: "The house is closed for repairs that week." },
  reply: bookings.schema,
  errors: ["resource_not_found", "invalid_state"],
  emits: [assumed("booking.declined", "Derived from the name of the operation.")],
  mayEmit: { "payment.refunded": "if the guest paid a deposit" },
  mayEmitAfter: ["make payment --status succeeded", "make booking --payment <id>"],
  handle: ({ params, body, extra, own }) =>
    own(bookings).move(own(bookings).require(params.id), "declined", { ...extra, declineReason: body.reason ?? null }),
});

export const operations = [createPricingRule, declineBooking];

export const resources = [pricingRules, bookings];
