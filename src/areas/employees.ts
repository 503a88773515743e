// Employees: payroll runs, whose items may be overridden while they are drafts; disciplinary records; appraisals.

import { resource } from "../contracts/resource.ts";
import { fail } from "../kernel/errors.ts";
import { assumed } from "../schema/assumed.ts";
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
import { homeCurrency } from "./merchants.ts";

const MOST_ITEMS = 1_000;

const period = {
  periodStart: day("First day that is paid for"),
  periodEnd: day("Last day that is paid for, on or after the first"),
  payDate: day("When it is paid"),
};

const employee = text("The employee who is paid", { minLength: 1 });
const gross = amount("Pay before deductions", { minimum: 0 });
const name = text("The employee's name");

const deductions = Type.Array(
  Type.Object({
    code: text("What it is for, such as `income_tax` or `pension`"),
    amount: amount("What is kept back", { minimum: 0 }),
  }),
  { description: "What is kept back of the gross amount", maxItems: 100 },
);

const payrollItem = assumed(
  Type.Object(
    {
      id: id("pyi", "Identifies the item"),
      object: oneOf(["payroll_item"], "The kind of the record"),
      payrollId: id("pyr", "The run it belongs to"),
      employeeId: employee,
      employeeName: nullable(name),
      grossAmount: gross,
      deductions,
      netAmount: amount("What the employee gets: gross less deductions, or what it was overridden with"),
      overridden: flag("Whether the net amount was set by hand"),
      override: nullable(
        Type.Object({
          amount: amount("The net amount that was set"),
          reason: nullable(text("Why")),
          previousNetAmount: amount("The net amount before"),
          at: timestamp("When it was set"),
        }),
      ),
    },
    { title: "payroll_item" },
  ),
  "The document names payroll items and not their fields.",
);

type PayrollItem = Static<typeof payrollItem>;

const totals = Type.Object({
  employees: count("How many are paid"),
  grossAmount: amount("The sum of the gross amounts"),
  deductionAmount: amount("The sum of all deductions"),
  netAmount: amount("The sum of the net amounts"),
});

export const payrolls = resource({
  kind: "payroll",
  prefix: "pyr",
  view: "payrolls",
  fields: {
    ...nullables({ ...period, currency: currency() }),
    items: Type.Array(payrollItem, { description: "One for each employee who is paid" }),
    totals,
  },
  defaults: { status: "draft", items: [], totals: totalsOf([], "items") },
  moves: {
    draft: ["pending"],
    pending: ["processing"],
    processing: ["paid", "partially_paid", "failed"],
    paid: [],
    partially_paid: [],
    failed: [],
  },
  events: { created: "payroll.created", paid: "payroll.paid" },
});

export const disciplinaryRecords = resource({
  kind: "disciplinary_record",
  prefix: "dis",
  view: "disciplinary_records",
  fields: nullables({
    employeeId: text("The employee it is about"),
    type: oneOf(["verbal_warning", "written_warning", "final_warning", "suspension", "termination"], "How grave it is"),
    category: text("What it is about, such as `attendance` or `conduct`"),
    description: text("What happened"),
    incidentDate: day("When it happened"),
    issuedDate: day("When the record was issued"),
  }),
  defaults: { status: "open" },
  moves: { open: ["acknowledged", "appealed"], acknowledged: ["closed", "appealed"], appealed: ["closed"], closed: [] },
  events: { created: "disciplinary_record.created" },
});

const score = (description: string) => Type.Number({ description: `${description}, out of 5`, minimum: 0, maximum: 5 });

const goal = Type.Object({ title: text("What was to be reached"), score: nullable(score("How far it was reached")) });

export const appraisals = resource({
  kind: "appraisal",
  prefix: "apr",
  view: "appraisals",
  fields: {
    ...nullables({
      employeeId: text("The employee who is appraised"),
      reviewerId: text("The employee who appraises"),
      cycle: text("The round of appraisals it belongs to"),
      periodStart: day("First day of the period"),
      periodEnd: day("Last day of the period"),
      finalScore: score("The result"),
    }),
    goals: Type.Array(goal, { description: "What was agreed on" }),
    ...nullables({ remarks: text("What the reviewer adds") }),
  },
  defaults: { status: "draft", goals: [] },
  moves: { draft: ["submitted", "cancelled"], submitted: ["completed", "cancelled"], completed: [], cancelled: [] },
  events: { completed: "appraisal.completed" },
});

const payItem = Type.Object({ employeeId: employee, grossAmount: gross, ...optionals({ employeeName: name, deductions }) });

export const createPayroll = endpoint({
  id: "payroll.create",
  area: "Employees",
  method: "POST",
  path: "/employees/payroll",
  summary: "Create a payroll run as a draft",
  description: "Net amounts and totals are computed. Items can be overridden until the run leaves its draft.",
  body: assumed(
    Type.Object({
      ...period,
      items: Type.Array(payItem, { description: "One for each employee who is paid", minItems: 1, maxItems: MOST_ITEMS }),
      ...optionals({ currency: currency(), metadata: metadata() }),
    }),
    "The document does not show the body; these are the fields that payroll services share.",
    "--bodies open",
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
  emits: [assumed("payroll.created", "Derived from the operation's name.")],
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
  summary: "Set the net amount of a payroll item by hand",
  description: "Only while the run is a draft, and as often as needed. The totals of the run follow.",
  body: assumed(
    Type.Object({ netAmount: amount("What the employee gets", { minimum: 0 }), reason: text("Why it is set by hand", { minLength: 1 }) }),
    "The document does not show the body.",
    "--bodies open",
  ),
  exampleParams: { id: "pyr_draft", iid: "pyi_draft_marta" },
  example: { netAmount: 185_000, reason: "Night shifts were counted twice." },
  reply: payrollItem,
  errors: ["validation_failed", "resource_not_found", "invalid_state"],
  emits: [assumed("payroll_item.overridden", "Derived from the operation's name.")],
  handle({ params, body, extra, now, own, emit }) {
    const run = own(payrolls).require(params.id);
    const item = run.items.find(({ id }) => id === params.iid) ?? refuseItem(params.iid, run.id);
    if (run.status !== "draft") refuseRun(run.status);
    const netAmount = body.netAmount ?? item.netAmount;
    const override = { amount: netAmount, reason: body.reason ?? null, previousNetAmount: item.netAmount, at: now };
    const overridden: PayrollItem = { ...item, ...extra, netAmount, overridden: true, override };
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
  summary: "List disciplinary records",
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
  summary: "List appraisals",
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

/** `field` is the one to blame when a sum grows too large. */
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
