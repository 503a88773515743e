// The operations of the business areas, called after the pipeline has validated the request.

import { Check } from "typebox/schema";
import { catalogue } from "../../src/areas/index.ts";
import type { TProperties, TSchema } from "../../src/schema/schema.ts";
import { type Call, chosen, create, emit, find, newId, only, own, refuse, transition } from "./call.ts";
import { pageOf } from "./pagination.ts";
import { type Fields, type KindName, kindOf } from "./record-kinds.ts";
import { createWebhook, deleteWebhook, listDeliveries, listWebhooks, rotateSecret, sendTestEvent } from "./webhooks.ts";
import { addMerchant, buildRecord, type Entry, newestFirst, recordsOf } from "./world.ts";

/** The kind of record that each list shows. */
export const LISTED: Record<string, KindName> = {
  "payouts.list": "payout",
  "marketplace_orders.list": "marketplace_order",
  "payments.list": "payment",
  "disciplinary.list": "disciplinary_record",
  "renewals.list": "membership_renewal",
  "sync_logs.list": "sync_log",
  "appraisals.list": "appraisal",
  "webhooks.list": "webhook_endpoint",
};

const lists = Object.entries(LISTED).map(
  ([id, kind]) => [id, (call: Call) => pageOf(call, recordsOf(call.merchant, kind))] as const,
);

/** The effect of each operation on the model, by operation id. */
export const runs: Record<string, (call: Call) => unknown> = {
  ...Object.fromEntries(lists),
  "customers.get": (call) => own(call, "customer", call.params.id),
  "pricing_rules.create": createPricingRule,
  "payroll.create": createPayroll,
  "payout_method.set": setPayoutMethod,
  "merchants.login": login,
  "merchants.create": createMerchant,
  "organizer.get": (call) => only(call, "event_organizer") ?? refuse("resource_not_found"),
  "merchants.me": (call) => profile(call),
  "bookings.decline": declineBooking,
  "payroll.override_item": overrideItem,
  "variants.create": createVariant,
  "remittances.confirm": confirmRemittance,
  "gov_payments.post": postToBooks,
  "statutory_settings.update": updateSettings,
  "statutory_settings.get": (call) => only(call, "statutory_settings") ?? firstSettings(call),
  "webhooks.create": createWebhook,
  "webhooks.list": listWebhooks,
  "webhooks.delete": deleteWebhook,
  "webhooks.rotate_secret": rotateSecret,
  "deliveries.list": listDeliveries,
  "events.test": sendTestEvent,
};

export type Operation = (typeof catalogue)[number];

/** The declared operations that the model knows. */
export const operations: readonly Operation[] = catalogue.filter(({ id }) => id in runs);

/** Response fields that a client cannot set. */
export const ownFields = ({ reply }: Operation): string[] =>
  Object.keys((reply as { properties?: TProperties }).properties ?? {});

export const knownFields = ({ body }: Operation): string[] => Object.keys(body?.properties ?? {});

/** The known fields of a body that are missing, or that have a value which does not match their schema. */
export function wrongFields({ body }: Operation, sent: Fields): string[] {
  const { properties = {}, required = [] } = body ?? {};
  const isWrong = (name: string) =>
    Object.hasOwn(sent, name) ? !Check(properties[name] as TSchema, sent[name]) : required.includes(name);
  return Object.keys(properties).filter(isWrong);
}

const MOST = Number.MAX_SAFE_INTEGER;

/** Whether a range ends before it starts. A bound that is absent or null does not limit the range. */
const isBackwards = (from: unknown, to: unknown): boolean =>
  from != null && to != null && (from as string) > (to as string);

/** Adds the warning header if a value is unlikely. Such a value is accepted. */
function warnIf(call: Call, isUnlikely: boolean): void {
  if (isUnlikely) call.headers["x-sandbox-warning"] = "something";
}

const TEN_YEARS = 3_653;

const profile = (call: Call): Entry => own(call, "merchant", call.merchant.id);

/** The merchant's country and currency; null for a value that does not look like a code. */
function home(call: Call): { country: unknown; currency: unknown } {
  const { country, currency } = profile(call);
  const usable = (code: unknown, length: number) => (new RegExp(`^[A-Z]{${length}}$`).test(String(code)) ? code : null);
  return { country: usable(country, 2), currency: usable(currency, 3) };
}

/** The currency of the body (default: the merchant's currency). */
const inCurrency = (call: Call) => call.body.currency ?? home(call).currency;

function createPricingRule(call: Call): unknown {
  const { startDate, endDate, minNights, maxNights } = call.body;
  if (isBackwards(startDate, endDate) || isBackwards(minNights, maxNights)) refuse("validation_failed");
  const { roomTypeId = null, adjustmentType, adjustmentValue } = call.body;
  const lets = profile(call).roomTypes as { id: string }[];
  const isUnknown = roomTypeId !== null && lets.length > 0 && lets.every(({ id }) => id !== roomTypeId);
  warnIf(call, isUnknown || (adjustmentType === "percentage" && Number(adjustmentValue) < -10_000));
  return create(call, "pricing_rule", { ...call.extra, ...call.body });
}

