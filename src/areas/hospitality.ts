// Hospitality: pricing rules and bookings.

import { resource } from "../contracts/resource.ts";
import { addDays } from "../kernel/calendar.ts";
import { assumed, assumedBody } from "../schema/assumed.ts";
import { requireOrder } from "../schema/field-rules.ts";
import { amount, count, currency, day, id, metadata, nullables, oneOf, optionals, Type, text, timestamp } from "../schema/shapes.ts";
import { endpoint } from "../store/operation-context.ts";
import { onDay } from "./dates.ts";
import { sampleBooking, samplePricingRule } from "./samples/sales.ts";

const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;

const rule = {
  name: text("Name of the rule", { minLength: 1 }),
  adjustmentType: oneOf(["percentage", "fixed"], "Whether `adjustmentValue` is a percentage or a fixed amount"),
  adjustmentValue: amount("Adjustment, which may be negative: basis points for `percentage`; for `fixed`, an amount"),
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

export const pricingRules = resource({
  kind: "pricing_rule",
  prefix: "prl",
  view: "pricing_rules",
  sample: samplePricingRule,
  fields: { ...nullables(rule), ...nullables(scope), priority },
  defaults: { priority: 0 },
  states: {
    active: { to: ["inactive"] },
    inactive: { to: ["active"] },
  },
  created: "pricing_rule.created",
});

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
    amount: amount("Total price of the stay"),
    currency: currency(),
    declineReason: text("Reason for declining the booking"),
    declinedAt: timestamp("Time at which the booking was declined"),
  }),
  states: {
    pending: {
      to: ["confirmed", "declined", "cancelled"],
      event: "booking.created",
      // The guest may still be confirmed on the day of arrival.
      next: (stay) => onDay(stay, stay.record.checkIn && addDays(stay.record.checkIn, 1), "midnight", "cancelled"),
    },
    confirmed: {
      to: ["checked_in", "no_show", "cancelled"],
      event: "booking.confirmed",
      next: (stay) => onDay(stay, stay.record.checkIn, "checkIn", "checked_in"),
    },
    checked_in: { to: ["checked_out"], next: (stay) => onDay(stay, stay.record.checkOut, "checkOut", "checked_out") },
    checked_out: { to: [] },
    no_show: { to: [] },
    cancelled: { to: [], event: "booking.cancelled" },
    declined: { to: [], event: "booking.declined" },
  },
});

export const createPricingRule = endpoint({
  id: "pricing_rules.create",
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
  handle({ body, extra, own }) {
    requireOrder(body.startDate, body.endDate, "endDate", "startDate");
    requireOrder(body.minNights, body.maxNights, "maxNights", "minNights");
    return own(pricingRules).create({ ...extra, ...body });
  },
});

export const declineBooking = endpoint({
  id: "bookings.decline",
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
  handle({ params, body, extra, now, own }) {
    const booking = own(bookings).require(params.id);
    return own(bookings).move(booking, "declined", { ...extra, declineReason: body.reason ?? null, declinedAt: now });
  },
});
