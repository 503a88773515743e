// Employees: payroll runs and overrides of their items, disciplinary records and appraisals.

import { resource } from "../contracts/resource.ts";
import { fail } from "../kernel/errors.ts";
import { withChanges } from "../schema/as-sent.ts";
import { assumed, assumedBody } from "../schema/assumed.ts";
import { exactSum, requireOrder } from "../schema/field-rules.ts";
import {
  amount,
  assumedListOf,
  assumedPageQuery,
  count,
  currency,
  day,
  flag,
  id,
  metadata,
  nullable,
  nullables,
  oneOf,
  optionals,
  type Static,
  Type,
  text,
  timestamp,
} from "../schema/shapes.ts";
import { endpoint } from "../store/operation-context.ts";
import { onDay } from "./dates.ts";
import { homeCurrency } from "./merchants.ts";
import { sampleAppraisal, sampleDisciplinaryRecord, samplePayroll } from "./samples/office.ts";

const MOST_ITEMS = 1_000;

const period = {
  periodStart: day("First day of the pay period"),
  periodEnd: day("Last day of the pay period, on or after `periodStart`"),
  payDate: day("Day on which employees are paid"),
};

const employee = text("Id of the employee", { minLength: 1 });
const gross = amount("Pay before deductions", { minimum: 0 });
const name = text("The employee's name");

const deductions = Type.Array(
  Type.Object({
    code: text("Type of deduction, such as `income_tax` or `pension`"),
    amount: amount("Amount deducted", { minimum: 0 }),
  }),
  { description: "Deductions from the gross amount", maxItems: 100 },
);

const payrollItem = assumed(
  Type.Object(
    {
      id: id("pyi", "Unique identifier of the item"),
      object: oneOf(["payroll_item"], "Type of the object"),
      payrollId: id("pyr", "Payroll run that contains the item"),
      employeeId: employee,
      employeeName: nullable(name),
      grossAmount: gross,
      deductions,
      netAmount: amount("Net pay: gross pay minus deductions, or the amount set by an override"),
      overridden: flag("Whether the net amount was overridden"),
      override: nullable(
        Type.Object({
          amount: amount("Net amount after the override"),
          reason: nullable(text("Reason for the override")),
          previousNetAmount: amount("Net amount before the override"),
          at: timestamp("Time of the override"),
        }),
      ),
    },
    { title: "payroll_item" },
  ),
  "The service's documentation mentions payroll items but does not list their fields.",
);

type PayrollItem = Static<typeof payrollItem>;

const totals = Type.Object({
  employees: count("Number of employees in the run"),
  grossAmount: amount("Sum of all gross amounts"),
  deductionAmount: amount("Sum of all deductions"),
  netAmount: amount("Sum of all net amounts"),
});

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
  },
  defaults: { items: [], totals: totalsOf([], "items") },
  states: {
    draft: { to: ["pending"], event: "payroll.created" },
    pending: { to: ["processing"], next: (run) => onDay(run, run.record.payDate, "morning", "processing") },
    processing: { to: ["paid", "partially_paid", "failed"], next: (run) => onDay(run, run.record.payDate, "opening", "paid") },
    paid: { to: [], event: "payroll.paid" },
    partially_paid: { to: [] },
    failed: { to: [] },
  },
});

export const disciplinaryRecords = resource({
  kind: "disciplinary_record",
  prefix: "dis",
  view: "disciplinary_records",
  sample: sampleDisciplinaryRecord,
  fields: nullables({
    employeeId: text("Id of the employee concerned"),
    type: oneOf(["verbal_warning", "written_warning", "final_warning", "suspension", "termination"], "Severity of the measure"),
    category: text("Subject of the record, such as `attendance` or `conduct`"),
    description: text("Description of the incident"),
    incidentDate: day("Date of the incident"),
    issuedDate: day("Date on which the record was issued"),
  }),
  states: {
    open: { to: ["acknowledged", "appealed"], event: "disciplinary_record.created" },
    acknowledged: { to: ["closed", "appealed"] },
    appealed: { to: ["closed"] },
    closed: { to: [] },
  },
});

const score = (description: string) => Type.Number({ description: `${description}, out of 5`, minimum: 0, maximum: 5 });

const goal = Type.Object({ title: text("Title of the goal"), score: nullable(score("Score for the goal")) });

