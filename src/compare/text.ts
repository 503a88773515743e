// A comparison as text for a terminal.

import type { Comparison } from "./compare.ts";
import { type Difference, findingsOf, matchedNothing, totalsOf } from "./findings.ts";

const MOST_FACTS = 6;
const MOST_ROWS = 40;

export function comparisonText(comparison: Comparison): string {
  const { base, calls, webhooks, unknownEndpoints, unexplained, noise } = comparison;
  const { confirmed, contradicted, notSeen, facts, confirmations } = totalsOf(comparison);
  const groups = findingsOf(comparison).flatMap(({ title, findings }) => ["", `${title}:`, ...findings.map(findingLine)]);
  const heading = `Compared ${plural(calls, "call")}${base === null ? "" : ` below ${base}`} and ${plural(webhooks, "webhook")} with ${facts} facts.`;
  if (matchedNothing(comparison)) return [heading, NOTHING, ...listed("Left out", noiseLines(noise))].join("\n");
  return [
    heading,
    ...groups,
    ...listed(
      "Calls of endpoints that the sandbox does not have",
      unknownEndpoints.map(({ endpoint, count }) => `${endpoint} (${count})`),
    ),
    ...listed(
      "Unrecognised errors",
      unexplained.map(({ operation, status, code, count }) => `${operation}: ${status} ${code} (${count})`),
    ),
    ...listed("Left out", noiseLines(noise)),
    "",
    `${confirmed} confirmed (${plural(confirmations, "time")}), ${contradicted} contradicted, ${notSeen} not seen. Not seen means not tested.`,
  ].join("\n");
}

const NOTHING =
  "Nothing matched: no call has the method and path of an operation of the service. Name the service's address with --base https://host/v1.";

const listed = (title: string, rows: readonly string[]) =>
  rows.length === 0
    ? []
    : [
        "",
        `${title}:`,
        ...rows.slice(0, MOST_ROWS).map((row) => `  ${row}`),
        ...(rows.length > MOST_ROWS ? [`  … and ${rows.length - MOST_ROWS} more`] : []),
      ];

const noiseLines = (noise: Comparison["noise"]) => Object.entries(noise).map(([reason, count]) => `${reason} (${count})`);

function findingLine({ facts, expected, seen, count, operations, entries }: Difference): string {
  const names = facts.slice(0, MOST_FACTS).join(", ");
  const more = facts.length > MOST_FACTS ? ` and ${facts.length - MOST_FACTS} more` : "";
  // The ids of many facts name their operations already.
  const foreign = operations.filter((operation) => !facts.some((fact) => fact.startsWith(`${operation}.`)));
  const where = foreign.length === 0 ? "" : ` on ${foreign.slice(0, MOST_FACTS).join(", ")}`;
  return `  ${names}${more}: sandbox ${expected}, service ${seen}${where} (${plural(count, "time")}: ${entries.join(", ")})`;
}

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;
