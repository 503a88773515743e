// Employees: payroll runs and overrides of their items.

import type { AnyRecord, Arrival, OwnRecords, RecordBase, Rule, ShiftedDates, Warning } from "../contracts/resource.ts";
import { businessDayFrom, businessDayUntil, businessTimes, dayNumber } from "../kernel/calendar.ts";
import { fail } from "../kernel/errors.ts";
import { withChanges } from "../schema/as-sent.ts";
import { assumed } from "../schema/assumed.ts";
import {
  amount,
  currency,
  day,
  flag,
  metadata,
  nullables,
  optionals,
  Type,
  text,
  timestamp,
} from "../schema/shapes.ts";
import { unknownReference } from "../store/records/record-rules.ts";
import { assumedBody, endpoint, listEndpoint } from "./declare/operation.ts";
import { resource } from "./declare/resource.ts";
import { inOrder } from "./declare/rules.ts";
import { merchantCurrency, merchantDay, onDay } from "./merchants.ts";
import {
  composeItem,
  contributionOf,
  employeeTwice,
  netFits,
  type PayrollItem,
  type PayrollItems,
  payItem,
  payrollItem,
  quoted,
  strangeNet,
  totals,
  totalsFit,
  totalsOf,
} from "./payroll-items.ts";
import { isRemitted } from "./remitted-months.ts";
import { samplePayroll } from "./samples/payroll.ts";
import { appraisals, disciplinaryRecords } from "./staff-records.ts";
import { remittances, statutorySettings } from "./statutory.ts";

const MOST_ITEMS = 1_000;

const period = {
  periodStart: day("First day of the pay period"),
  periodEnd: day("Last day of the pay period, on or after `periodStart`"),
  payDate: day("Day on which employees are paid"),
};

const offCycle = flag("Whether the run pays something besides the regular pay of the period, such as a bonus");

type PayrollRun = RecordBase &
  PayrollItems &
  Record<"periodStart" | "periodEnd" | "payDate" | "currency", string | null> & { offCycle: boolean };

const totalsOfRun = ({ record }: Arrival<PayrollRun>) =>
  record.items.length === 0 ? {} : { totals: totalsOf(record.items, "items") };

const DAYS_OF_TEN_YEARS = 3_653;

/** Each new item must name an existing run: its own run, or the run from which it was copied. */
const knownRun: Rule<PayrollRun> = ({ id, items }, { before, own }) => {
  const isUnknown = (item: PayrollItem, index: number) =>
    item.payrollId !== id && item !== before?.items[index] && !own(payrolls).find(item.payrollId);
  const index = items.findIndex(isUnknown);
  return index < 0 ? undefined : unknownReference(`items/${index}/payrollId`, "payroll", `${items[index]?.payrollId}`);
};

const farPayDate: Warning<PayrollRun> = ({ payDate }, { before, now }) =>
  payDate === null || payDate === before?.payDate || Math.abs(dayNumber(payDate) - now / 86_400) <= DAYS_OF_TEN_YEARS
    ? undefined
    : `payDate is ${payDate}, more than ten years from the sandbox clock.`;

/**
 * Creates a remittance for each enabled scheme to which the run contributes. For regular pay, skips schemes that
 * already have a remittance without a payroll for the month.
 */
function remit({ record, own }: Arrival<PayrollRun>): void {
  const remittedBefore = record.offCycle
    ? []
    : own(remittances)
        .all()
        .filter(({ payrollId }) => payrollId === null);
  const period = (record.periodStart ?? record.payDate)?.slice(0, 7);
  if (period === undefined) return;
  for (const { scheme, enabled, employerRateBps } of own(statutorySettings).newest()?.schemes ?? []) {
    const shares = contributionOf(record, scheme, employerRateBps);
    if (!enabled || shares.employeeAmount + shares.employerAmount === 0 || isRemitted(remittedBefore, scheme, period))
      continue;
    own(remittances).create({ scheme, payrollId: record.id, period, ...shares, currency: record.currency });
  }
}

const PAYING = ["pending", "processing", "paid", "partially_paid"];

/** Warns if regular pay is paid before its period begins. */
const earlyPayDate: Warning<PayrollRun> = ({ payDate, periodStart, offCycle }, { before }) => {
  if (offCycle || payDate === null || periodStart === null || payDate >= periodStart) return undefined;
  const isSame = before?.payDate === payDate && before.periodStart === periodStart;
  return isSame ? undefined : `payDate ${payDate} comes before the period, which begins on ${periodStart}.`;
};