/** Only a pending booking can be declined. */
function declineBooking(call: Call): unknown {
  const booking = own(call, "booking", call.params.id);
  const fields = { ...call.extra, ...call.asSent, declineReason: call.body.reason ?? null };
  return transition(call.world, call.merchant, "booking", booking, "declined", fields, call.now);
}

interface PayItem extends Fields {
  id: string;
  employeeId: string;
  grossAmount: number;
  deductions: { amount: number }[];
  netAmount: number;
}

function createPayroll(call: Call): unknown {
  const { periodStart, periodEnd } = call.body;
  if (isBackwards(periodStart, periodEnd)) refuse("validation_failed");
  const sent = (call.body.items ?? []) as (Partial<PayItem> & { grossAmount: number })[];
  const items = sent.map((item) => {
    const deductions = item.deductions ?? [];
    const netAmount = item.grossAmount - sum(deductions.map(({ amount }) => amount));
    return {
      ...item,
      object: "payroll_item",
      employeeName: item.employeeName ?? null,
      deductions,
      netAmount,
    } as PayItem;
  });
  const totals = totalsOf(items);
  const employees = new Set(items.map(({ employeeId }) => employeeId));
  const daysAway = Math.abs(Date.parse(String(call.body.payDate)) / 86_400_000 - call.now / 86_400);
  const isStrange = employees.size < items.length || items.some((item) => item.netAmount < 0);
  const isEarly = call.body.offCycle !== true && isBackwards(periodStart, call.body.payDate);
  warnIf(call, isStrange || isEarly || daysAway > TEN_YEARS);
  const id = newId(call, "pyr", "id");
  for (const [place, item] of items.entries())
    Object.assign(item, {
      id: newId(call, "pyi", "items", place, "id"),
      payrollId: id,
      overridden: false,
      override: null,
    });
  return create(call, "payroll", { ...call.extra, ...call.body, id, currency: inCurrency(call), items, totals });
}

/** The net amount of an item can be set while its payroll run is a draft. */
function overrideItem(call: Call): unknown {
  const run = own(call, "payroll", call.params.id);
  const items = usableItems(run.items);
  const item = items.find(({ id }) => id === call.params.iid) ?? refuse("resource_not_found");
  if (run.status !== "draft") refuse("invalid_state");
  const { netAmount = Math.max(netOf(item), 0), reason = null } = call.body as { netAmount?: number; reason?: string };
  warnIf(call, netAmount > 2 * item.grossAmount);
  const override = { amount: netAmount, reason, previousNetAmount: netOf(item), at: call.now };
  const changed = { ...item, ...call.extra, netAmount, overridden: true, override };
  const totals = totalsOf(items.map((other) => (other === item ? changed : other)));
  Object.assign(changed, call.asSent);
  Object.assign(run, { totals, items: items.map((other) => (other === item ? changed : other)) });
  emit(call.world, call.merchant, "payroll_item.overridden", changed);
  return changed;
}

/** The items that can be overridden. A run that was created from items of another shape has none. */
const usableItems = (items: unknown) =>
  Array.isArray(items) && items.every((item) => "payrollId" in item) ? (items as PayItem[]) : [];

/** The net amount; zero if an override left a value of another type. */
const netOf = ({ netAmount }: PayItem) => (Number.isSafeInteger(netAmount) && netAmount >= -MOST ? netAmount : 0);

const totalsOf = (items: PayItem[]) => ({
  employees: items.length,
  grossAmount: sum(items.map(({ grossAmount }) => grossAmount)),
  deductionAmount: sum(items.flatMap(({ deductions }) => deductions.map(({ amount }) => amount))),
  netAmount: sum(items.map(netOf)),
});

/** Totals must stay safe integers. */
const sum = (amounts: number[]): number =>
  amounts.reduce(
    (before, amount) => (Math.abs(before + amount) > MOST ? refuse("validation_failed") : before + amount),
    0,
  );

/** The new payout method replaces all others. Only the last four digits of its account number are stored. */
function setPayoutMethod(call: Call): unknown {
  const { accountNumber, ...fields } = call.body;
  const last4 = (accountNumber as string | undefined)?.replace(/[ -]/g, "").slice(-4) ?? null;
  const before = newestFirst(recordsOf(call.merchant, "payout_method")).filter(({ status }) => status !== "replaced");
  const created = create(call, "payout_method", {
    ...call.extra,
    ...fields,
    isDefault: true,
    currency: inCurrency(call),
    last4,
  });
  for (const method of before) {
    transition(call.world, call.merchant, "payout_method", method, "replaced", {}, call.now);
    const payouts = newestFirst(recordsOf(call.merchant, "payout")).reverse();
    for (const payout of payouts.filter(
      ({ status, payoutMethodId }) => status === "pending" && payoutMethodId === method.id,
    )) {
      payout.payoutMethodId = created.id;
      emit(call.world, call.merchant, "payout.updated", payout);
    }
  }
  return created;
}

const SESSION = 3_600;

