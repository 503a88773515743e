// Payouts: transfers of the proceeds of payments, and the payout method that receives them.

import type { Arrival, OwnRecords, RecordBase, SampleContext } from "../contracts/resource.ts";
import { businessDayFrom, dayAt, nextBusinessDay, previousBusinessDay } from "../kernel/calendar.ts";
import { once } from "../kernel/once.ts";
import { assumed } from "../schema/assumed.ts";
import { exactSum } from "../schema/field-rules.ts";
import {
  amount,
  country,
  currency,
  day,
  flag,
  id,
  listOf,
  metadata,
  nullables,
  oneOf,
  optionals,
  Type,
  text,
  timestamp,
} from "../schema/shapes.ts";
import { assumedBody, endpoint, listEndpoint } from "./declare/operation.ts";
import { resource } from "./declare/resource.ts";
import { homeCurrency, homeDay, homeOf, onDay } from "./merchants.ts";
import { total } from "./payment-shares.ts";
import { daysIfDaily, payments } from "./payments.ts";
import {
  openShares,
  type PayoutAmounts,
  paidOutTwice,
  paymentShare,
  paymentsFit,
  sumOfPayments,
} from "./payout-shares.ts";
import { earlier, moneyLike } from "./samples/parts.ts";
import { samplePayoutMethod } from "./samples/sales.ts";
import { mixedCurrencies, strayDefaults } from "./world-sums.ts";

const type = oneOf(["bank_account", "mobile_money"], "Type of account");

const account = {
  accountName: text("Name of the account holder"),
  bankName: text("Name of the bank or mobile money operator"),
  bankCode: text("Code of the bank"),
  country: country(),
  currency: currency(),
};

const isDefault = flag("Whether this is the default payout method");

/** Milliseconds that the verification of a payout method takes. */
const VERIFICATION_TIME = 60_000;

export const payoutMethods = resource({
  kind: "payout_method",
  prefix: "pom",
  view: "payout_methods",
  sample: samplePayoutMethod,
  fields: {
    ...nullables({
      type,
      last4: text("Last four characters of the account number; the full number is not stored"),
      ...account,
      failureCode: text("Reason why the verification failed"),
      verifiedAt: timestamp("Time at which the account was verified"),
      failedAt: timestamp("Time at which the verification failed"),
      replacedAt: timestamp("Time at which another payout method replaced this one"),
    }),
    isDefault,
  },
  defaults: { isDefault: true },
  states: {
    pending_verification: {
      to: ["verified", "failed", "replaced"],
      event: "payout_method.updated",
      arrive: becomeDefault,
      isBrief: true,
      next: ({ record }) => ({ at: record.created * 1000 + VERIFICATION_TIME, status: "verified" }),
    },
    verified: { to: ["replaced"], event: "payout_method.verified", at: "verifiedAt" },
    failed: {
      to: ["replaced"],
      event: "payout_method.failed",
      at: "failedAt",
      fills: { failureCode: "account_not_found" },
    },
    replaced: {
      to: [],
      event: "payout_method.replaced",
      at: "replacedAt",
      sets: () => ({ isDefault: false }),
      arrive: ({ record, own }) => followDefaultMethod(record.id, own),
    },
  },
  updated: "payout_method.updated",
  outstanding: ({ status }) => status !== "replaced",
  sums: [strayDefaults],
  corrects({ id, status, isDefault }, { own }) {
    const hasOther = () => currentMethods(own).some((other) => other.id !== id && other.isDefault);
    const fitting = status !== "replaced" && (isDefault || !hasOther());
    return fitting === isDefault ? undefined : { isDefault: fitting };
  },
  changed: becomeDefault,
});

