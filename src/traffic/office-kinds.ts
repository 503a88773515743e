// Office traffic: payroll runs, remittances, government payments and sync logs.

import { money, monthOf, number, type TrafficKind } from "./kind.ts";
import type { StepContext } from "./step-context.ts";

const STAFF = [
  { employeeId: "emp_traffic_ana", employeeName: "Ana Prado" },
  { employeeId: "emp_traffic_ravi", employeeName: "Ravi Menon" },
  { employeeId: "emp_traffic_lena", employeeName: "Lena Vogt" },
];

const payroll: TrafficKind = {
  weight: 4,
  operation: "payroll.create",
  newRecord: (step) => ({
    periodStart: step.day(-30),
    periodEnd: step.day(-1),
    payDate: step.day(3),
    items: STAFF.slice(0, step.between("staff", 1, STAFF.length)).map((employee) => payOf(step, employee)),
  }),
  transitions: {
    draft: { pending: 1 },
    pending: { processing: 1 },
    processing: { paid: 0.94, partially_paid: 0.04, failed: 0.02 },
  },
};

function payOf(step: StepContext, employee: (typeof STAFF)[number]) {
  const grossAmount = step.between(employee.employeeId, 1_800, 4_200) * 100;
  return { ...employee, grossAmount, deductions: [{ code: "income_tax", amount: Math.round(grossAmount * 0.14) }] };
}

const remittance: TrafficKind = {
  weight: 4,
  newRecord(step) {
    const employeeAmount = step.between("employees", 20, 900) * 100;
    const employerAmount = step.between("employer", 0, 1_200) * 100;
    return {
      scheme: step.pick("scheme", ["income_tax", "pension", "social_security", "health_insurance"]),
      agency: "Revenue Office",
      period: monthOf(step.day(-30)),
      amount: employeeAmount + employerAmount,
      employeeAmount,
      employerAmount,
      currency: step.merchantData.currency,
      dueDate: step.day(15),
    };
  },
  transitions: { pending: { paid: 0.85, overdue: 0.15 }, overdue: { paid: 1 }, paid: { confirmed: 0.9 } },
  onEnter: {
    paid: (step) => ({ paidAt: step.now, paymentReference: number("REM", step) }),
    confirmed: (step) => ({ receiptNumber: number("R", step), confirmedDate: step.day(0), confirmedAt: step.now }),
  },
};

const govPayment: TrafficKind = {
  weight: 2,
  newRecord: (step) => ({
    ...money(step, 2_000),
    agency: step.pick("agency", ["Tax Authority", "Town Hall"]),
    purpose: step.pick("purpose", ["Value added tax", "Tourist tax", "Licence fee"]),
    reference: number("GOV", step),
  }),
  transitions: { pending: { paid: 0.95, failed: 0.05 } },
  onEnter: { paid: (step) => ({ paidAt: step.now }) },
};

const syncLog: TrafficKind = {
  weight: 7,
  newRecord: (step) => ({
    integration: step.pick("integration", ["ledger", "channel-manager", "shop"]),
    entity: step.pick("entity", ["payment", "booking", "product"]),
    direction: step.pick("direction", ["inbound", "outbound"]),
    startedAt: step.now,
  }),
  transitions: { running: { succeeded: 0.85, partial: 0.1, failed: 0.05 } },
  onEnter: {
    succeeded: (step) => ({ finishedAt: step.now, recordsProcessed: step.between("records", 1, 500) }),
    partial: (step) => ({
      finishedAt: step.now,
      recordsProcessed: step.between("records", 1, 500),
      recordsFailed: step.between("failed", 1, 20),
      errorMessage: "Some records were refused by the other side.",
    }),
    failed: (step) => ({ finishedAt: step.now, errorMessage: "The other side did not answer." }),
  },
};

export const office: Readonly<Record<string, TrafficKind>> = { sync_log: syncLog, payroll, remittance, gov_payment: govPayment };