/** A call with any API key can log in any merchant. The session token expires after an hour. */
function login(call: Call): unknown {
  const { email, password } = call.body as { email: string; password: string };
  const known = call.world.logins.get(email);
  if (known?.password === undefined || known.password !== password)
    refuse("invalid_credentials", { "www-authenticate": "Bearer" });
  const accessToken = chosen(call, /^sk_test_session_[0-9A-Za-z]{24}$/, "accessToken");
  if (call.world.keys.has(accessToken)) call.violations.push(`${accessToken} was given before`);
  call.world.keys.set(accessToken, { merchant: known.merchant, expires: call.world.now + SESSION * 1_000 });
  call.headers["cache-control"] = "no-store";
  const merchant = recordsOf(call.world.merchants.get(known.merchant) ?? refuse("invalid_credentials"), "merchant")[0];
  return { object: "session", accessToken, tokenType: "Bearer", expiresIn: SESSION, merchant };
}

/** Creates a merchant with only a profile. Events go to the calling merchant. */
function createMerchant(call: Call): unknown {
  const { world } = call;
  const { password, ...fields } = call.body as { email?: string; password?: string | null };
  if (fields.email !== undefined && world.logins.has(fields.email)) refuse("already_exists");
  const id = newId(call, "mer", "id");
  const apiKey = chosen(call, /^sk_test_[0-9A-Za-z]{24}$/, "apiKey");
  const record = Object.assign(buildRecord("merchant", id, call.now, { ...call.extra, ...fields, id }), call.asSent);
  recordsOf(addMerchant(world, id, undefined), "merchant").push(record);
  world.keys.set(apiKey, { merchant: id, expires: undefined });
  if (fields.email !== undefined) world.logins.set(fields.email, { merchant: id, password: password ?? undefined });
  emit(world, call.merchant, "merchant.created", record);
  return { ...record, apiKey };
}

/** The SKU and the options of a variant must be unique. */
function createVariant(call: Call): unknown {
  const product = own(call, "product", call.params.productId);
  const options = (call.body.options ?? {}) as Record<string, string>;
  if (product.status === "archived") refuse("invalid_state");
  const others = recordsOf(call.merchant, "product_variant");
  const isTwin = (other: Entry) =>
    other.sku === call.body.sku ||
    (other.productId === product.id &&
      Object.keys(options).length > 0 &&
      sorted(other.options as Fields) === sorted(options));
  if (others.some(isTwin)) refuse("already_exists");
  return create(call, "product_variant", {
    ...call.extra,
    ...call.body,
    currency: inCurrency(call),
    productId: product.id,
  });
}

const sorted = (fields: Fields) =>
  JSON.stringify(Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1)));

function confirmRemittance(call: Call): unknown {
  const remittance = own(call, "remittance", call.params.id);
  const { receiptNumber = null } = remittance;
  const fields = { receiptNumber, ...call.extra, ...call.body, ...call.asSent };
  return transition(call.world, call.merchant, "remittance", remittance, "confirmed", fields, call.now);
}

/** A paid government payment can be posted once. */
function postToBooks(call: Call): unknown {
  const payment = own(call, "gov_payment", call.params.id);
  if (payment.status !== "paid" || (payment.bookkeeping as Fields).status === "posted") refuse("invalid_state");
  const bookkeeping = {
    status: "posted",
    journalEntryId: newId(call, "jrn", "bookkeeping", "journalEntryId"),
    debitAccount: call.body.ledgerAccount ?? "Taxes and fees payable",
    creditAccount: "Bank",
    memo: call.body.memo ?? null,
    postedAt: call.now,
  };
  warnIf(call, bookkeeping.debitAccount === bookkeeping.creditAccount);
  Object.assign(payment, call.extra, call.asSent, { bookkeeping });
  emit(call.world, call.merchant, "gov_payment.posted", payment);
  return payment;
}

/** Default statutory settings. */
function firstSettings(call: Call): Entry {
  return buildRecord("statutory_settings", call.merchant.id, profile(call).created, {
    id: "sts_settings",
    ...home(call),
  });
}

/** Merges the sent fields; null clears a field. Emits no event if nothing changes. */
function updateSettings(call: Call): unknown {
  if (!find(call, "statutory_settings", "sts_settings"))
    recordsOf(call.merchant, "statutory_settings").push(firstSettings(call));
  const settings = own(call, "statutory_settings", "sts_settings");
  const defaults: Fields = { metadata: {}, ...kindOf("statutory_settings").defaults };
  const before = JSON.stringify(sortedDeep(settings));
  for (const [field, value] of Object.entries({ ...call.extra, ...call.body })) {
    if (value !== null) settings[field] = value;
    else if (field in defaults) settings[field] = defaults[field];
    else delete settings[field];
  }
  Object.assign(settings, call.asSent);
  if (JSON.stringify(sortedDeep(settings)) === before) return settings;
  settings.updated = call.now;
  emit(call.world, call.merchant, "statutory_settings.updated", settings);
  return settings;
}

/**
 * The same value with sorted field names. An object becomes `{ fields }` with the list of its fields, so an empty
 * object still differs from an empty list.
 */
export function sortedDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedDeep);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return { fields: fields.map(([name, child]) => [name, sortedDeep(child)]) };
}
