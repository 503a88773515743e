// Payments: payments by customers.

import { resource } from "../contracts/resource.ts";
import { amount, currency, documentedPageQuery, id, listOf, nullables, text } from "../schema/shapes.ts";
import { endpoint } from "../store/operation-context.ts";
import { samplePayment } from "./samples/sales.ts";

export const payments = resource({
  kind: "payment",
  prefix: "pay",
  view: "payments",
  sample: samplePayment,
  fields: {
    ...nullables({
      amount: amount("Amount of the payment", { minimum: 0 }),
      currency: currency(),
      method: text("Payment method, such as `card`, `bank_transfer` or `mobile_money`"),
      customerId: id("cus", "Customer who made the payment"),
      reference: text("The merchant's own reference, such as an invoice number"),
      description: text("Description of the payment"),
      fee: amount("Fee charged by the service", { minimum: 0 }),
      failureCode: text("Reason for the failure"),
    }),
    refundedAmount: amount("Amount refunded", { minimum: 0 }),
  },
  defaults: { refundedAmount: 0 },
  states: {
    pending: { to: ["succeeded", "failed"], event: "payment.pending" },
    succeeded: { to: ["refunded"], event: "payment.succeeded" },
    failed: { to: [], event: "payment.failed" },
    refunded: { to: [], event: "payment.refunded" },
  },
});

export const listPayments = endpoint({
  id: "payments.list",
  area: "Payments",
  method: "GET",
  path: "/payments",
  summary: "List all payments",
  query: documentedPageQuery,
  reply: listOf(payments.schema),
  errors: ["invalid_limit", "invalid_cursor"],
  handle: ({ query, own }) => own(payments).list(query),
});
