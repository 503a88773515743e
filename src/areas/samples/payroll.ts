// A sample payroll run: pays the merchant's staff for the latest period without a run, with the deductions of its schemes.

import type { AnyRecord, SampleContext } from "../../contracts/resource.ts";
import { addDays, dayNumber } from "../../kernel/calendar.ts";
import type { PayItem } from "../payroll-items.ts";
import { daysBetween, monthsLater, textOf } from "./parts.ts";

interface Period {
  start: string;
  end: string;
}

/** Sample staff, with monthly pay. */
export const STAFF: readonly PayItem[] = [
  { employeeId: "emp_ana", employeeName: "Ana Prado", grossAmount: 240_000 },
  { employeeId: "emp_ravi", employeeName: "Ravi Menon", grossAmount: 195_000 },
];

const PERIODS_A_YEAR = { weekly: 52, biweekly: 26, semimonthly: 24, monthly: 12 };

type Frequency = keyof typeof PERIODS_A_YEAR;

const WEEKS = { weekly: 1, biweekly: 2 };

/** Weekly periods are counted from this Monday. */
const FIRST_MONDAY = "1970-01-05";

export const payrollItems = (run: AnyRecord | undefined) => (run?.items ?? []) as PayItem[];

export function samplePayroll(context: SampleContext) {
  const { given, status = "", newest, day, merchant, mint } = context;
  const [settings] = newest("statutory_settings");
  const frequency = textOf(settings?.payFrequency, "monthly") as Frequency;
  const runs = newest("payroll").filter((run) => payrollItems(run).length > 0);
  const [last] = runs.toSorted((one, other) => textOf(other.periodStart, "").localeCompare(textOf(one.periodStart, "")));
  const period = periodOf(context, frequency);
  const staff = (given.items as PayItem[] | undefined) ?? (last ? payrollItems(last) : STAFF).map((item) => paidFor(item, last, frequency));
  return {
    periodStart: period.start,
    periodEnd: period.end,
    payDate: ["draft", "pending", "processing"].includes(status) ? [usualPayDay(period, frequency), day(3)].sort().at(-1) : day(0),
    currency: merchant.currency ?? null,
    ...payOf(staff, ratesOf(settings, merchant), textOf(given.id, mint("pyr")), mint),
  };
}

/** The period of the given days. Without them, the latest period that has begun and has no run. */
function periodOf({ given, newest, day }: SampleContext, frequency: Frequency): Period {
  const today = day(0);
  const asked = given.periodStart ?? given.periodEnd;
  if (typeof asked === "string") return periodAround(asked, frequency);
  const runs = newest("payroll");
  const isPaid = ({ end }: Period) => {
    const last = end < today ? end : today;
    return runs.some(({ periodStart, periodEnd }) => textOf(periodStart, "9999") <= last && textOf(periodEnd, "") >= last);
  };
  let period = periodAround(today, frequency);
  for (let tries = 0; tries < MOST_PERIODS && isPaid(period); tries++) period = periodAround(addDays(period.start, -1), frequency);
  return period;
}

const MOST_PERIODS = 1_000;

function periodAround(day: string, frequency: Frequency): Period {
  if (frequency === "weekly" || frequency === "biweekly") {
    const length = 7 * WEEKS[frequency];
    const days = dayNumber(day) - dayNumber(FIRST_MONDAY);
    const start = addDays(day, -(((days % length) + length) % length));
    return { start, end: addDays(start, length - 1) };
  }
  const month = day.slice(0, 7);
  const lastDay = addDays(`${monthsLater(`${month}-01`, 1).slice(0, 7)}-01`, -1);
  if (frequency === "monthly") return { start: `${month}-01`, end: lastDay };
  return day > `${month}-15` ? { start: `${month}-16`, end: lastDay } : { start: `${month}-01`, end: `${month}-15` };
}

const usualPayDay = ({ start, end }: Period, frequency: Frequency) => (frequency === "monthly" ? `${start.slice(0, 7)}-28` : end);

/** Converts an employee's pay from the length of the latest run's period to the settings' pay frequency. */
function paidFor({ deductions: _, ...item }: PayItem, last: AnyRecord | undefined, frequency: Frequency): PayItem {
  const days = last ? daysBetween(last.periodStart, last.periodEnd) + 1 : 30;
  const before: Frequency = days <= 7 ? "weekly" : days <= 14 ? "biweekly" : days <= 16 ? "semimonthly" : "monthly";
  return { ...item, grossAmount: Math.round((item.grossAmount * PERIODS_A_YEAR[before]) / PERIODS_A_YEAR[frequency]) };
}

/** The enabled schemes in the merchant's settings, or else the country's usual schemes. */
function ratesOf(settings: AnyRecord | undefined, { country }: AnyRecord): readonly TaxRate[] {
  const schemes = settings?.schemes as (TaxRate & { enabled: boolean })[] | undefined;
  return schemes?.filter(({ enabled }) => enabled) ?? taxRatesOf(country);
}

function payOf(staff: readonly PayItem[], rates: readonly TaxRate[], payrollId: string, mint: SampleContext["mint"]) {
  const items = staff.map(({ employeeId, employeeName = null, grossAmount, deductions: given }) => {
    const deductions = given ?? deductionsOf(grossAmount, rates);
    const netAmount = grossAmount - deductions.reduce((sum, { amount }) => sum + amount, 0);
    const base = { id: mint("pyi"), object: "payroll_item", payrollId, employeeId, employeeName, grossAmount };
    return { ...base, deductions, netAmount, overridden: false, override: null };
  });
  const sum = (field: "grossAmount" | "netAmount") => items.reduce((total, item) => total + item[field], 0);
  const [grossAmount, netAmount] = [sum("grossAmount"), sum("netAmount")];
  return { id: payrollId, items, totals: { employees: items.length, grossAmount, deductionAmount: grossAmount - netAmount, netAmount } };
}

/** Deductions never exceed the pay, even if the rates sum to more than 100 %. */
function deductionsOf(grossAmount: number, rates: readonly TaxRate[]) {
  let left = grossAmount;
  return rates
    .filter(({ employeeRateBps }) => employeeRateBps > 0)
    .map(({ scheme, employeeRateBps }) => {
      const amount = Math.min(Math.round((grossAmount * employeeRateBps) / 10_000), left);
      left -= amount;
      return { code: scheme, amount };
    });
}

export interface TaxRate {
  scheme: "income_tax" | "pension" | "social_security" | "health_insurance" | "housing_fund";
  employeeRateBps: number;
  employerRateBps: number;
}

const rate = (scheme: TaxRate["scheme"], employeeRateBps: number, employerRateBps: number): TaxRate => ({
  scheme,
  employeeRateBps,
  employerRateBps,
});

const RATES: Readonly<Record<string, readonly TaxRate[]>> = {
  CH: [rate("social_security", 640, 640), rate("pension", 700, 700)],
  JP: [rate("income_tax", 500, 0), rate("pension", 915, 915), rate("health_insurance", 500, 500)],
  KE: [rate("income_tax", 1_500, 0), rate("pension", 600, 600), rate("health_insurance", 275, 0), rate("housing_fund", 150, 150)],
  PT: [rate("income_tax", 1_400, 0), rate("social_security", 1_100, 2_375)],
};

const USUAL_RATES: readonly TaxRate[] = [rate("income_tax", 1_400, 0)];

export const taxRatesOf = (country: unknown): readonly TaxRate[] => RATES[String(country)] ?? USUAL_RATES;
