// The kinds of records of the office: payroll, staff records, synchronisation, statutory and government payments, webhook endpoints.

import { at, atWith, dayOf, eventsOf, type Kind, none, transitions } from "./kind-parts.ts";

/** The mean of the scores, to one decimal. */
function meanOf(goals: { score: number | null }[]): number | null {
  const scores = goals.flatMap(({ score }) => score ?? []);
  return scores.length === 0 ? null : Math.round((scores.reduce((total, score) => total + score, 0) / scores.length) * 10) / 10;
}

const unposted = { status: "unposted", ...none("journalEntryId debitAccount creditAccount memo postedAt") };

export const officeKinds = {
  payroll: {
    prefix: "pyr",
    defaults: {
      status: "draft",
      ...none("periodStart periodEnd payDate currency submittedAt processingAt paidAt failedAt failureCode"),
      items: [],
      totals: { employees: 0, grossAmount: 0, deductionAmount: 0, netAmount: 0 },
    },
    transitions: transitions("draft > pending", "pending > processing", "processing > paid partially_paid failed"),
    emits: {
      created: "payroll.created",
      pending: "payroll.submitted",
      ...eventsOf("payroll", "processing", "paid", "partially_paid", "failed", "updated"),
    },
    sets: {
      pending: at("submittedAt"),
      processing: at("processingAt"),
      paid: at("paidAt"),
      partially_paid: at("paidAt"),
      failed: atWith("failedAt", "failureCode", "insufficient_funds"),
    },
    orders: ["created submittedAt processingAt paidAt", "processingAt failedAt"],
  },

  disciplinary_record: {
    prefix: "dis",
    defaults: {
      status: "open",
      ...none("employeeId type category description incidentDate issuedDate acknowledgedAt appealedAt closedAt outcome"),
    },
    transitions: transitions("open > acknowledged appealed", "acknowledged > closed appealed", "appealed > closed"),
    emits: { created: "disciplinary_record.created", ...eventsOf("disciplinary_record", "acknowledged", "appealed", "closed", "updated") },
    sets: { acknowledged: at("acknowledgedAt"), appealed: at("appealedAt"), closed: atWith("closedAt", "outcome", "upheld") },
    orders: ["created acknowledgedAt appealedAt closedAt"],
  },

  appraisal: {
    prefix: "apr",
    defaults: {
      status: "draft",
      ...none("employeeId reviewerId cycle periodStart periodEnd finalScore remarks submittedAt completedAt cancelledAt"),
      goals: [],
    },
    transitions: transitions("draft > submitted cancelled", "submitted > completed cancelled"),
    emits: { created: "appraisal.created", ...eventsOf("appraisal", "submitted", "completed", "cancelled", "updated") },
    sets: {
      submitted: at("submittedAt"),
      completed: (now, { finalScore, goals }) => ({
        completedAt: now,
        finalScore: finalScore ?? meanOf(goals as { score: number | null }[]),
      }),
      cancelled: at("cancelledAt"),
    },
    orders: ["created submittedAt completedAt", "created submittedAt cancelledAt"],
  },

  sync_log: {
    prefix: "syl",
    defaults: {
      status: "running",
      ...none("integration entity direction startedAt finishedAt errorMessage"),
      recordsProcessed: 0,
      recordsFailed: 0,
    },
    transitions: transitions("running > succeeded partial failed"),
    emits: { created: "integration_sync.started", ...eventsOf("integration_sync", "succeeded", "partial", "failed", "updated") },
    sets: {
      running: (now, { startedAt }) => ({ startedAt: startedAt ?? now }),
      succeeded: at("finishedAt"),
      partial: (now, { recordsFailed, errorMessage }) => ({
        finishedAt: now,
        recordsFailed: Math.max(Number(recordsFailed), 1),
        errorMessage: errorMessage ?? "The other system rejected some records.",
      }),
      failed: atWith("finishedAt", "errorMessage", "The other system did not answer in time."),
    },
    orders: ["created finishedAt", "startedAt finishedAt"],
  },

  remittance: {
    prefix: "rem",
    defaults: {
      status: "pending",
      ...none("scheme agency period amount employeeAmount employerAmount currency dueDate paidAt"),
      ...none("paymentReference receiptNumber confirmedDate note confirmedAt payrollId overdueAt cancelledAt"),
    },
    transitions: transitions("pending > paid overdue confirmed cancelled", "paid > confirmed", "overdue > paid confirmed cancelled"),
    emits: { created: "remittance.created", ...eventsOf("remittance", "paid", "overdue", "confirmed", "cancelled", "updated") },
    sets: {
      paid: (now, { id, paymentReference }) => ({
        paidAt: now,
        paymentReference: paymentReference ?? `REM-${String(id).slice(-6).toUpperCase()}`,
      }),
      overdue: at("overdueAt"),
      confirmed: (now, { paidAt, confirmedDate }, home) => ({
        paidAt: paidAt ?? now,
        confirmedAt: now,
        confirmedDate: confirmedDate ?? dayOf(now, home),
      }),
      cancelled: at("cancelledAt"),
    },
    orders: ["created overdueAt paidAt confirmedAt", "created overdueAt cancelledAt"],
  },

  statutory_settings: {
    prefix: "sts",
    defaults: { ...none("country currency payFrequency remittanceDueDay updated"), autoRemit: false, schemes: [] },
    transitions: {},
    emits: { updated: "statutory_settings.updated" },
  },

  gov_payment: {
    prefix: "gov",
    defaults: {
      status: "pending",
      ...none("agency purpose reference amount currency paidAt receiptNumber failedAt failureCode cancelledAt"),
      bookkeeping: unposted,
    },
    transitions: transitions("pending > paid failed cancelled"),
    emits: { created: "gov_payment.created", ...eventsOf("gov_payment", "paid", "failed", "cancelled", "updated") },
    sets: {
      paid: (now, { id, receiptNumber }) => ({ paidAt: now, receiptNumber: receiptNumber ?? `RCPT-${String(id).slice(-6).toUpperCase()}` }),
      failed: atWith("failedAt", "failureCode", "insufficient_funds"),
      cancelled: at("cancelledAt"),
    },
    orders: ["created paidAt", "created failedAt", "created cancelledAt"],
  },

  webhook_endpoint: {
    prefix: "we",
    defaults: { status: "enabled", ...none("url events") },
    transitions: transitions("enabled > disabled", "disabled > enabled"),
    emits: {},
  },
} satisfies Record<string, Kind>;
