// Government payments: taxes and fees paid to agencies, and posting them to the books.

import type { RecordBase, Rule, Warning } from "../contracts/resource.ts";
import { businessTimes } from "../kernel/calendar.ts";
import { fail } from "../kernel/errors.ts";
import { assumed } from "../schema/assumed.ts";
import { amount, currency, nullables, oneOf, optionals, type Static, Type, text, timestamp } from "../schema/shapes.ts";
import { initialsOf } from "./declare/initials.ts";
import { assumedBody, endpoint } from "./declare/operation.ts";
import { resource } from "./declare/resource.ts";
import { problem } from "./declare/rules.ts";
import { sampleGovPayment } from "./samples/office.ts";

const LIABILITIES = "Taxes and fees payable";
const BANK = "Bank";

const bookkeeping = Type.Object({
  status: oneOf(["unposted", "posted"], "Whether the payment is posted to the books; posting cannot be undone"),
  ...nullables({
    journalEntryId: text("Id of the journal entry"),
    debitAccount: text("Account debited"),
    creditAccount: text("Account credited"),
    memo: text("Memo on the journal entry"),
    postedAt: timestamp("Time of posting"),
  }),
});

interface Postable {
  bookkeeping: Static<typeof bookkeeping>;
}

const postedOncePaid: Rule<RecordBase & Postable> = ({ status, bookkeeping }) =>
  bookkeeping.status === "unposted" || status === "paid"
    ? undefined
    : problem(
        "bookkeeping/status",
        "not_paid",
        `bookkeeping.status must be unposted while the payment is ${status}; received posted.`,
      );

const oneAccount: Warning<RecordBase & Postable> = ({ bookkeeping }, { before }) => {
  const { debitAccount, creditAccount } = bookkeeping;
  if (debitAccount === null || debitAccount !== creditAccount || bookkeeping === before?.bookkeeping) return undefined;
  return `The posting debits and credits the same account, ${JSON.stringify(debitAccount)}.`;
};

export const govPayments = resource({
  kind: "gov_payment",
  prefix: "gov",
  view: "gov_payments",
  sample: sampleGovPayment,
  datesMoveBy: "quarters",
  fitDates: ({ moved }) => businessTimes(moved, ["created", "paidAt"]),
  fields: {
    ...nullables({
      agency: text("Agency that receives the payment"),
      purpose: text("Purpose of the payment"),
      reference: text("Reference number assigned by the agency"),
      amount: amount("Amount of the payment", { minimum: 0 }),
      currency: currency(),
      paidAt: timestamp("Time of payment"),
      receiptNumber: text("Number of the agency's receipt"),
      failedAt: timestamp("Time at which the payment failed"),
      failureCode: text("Reason for the failure"),
      cancelledAt: timestamp("Time at which the payment was cancelled"),
    }),
    bookkeeping,
  },
  defaults: {
    bookkeeping: {
      status: "unposted",
      journalEntryId: null,
      debitAccount: null,
      creditAccount: null,
      memo: null,
      postedAt: null,
    },
  },
  states: {
    pending: { to: ["paid", "failed", "cancelled"], event: "gov_payment.created" },
    paid: {
      to: [],
      event: "gov_payment.paid",
      at: "paidAt",
      // Only a paid payment can be posted, so a new record gets the given `bookkeeping` when it is paid.
      sets: ({ record: { bookkeeping } }) => ({ bookkeeping }),
    },
    failed: { to: [], event: "gov_payment.failed", at: "failedAt", fills: { failureCode: "insufficient_funds" } },
    cancelled: { to: [], event: "gov_payment.cancelled", at: "cancelledAt" },
  },
  series: [
    { field: "reference", prefix: ({ agency }) => initialsOf(agency, "GOV") },
    { field: "receiptNumber", at: "paid", prefix: () => "RC" },
  ],
  updated: {
    "gov_payment.posted": {
      when: (before, after) => before.bookkeeping.status === "unposted" && after.bookkeeping.status === "posted",
    },
    "gov_payment.updated": {},
  },
  rules: [postedOncePaid],
  warnings: [oneAccount],
});

const postGovPayment = endpoint({
  id: "gov_payments.post",
  position: 20,
  area: "Government payments",
  method: "POST",
  path: "/gov-payments/{id}/post-to-books",
  summary: "Post a paid government payment to the books",
  description: `Debits the ledger account (default: "${LIABILITIES}") and credits the bank. Posting cannot be undone.`,
  body: assumedBody(
    optionals({ ledgerAccount: text("Account to debit", { minLength: 1 }), memo: text("Memo for the journal entry") }),
  ),
  exampleParams: { id: "gov_paid" },
  example: { ledgerAccount: "2450 Value added tax", memo: "Value added tax" },
  reply: govPayments.schema,
  errors: ["resource_not_found", "invalid_state"],
  emits: [assumed("gov_payment.posted", "Derived from the name of the operation.")],
  trigger: {
    record: { kind: "gov_payment", status: "paid" },
    params: ({ id }) => ({ id }),
    body: () => ({}),
  },
  handle({ params, body, extra, now, own, mint }) {
    const payment = own(govPayments).require(params.id);
    if (payment.status !== "paid")
      refuse("not_paid", `Only a paid payment can be posted; this one is ${payment.status}.`, payment.status, "paid");
    if (payment.bookkeeping.status === "posted")
      refuse(
        "already_posted",
        `This payment is in the books already, as ${payment.bookkeeping.journalEntryId}.`,
        "posted",
        "unposted",
      );
    const posted = {
      status: "posted" as const,
      journalEntryId: mint("jrn"),
      debitAccount: body.ledgerAccount ?? LIABILITIES,
      creditAccount: BANK,
      memo: body.memo ?? null,
      postedAt: now,
    };
    return own(govPayments).update(payment, { ...extra, bookkeeping: posted });
  },
});

export const operations = [postGovPayment];

export const resources = [govPayments];

function refuse(reason: "not_paid" | "already_posted", message: string, currentStatus: string, allowed: string): never {
  fail("invalid_state", message, { reason, currentStatus, allowedFrom: [allowed] });
}
