// Formats a comparison for a terminal: the most important differences first, equal ones in one line.

import type { Comparison, FactResult, FactVerdict, SeenValue } from "./compare.ts";
import { MOST_ENTRIES } from "./recording.ts";

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
    ...listed(
      "Written differently everywhere, and not compared field by field",
      comparison.shapes.map(({ advice, seen, count, entries }) => `${advice} (${seen.join(", ")}; ${plural(count, "time")}: ${entries.join(", ")})`),
    ),
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
  // Skips operations that the facts' ids name already.
  const foreign = operations.filter((operation) => !facts.some((fact) => fact.startsWith(`${operation}.`)));
  const where = foreign.length === 0 ? "" : ` on ${foreign.slice(0, MOST_FACTS).join(", ")}`;
  return `  ${names}${more}: sandbox ${expected}, service ${seen}${where} (${plural(count, "time")}: ${entries.join(", ")})`;
}

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** One difference, with every fact that shows it. */
interface Difference {
  expected: string;
  seen: string;
  count: number;
  facts: string[];
  /** The operations that showed the difference. */
  operations: string[];
  entries: string[];
}

export function findingsOf({ verdicts }: Comparison) {
  const of = (...wanted: FactVerdict[]) => verdicts.filter(({ verdict }) => wanted.includes(verdict));
  const misleads = (seen: SeenValue) => seen.lenient === "sandbox";
  const differences = of("contradicted", "against_document");
  return [
    { title: "The sandbox accepts more than the service", findings: group(differences, misleads) },
    { title: "Against the service's document", findings: group(of("against_document"), (seen) => !misleads(seen)) },
    { title: "Assumptions contradicted", findings: group(of("contradicted"), (seen) => !misleads(seen)) },
  ].filter(({ findings }) => findings.length > 0);
}

function group(results: readonly FactResult[], wanted: (seen: SeenValue) => boolean): Difference[] {
  const findings = new Map<string, Difference>();
  for (const { fact, seen } of results)
    for (const value of seen.filter(wanted)) {
      const [expected, shown] = [shownValue(fact.value), shownSeen(value)];
      const name = JSON.stringify([fact.kind, lastPart(fact.id), expected, shown]);
      const finding: Difference = findings.get(name) ?? { expected, seen: shown, count: 0, facts: [], operations: [], entries: [] };
      finding.count += value.count;
      finding.facts.push(fact.id);
      finding.operations = union(finding.operations, value.operations);
      finding.entries = union(finding.entries, value.entries).slice(0, MOST_ENTRIES);
      findings.set(name, finding);
    }
  return [...findings.values()].toSorted((one, other) => other.count - one.count);
}

const union = (one: readonly string[], other: readonly string[]) => [...new Set([...one, ...other])];

/** The part of a fact's id by which facts are grouped: facts about the same field or header share a line. */
const lastPart = (id: string) =>
  id
    .split(".")
    .slice(-2)
    .join(".")
    .replace(/^.*?\.(?=status$|order$|envelope$|accepted$|maximum$|minimum$|default$)/, "");

const BOUNDS = { below: "less than", at_least: "at least", at_most: "at most" };

const shownSeen = ({ value, bound }: SeenValue) => (bound === undefined ? shownValue(value) : `${BOUNDS[bound]} ${value}`);

const MOST_LISTED = 6;

function shownValue(value: FactResult["fact"]["value"]): string {
  if (typeof value !== "object") return String(value);
  return value.length > MOST_LISTED ? `one of ${value.length} values` : value.join(" or ");
}

export function totalsOf({ verdicts }: Comparison) {
  const count = (...wanted: FactVerdict[]) => verdicts.filter(({ verdict }) => wanted.includes(verdict)).length;
  return {
    confirmed: count("confirmed"),
    contradicted: count("contradicted", "against_document"),
    notSeen: count("not_seen"),
    facts: verdicts.length,
    /** Confirmations of all facts together. */
    confirmations: verdicts.reduce((sum, { confirmed }) => sum + confirmed, 0),
  };
}

/** Whether the recording contains neither a call of an operation nor a webhook. */
export const matchedNothing = ({ calls, webhooks }: Comparison) => calls + webhooks === 0;
