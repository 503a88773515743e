// Formats the problems and results of a run for reports.

import type { ReceiverCheck, ReportedScenario } from "../contracts/run-report.ts";

const MAX_PROBLEM = 300;

/** Shortens a problem to one line with a limit, because reports receive it in a URL. */
export function problemText(problem: string): string {
  const line = problem.replaceAll(/\s+/g, " ");
  return line.length <= MAX_PROBLEM ? line : `${line.slice(0, MAX_PROBLEM - 1)}…`;
}

/** The name of a check, such as `audit http://127.0.0.1:3000/hooks`. */
export const checkName = ({ kind, subject, merchant }: ReceiverCheck) =>
  [kind, subject, merchant].filter((part) => part !== null).join(" ");

export const checkLine = (check: ReceiverCheck) => `${checkName(check)}: ${check.message}`;

export const scenarioLine = ({ name, message }: Pick<ReportedScenario, "name" | "message">) => `${name}: ${message}`;
