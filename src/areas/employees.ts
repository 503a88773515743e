// Employees: payroll runs and overrides of their items.

import { type Arrival, type RecordBase, type Rule, resource } from "../contracts/resource.ts";
import { inOrder, problem } from "../contracts/rules.ts";
import { dayNumber } from "../kernel/calendar.ts";
import { fail } from "../kernel/errors.ts";
import { withChanges } from "../schema/as-sent.ts";
import { assumed, assumedBody } from "../schema/assumed.ts";
import { refuseField } from "../schema/field-rules.ts";
import { amount, currency, day, metadata, nullables, optionals, type Static, Type, text, timestamp } from "../schema/shapes.ts";
import { endpoint, listEndpoint } from "../store/operation-context.ts";
import { homeCurrency, onDay } from "./merchants.ts";
import {
  composeItem,
  employeesOnce,
  MOST_OVERRIDE,
  netFits,
  type PayrollItem,
  payItem,
  payrollItem,
  totals,
  totalsFit,
  totalsOf,
} from "./payroll-items.ts";
import { samplePayroll } from "./samples/payroll.ts";
import { appraisals, disciplinaryRecords } from "./staff-records.ts";
import { remittances, statutorySettings } from "./statutory.ts";

const MOST_ITEMS = 1_000;

const period = {
  periodStart: day("First day of the pay period"),
  periodEnd: day("Last day of the pay period, on or after `periodStart`"),
  payDate: day("Day on which employees are paid"),
};

type PayrollRun = RecordBase & { items: PayrollItem[]; totals: Static<typeof totals>; payDate: string | null; periodStart: string | null };

const totalsOfRun = ({ record }: Arrival<PayrollRun>) => (record.items.length === 0 ? {} : { totals: totalsOf(record.items, "items") });

const DAYS_OF_TEN_YEARS = 3_653;

/** A new pay date must be within ten years of the sandbox clock. */
const payDateNear: Rule<PayrollRun> = ({ payDate }, { before, now }) => {
  if (payDate === null || payDate === before?.payDate) return undefined;
  if (Math.abs(dayNumber(payDate) - now / 86_400) <= DAYS_OF_TEN_YEARS) return undefined;
  return problem("payDate", "out_of_range", `payDate must be within ten years of the sandbox clock; received ${payDate}.`);
};

/** Creates a remittance for each enabled scheme: the employees' deductions plus the employer's share of the gross pay. */
function remit({ record, own }: Arrival<PayrollRun & { currency: string | null }>): void {
  const { items, totals, periodStart, payDate } = record;
  const period = (periodStart ?? payDate)?.slice(0, 7);
  if (period === undefined) return;
  for (const { scheme, enabled, employerRateBps } of own(statutorySettings).newest()?.schemes ?? []) {
    const withheld = items.flatMap((item) => item.deductions).filter(({ code }) => code === scheme);
    const employeeAmount = withheld.reduce((sum, { amount }) => sum + amount, 0);
    const employerAmount = Math.round((totals.grossAmount * employerRateBps) / 10_000);
    if (!enabled || employeeAmount + employerAmount === 0) continue;
    own(remittances).create({ scheme, payrollId: record.id, period, employeeAmount, employerAmount, currency: record.currency });
  }
}

export const payrolls = resource({
  kind: "payroll",
  prefix: "pyr",
  view: "payrolls",
  sample: samplePayroll,
  datesMoveBy: "months",
  fields: {
    ...nullables({ ...period, currency: currency() }),
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
  defaults: { items: [], totals: totalsOf([], "items") },
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
  rules: [inOrder("periodStart", "periodEnd"), payDateNear, employeesOnce, netFits, totalsFit],
  // Recalculates the totals if a change sets the items but not the totals.
  corrects: (run, { before }) =>
    before && run.items !== before.items && run.totals === before.totals ? { totals: totalsOf(run.items, "items") } : undefined,
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
      ...optionals({ currency: currency(), metadata: metadata() }),
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
    const currency = body.currency ?? homeCurrency(call);
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

export const overridePayrollItem = endpoint({
  id: "payroll.override_item",
  position: 17,
  area: "Employees",
  method: "PATCH",
  path: "/employees/payroll/{id}/items/{iid}/override",
  summary: "Override the net amount of a payroll item",
  description: "The run must be a draft. An item can be overridden more than once; the totals of the run are recalculated.",
  body: assumedBody({ netAmount: amount("Net pay to set", { minimum: 0 }), reason: text("Reason for the override", { minLength: 1 }) }),
  exampleParams: { id: "pyr_draft", iid: "pyi_draft_marta" },
  example: { netAmount: 185_000, reason: "Night shifts were counted twice." },
  reply: payrollItem,
  errors: ["validation_failed", "resource_not_found", "invalid_state"],
  emits: [assumed("payroll_item.overridden", "Derived from the name of the operation.")],
  handle({ params, body, extra, now, own, emit }) {
    const run = own(payrolls).require(params.id);
    const item = run.items.find(({ id }) => id === params.iid);
    if (!item) fail("resource_not_found", `The payroll ${run.id} has no item ${params.iid}.`, { resource: "payroll_item", id: params.iid });
    if (run.status !== "draft")
      fail("invalid_state", `Items can be overridden only while the payroll is draft; this one is ${run.status}.`, {
        currentStatus: run.status,
        allowedFrom: ["draft"],
      });
    // With open bodies, the item may contain a negative amount from the client.
    const netAmount = body.netAmount ?? Math.max(item.netAmount, 0);
    const most = item.grossAmount * MOST_OVERRIDE;
    if (netAmount > most)
      refuseField(
        "netAmount",
        "out_of_range",
        `netAmount must be at most ${MOST_OVERRIDE} times the gross pay, ${most}; received ${netAmount}.`,
      );
    const override = { amount: netAmount, reason: body.reason ?? null, previousNetAmount: item.netAmount, at: now };
    const overridden: PayrollItem = withChanges(item, { ...extra, netAmount, overridden: true, override });
    const items = run.items.map((other) => (other.id === item.id ? overridden : other));
    own(payrolls).update(run, { items, totals: totalsOf(items, "netAmount") }, null);
    emit("payroll_item.overridden", overridden);
    return overridden;
  },
});

export const operations = [createPayroll, listDisciplinaryRecords, listAppraisals, overridePayrollItem];

export const resources = [payrolls, disciplinaryRecords, appraisals];
