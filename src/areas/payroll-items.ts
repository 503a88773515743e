// The items of a payroll run: their fields, their sums and their rules.

import type { RecordBase, Rule, Warning } from "../contracts/resource.ts";
import { assumed } from "../schema/assumed.ts";
import { exactSum } from "../schema/field-rules.ts";
import {
  amount,
  count,
  flag,
  id,
  nullable,
  oneOf,
  optionals,
  type Static,
  Type,
  text,
  timestamp,
} from "../schema/shapes.ts";
import { problem } from "./declare/rules.ts";

export const employee = text("Id of the employee", { minLength: 1 });
export const gross = amount("Pay before deductions", { minimum: 0 });
export const employeeName = text("The employee's name");

export const deductions = Type.Array(
  Type.Object({
    code: text("Type of deduction, such as `income_tax` or `pension`"),
    amount: amount("Amount deducted", { minimum: 0 }),
  }),
  { description: "Deductions from the gross amount", maxItems: 100 },
);

export const payrollItem = assumed(
  Type.Object(
    {
      id: id("pyi", "Unique identifier of the item"),
      object: oneOf(["payroll_item"], "Type of the object"),
      payrollId: id("pyr", "Payroll run that contains the item"),
      employeeId: employee,
      employeeName: nullable(employeeName),
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

export type PayrollItem = Static<typeof payrollItem>;

export const totals = Type.Object({
  employees: count("Number of employees in the run"),
  grossAmount: amount("Sum of all gross amounts"),
  deductionAmount: amount("Sum of all deductions"),
  netAmount: amount("Sum of all net amounts"),
});

/** An item in a request. */
export const payItem = Type.Object({
  employeeId: employee,
  grossAmount: gross,
  ...optionals({ employeeName, deductions }),
});

export type PayItem = Static<typeof payItem>;

export function composeItem(item: PayItem, id: string, payrollId: string): PayrollItem {
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
export function totalsOf(items: readonly PayrollItem[], field: string): Static<typeof totals> {
  const sum = (amountsIn: (item: PayrollItem) => number[]) => exactSum(items.flatMap(amountsIn), field);
  return {
    employees: items.length,
    grossAmount: sum((item) => [item.grossAmount]),
    deductionAmount: sum((item) => amountsOf(item.deductions)),
    netAmount: sum((item) => [item.netAmount]),
  };
}

/** A run's contribution to a scheme: the employees' deductions, and the employer's share of the gross pay. */
export const contributionOf = ({ items, totals }: PayrollItems, scheme: string, employerRateBps: number) => ({
  employeeAmount: items
    .flatMap((item) => item.deductions)
    .filter(({ code }) => code === scheme)
    .reduce((sum, { amount }) => sum + amount, 0),
  employerAmount: Math.round((totals.grossAmount * employerRateBps) / 10_000),
});

/** Quotes an id that the caller chose, for a message. */
export const quoted = (id: string) => JSON.stringify(id);

const amountsOf = (entries: Static<typeof deductions>) => entries.map(({ amount }) => amount);

export interface PayrollItems {
  items: PayrollItem[];
  totals: Static<typeof totals>;
}

/**
 * Net pay must be gross pay minus deductions, unless it is overridden. Unchanged items are skipped, because with open
 * bodies they may contain any amount from the client.
 */
export const netFits: Rule<RecordBase & PayrollItems> = ({ items }, { before }) => {
  for (let index = 0; index < items.length; index++) {
    if (items[index] === before?.items[index]) continue;
    const { grossAmount, deductions, netAmount, overridden } = items[index] as PayrollItem;
    let net = grossAmount;
    for (const deduction of deductions) net -= deduction.amount;
    if (!overridden && netAmount !== net)
      return problem(
        `items/${index}/netAmount`,
        "wrong_sum",
        `items.${index}.netAmount must be the gross pay less the deductions, ${net}; received ${netAmount}.`,
      );
  }
  return undefined;
};

export const employeeTwice: Warning<RecordBase & PayrollItems> = ({ items }, { before }) => {
  if (items === before?.items) return undefined;
  const seen = new Set<string>();
  const repeated = items.find(({ employeeId }) => seen.size === seen.add(employeeId).size);
  return repeated && `More than one item pays ${quoted(repeated.employeeId)}.`;
};

/** A net pay above this multiple of the gross pay is probably a mistake. */
const LIKELY_OVERRIDE = 2;

/** The first item whose amounts are probably in the wrong unit. Unchanged items are skipped. */
export const strangeNet: Warning<RecordBase & PayrollItems> = ({ items }, { before }) => {
  const isStrange = ({ netAmount, grossAmount }: PayrollItem) =>
    netAmount < 0 || netAmount > grossAmount * LIKELY_OVERRIDE;
  const strange = items.find((item, index) => item !== before?.items[index] && isStrange(item));
  if (!strange) return undefined;
  const { employeeId, grossAmount, netAmount } = strange;
  return `The gross pay of ${quoted(employeeId)} is ${grossAmount}, and the net pay ${netAmount}.`;
};

/** The totals must be the sums of the items. Skipped if neither has changed, for the same reason as in `netFits`. */
export const totalsFit: Rule<RecordBase & PayrollItems> = ({ items, totals: given }, { before }) => {
  if (items === before?.items && given === before.totals) return undefined;
  const computed = totalsOf(items, "items");
  for (const [name, sum] of Object.entries(computed)) {
    const received = given[name as keyof typeof given];
    if (received !== sum)
      return problem(
        `totals/${name}`,
        "wrong_sum",
        `totals.${name} must be the sum of the items, ${sum}; received ${received}.`,
      );
  }
  return undefined;
};