const setPayoutMethod = endpoint({
  id: "payout_method.set",
  position: 4,
  area: "Merchants",
  method: "POST",
  path: "/merchants/payout-method",
  summary: "Set the payout method",
  description:
    "A merchant has one payout method; setting a new one replaces it. Only the last four characters of the account " +
    "number are stored and returned.",
  body: assumedBody(
    {
      type,
      accountNumber: Type.String({
        description: "Account number, IBAN or phone number; spaces and dashes are allowed",
        pattern: "^\\+?([ -]?[0-9A-Za-z]){5,34}$",
      }),
      ...optionals({ ...account, metadata: metadata() }),
    },
    "The service's documentation does not show this body; these fields are common to payout APIs.",
  ),
  example: {
    type: "bank_account",
    accountNumber: "0000 0000 0000 4321",
    accountName: "Quinta da Ribeira",
    bankName: "Banco de Exemplo",
    country: "PT",
    currency: "EUR",
  },
  reply: payoutMethods.schema,
  errors: ["validation_failed"],
  emits: [assumed("payout_method.updated", "Derived from the name of the operation.")],
  mayEmit: {
    "payout_method.replaced": "where another one was in use",
    "payout.updated": "for each pending payout to the replaced one",
  },
  handle(call) {
    const { accountNumber, ...kept } = call.body;
    const methods = call.own(payoutMethods);
    const before = currentMethods(call.own);
    const last4 = accountNumber?.replace(/[ -]/g, "").slice(-4) ?? null;
    const created = methods.create({
      ...call.extra,
      ...kept,
      isDefault: true,
      currency: kept.currency ?? homeCurrency(call),
      last4,
    });
    for (const { id } of before) methods.move(methods.require(id), "replaced");
    return created;
  },
});

interface PayoutMethod extends RecordBase {
  isDefault: boolean;
  type: string | null;
  country: string | null;
}

/** All payout methods except replaced ones, the newest first. */
const currentMethods = (own: OwnRecords): PayoutMethod[] => own(payoutMethods).outstanding().reverse();

/** When a method becomes the default, clears the flag of every other method. */
function becomeDefault({ record, own }: Arrival<RecordBase & { isDefault: boolean }>): void {
  if (!record.isDefault) return;
  const methods = own(payoutMethods);
  for (const { id, isDefault } of currentMethods(own))
    if (id !== record.id && isDefault) methods.update(methods.require(id), { isDefault: false }, null);
}

/**
 * Moves the pending payouts of a replaced method to the default method. Without a default, makes the newest method the
 * default.
 */
function followDefaultMethod(replaced: string, own: OwnRecords): void {
  const current = currentMethods(own);
  const target = current.find(({ isDefault }) => isDefault) ?? current[0];
  if (!target) return;
  const methods = own(payoutMethods);
  if (!target.isDefault) methods.update(methods.require(target.id), { isDefault: true });
  const waiting = own(payouts)
    .outstanding()
    .filter(({ payoutMethodId }) => payoutMethodId === replaced);
  for (const payout of waiting) own(payouts).update(payout, { payoutMethodId: target.id });
}

/** Without a given amount, the payout contains all open shares of payments. A paid payout arrived today. */
function samplePayout(context: SampleContext) {
  const { given, merchant, own, now, status } = context;
  const home = homeOf(merchant.id, own);
  const arrival = status === "paid" ? { arrivalDate: dayAt(home.country, now * 1_000) } : {};
  const currency = (given.currency as string | null | undefined) ?? home.currency;
  const isOfPayments = given.amount == null && (given.payments != null || total(openShares(own, currency)) > 0);
  return isOfPayments ? arrival : { ...moneyLike(context, earlier(context, "payout"), 5_000), ...arrival };
}

export const payouts = resource({
  kind: "payout",
  prefix: "po",
  view: "payouts",
  sample: samplePayout,
  datesMoveBy: daysIfDaily,
  fitDates: ({ moved: { arrivalDate } }) =>
    typeof arrivalDate === "string" ? { arrivalDate: businessDayFrom(arrivalDate) } : {},
  fields: {
    ...nullables({
      amount: amount("Amount of the payout", { minimum: 0 }),
      currency: currency(),
      payoutMethodId: id("pom", "Payout method that receives the funds"),
      arrivalDate: day("Expected date of arrival"),
      failureCode: text("Reason for the failure"),
      sentAt: timestamp("Time at which the payout was sent"),
      paidAt: timestamp("Time of arrival"),
      failedAt: timestamp("Time at which the payout failed"),
      canceledAt: timestamp("Time at which the payout was canceled"),
    }),
    payments: Type.Array(paymentShare, {
      description: "Payments in the payout; empty if it was made for an amount of its own",
    }),
  },
  defaults: { payments: [] },
  states: {
    pending: {
      to: ["in_transit", "canceled"],
      event: "payout.created",
      sets: openPayout,
      arrive: (payout) => settle(payout, 1),
      next: (payout) => onDay(payout, sendingDay(payout), "morning", "in_transit"),
    },
    in_transit: {
      to: ["paid", "failed"],
      event: "payout.in_transit",
      at: "sentAt",
      next: (payout) => onDay(payout, payout.record.arrivalDate, "opening", "paid"),
    },
    paid: { to: [], event: "payout.paid", at: "paidAt" },
    failed: {
      to: [],
      event: "payout.failed",
      at: "failedAt",
      fills: { failureCode: "account_closed" },
      arrive: (payout) => settle(payout, -1),
    },
    canceled: { to: [], event: "payout.canceled", at: "canceledAt", arrive: (payout) => settle(payout, -1) },
  },
  updated: "payout.updated",
  sums: [mixedCurrencies],
  rules: [sumOfPayments, paymentsFit],
  warnings: [paidOutTwice],
  references: { payoutMethodId: "payout_method" },
  outstanding: ({ status }) => status === "pending",
});

