// Formats a comparison for a terminal: the most important differences first, and equal differences in one line.

import type { FactValue } from "../contracts/fact.ts";
import { plural } from "../kernel/text.ts";
import type { Comparison, FactResult, FactVerdict, SeenValue } from "./compare.ts";
import { CALLED, MOST_ENTRIES } from "./recording.ts";

const MOST_FACTS = 6;
const MOST_ROWS = 40;
/** Rows of each part of the summary, so that it fits on a page. */
const MOST_SUMMED = 10;

/** The summary, which fits on a page, and then the details. */
export function comparisonText(comparison: Comparison): string {
  const { base, calls, webhooks, shapes, unknownEndpoints, unexplained, noise } = comparison;
  const { confirmed, contradicted, notSeen, facts, confirmations } = totalsOf(comparison);
  const groups = findingsOf(comparison).flatMap(({ title, findings }) => [
    "",
    `${title}:`,
    ...findings.map(findingLine),
  ]);
  const leftOut = listed(
    "Left out",
    Object.entries(noise).map(([reason, count]) => `${reason} (${count})`),
  );
  const heading =
    `Compared ${plural(calls, "call")}${base === null ? "" : ` below ${base}`} and ${plural(webhooks, "webhook")} ` +
    `with ${facts} facts.`;
  if (matchedNothing(comparison)) return [heading, NOTHING, ...leftOut].join("\n");
  return [
    heading,
    ...summary(comparison),
    ...listed(
      "Written differently everywhere, and not compared field by field",
      shapes.map(
        ({ kind, seen, count, entries }) =>
          `${kind}: ${seen.join(", ")} (${plural(count, "time")}: ${entries.join(", ")})`,
      ),
    ),
    ...groups,
    ...listed("Fields of another case style", renames(comparison)),
    ...listed(
      "Calls of endpoints that the sandbox does not have",
      unknownEndpoints.map(({ endpoint, count }) => `${endpoint} (${count})`),
    ),
    ...listed(
      "Unrecognised errors",
      unexplained.map(
        ({ operation, status, code, count }) => `${operation}: ${status}${code === "" ? "" : ` ${code}`} (${count})`,
      ),
    ),
    ...leftOut,
    "",
    `${confirmed} confirmed (${plural(confirmations, "time")}), ${contradicted} contradicted, ${notSeen} not seen. ` +
      "Not seen means not tested.",
  ].join("\n");
}

/** The changes that the service needs in a client, and the assumptions to set so that the sandbox responds alike. */
function summary(comparison: Comparison): string[] {
  const lenient = findingsOf(comparison).find(({ title }) => title === LENIENT)?.findings ?? [];
  const assumptions = Object.entries(comparison.assumptions);
  return [
    ...listed(
      "Change in your client",
      [
        ...comparison.shapes.map(({ advice, seen }) => `${advice} (${seen.join(", ")})`),
        ...lenient.map(({ facts, seen }) => `the sandbox accepts what the service refuses: ${some(facts)}: ${seen}`),
      ],
      MOST_SUMMED,
    ),
    ...listed(
      'Set under "assumptions" in merchant-sandbox.json, to respond like the service',
      assumptions.map(([id, value], index) => {
        const comma = index < assumptions.length - 1 ? "," : "";
        return `${JSON.stringify(id)}: ${JSON.stringify(value)}${comma}`;
      }),
      Number.POSITIVE_INFINITY,
    ),
  ];
}

const some = (ids: readonly string[], most = MOST_NAMED) =>
  ids.slice(0, most).join(", ") + (ids.length > most ? ` and ${ids.length - most} more` : "");
const MOST_NAMED = 3;

/** The names of fields that differ only in their case style, in one line. */
function renames({ verdicts }: Comparison): string[] {
  const names = verdicts.flatMap(({ fact, seen }) =>
    seen.flatMap(({ value }) => (isCalled(value) ? `${fact.id} is ${value}` : [])),
  );
  return names.length === 0 ? [] : [names.join(", ")];
}

const isCalled = (value: FactValue) => typeof value === "string" && value.startsWith(CALLED);

const NOTHING =
  "Nothing matched: no call has the method and path of an operation of the service. " +
  "Name the service's address with --base https://host/v1.";

const listed = (title: string, rows: readonly string[], most = MOST_ROWS) =>
  rows.length === 0
    ? []
    : [
        "",
        `${title}:`,
        ...rows.slice(0, most).map((row) => `  ${row}`),
        ...(rows.length > most ? [`  … and ${rows.length - most} more`] : []),
      ];

function findingLine({ facts, expected, seen, count, operations, entries }: Difference): string {
  // Skips operations that the facts' ids already name.
  const foreign = operations.filter((operation) => !facts.some((fact) => fact.startsWith(`${operation}.`)));
  const where = foreign.length === 0 ? "" : ` on ${foreign.slice(0, MOST_FACTS).join(", ")}`;
  return (
    `  ${some(facts, MOST_FACTS)}: sandbox ${expected}, service ${seen}${where} ` +
    `(${plural(count, "time")}: ${entries.join(", ")})`
  );
}

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

const LENIENT = "The sandbox accepts more than the service";

/**
 * Differences under their titles. A difference that follows from another one is left out: a type whose format differs,
 * or a value that the service calls by another name.
 */
export function findingsOf({ verdicts }: Comparison) {
  const contradicted = new Map(
    verdicts.flatMap(({ fact, seen }) => seen.map(({ value }) => [`${fact.id} ${value}`, fact.id])),
  );
  const seenIn = new Set(contradicted.values());
  const follows = ({ id, kind }: FactResult["fact"], value: FactValue) =>
    isCalled(value) ||
    (kind === "type" && value !== "null" && seenIn.has(id.replace(/type$/, "format"))) ||
    (kind === "values" &&
      [...contradicted.keys()].some((key) => key.startsWith(`${id}.`) && key.endsWith(` ${value}`)));
  const shown = verdicts.map((one) => ({ ...one, seen: one.seen.filter(({ value }) => !follows(one.fact, value)) }));
  const of = (...wanted: FactVerdict[]) => shown.filter(({ verdict }) => wanted.includes(verdict));
  const misleads = (seen: SeenValue) => seen.lenient === "sandbox";
  const differences = of("contradicted", "against_document");
  return [
    { title: LENIENT, findings: group(differences, misleads) },
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
      const finding: Difference = findings.get(name) ?? {
        expected,
        seen: shown,
        count: 0,
        facts: [],
        operations: [],
        entries: [],
      };
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

const shownSeen = ({ value, bound }: SeenValue) =>
  bound === undefined ? shownValue(value) : `${BOUNDS[bound]} ${value}`;

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