/** Warns if a submitted run pays an employee for days that another regular run also pays. Drafts do not count. */
const paidTwice: Warning<PayrollRun> = (run, { before, own }) => {
  if (run.status !== "pending" || before?.status === "pending" || run.offCycle) return undefined;
  const employees = new Set(run.items.map(({ employeeId }) => employeeId));
  for (const { id, status, offCycle, items, periodStart, periodEnd } of own(payrolls).all()) {
    if (id === run.id || offCycle || !PAYING.includes(status)) continue;
    if ((periodStart ?? "9") > (run.periodEnd ?? "") || (periodEnd ?? "") < (run.periodStart ?? "9")) continue;
    const paid = items.find(({ employeeId }) => employees.has(employeeId));
    if (paid)
      return `${id} also pays ${quoted(paid.employeeId)} for ${periodStart} to ${periodEnd}: set offCycle for a bonus.`;
  }
  return undefined;
};

/**
 * If a run is submitted after its pay date, moves the pay date to the first business day from today on. Keeps a pay
 * date that was already past when the run was created.
 */
function latePayDate(run: PayrollRun, before: PayrollRun | undefined, now: number, own: OwnRecords) {
  if (before?.status !== "draft" || run.status !== "pending" || run.payDate === null || run.payDate !== before.payDate)
    return {};
  const today = merchantDay({ record: run, own }, now);
  const isLate = run.payDate < today && merchantDay({ record: run, own }, run.created) <= run.payDate;
  return isLate ? { payDate: businessDayFrom(today) } : {};
}

/** Moves a pay date on a weekend to the business day before it, and all times of the run by the same number of days. */
function fitPayDate({ moved }: ShiftedDates) {
  if (typeof moved.payDate !== "string") return {};
  const payDate = businessDayUntil(moved.payDate);
  const earlier = (dayNumber(payDate) - dayNumber(moved.payDate)) * 86_400;
  const times = Object.keys(moved).filter((field) => /^(created|\w+At)$/.test(field));
  return { ...businessTimes(moved, times, earlier), payDate };
}

export const payrolls = resource({
  kind: "payroll",
  prefix: "pyr",
  view: "payrolls",
  sample: samplePayroll,
  // The off-cycle runs in the fixtures belong to the current week.
  datesMoveBy: ({ offCycle }) => (offCycle === true ? "weeks" : "months"),
  fitDates: fitPayDate,
  fields: {
    ...nullables({ ...period, currency: currency() }),
    offCycle,
    items: Type.Array(payrollItem, { description: "Payroll items, one per employee" }),
    totals,
    ...nullables({
      submittedAt: timestamp("Time at which the run was submitted"),
      processingAt: timestamp("Time at which processing began"),
      paidAt: timestamp("Time at which employees were paid"),
      failedAt: timestamp("Time at which the run failed"),
      failureCode: text("Reason for the failure"),
    }),
  },
  defaults: { offCycle: false, items: [], totals: totalsOf([], "items") },
  states: {
    draft: { to: ["pending"], event: "payroll.created", sets: totalsOfRun },
    pending: {
      to: ["processing"],
      event: "payroll.submitted",
      at: "submittedAt",
      next: (run) => onDay(run, run.record.payDate, "morning", "processing"),
    },
    processing: {
      to: ["paid", "partially_paid", "failed"],
      event: "payroll.processing",
      at: "processingAt",
      next: (run) => onDay(run, run.record.payDate, "opening", "paid"),
    },
    paid: { to: [], event: "payroll.paid", at: "paidAt", arrive: remit },
    partially_paid: { to: [], event: "payroll.partially_paid", at: "paidAt" },
    failed: { to: [], event: "payroll.failed", at: "failedAt", fills: { failureCode: "insufficient_funds" } },
  },
  updated: "payroll.updated",
  rules: [inOrder("periodStart", "periodEnd"), knownRun, netFits, totalsFit],
  warnings: [farPayDate, earlyPayDate, employeeTwice, strangeNet, paidTwice],
  // Recalculates the totals if a change sets the items but not the totals.
  corrects: (run, { before, now, own }) => ({
    ...(before && run.items !== before.items && run.totals === before.totals
      ? { totals: totalsOf(run.items, "items") }
      : {}),
    ...latePayDate(run, before, now, own),
  }),
});

