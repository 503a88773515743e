// Staff records: disciplinary records and appraisals of employees.

import { day, nullable, nullables, oneOf, type Static, Type, text, timestamp } from "../schema/shapes.ts";
import { resource } from "./declare/resource.ts";
import { inOrder } from "./declare/rules.ts";
import { sampleAppraisal, sampleDisciplinaryRecord } from "./samples/office.ts";

export const disciplinaryRecords = resource({
  kind: "disciplinary_record",
  prefix: "dis",
  view: "disciplinary_records",
  sample: sampleDisciplinaryRecord,
  fields: nullables({
    employeeId: text("Id of the employee concerned"),
    type: oneOf(
      ["verbal_warning", "written_warning", "final_warning", "suspension", "termination"],
      "Severity of the measure",
    ),
    category: text("Subject of the record, such as `attendance` or `conduct`"),
    description: text("Description of the incident"),
    incidentDate: day("Date of the incident"),
    issuedDate: day("Date on which the record was issued"),
    acknowledgedAt: timestamp("Time at which the employee acknowledged the record"),
    appealedAt: timestamp("Time of the appeal"),
    closedAt: timestamp("Time at which the record was closed"),
    outcome: text("Outcome, such as `upheld` or `withdrawn`"),
  }),
  states: {
    open: { to: ["acknowledged", "appealed"], event: "disciplinary_record.created" },
    acknowledged: { to: ["closed", "appealed"], event: "disciplinary_record.acknowledged", at: "acknowledgedAt" },
    appealed: { to: ["closed"], event: "disciplinary_record.appealed", at: "appealedAt" },
    closed: { to: [], event: "disciplinary_record.closed", at: "closedAt", fills: { outcome: "upheld" } },
  },
  updated: "disciplinary_record.updated",
  rules: [inOrder("incidentDate", "issuedDate")],
});

const score = (description: string) => Type.Number({ description: `${description}, out of 5`, minimum: 0, maximum: 5 });

/** The mean of the goals' scores, rounded to one decimal; null if no goal has a score. */
function meanScore(goals: readonly Static<typeof goal>[]): number | null {
  const scores = goals.flatMap(({ score }) => (score === null ? [] : [score]));
  return scores.length === 0
    ? null
    : Math.round((scores.reduce((sum, score) => sum + score, 0) / scores.length) * 10) / 10;
}

/** A goal without a score gets the final score, or else 3. A missing final score is the mean of the goals' scores. */
function scored({ goals, finalScore }: { goals: readonly Static<typeof goal>[]; finalScore: number | null }) {
  const all = goals.map((one) => ({ ...one, score: one.score ?? finalScore ?? FALLBACK_SCORE }));
  return { goals: all, finalScore: finalScore ?? meanScore(all) ?? FALLBACK_SCORE };
}

const FALLBACK_SCORE = 3;

const goal = Type.Object({ title: text("Title of the goal"), score: nullable(score("Score for the goal")) });

export const appraisals = resource({
  kind: "appraisal",
  prefix: "apr",
  view: "appraisals",
  sample: sampleAppraisal,
  datesMoveBy: "half-years",
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
    ...nullables({
      remarks: text("The reviewer's remarks"),
      submittedAt: timestamp("Time of submission"),
      completedAt: timestamp("Time of completion"),
      cancelledAt: timestamp("Time of cancellation"),
    }),
  },
  defaults: { goals: [] },
  states: {
    draft: { to: ["submitted", "cancelled"], event: "appraisal.created" },
    submitted: { to: ["completed", "cancelled"], event: "appraisal.submitted", at: "submittedAt" },
    completed: { to: [], event: "appraisal.completed", at: "completedAt", sets: ({ record }) => scored(record) },
    cancelled: { to: [], event: "appraisal.cancelled", at: "cancelledAt" },
  },
  updated: "appraisal.updated",
  rules: [inOrder("periodStart", "periodEnd")],
});
