// Office traffic: payroll runs, remittances, government payments and sync logs.

import type { TrafficKind } from "./kind.ts";

const payroll: TrafficKind = {
  weight: 4,
  // A run for each period, once the period has begun. The merchant's settings say how long a period is.
  newRecord: ({ newest, today }) =>
    newest("payroll", 100).some(({ periodStart, periodEnd }) => String(periodStart) <= today && String(periodEnd ?? "") >= today)
      ? undefined
      : {},
  transitions: {
    draft: { pending: 1 },
    pending: { processing: 1 },
    processing: { paid: 0.94, partially_paid: 0.04, failed: 0.02 },
  },
  consequences: { paid: { kind: "remittance", field: "payrollId" } },
};

/** Remittances are made by payroll runs that are paid. */
const remittance: TrafficKind = {
  weight: 4,
  basedOn: ["remittance", "statutory_settings"],
  newRecord: () => undefined,
  transitions: { pending: { paid: 0.85 }, overdue: { paid: 1 }, paid: { confirmed: 0.9 } },
  onEnter: { confirmed: (step) => ({ receiptNumber: `R-${step.between("receipt", 1_000, 9_999)}` }) },
};

const govPayment: TrafficKind = {
  weight: 2,
  transitions: { pending: { paid: 0.95, failed: 0.05 } },
};

const syncLog: TrafficKind = {
  weight: 7,
  transitions: { running: { succeeded: 0.85, partial: 0.1, failed: 0.05 } },
};

export const office: Readonly<Record<string, TrafficKind>> = { sync_log: syncLog, payroll, remittance, gov_payment: govPayment };
