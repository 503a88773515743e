// A sample payroll run, which pays the merchant's staff for the period after the latest run, less the deductions of the
// merchant's schemes.

import type { AnyRecord, SampleContext } from "../../contracts/resource.ts";
import { addDays, businessDayFrom, businessDayUntil, dayNumber, lastDayOf } from "../../kernel/calendar.ts";
import { composeItem, type PayItem } from "../payroll-items.ts";
import { textOf } from "./earlier-records.ts";

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

/** Weekly periods are counted from this Monday. */
const FIRST_MONDAY = "1970-01-05";

export const payrollItems = (run: AnyRecord | undefined) => (run?.items ?? []) as PayItem[];

export function samplePayroll(context: SampleContext) {
  const { given, status = "", newest, day, merchant, mint } = context;
  const [settings] = newest("statutory_settings");
  const frequency = textOf(settings?.payFrequency, "monthly") as Frequency;
  const runs = regularRuns(newest("payroll"));
  const [last] = runs;
  const withItems = runs.find((run) => payrollItems(run).length > 0);
  const staff =
    (given.items as PayItem[] | undefined) ??
    (withItems ? payrollItems(withItems) : STAFF).map((item) => paidFor(item, withItems, frequency));
  const rates = ratesOf(settings, merchant);
  const id = textOf(given.id, mint("pyr"));
  const isAhead = ["draft", "pending", "processing"].includes(status);
  const regular = periodOf(context, frequency, last);
  const usual = usualPayDay(regular, frequency, runs);
  const isFree = ["periodStart", "periodEnd", "payDate", "offCycle"].every((field) => given[field] == null);
  const isEarly = isFree && !isAhead && usual > day(0);
  // If today is before the usual pay day, a first run pays the previous period; any further run is off-cycle.
  const period = isEarly ? periodAround(last ? day(0) : addDays(regular.start, -1), frequency) : regular;
  const isOffCycle = given.offCycle === true || (isEarly && last !== undefined);
  return {
    periodStart: textOf(given.periodStart, period.start),
    periodEnd: textOf(given.periodEnd, period.end),
    offCycle: isOffCycle,
    metadata: isOffCycle ? { purpose: "Bonus" } : {},
    payDate: isAhead ? [usual, businessDayFrom(day(3))].sort().at(-1) : businessDayUntil(day(0)),
    currency: merchant.currency ?? null,
    id,
    items: staff.map((item) =>
      composeItem({ ...item, deductions: item.deductions ?? deductionsOf(item.grossAmount, rates) }, mint("pyi"), id),
    ),
  };
}

/** The runs of regular pay, without failed ones, the latest period first. */
const regularRuns = (runs: readonly AnyRecord[]) =>
  runs
    .filter(
      ({ offCycle, status, periodEnd }) => offCycle !== true && status !== "failed" && typeof periodEnd === "string",
    )
    .toSorted((one, other) => String(other.periodEnd).localeCompare(String(one.periodEnd)));

/**
 * The period that contains the given start, end or pay date. If none is given, the period after the last run. An
 * off-cycle run, or a run without an earlier one, gets the current period.
 */
function periodOf({ given, day }: SampleContext, frequency: Frequency, last: AnyRecord | undefined): Period {
  const asked = given.periodStart ?? given.periodEnd;
  if (typeof asked === "string") return periodAround(asked, frequency);
  const paid = periodAround(textOf(given.payDate, day(0)), frequency);
  if (last === undefined || given.offCycle === true || given.payDate != null) return paid;
  const next = periodAround(addDays(String(last.periodEnd), 1), frequency);
  // After a change of the frequency, the next period may begin inside the period of the last run.
  return next.start > String(last.periodEnd) ? next : periodAround(addDays(next.end, 1), frequency);
}

