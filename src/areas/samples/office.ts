// Samples of office records: remittances and their settings, government payments, staff records, synchronisation.

import type { SampleContext } from "../../contracts/resource.ts";
import { earlier, moneyLike, monthsLater, nextNumber, numberOf, textOf } from "./parts.ts";
import { payrollItems, STAFF, taxRatesOf } from "./payroll.ts";

/** Ids of the employees in the merchant's payroll runs, or else of sample staff. */
function employees({ newest }: SampleContext): string[] {
  const paid = newest("payroll").flatMap((run) => payrollItems(run).map(({ employeeId }) => employeeId));
  return paid.length > 0 ? [...new Set(paid)] : STAFF.map(({ employeeId }) => employeeId);
}

export const sampleDisciplinaryRecord = (context: SampleContext) => ({
  employeeId: context.pick("employee", employees(context)) ?? null,
  type: "verbal_warning",
  category: "attendance",
  description: "Late three times in one week.",
  incidentDate: context.day(-3),
  issuedDate: context.day(0),
});

export function sampleAppraisal(context: SampleContext) {
  const [employeeId = null, reviewerId = null] = [context.pick("employee", employees(context)), employees(context)[0]];
  const today = context.day(0);
  return {
    employeeId,
    reviewerId,
    cycle: today.slice(0, 4),
    periodStart: `${today.slice(0, 4)}-01-01`,
    periodEnd: `${today.slice(0, 4)}-12-31`,
    goals: [{ title: "Train a new colleague", score: null }],
    remarks: null,
  };
}

/** The contributions of one enabled scheme for last month's payroll, due on the settings' due day. */
export function sampleRemittance(context: SampleContext) {
  const { given, status = "", newest, pick, day, merchant, between } = context;
  const [settings] = newest("statutory_settings");
  const schemes = (settings?.schemes ?? []) as { scheme: string; enabled: boolean; employeeRateBps: number; employerRateBps: number }[];
  const enabled = schemes.filter((one) => one.enabled);
  const chosen = pick("scheme", enabled);
  const scheme = textOf(given.scheme, chosen?.scheme ?? "income_tax");
  const like = newest("remittance").find((remittance) => remittance.scheme === scheme);
  const gross = numberOf(
    (newest("payroll")[0]?.totals as { grossAmount?: number } | undefined)?.grossAmount,
    between("gross", 20, 90) * 10_000,
  );
  const share = (rate: number | undefined, otherwise: number) => Math.round((gross * (rate ?? otherwise)) / 10_000);
  const [employees, employer] = [share(chosen?.employeeRateBps, 1_400), share(chosen?.employerRateBps, 0)];
  const amount = numberOf(given.amount, employees + employer);
  const employeeAmount = numberOf(given.employeeAmount, Math.round((amount * employees) / Math.max(1, employees + employer)));
  const employerAmount = numberOf(given.employerAmount, Math.max(0, amount - employeeAmount));
  const isLate = status === "overdue";
  const month = monthsLater(day(0), isLate ? -2 : -1).slice(0, 7);
  return {
    scheme,
    agency: textOf(like?.agency, "Revenue Office"),
    period: month,
    amount: employeeAmount + employerAmount,
    employeeAmount,
    employerAmount,
    currency: merchant.currency ?? null,
    dueDate: isLate
      ? day(-1)
      : `${monthsLater(day(0), 1).slice(0, 7)}-${String(numberOf(settings?.remittanceDueDay, 15)).padStart(2, "0")}`,
  };
}

/** A merchant has one settings record, whose id is constant. */
export const sampleStatutorySettings = ({ merchant }: SampleContext) => ({
  id: "sts_settings",
  country: merchant.country ?? null,
  currency: merchant.currency ?? null,
  payFrequency: "monthly",
  remittanceDueDay: 15,
  schemes: taxRatesOf(merchant.country).map((rate) => ({ ...rate, enabled: true, registrationNumber: null })),
});

export function sampleGovPayment(context: SampleContext) {
  const like = earlier(context, "gov_payment");
  return {
    ...moneyLike(context, like, 2_000),
    agency: textOf(like.agency, "Tax Authority"),
    purpose: textOf(like.purpose, "Value added tax"),
    reference: nextNumber(context, "gov_payment", "reference", "GOV"),
  };
}

export function sampleSyncLog(context: SampleContext) {
  const like = earlier(context, "sync_log");
  return {
    integration: textOf(like.integration, "ledger"),
    entity: textOf(like.entity, "payments"),
    direction: textOf(like.direction, "inbound"),
    startedAt: context.now,
    recordsProcessed: context.between("records", 1, 500),
  };
}
