// Office traffic: payroll runs, remittances, government payments and sync logs.

import type { Scene } from "./activity-context.ts";
import { type Kind, money, monthOf, number } from "./kind.ts";

const STAFF = [
  { employeeId: "emp_traffic_ana", employeeName: "Ana Prado" },
  { employeeId: "emp_traffic_ravi", employeeName: "Ravi Menon" },
  { employeeId: "emp_traffic_lena", employeeName: "Lena Vogt" },
];

const payroll: Kind = {
  weight: 4,
  operation: "payroll.create",
  begin: (scene) => ({
    periodStart: scene.day(-30),
    periodEnd: scene.day(-1),
    payDate: scene.day(3),
    items: STAFF.slice(0, scene.between("staff", 1, STAFF.length)).map((employee) => payOf(scene, employee)),
  }),
  life: {
    draft: { pending: 1 },
    pending: { processing: 1 },
    processing: { paid: 0.94, partially_paid: 0.04, failed: 0.02 },
  },
};

function payOf(scene: Scene, employee: (typeof STAFF)[number]) {
  const grossAmount = scene.between(employee.employeeId, 1_800, 4_200) * 100;
  return { ...employee, grossAmount, deductions: [{ code: "income_tax", amount: Math.round(grossAmount * 0.14) }] };
}

const remittance: Kind = {
  weight: 4,
  begin(scene) {
    const employeeAmount = scene.between("employees", 20, 900) * 100;
    const employerAmount = scene.between("employer", 0, 1_200) * 100;
    return {
      scheme: scene.pick("scheme", ["income_tax", "pension", "social_security", "health_insurance"]),
      agency: "Revenue Office",
      period: monthOf(scene.day(-30)),
      amount: employeeAmount + employerAmount,
      employeeAmount,
      employerAmount,
      currency: scene.cast.currency,
      dueDate: scene.day(15),
    };
  },
  life: { pending: { paid: 0.85, overdue: 0.15 }, overdue: { paid: 1 }, paid: { confirmed: 0.9 } },
  arrive: {
    paid: (scene) => ({ paidAt: scene.now, paymentReference: number("REM", scene) }),
    confirmed: (scene) => ({ receiptNumber: number("R", scene), confirmedDate: scene.day(0), confirmedAt: scene.now }),
  },
};

const govPayment: Kind = {
  weight: 2,
  begin: (scene) => ({
    ...money(scene, 2_000),
    agency: scene.pick("agency", ["Tax Authority", "Town Hall"]),
    purpose: scene.pick("purpose", ["Value added tax", "Tourist tax", "Licence fee"]),
    reference: number("GOV", scene),
  }),
  life: { pending: { paid: 0.95, failed: 0.05 } },
  arrive: { paid: (scene) => ({ paidAt: scene.now }) },
};

const syncLog: Kind = {
  weight: 7,
  begin: (scene) => ({
    integration: scene.pick("integration", ["ledger", "channel-manager", "shop"]),
    entity: scene.pick("entity", ["payment", "booking", "product"]),
    direction: scene.pick("direction", ["inbound", "outbound"]),
    startedAt: scene.now,
  }),
  life: { running: { succeeded: 0.85, partial: 0.1, failed: 0.05 } },
  arrive: {
    succeeded: (scene) => ({ finishedAt: scene.now, recordsProcessed: scene.between("records", 1, 500) }),
    partial: (scene) => ({
      finishedAt: scene.now,
      recordsProcessed: scene.between("records", 1, 500),
      recordsFailed: scene.between("failed", 1, 20),
      errorMessage: "Some records were refused by the other side.",
    }),
    failed: (scene) => ({ finishedAt: scene.now, errorMessage: "The other side did not answer." }),
  },
};

export const office: Readonly<Record<string, Kind>> = { sync_log: syncLog, payroll, remittance, gov_payment: govPayment };
