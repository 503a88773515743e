// Hospitality: pricing rules of a house, and bookings that it may decline.

import { resource } from "../contracts/resource.ts";
import { assumed } from "../schema/assumed.ts";
import { requireOrder } from "../schema/field-rules.ts";
import { amount, count, currency, day, id, metadata, nullables, oneOf, optionals, Type, text, timestamp } from "../schema/shapes.ts";
import { endpoint } from "../store/operation-context.ts";

const WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] as const;

const rule = {
  name: text("What the rule is called in the house", { minLength: 1 }),
  adjustmentType: oneOf(["percentage", "fixed"], "Whether the value is a share or a sum"),
  adjustmentValue: amount("Basis points for `percentage`, money for `fixed`; may be negative"),
};

const scope = {
  roomTypeId: text("The kind of room that the rule applies to; null for every kind"),
  startDate: day("First night"),
  endDate: day("Last night, on or after the first"),
  daysOfWeek: Type.Array(oneOf(WEEKDAYS, "A day of the week"), {
    description: "Days that the rule applies to; null for every day",
    maxItems: 7,
  }),
  minNights: count("Shortest stay", { minimum: 1 }),
  maxNights: count("Longest stay", { minimum: 1 }),
};

const priority = count("Of two rules that apply, the one with the higher priority wins");

export const pricingRules = resource({
  kind: "pricing_rule",
  prefix: "prl",
  view: "pricing_rules",
  fields: { ...nullables(rule), ...nullables(scope), priority },
  defaults: { status: "active", priority: 0 },
  moves: { active: ["inactive"], inactive: ["active"] },
  events: { created: "pricing_rule.created" },
});

export const bookings = resource({
  kind: "booking",
  prefix: "bkg",
  view: "bookings",
  fields: nullables({
    guestName: text("Who is expected"),
    customerId: id("cus", "The customer who booked"),
    roomTypeId: text("The kind of room"),
    checkIn: day("First night"),
    checkOut: day("Day of departure"),
    guests: count("How many people"),
    amount: amount("What the stay costs"),
    currency: currency(),
    declineReason: text("Why it was declined"),
    declinedAt: timestamp("When it was declined"),
  }),
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
    Type.Object({ ...rule, ...optionals({ ...scope, priority, metadata: metadata() }) }),
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
  summary: "Decline a booking that is still pending",
  body: assumed(
    Type.Object(optionals({ reason: text("Why, in the house's own words") })),
    "The document does not show the body.",
    "--bodies open",
  ),
  exampleParams: { id: "bkg_pending" },
  example: { reason: "The house is closed for repairs that week." },
  reply: bookings.schema,
  errors: ["resource_not_found", "invalid_state"],
  emits: [assumed("booking.declined", "Derived from the operation's name.")],
  handle({ params, body, extra, now, own }) {
    const booking = own(bookings).require(params.id);
    return own(bookings).move(booking, "declined", { ...extra, declineReason: body.reason ?? null, declinedAt: now });
  },
});
