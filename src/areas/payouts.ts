// Payouts: transfers to the merchant's payout method.

import { resource } from "../contracts/resource.ts";
import { nextBusinessDay } from "../kernel/calendar.ts";
import { amount, assumedPageQuery, currency, day, id, listOf, nullables, text } from "../schema/shapes.ts";
import { endpoint } from "../store/operation-context.ts";
import { homeDay, onDay } from "./dates.ts";
import { samplePayout } from "./samples/sales.ts";

export const payouts = resource({
  kind: "payout",
  prefix: "po",
  view: "payouts",
  sample: samplePayout,
  fields: nullables({
    amount: amount("Amount of the payout", { minimum: 0 }),
    currency: currency(),
    payoutMethodId: id("pom", "Payout method that receives the funds"),
    arrivalDate: day("Expected date of arrival"),
    failureCode: text("Reason for the failure"),
  }),
  states: {
    pending: {
      to: ["in_transit", "canceled"],
      event: "payout.created",
      next: (payout) => onDay(payout, nextBusinessDay(homeDay(payout, payout.record.created)), "morning", "in_transit"),
    },
    in_transit: { to: ["paid", "failed"], next: (payout) => onDay(payout, payout.record.arrivalDate, "opening", "paid") },
    paid: { to: [], event: "payout.paid" },
    failed: { to: [], event: "payout.failed" },
    canceled: { to: [] },
  },
});

export const listPayouts = endpoint({
  id: "payouts.list",
  area: "Payouts",
  method: "GET",
  path: "/payouts",
  summary: "List all payouts",
  query: assumedPageQuery,
  reply: listOf(payouts.schema),
  errors: ["invalid_limit", "invalid_cursor"],
  handle: ({ query, own }) => own(payouts).list(query),
});
