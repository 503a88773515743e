// Samples of office records: remittances and their settings, government payments, staff records, synchronisation.

import type { AnyRecord, SampleContext } from "../../contracts/resource.ts";
import { addDays, addMonths, lastDayOf, monthIndex, monthText, timeOfDay } from "../../kernel/calendar.ts";
import { contributionOf, type PayrollItems } from "../payroll-items.ts";
import { dueDateOf, isRemitted } from "../remitted-months.ts";
import { inCurrency } from "./currency-worth.ts";
import { earlier, moneyLike, numberOf, ofSeries, textOf } from "./earlier-records.ts";
import { payrollItems, type Scheme, STAFF, taxRatesOf } from "./payroll.ts";
import { dueTaxes } from "./renewed-periods.ts";

/** Ids of the employees in the merchant's payroll runs; ids of sample staff if there are no runs. */
function employees({ newest }: SampleContext): string[] {
  const paid = newest("payroll").flatMap((run) => payrollItems(run).map(({ employeeId }) => employeeId));
  return paid.length > 0 ? [...new Set(paid)] : STAFF.map(({ employeeId }) => employeeId);
}

export const sampleDisciplinaryRecord = (context: SampleContext) => ({
  employeeId: context.pick("employee", employees(context)) ?? null,
  type: "verbal_warning",
  category: "attendance",
  description: "Late three times in one week.",
  incidentDate: addDays(textOf(context.given.issuedDate, context.day(0)), -3),
  issuedDate: [context.day(0), textOf(context.given.incidentDate, "")].sort().at(-1),
});

export function sampleAppraisal(context: SampleContext) {
  const { given, status, pick, between } = context;
  const staff = employees(context);
  const { cycle, start, end } = cycleOf(context);
  return {
    employeeId: pick("employee", staff) ?? null,
    reviewerId: staff.find((id) => id !== given.employeeId) ?? null,
    cycle,
    periodStart: `${start}-01`,
    periodEnd: lastDayOf(`${end}-01`),
    goals: [{ title: "Train a new colleague", score: status === "completed" ? between("score", 3, 5) : null }],
    remarks: null,
  };
}

/**
 * The cycle of an appraisal, with its first and last month. The cycle contains the start of the given cycle or period
 * (default: today), and is as long as the given cycle or the cycle of an earlier appraisal (default: a year).
 */
function cycleOf(context: SampleContext) {
  const { given, day } = context;
  const like = earlier(context, "appraisal", "cycle", "periodStart", "periodEnd");
  const [from, to] = textOf(given.cycle, "").match(/\d{4}(-\d\d)?/g) ?? [];
  const [first, last] = from === undefined ? [like.periodStart, like.periodEnd] : [from, to];
  const length = typeof last === "string" ? Math.max(1, monthIndex(last) - monthIndex(String(first)) + 1) : 12;
  // An appraisal is completed once its period is over.
  const today = context.status === "completed" ? addMonths(day(0), -length) : day(0);
  const month = monthIndex(textOf(given.periodStart ?? given.periodEnd, from?.padEnd(7, "-01") ?? today));
  // Quarters, half-years and years begin in a month whose index is a multiple of their length.
  const start = month - (month % length);
  const [begin, end] = [monthText(start), monthText(start + length - 1)];
  return { cycle: length === 12 ? begin.slice(0, 4) : `${begin} to ${end}`, start: begin, end };
}

/** A remittance of a scheme for a month, from that month's payroll if there is one. */
export function sampleRemittance(context: SampleContext) {
  const { given, newest, merchant } = context;
  const [settings] = newest("statutory_settings");
  const runs = newest("payroll").filter(
    ({ status, offCycle }) => ["paid", "partially_paid"].includes(String(status)) && offCycle !== true,
  );
  const named = runs.find(({ id }) => id === given.payrollId);
  const asked = askedMonth(given, named);
  const rate = schemeOf(context, settings, asked);
  const period = asked ?? freeMonth(context, rate.scheme, settings?.remittanceDueDay);
  const run = named ?? runs.find(({ periodStart }) => textOf(periodStart, "").startsWith(period));
  return {
    scheme: rate.scheme,
    payrollId: run?.status === "paid" ? run.id : null,
    period,
    ...amountsOf(given, usualShares(context, rate, run)),
    currency: merchant.currency ?? null,
    ...timesOf(context, period, textOf(given.dueDate, dueDateOf(period, settings?.remittanceDueDay)), run),
  };
}

/** The month of the given period or payroll, or the month before the given due date. */
function askedMonth({ period, dueDate }: SampleContext["given"], run: AnyRecord | undefined): string | undefined {
  if (typeof period === "string") return period;
  if (typeof run?.periodStart === "string") return run.periodStart.slice(0, 7);
  return typeof dueDate === "string" ? monthText(monthIndex(dueDate) - 1) : undefined;
}

/**
 * A scheme with its rates: the given scheme, or the scheme of the given agency, or one that has no remittance for the
 * month.
 */
function schemeOf({ given, newest, pick, merchant }: SampleContext, settings: AnyRecord | undefined, month = "") {
  const schemes = (settings?.schemes ?? []) as Scheme[];
  const enabled = schemes.filter((one) => one.enabled);
  const usual = enabled.length > 0 ? enabled : taxRatesOf(merchant.country);
  const others = newest("remittance");
  const ofAgency = given.agency == null ? undefined : others.find(({ agency }) => agency === given.agency)?.scheme;
  const open = usual.filter((one) => !isRemitted(others, one.scheme, month));
  const scheme = textOf(given.scheme ?? ofAgency, (pick("scheme", open) ?? usual[0])?.scheme ?? "income_tax");
  const rates = [...schemes, ...taxRatesOf(merchant.country)].find((one) => one.scheme === scheme);
  return { scheme, employeeRateBps: rates?.employeeRateBps ?? 1_400, employerRateBps: rates?.employerRateBps ?? 0 };
}