export const appraisals = resource({
  kind: "appraisal",
  prefix: "apr",
  view: "appraisals",
  sample: sampleAppraisal,
  datesMoveBy: "months",
  fields: {
    ...nullables({
      employeeId: text("Id of the employee being appraised"),
      reviewerId: text("Id of the reviewing employee"),
      cycle: text("Appraisal cycle, such as a year or quarter"),
      periodStart: day("First day of the period under review"),
      periodEnd: day("Last day of the period under review"),
      finalScore: score("Overall score"),
    }),
    goals: Type.Array(goal, { description: "Goals agreed for the period" }),
    ...nullables({ remarks: text("The reviewer's remarks") }),
  },
  defaults: { goals: [] },
  states: {
    draft: { to: ["submitted", "cancelled"] },
    submitted: { to: ["completed", "cancelled"] },
    completed: { to: [], event: "appraisal.completed" },
    cancelled: { to: [] },
  },
});

const payItem = Type.Object({ employeeId: employee, grossAmount: gross, ...optionals({ employeeName: name, deductions }) });

export const createPayroll = endpoint({
  id: "payroll.create",
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
    requireOrder(body.periodStart, body.periodEnd, "periodEnd", "periodStart");
    const id = mint(payrolls.prefix);
    const items = (body.items ?? []).map((item) => composeItem(item, mint("pyi"), id));
    const currency = body.currency ?? homeCurrency(call);
    return own(payrolls).create({ ...extra, ...body, id, currency, items, totals: totalsOf(items, "items") });
  },
});

export const overridePayrollItem = endpoint({
  id: "payroll.override_item",
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
    const item = run.items.find(({ id }) => id === params.iid) ?? refuseItem(params.iid, run.id);
    if (run.status !== "draft") refuseRun(run.status);
    const netAmount = body.netAmount ?? item.netAmount;
    const override = { amount: netAmount, reason: body.reason ?? null, previousNetAmount: item.netAmount, at: now };
    const overridden: PayrollItem = withChanges(item, { ...extra, netAmount, overridden: true, override });
    const items = run.items.map((other) => (other.id === item.id ? overridden : other));
    own(payrolls).update(run, { items, totals: totalsOf(items, "netAmount") });
    emit("payroll_item.overridden", overridden);
    return overridden;
  },
});

export const listDisciplinaryRecords = endpoint({
  id: "disciplinary.list",
  area: "Employees",
  method: "GET",
  path: "/employees/disciplinary",
  summary: "List all disciplinary records",
  query: assumedPageQuery,
  reply: assumedListOf(disciplinaryRecords.schema),
  errors: ["invalid_limit", "invalid_cursor"],
  handle: ({ query, own }) => own(disciplinaryRecords).list(query),
});

export const listAppraisals = endpoint({
  id: "appraisals.list",
  area: "Employees",
  method: "GET",
  path: "/employees/appraisals",
  summary: "List all appraisals",
  query: assumedPageQuery,
  reply: assumedListOf(appraisals.schema),
  errors: ["invalid_limit", "invalid_cursor"],
  handle: ({ query, own }) => own(appraisals).list(query),
});

function composeItem(item: Static<typeof payItem>, id: string, payrollId: string): PayrollItem {
  const kept = item.deductions ?? [];
  const netAmount = item.grossAmount - exactSum(amountsOf(kept), "items");
  return {
    ...item,
    id,
    object: "payroll_item",
    payrollId,
    employeeName: item.employeeName ?? null,
    deductions: kept,
    netAmount,
    overridden: false,
    override: null,
  };
}

/** Sums the items. If a sum exceeds the safe integer range, the error names `field`. */
function totalsOf(items: readonly PayrollItem[], field: string): Static<typeof totals> {
  const sumOf = (amounts: (item: PayrollItem) => number[]) => exactSum(items.flatMap(amounts), field);
  return {
    employees: items.length,
    grossAmount: sumOf((item) => [item.grossAmount]),
    deductionAmount: sumOf((item) => amountsOf(item.deductions)),
    netAmount: sumOf((item) => [item.netAmount]),
  };
}

function amountsOf(entries: Static<typeof deductions>): number[] {
  return entries.map((entry) => entry.amount);
}

function refuseItem(item: string, run: string): never {
  fail("resource_not_found", `The payroll ${run} has no item ${item}.`, { resource: "payroll_item", id: item });
}

function refuseRun(status: string): never {
  fail("invalid_state", `Items can be overridden only while the payroll is draft; this one is ${status}.`, {
    currentStatus: status,
    allowedFrom: ["draft"],
  });
}
