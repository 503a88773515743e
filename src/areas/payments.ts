// Payments: what customers paid, newest first.

import { resource } from "../contracts/resource.ts";
import { amount, currency, documentedPageQuery, id, listOf, nullables, text } from "../schema/shapes.ts";
import { endpoint } from "../store/operation-context.ts";

export const payments = resource({
  kind: "payment",
  prefix: "pay",
  view: "payments",
  fields: {
    ...nullables({
      amount: amount("What the customer pays", { minimum: 0 }),
      currency: currency(),
      method: text("How it is paid, such as `card`, `bank_transfer` or `mobile_money`"),
      customerId: id("cus", "The customer who pays"),
      reference: text("The merchant's own reference, such as an invoice number"),
      description: text("What it is paid for"),
      fee: amount("What the service keeps of it", { minimum: 0 }),
      failureCode: text("Why it failed"),
    }),
    refundedAmount: amount("What the customer got back", { minimum: 0 }),
  },
  defaults: { status: "pending", refundedAmount: 0 },
  moves: { pending: ["succeeded", "failed"], succeeded: ["refunded"], failed: [], refunded: [] },
  events: { created: "payment.pending", succeeded: "payment.succeeded", failed: "payment.failed", refunded: "payment.refunded" },
});

export const listPayments = endpoint({
  id: "payments.list",
  area: "Payments",
  method: "GET",
  path: "/payments",
  summary: "List your payments",
  query: documentedPageQuery,
  reply: listOf(payments.schema),
  errors: ["invalid_limit", "invalid_cursor"],
  handle: ({ query, own }) => own(payments).list(query),
});
