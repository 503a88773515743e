// Memberships: renewals that are due, done or lapsed, newest first.

import { resource } from "../contracts/resource.ts";
import { amount, assumedListOf, assumedPageQuery, currency, day, flag, id, nullables, text, timestamp } from "../schema/shapes.ts";
import { endpoint } from "../store/operation-context.ts";

export const membershipRenewals = resource({
  kind: "membership_renewal",
  prefix: "ren",
  view: "membership_renewals",
  fields: {
    ...nullables({
      membershipId: text("The membership that is renewed"),
      customerId: id("cus", "The member"),
      plan: text("The plan that is renewed"),
      amount: amount("What the new period costs", { minimum: 0 }),
      currency: currency(),
      dueDate: day("When the renewal is due"),
      periodStart: day("First day of the new period"),
      periodEnd: day("Last day of the new period"),
    }),
    autoRenew: flag("Whether it renews without being asked"),
    ...nullables({ renewedAt: timestamp("When it was renewed") }),
  },
  defaults: { status: "pending", autoRenew: false },
  moves: {
    pending: ["renewed", "grace", "canceled"],
    grace: ["renewed", "lapsed", "canceled"],
    renewed: [],
    lapsed: [],
    canceled: [],
  },
  events: { created: "membership_renewal.due", renewed: "membership_renewal.renewed" },
});

export const listRenewals = endpoint({
  id: "renewals.list",
  area: "Memberships",
  method: "GET",
  path: "/memberships/renewals",
  summary: "List membership renewals",
  query: assumedPageQuery,
  reply: assumedListOf(membershipRenewals.schema),
  errors: ["invalid_limit", "invalid_cursor"],
  handle: ({ query, own }) => own(membershipRenewals).list(query),
});
