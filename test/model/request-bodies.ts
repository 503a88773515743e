// Request bodies by operation, field by field. Unknown fields are accepted.

import type { Fields } from "./record-kinds.ts";

export type FieldCheck = (value: unknown) => boolean;

export interface Body {
  required: Record<string, FieldCheck>;
  /** Optional; null counts as absent. */
  optional: Record<string, FieldCheck>;
  /** Optional; null is invalid. */
  absent?: Record<string, FieldCheck>;
}

export const MOST = Number.MAX_SAFE_INTEGER;

const text =
  (least = 0, most = 5_000): FieldCheck =>
  (value) =>
    typeof value === "string" && value.length >= least && value.length <= most;
const whole =
  (least: number, most = MOST): FieldCheck =>
  (value) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
const like =
  (pattern: RegExp, most = Number.POSITIVE_INFINITY): FieldCheck =>
  (value) =>
    typeof value === "string" && value.length <= most && pattern.test(value);
const oneOf =
  (...values: string[]): FieldCheck =>
  (value) =>
    values.includes(value as string);
const list =
  (item: FieldCheck, least = 0, most = Number.POSITIVE_INFINITY): FieldCheck =>
  (value) =>
    Array.isArray(value) && value.length >= least && value.length <= most && value.every(item);
const isObject = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);
const flag: FieldCheck = (value) => typeof value === "boolean";
const bag: FieldCheck = isObject;
const texts: FieldCheck = (value) => isObject(value) && Object.values(value).every((one) => typeof one === "string");
const orNull =
  (rule: FieldCheck): FieldCheck =>
  (value) =>
    value === null || rule(value);

/** A calendar date: 2026-02-30 is invalid. */
const day: FieldCheck = (value) => {
  if (typeof value !== "string" || !/^\d{4}-\d\d-\d\d$/.test(value)) return false;
  const time = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(value);
};

const money = whole(-MOST);
const notNegative = whole(0);
const currency = like(/^[A-Z]{3}$/);
const country = like(/^[A-Z]{2}$/);
const email = like(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 320);
const weekday = oneOf("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday");
const eventType = like(/^[a-z0-9_]+(\.[a-z0-9_]+)+$/, 255);

const shaped =
  (body: Body): FieldCheck =>
  (value) =>
    isObject(value) && wrongFields(body, value).length === 0;

const deduction = shaped({ required: { code: text(), amount: notNegative }, optional: {} });
const payItem = shaped({
  required: { employeeId: text(1), grossAmount: notNegative },
  optional: { employeeName: text(), deductions: list(deduction, 0, 100) },
});
const scheme = shaped({
  required: {
    scheme: oneOf("income_tax", "pension", "social_security", "health_insurance", "housing_fund", "other"),
    enabled: flag,
    registrationNumber: orNull(text()),
    employeeRateBps: whole(0, 10_000),
    employerRateBps: whole(0, 10_000),
  },
  optional: {},
});

export const bodies: Record<string, Body> = {
  "pricing_rules.create": {
    required: { name: text(1), adjustmentType: oneOf("percentage", "fixed"), adjustmentValue: money },
    optional: {
      roomTypeId: text(),
      startDate: day,
      endDate: day,
      daysOfWeek: list(weekday, 0, 7),
      minNights: whole(1),
      maxNights: whole(1),
      priority: notNegative,
      metadata: bag,
    },
  },
  "bookings.decline": { required: {}, optional: { reason: text() } },
  "payroll.create": {
    required: { periodStart: day, periodEnd: day, payDate: day, items: list(payItem, 1, 1_000) },
    optional: { currency, metadata: bag },
  },
  "payroll.override_item": { required: { netAmount: notNegative, reason: text(1) }, optional: {} },
  "payout_method.set": {
    required: { type: oneOf("bank_account", "mobile_money"), accountNumber: like(/^\+?([ -]?[0-9A-Za-z]){5,34}$/) },
    optional: { accountName: text(), bankName: text(), bankCode: text(), country, currency, metadata: bag },
  },
  "merchants.login": { required: { email, password: text() }, optional: {} },
  "merchants.create": {
    required: { name: text(1), email },
    optional: { phone: text(), country, currency, password: text(), metadata: bag },
  },
  "variants.create": {
    required: { sku: text(1), price: notNegative },
    optional: { name: text(), currency, stockQuantity: notNegative, barcode: text(), options: texts, metadata: bag },
  },
  "remittances.confirm": { required: {}, optional: { receiptNumber: text(), confirmedDate: day, note: text() } },
  "gov_payments.post": { required: {}, optional: { ledgerAccount: text(1), memo: text() } },
  "statutory_settings.update": {
    required: {},
    optional: {
      country,
      currency,
      payFrequency: oneOf("weekly", "biweekly", "semimonthly", "monthly"),
      remittanceDueDay: whole(1, 28),
      autoRemit: flag,
      schemes: list(scheme, 0, 100),
      metadata: bag,
    },
  },
  "webhooks.create": {
    required: { url: (value) => typeof value === "string", events: list((value) => value === "*" || eventType(value), 1, 100) },
    optional: {},
  },
  "events.test": { required: { type: eventType }, optional: {}, absent: { data: bag } },
};

/** Missing or invalid fields, in the order declared above. */
export function wrongFields({ required, optional, absent = {} }: Body, sent: Fields): string[] {
  const has = (name: string) => Object.hasOwn(sent, name);
  return [
    ...Object.entries(required).flatMap(([name, rule]) => (has(name) && rule(sent[name]) ? [] : [name])),
    ...Object.entries(optional).flatMap(([name, rule]) => (!has(name) || orNull(rule)(sent[name]) ? [] : [name])),
    ...Object.entries(absent).flatMap(([name, rule]) => (!has(name) || rule(sent[name]) ? [] : [name])),
  ];
}

export const knownFields = ({ required, optional, absent = {} }: Body): string[] =>
  [required, optional, absent].flatMap((rules) => Object.keys(rules));

/** Whether a range ends before it starts. An absent or null end is unbounded. */
export const isBackwards = (from: unknown, to: unknown): boolean => from != null && to != null && (from as string) > (to as string);