type Shares = Record<"employeeAmount" | "employerAmount", number>;

/**
 * The contributions in the payroll. If it has none, applies the scheme's rates to the payroll's gross pay, or without a
 * payroll to a random gross pay.
 */
function usualShares(
  { between, merchant }: SampleContext,
  { scheme, employeeRateBps, employerRateBps }: ReturnType<typeof schemeOf>,
  run: AnyRecord | undefined,
): Shares {
  const paid = run && contributionOf(run as unknown as PayrollItems, scheme, employerRateBps);
  if (paid && paid.employeeAmount + paid.employerAmount > 0) return paid;
  const gross = numberOf(
    (run?.totals as { grossAmount?: number } | undefined)?.grossAmount,
    inCurrency(between("gross", 20, 90) * 100, merchant.currency),
  );
  const share = (rate: number) => Math.round((gross * rate) / 10_000);
  return { employeeAmount: share(employeeRateBps), employerAmount: share(employerRateBps) };
}

/** Scales the usual shares to the given amount. If one share is given, the other is the rest of the amount. */
function amountsOf(given: SampleContext["given"], usual: Shares): Shares & { amount: number } {
  const amount = numberOf(
    given.amount,
    numberOf(given.employeeAmount, usual.employeeAmount) + numberOf(given.employerAmount, usual.employerAmount),
  );
  const part = Math.round((amount * usual.employeeAmount) / Math.max(1, usual.employeeAmount + usual.employerAmount));
  const rest = given.employerAmount == null ? part : amount - Number(given.employerAmount);
  const employeeAmount = numberOf(given.employeeAmount, rest);
  return { amount, employeeAmount, employerAmount: numberOf(given.employerAmount, amount - employeeAmount) };
}

/**
 * The times of a remittance that was due before today. It was created when its payroll was paid, or at the end of its
 * month. It was paid or confirmed on the due date, or became overdue on the day after.
 */
function timesOf({ merchant, status, day }: SampleContext, period: string, due: string, run: AnyRecord | undefined) {
  if (due >= day(0)) return {};
  const at = (date: string, hour: number) => (timeOfDay(merchant.country as string | null, date, hour) ?? 0) / 1_000;
  const reached = {
    overdue: { overdueAt: at(addDays(due, 1), 0) },
    paid: { paidAt: at(due, 9) },
    confirmed: { paidAt: at(due, 9) },
  };
  return { created: run?.paidAt ?? at(lastDayOf(`${period}-01`), 9), ...reached[status as keyof typeof reached] };
}

/**
 * A month without a remittance of the scheme. The search begins at last month, or at this month if last month's due
 * date has passed; for an overdue remittance, one month earlier. The search goes forward for a pending remittance, and
 * otherwise back.
 */
function freeMonth({ status, day, newest }: SampleContext, scheme: string, dueDay: unknown): string {
  const others = newest("remittance");
  const last = monthIndex(day(0)) - 1;
  const isDue = dueDateOf(monthText(last), dueDay) >= day(0);
  let month = last + (isDue ? 0 : 1) - (status === "overdue" ? 1 : 0);
  while (isRemitted(others, scheme, monthText(month))) month += status === "pending" ? 1 : -1;
  return monthText(month);
}

/** A merchant has one settings record, whose id is constant. */
export const sampleStatutorySettings = ({ merchant, given }: SampleContext) => ({
  id: "sts_settings",
  country: merchant.country ?? null,
  currency: merchant.currency ?? null,
  payFrequency: "monthly",
  remittanceDueDay: 15,
  schemes: taxRatesOf(given.country ?? merchant.country).map((rate) => ({
    ...rate,
    enabled: true,
    registrationNumber: null,
  })),
});

/** The tax or fee that is due. If none is due, an administrative fee, which can fall due at any time. */
export function sampleGovPayment(context: SampleContext) {
  const { given, day } = context;
  const fitting = ofSeries(context, "gov_payment", "reference").newest("gov_payment");
  const ofAgency = fitting.filter(({ agency }) => given.agency == null || agency === given.agency);
  const named = given.purpose == null ? undefined : ofAgency.find(({ purpose }) => purpose === given.purpose);
  const [due] = given.purpose == null ? dueTaxes(ofAgency, day(0)) : [];
  const like = named ?? due?.like ?? { agency: ofAgency[0]?.agency };
  const { amount, currency } = moneyLike(context, like, due || named ? 2_000 : 60);
  // A tax varies from period to period; a yearly fee stays the same.
  const isTax = due !== undefined && due.purpose !== due.like.purpose;
  return {
    amount: isTax ? Math.round((amount * context.between("change", 80, 120)) / 100) : amount,
    currency,
    agency: textOf(like.agency, "Tax Authority"),
    purpose: due?.purpose ?? "Administrative fee",
  };
}

export function sampleSyncLog(context: SampleContext) {
  const like = earlier(context, "sync_log", "integration", "entity", "direction");
  return {
    integration: textOf(like.integration, "ledger"),
    entity: textOf(like.entity, "payments"),
    direction: textOf(like.direction, "inbound"),
    startedAt: context.now,
    recordsProcessed: numberOf(like.recordsProcessed, context.between("records", 1, 20)),
  };
}
