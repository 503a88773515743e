// Payout methods: the account that receives a merchant's payouts. Setting a new method replaces the previous one.

import type { Arrival, OwnRecords, RecordBase } from "../contracts/resource.ts";
import { assumed } from "../schema/assumed.ts";
import { PATTERNS } from "../schema/patterns.ts";
import {
  country,
  currency,
  flag,
  metadata,
  nullables,
  oneOf,
  optionals,
  Type,
  text,
  timestamp,
} from "../schema/shapes.ts";
import { assumedBody, endpoint } from "./declare/operation.ts";
import { resource } from "./declare/resource.ts";
import { merchantCurrency } from "./merchants.ts";
import { samplePayoutMethod } from "./samples/sales.ts";
import { strayDefaults } from "./world-checks.ts";

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
      arrive: afterReplacement,
    },
  },
  updated: "payout_method.updated",
  outstanding: ({ status }) => status !== "replaced",
  worldChecks: [strayDefaults],
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
        pattern: PATTERNS.accountNumber.pattern,
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
    "payout_method.replaced": "if another method was in use",
    "payout.updated": "for each pending payout to the replaced method",
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
      currency: kept.currency ?? merchantCurrency(call),
      last4,
    });
    for (const { id } of before) methods.move(methods.require(id), "replaced");
    return created;
  },
});

type PayoutMethod = RecordBase & { isDefault: boolean };

/** All payout methods except replaced ones, the newest first. */
const currentMethods = (own: OwnRecords): PayoutMethod[] => own(payoutMethods).outstanding().reverse();

export const defaultMethod = (own: OwnRecords): PayoutMethod | undefined =>
  currentMethods(own).find(({ isDefault }) => isDefault);

/** When a method becomes the default, clears the flag of every other method. */
function becomeDefault({ record, own }: Arrival<PayoutMethod>): void {
  if (!record.isDefault) return;
  const methods = own(payoutMethods);
  for (const { id, isDefault } of currentMethods(own))
    if (id !== record.id && isDefault) methods.update(methods.require(id), { isDefault: false }, null);
}

type ReplacementListener = (replaced: RecordBase, own: OwnRecords) => void;

const listeners: ReplacementListener[] = [];

/**
 * Adds a listener that is called after a method was replaced. By then, another method is the default, if there is one.
 */
export const onReplaced = (listener: ReplacementListener) => void listeners.push(listener);

/** Makes the newest method the default if there is no other default, then calls the listeners. */
function afterReplacement({ record, own }: Arrival<PayoutMethod>): void {
  const [newest] = currentMethods(own);
  const methods = own(payoutMethods);
  if (newest && !defaultMethod(own)) methods.update(methods.require(newest.id), { isDefault: true });
  for (const listener of listeners) listener(record, own);
}

export const operations = [setPayoutMethod];

export const resources = [payoutMethods];
