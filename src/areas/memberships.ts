// Memberships: renewals of memberships.

import { resource } from "../contracts/resource.ts";
import { amount, assumedListOf, assumedPageQuery, currency, day, flag, id, nullables, text, timestamp } from "../schema/shapes.ts";
import { endpoint } from "../store/operation-context.ts";
import { onDay } from "./dates.ts";
import { sampleRenewal } from "./samples/sales.ts";

export const membershipRenewals = resource({
  kind: "membership_renewal",
  prefix: "ren",
  view: "membership_renewals",
  sample: sampleRenewal,
  datesMoveBy: "months",
  fields: {
    ...nullables({
      membershipId: text("Id of the membership"),
      customerId: id("cus", "Customer who holds the membership"),
      plan: text("Membership plan"),
      amount: amount("Price of the new period", { minimum: 0 }),
      currency: currency(),
      dueDate: day("Date on which the renewal is due"),
      periodStart: day("First day of the new period"),
      periodEnd: day("Last day of the new period"),
    }),
    autoRenew: flag("Whether the membership renews automatically"),
    ...nullables({ renewedAt: timestamp("Time of renewal") }),
  },
  defaults: { autoRenew: false },
  states: {
    pending: {
      to: ["renewed", "grace", "canceled"],
      event: "membership_renewal.due",
      next: (renewal) => onDay(renewal, renewal.record.dueDate, "opening", renewal.record.autoRenew ? "renewed" : "grace"),
    },
    grace: { to: ["renewed", "lapsed", "canceled"] },
    renewed: { to: [], event: "membership_renewal.renewed" },
    lapsed: { to: [] },
    canceled: { to: [] },
  },
});

export const listRenewals = endpoint({
  id: "renewals.list",
  area: "Memberships",
  method: "GET",
  path: "/memberships/renewals",
  summary: "List all membership renewals",
  query: assumedPageQuery,
  reply: assumedListOf(membershipRenewals.schema),
  errors: ["invalid_limit", "invalid_cursor"],
  handle: ({ query, own }) => own(membershipRenewals).list(query),
});
