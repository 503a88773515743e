// Government payments: taxes and fees, which are posted to the books once they are paid.

import { resource } from "../contracts/resource.ts";
import { fail } from "../kernel/errors.ts";
import { assumed } from "../schema/assumed.ts";
import { amount, currency, nullables, oneOf, optionals, Type, text, timestamp } from "../schema/shapes.ts";
import { endpoint } from "../store/operation-context.ts";

const LIABILITIES = "Taxes and fees payable";
const BANK = "Bank";

const bookkeeping = Type.Object({
  status: oneOf(["unposted", "posted"], "Whether it is in the books; posting cannot be undone"),
  ...nullables({
    journalEntryId: text("The entry in the journal"),
    debitAccount: text("The account that is debited"),
    creditAccount: text("The account that is credited"),
    memo: text("What the entry says"),
    postedAt: timestamp("When it was posted"),
  }),
});

export const govPayments = resource({
  kind: "gov_payment",
  prefix: "gov",
  view: "gov_payments",
  fields: {
    ...nullables({
      agency: text("Who is paid"),
      purpose: text("What for"),
      reference: text("The number that the agency knows it by"),
      amount: amount("What is paid", { minimum: 0 }),
      currency: currency(),
      paidAt: timestamp("When it was paid"),
    }),
    bookkeeping,
  },
  defaults: {
    status: "pending",
    bookkeeping: { status: "unposted", journalEntryId: null, debitAccount: null, creditAccount: null, memo: null, postedAt: null },
  },
  moves: { pending: ["paid", "failed", "cancelled"], paid: [], failed: [], cancelled: [] },
  events: { paid: "gov_payment.paid" },
});

export const postGovPayment = endpoint({
  id: "gov_payments.post",
  area: "Government payments",
  method: "POST",
  path: "/gov-payments/{id}/post-to-books",
  summary: "Post a paid government payment to the books",
  description: `The ledger account is debited ("${LIABILITIES}" unless the body names another) and the bank is credited. It cannot be undone.`,
  body: assumed(
    Type.Object(optionals({ ledgerAccount: text("The account to debit", { minLength: 1 }), memo: text("What the entry shall say") })),
    "The document does not show the body.",
    "--bodies open",
  ),
  exampleParams: { id: "gov_paid" },
  example: { ledgerAccount: "2450 Value added tax", memo: "Third quarter" },
  reply: govPayments.schema,
  errors: ["resource_not_found", "invalid_state"],
  emits: [assumed("gov_payment.posted", "Derived from the operation's name.")],
  handle({ params, body, extra, now, own, mint }) {
    const payment = own(govPayments).require(params.id);
    if (payment.status !== "paid")
      refuse("not_paid", `Only a paid payment can be posted; this one is ${payment.status}.`, payment.status, "paid");
    if (payment.bookkeeping.status === "posted")
      refuse("already_posted", `This payment is in the books already, as ${payment.bookkeeping.journalEntryId}.`, "posted", "unposted");
    const posted = {
      status: "posted" as const,
      journalEntryId: mint("jrn"),
      debitAccount: body.ledgerAccount ?? LIABILITIES,
      creditAccount: BANK,
      memo: body.memo ?? null,
      postedAt: now,
    };
    return own(govPayments).update(payment, { ...extra, bookkeeping: posted }, "gov_payment.posted");
  },
});

function refuse(reason: "not_paid" | "already_posted", message: string, currentStatus: string, allowed: string): never {
  fail("invalid_state", message, { reason, currentStatus, allowedFrom: [allowed] });
}
