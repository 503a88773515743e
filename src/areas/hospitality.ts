// Hospitality: pricing rules of a house, and bookings that it may decline.

import { assumed } from "../kernel/assumed.ts";
import { fail } from "../kernel/errors.ts";
import { resource } from "../kernel/resource.ts";
import { amount, count, currency, day, id, metadata, nullable, oneOf, optional, Type, text, timestamp } from "../kernel/shapes.ts";
import { endpoint } from "../store/caller.ts";

const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;

const rule = {
  name: text("What the rule is called in the house", { minLength: 1 }),
  adjustmentType: oneOf(["percentage", "fixed"], "Whether the value is a share or a sum"),
  adjustmentValue: amount("Basis points for `percentage`, money for `fixed`; may be negative"),
  roomTypeId: text("The kind of room that the rule applies to; null for every kind"),
  startDate: day("First night"),
  endDate: day("Last night, on or after the first"),
  daysOfWeek: Type.Array(oneOf(WEEKDAYS, "A day of the week"), {
    description: "Days that the rule applies to; null for every day",
    maxItems: 7,
  }),
  minNights: count("Shortest stay", { minimum: 1 }),
  maxNights: count("Longest stay", { minimum: 1 }),
  priority: count("Of two rules that apply, the one with the higher priority wins"),
};

export const pricingRules = resource({
  kind: "pricing_rule",
  prefix: "prl",
  view: "pricing_rules",
  fields: {
    name: nullable(rule.name),
    adjustmentType: nullable(rule.adjustmentType),
    adjustmentValue: nullable(rule.adjustmentValue),
    roomTypeId: nullable(rule.roomTypeId),
    startDate: nullable(rule.startDate),
    endDate: nullable(rule.endDate),
    daysOfWeek: nullable(rule.daysOfWeek),
    minNights: nullable(rule.minNights),
    maxNights: nullable(rule.maxNights),
    priority: rule.priority,
  },
  defaults: { status: "active", priority: 0 },
  moves: { active: ["inactive"], inactive: ["active"] },
  events: { created: "pricing_rule.created" },
});

export const bookings = resource({
  kind: "booking",
  prefix: "bkg",
  view: "bookings",
  fields: {
    guestName: nullable(text("Who is expected")),
    customerId: nullable(id("cus", "The customer who booked")),
    roomTypeId: nullable(text("The kind of room")),
    checkIn: nullable(day("First night")),
    checkOut: nullable(day("Day of departure")),
    guests: nullable(count("How many people")),
    amount: nullable(amount("What the stay costs")),
    currency: nullable(currency()),
    declineReason: nullable(text("Why it was declined")),
    declinedAt: nullable(timestamp("When it was declined")),
  },
  defaults: { status: "pending" },
  moves: {
    pending: ["confirmed", "declined", "cancelled"],
    confirmed: ["checked_in", "no_show", "cancelled"],
    checked_in: ["checked_out"],
    checked_out: [],
    no_show: [],
    cancelled: [],
    declined: [],
  },
  events: { created: "booking.created", confirmed: "booking.confirmed", declined: "booking.declined", cancelled: "booking.cancelled" },
});

export const createPricingRule = endpoint({
  id: "pricing_rules.create",
  area: "Hospitality",
  method: "POST",
  path: "/hospitality/pricing-rules",
  summary: "Create a pricing rule",
  body: assumed(
    Type.Object({
      name: rule.name,
      adjustmentType: rule.adjustmentType,
      adjustmentValue: rule.adjustmentValue,
      roomTypeId: optional(rule.roomTypeId),
      startDate: optional(rule.startDate),
      endDate: optional(rule.endDate),
      daysOfWeek: optional(rule.daysOfWeek),
      minNights: optional(rule.minNights),
      maxNights: optional(rule.maxNights),
      priority: optional(rule.priority),
      metadata: optional(metadata()),
    }),
    "The document does not show the body; these are the fields that booking systems share.",
    "--bodies open",
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
  emits: [assumed("pricing_rule.created", "Derived from the operation's name.")],
  handle({ body, extra, own }) {
    inOrder(body.startDate, body.endDate, "endDate", "startDate");
    inOrder(body.minNights, body.maxNights, "maxNights", "minNights");
    return own(pricingRules).create({ ...extra, ...body });
  },
});

export const declineBooking = endpoint({
  id: "bookings.decline",
  area: "Hospitality",
  method: "POST",
  path: "/hospitality/bookings/{id}/decline",
  summary: "Decline a booking that is still pending",
  body: assumed(
    Type.Object({ reason: optional(text("Why, in the house's own words")) }),
    "The document does not show the body.",
    "--bodies open",
  ),
  example: { reason: "The house is closed for repairs that week." },
  reply: bookings.schema,
  errors: ["resource_not_found", "invalid_state"],
  emits: [assumed("booking.declined", "Derived from the operation's name.")],
  handle({ params, body, extra, now, own }) {
    const booking = own(bookings).require(params.id);
    return own(bookings).move(booking, "declined", { ...extra, declineReason: body.reason ?? null, declinedAt: now });
  },
});

/** Refuses a span whose end comes before its start; an end that is absent or null bounds nothing. */
function inOrder<V extends string | number>(from: V | null | undefined, to: V | null | undefined, field: string, other: string): void {
  if (from == null || to == null || from <= to) return;
  const message = `${field} must not come before ${other}.`;
  fail("validation_failed", message, { errors: [{ pointer: `/${field}`, field, code: "out_of_order", message }] });
}