const createPayroll = endpoint({
  id: "payroll.create",
  position: 3,
  area: "Employees",
  method: "POST",
  path: "/employees/payroll",
  summary: "Create a draft payroll run",
  description: "Net amounts and totals are calculated. Items can be overridden while the run is a draft.",
  body: assumedBody(
    {
      ...period,
      items: Type.Array(payItem, { description: "Payroll items, one per employee", minItems: 1, maxItems: MOST_ITEMS }),
      ...optionals({ currency: currency(), offCycle, metadata: metadata() }),
    },
    "The service's documentation does not show this body; these fields are common to payroll APIs.",
  ),
  example: {
    periodStart: "2026-01-01",
    periodEnd: "2026-01-31",
    payDate: "2026-01-28",
    currency: "EUR",
    items: [
      {
        employeeId: "emp_marta",
        employeeName: "Marta Gonçalves",
        grossAmount: 260_000,
        deductions: [
          { code: "income_tax", amount: 36_400 },
          { code: "social_security", amount: 28_600 },
        ],
      },
    ],
  },
  reply: payrolls.schema,
  errors: ["validation_failed"],
  emits: [assumed("payroll.created", "Derived from the name of the operation.")],
  handle(call) {
    const { body, extra, mint, own } = call;
    const id = mint(payrolls.prefix);
    const items = (body.items ?? []).map((item) => composeItem(item, mint("pyi"), id));
    const currency = body.currency ?? merchantCurrency(call);
    return own(payrolls).create({ ...extra, ...body, id, currency, items });
  },
});

const listDisciplinaryRecords = listEndpoint(disciplinaryRecords, {
  id: "disciplinary.list",
  position: 10,
  area: "Employees",
  path: "/employees/disciplinary",
  summary: "List all disciplinary records",
});

const listAppraisals = listEndpoint(appraisals, {
  id: "appraisals.list",
  position: 14,
  area: "Employees",
  path: "/employees/appraisals",
  summary: "List all appraisals",
});

const overridePayrollItem = endpoint({
  id: "payroll.override_item",
  position: 17,
  area: "Employees",
  method: "PATCH",
  path: "/employees/payroll/{id}/items/{iid}/override",
  summary: "Override the net amount of a payroll item",
  description:
    "The run must be a draft. An item can be overridden more than once; the totals of the run are recalculated.",
  body: assumedBody({
    netAmount: amount("Net pay to set", { minimum: 0 }),
    reason: text("Reason for the override", { minLength: 1 }),
  }),
  exampleParams: { id: "pyr_draft", iid: "pyi_draft_marta" },
  example: { netAmount: 185_000, reason: "Night shifts were counted twice." },
  reply: payrollItem,
  errors: ["validation_failed", "resource_not_found", "invalid_state"],
  emits: [assumed("payroll_item.overridden", "Derived from the name of the operation.")],
  trigger: {
    record: { kind: "payroll" },
    params: (run) => ({ id: run.id, iid: firstItem(run).id }),
    body: (run) => ({
      netAmount: Math.round(firstItem(run).netAmount * 0.95),
      reason: "A day of unpaid leave.",
    }),
  },
  handle({ params, body, extra, now, own, emit }) {
    const run = own(payrolls).require(params.id);
    const item = run.items.find(({ id }) => id === params.iid);
    if (!item)
      fail("resource_not_found", `The payroll ${run.id} has no item ${params.iid}.`, {
        resource: "payroll_item",
        id: params.iid,
      });
    if (run.status !== "draft")
      fail("invalid_state", `Items can be overridden only while the payroll is draft; this one is ${run.status}.`, {
        currentStatus: run.status,
        allowedFrom: ["draft"],
      });
    // With open bodies, the item may contain a negative amount from the client.
    const netAmount = body.netAmount ?? Math.max(item.netAmount, 0);
    const override = { amount: netAmount, reason: body.reason ?? null, previousNetAmount: item.netAmount, at: now };
    const overridden: PayrollItem = withChanges(item, { ...extra, netAmount, overridden: true, override });
    const items = run.items.map((other) => (other.id === item.id ? overridden : other));
    own(payrolls).update(run, { items, totals: totalsOf(items, "netAmount") }, null);
    emit("payroll_item.overridden", overridden);
    return overridden;
  },
});

function firstItem(run: AnyRecord): PayrollItem {
  const [item] = run.items as PayrollItem[];
  return item ?? fail("validation_failed", "The payroll needs at least one item to override.");
}

export const operations = [createPayroll, listDisciplinaryRecords, listAppraisals, overridePayrollItem];

export const resources = [payrolls, disciplinaryRecords, appraisals];