function periodAround(day: string, frequency: Frequency): Period {
  if (frequency === "weekly" || frequency === "biweekly") {
    const length = frequency === "weekly" ? 7 : 14;
    const days = dayNumber(day) - dayNumber(FIRST_MONDAY);
    const start = addDays(day, -(((days % length) + length) % length));
    return { start, end: addDays(start, length - 1) };
  }
  const month = day.slice(0, 7);
  const lastDay = lastDayOf(day);
  if (frequency === "monthly") return { start: `${month}-01`, end: lastDay };
  return day > `${month}-15` ? { start: `${month}-16`, end: lastDay } : { start: `${month}-01`, end: `${month}-15` };
}

/**
 * Monthly pay is paid on the day of the month on which most runs were paid. Other pay is paid at the end of its period.
 * A weekend moves the pay day to the business day before.
 */
function usualPayDay({ start, end }: Period, frequency: Frequency, runs: readonly AnyRecord[]): string {
  if (frequency !== "monthly") return businessDayUntil(end);
  // Drafts and late payments do not show the usual day.
  const onTime = runs.filter(
    ({ status, payDate, periodEnd }) => status !== "draft" && String(payDate) <= String(periodEnd),
  );
  const days = onTime.map(({ payDate }) => textOf(payDate, USUAL_PAY_DAY).slice(-2));
  const timesOf = (day: string) => days.filter((other) => other === day).length;
  // Of days with the same count, the latest comes first: weekends have moved some pay dates to an earlier day.
  const [usual = USUAL_PAY_DAY] = days.toSorted(
    (one, other) => timesOf(other) - timesOf(one) || other.localeCompare(one),
  );
  return businessDayUntil([`${start.slice(0, 7)}-${usual}`, end].sort()[0] as string);
}

const USUAL_PAY_DAY = "28";

/** The longest period of each frequency. Longer periods are monthly. */
const LONGEST_PERIODS: readonly [days: number, Frequency][] = [
  [7, "weekly"],
  [14, "biweekly"],
  [16, "semimonthly"],
];

/** Converts an employee's pay from the length of the latest run's period to the settings' pay frequency. */
function paidFor({ deductions: _, ...item }: PayItem, last: AnyRecord | undefined, frequency: Frequency): PayItem {
  const days = last ? dayNumber(String(last.periodEnd)) - dayNumber(String(last.periodStart)) + 1 : 30;
  const before = LONGEST_PERIODS.find(([longest]) => days <= longest)?.[1] ?? "monthly";
  return { ...item, grossAmount: Math.round((item.grossAmount * PERIODS_A_YEAR[before]) / PERIODS_A_YEAR[frequency]) };
}

/** The enabled schemes in the merchant's settings, or else the country's usual schemes. */
function ratesOf(settings: AnyRecord | undefined, { country }: AnyRecord): readonly TaxRate[] {
  const schemes = settings?.schemes as Scheme[] | undefined;
  return schemes?.filter(({ enabled }) => enabled) ?? taxRatesOf(country);
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

interface TaxRate {
  scheme: "income_tax" | "pension" | "social_security" | "health_insurance" | "housing_fund";
  employeeRateBps: number;
  employerRateBps: number;
}

/** A scheme in the merchant's settings. */
export type Scheme = TaxRate & { enabled: boolean };

const rate = (scheme: TaxRate["scheme"], employeeRateBps: number, employerRateBps: number): TaxRate => ({
  scheme,
  employeeRateBps,
  employerRateBps,
});

const RATES: Readonly<Record<string, readonly TaxRate[]>> = {
  CH: [rate("social_security", 640, 640), rate("pension", 700, 700)],
  JP: [rate("income_tax", 500, 0), rate("pension", 915, 915), rate("health_insurance", 500, 500)],
  KE: [
    rate("income_tax", 1_500, 0),
    rate("pension", 600, 600),
    rate("health_insurance", 275, 0),
    rate("housing_fund", 150, 150),
  ],
  PT: [rate("income_tax", 1_400, 0), rate("social_security", 1_100, 2_375)],
};

export const taxRatesOf = (country: unknown): readonly TaxRate[] =>
  RATES[String(country)] ?? [rate("income_tax", 1_400, 0)];