/** Adds a payout's shares to `paidOutAmount` of its payments (`sign` 1), or subtracts them (-1). */
function settle({ record, own }: Arrival<RecordBase & PayoutAmounts>, sign: 1 | -1): void {
  const standing = once(() =>
    own(payouts)
      .all()
      .filter(({ id, status }) => id !== record.id && status !== "failed" && status !== "canceled"),
  );
  /** The newest other payout that contains the payment and neither failed nor was canceled. */
  const standingPayoutOf = (paymentId: string) =>
    standing().findLast(({ payments }) => payments.some((share) => share.paymentId === paymentId))?.id ?? null;
  for (const share of record.payments) {
    const payment = own(payments).require(share.paymentId);
    let { payoutId } = payment;
    if (sign === 1) payoutId = record.id;
    else if (payoutId === record.id) payoutId = standingPayoutOf(share.paymentId);
    const paidOutAmount = exactSum([payment.paidOutAmount, sign * share.amount], "payments");
    own(payments).update(payment, { payoutId, paidOutAmount }, null);
  }
}

/** Without a given amount, a new payout contains all open shares of payments in its currency. */
function openPayout({ record, own }: Arrival<RecordBase & PayoutAmounts & { payoutMethodId: string | null }>) {
  const home = homeOf(record.merchantId, own);
  const [first] = record.payments;
  const given = first !== undefined;
  const currency = record.currency ?? (given ? (own(payments).find(first.paymentId)?.currency ?? null) : home.currency);
  const shares = given || record.amount !== null ? record.payments : openShares(own, currency);
  const amounts = shares.map((share) => share.amount);
  const sum = exactSum(amounts, "payments");
  const isEmpty = !given && sum <= 0;
  const amount = record.amount ?? (isEmpty ? null : sum);
  if (amount === null) return {};
  const method = record.payoutMethodId ?? currentMethods(own).find(({ isDefault }) => isDefault)?.id ?? null;
  return {
    amount,
    payments: isEmpty ? [] : shares,
    currency,
    payoutMethodId: method,
    arrivalDate: arrivalOf(record.created, method, home.country, own),
  };
}

/** One business day before the payout arrives, but at the earliest the business day after it was created. */
function sendingDay(payout: Pick<Arrival<RecordBase & { arrivalDate: string | null }>, "record" | "own">): string {
  const { arrivalDate, created } = payout.record;
  const earliest = nextBusinessDay(homeDay(payout, created));
  const latest = arrivalDate === null ? earliest : previousBusinessDay(arrivalDate);
  return latest > earliest ? latest : earliest;
}

/** The second business day for a bank account, and the next business day for mobile money. */
function arrivalOf(now: number, methodId: string | null, home: string | null, own: OwnRecords): string {
  const method: PayoutMethod | undefined = methodId === null ? undefined : own(payoutMethods).find(methodId);
  const next = nextBusinessDay(dayAt(method?.country ?? home, now * 1_000));
  return method?.type === "mobile_money" ? next : nextBusinessDay(next);
}

const listPayouts = listEndpoint(
  payouts,
  { id: "payouts.list", position: 7, area: "Payouts", path: "/payouts", summary: "List all payouts" },
  { reply: listOf(payouts.schema) },
);

export const operations = [setPayoutMethod, listPayouts];

export const resources = [payouts, payoutMethods];
