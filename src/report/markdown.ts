// Formats a run as Markdown for a CI job summary: failures first, the rest folded.

import { evidenceText } from "../client/verdict-text.ts";
import type { RunReport } from "../contracts/run-report.ts";
import { count, plural } from "../kernel/text.ts";
import { headline, nameOfStatus } from "./run-data.ts";

const MOST_ROWS = 50;

export function markdown(run: RunReport): string {
  const { coverage, events, scenarios, checks, verdicts, deliveries, requests } = run;
  const problemRows = run.problems.map((problem) => [problem]);
  const uncovered = coverage.filter(({ calls }) => calls === 0);
  const wrong = verdicts.filter(({ verdict }) => verdict !== "pass");
  const failed = deliveries.filter(({ status }) => status !== "succeeded");
  const broken = requests.filter(({ status, fault }) => status !== null && status >= 500 && fault === null);
  const parts = [
    `# ${title(run)}`,
    section("Why the run failed", ["Reason"], problemRows),
    summary(run),
    section("Scenarios", ["", "Scenario", "For", "Points", "Result"], scenarios.map(scenarioRow)),
    section("Audits and effects", ["", "Check", "Of", "Result"], checks.map(checkRow)),
    section(
      "Failed probes",
      ["Probe", "Of", "What the receiver did", "What it should do", "How to fix it"],
      checks.flatMap(probeRows),
    ),
    section("Verdicts", ["", "Rule", "What happened", "How to fix it", "Evidence"], wrong.map(verdictRow)),
    section(
      "Responses 5xx that no fault affected",
      ["Request", "Call", "Status", "Operation"],
      broken.map(({ id, method, path, status, operation }) => [id, `${method} ${path}`, status, operation]),
    ),
    section(
      "Failed delivery attempts",
      ["Attempt", "Event", "To", "Response"],
      failed.map(({ attempt, maxAttempts, type, url, responseStatus, error, status }) => [
        `${attempt}/${maxAttempts}`,
        type,
        url,
        responseStatus ?? error ?? status,
      ]),
    ),
    uncovered.length === 0
      ? ""
      : folded(
          `${plural(uncovered.length, "operation")} never called`,
          table(
            ["Operation", "Call"],
            uncovered.map(({ operation, method, path }) => [operation, `${method} ${path}`]),
          ),
        ),
    folded("Coverage of event types", table(["Event", "Sent", "Accepted"], events.map(eventRow))),
    folded("Coverage of operations", table(["Operation", "Calls", "Statuses", "Events"], coverage.map(coverageRow))),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

function title(run: RunReport): string {
  const { verdict, text } = headline(run);
  return verdict === null ? "Run of the merchant sandbox" : `${SIGN[verdict]} ${text}`;
}

type Cell = string | number | null;

function summary({ totals, sandbox, added, unchecked }: RunReport): string {
  const { operations, events, statuses, deliveries, notAccepted, verdicts } = totals;
  const ofOthers = added.reduce((sum, { requests }) => sum + (requests ?? 0), 0);
  const counted = (counts: Record<string, number>) =>
    Object.entries(counts)
      .filter(([, number]) => number > 0)
      .map(([name, number]) => `${name} ×${count(number)}`)
      .join(", ") || "none";
  return table(
    ["", ""],
    [
      ["Operations called", `${operations.called} of ${operations.total}`],
      ["Event types sent", `${events.emitted} of ${events.total}, ${events.delivered} accepted`],
      ["Requests", `${count(totals.requests)}: ${counted(statuses)}`],
      ["Deliveries", counted(deliveries)],
      ...(notAccepted > 0 ? [["Not accepted", plural(notAccepted, "webhook")]] : []),
      ["Verdicts", counted(verdicts)],
      ...unchecked.map((what) => ["Not checked", what]),
      ...(added.length > 0
        ? [
            [
              "Sandboxes of tests",
              `${count(added.length)} with ${plural(ofOthers, "request")}, of which only the verdicts are included`,
            ],
          ]
        : []),
      ["Sandbox", `${sandbox.version}, clock ${sandbox.clock} at ${sandbox.now}`],
    ],
  );
}

const SIGN = { pass: "✅", fail: "❌", inconclusive: "⚠️" } as const;

const scenarioRow = ({ name, merchant, score, points, verdict, message }: RunReport["scenarios"][number]): Cell[] => [
  SIGN[verdict],
  name,
  merchant ?? "all merchants",
  `${score} of ${points}`,
  message,
];

const checkRow = ({ kind, subject, merchant, verdict, message }: RunReport["checks"][number]): Cell[] => [
  SIGN[verdict],
  kind,
  [subject, merchant].filter((part) => part !== null).join(" "),
  message,
];

const probeRows = ({ subject, probes }: RunReport["checks"][number]): Cell[][] =>
  probes
    .filter(({ verdict }) => verdict === "fail")
    .map(({ probe, did, should, why }) => [probe, subject, did, should, why]);

function verdictRow(found: RunReport["verdicts"][number]): Cell[] {
  const { verdict, rule, message, hint } = found;
  return [SIGN[verdict], rule, message, hint, evidenceText(found)];
}

const eventRow = ({ type, emitted, delivered }: RunReport["events"][number]): Cell[] => [type, emitted, delivered];

function coverageRow({ operation, calls, statuses, events }: RunReport["coverage"][number]): Cell[] {
  const seen = statuses.map((one) =>
    one.calls > 0 ? `${nameOfStatus(one.status)} ×${count(one.calls)}` : `(${one.status})`,
  );
  return [
    operation,
    calls,
    seen.join(" "),
    events.map(({ type, count: sent }) => (sent > 0 ? `${type} ×${count(sent)}` : `(${type})`)).join(" "),
  ];
}

function section(title: string, head: string[], rows: Cell[][]): string {
  if (rows.length === 0) return "";
  const more = rows.length > MOST_ROWS ? `\n\n… and ${count(rows.length - MOST_ROWS)} more.` : "";
  return `## ${title}\n\n${table(head, rows.slice(0, MOST_ROWS))}${more}`;
}

const folded = (title: string, text: string) => `<details><summary>${title}</summary>\n\n${text}\n\n</details>`;

function table(head: string[], rows: Cell[][]): string {
  const line = (cells: Cell[]) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Escapes untrusted text, so that its Markdown and line breaks have no effect. */
function cell(value: Cell): string {
  if (value === "---") return value;
  return String(value ?? "")
    .replace(/[\p{Cc}\p{Cf}]+/gu, " ")
    .replace(/[&<>]/g, (character) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[character] as string)
    .replace(/[\\`*_[\]|~]/g, "\\$&");
}
