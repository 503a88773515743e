// The findings of a comparison in the order in which a reader needs them, each common value said once.

import type { FactKind } from "../contracts/fact.ts";
import type { Comparison, FactResult, FactVerdict, SeenValue } from "./compare.ts";
import { MOST_ENTRIES } from "./observations.ts";

/** One difference, with every fact that shows it. */
export interface Difference {
  kind: FactKind;
  expected: string;
  seen: string;
  count: number;
  facts: string[];
  /** Where the fact is common to all operations: those that showed the difference. */
  operations: string[];
  entries: string[];
  origin: string;
}

export interface DifferenceGroup {
  title: string;
  findings: Difference[];
}

export function findingsOf({ verdicts }: Comparison): DifferenceGroup[] {
  const of = (...wanted: FactVerdict[]) => verdicts.filter(({ verdict }) => wanted.includes(verdict));
  const misleads = (seen: SeenValue) => seen.lenient === "sandbox";
  const differences = of("contradicted", "against_document");
  return [
    { title: "The sandbox accepts more than the service", findings: group(differences, misleads) },
    { title: "Against the service's document", findings: group(of("against_document"), (seen) => !misleads(seen)) },
    { title: "Assumptions contradicted", findings: group(of("contradicted"), (seen) => !misleads(seen)) },
    { title: "Different by design", findings: group(of("by_design"), () => true) },
  ].filter(({ findings }) => findings.length > 0);
}

function group(results: readonly FactResult[], wanted: (seen: SeenValue) => boolean): Difference[] {
  const findings = new Map<string, Difference>();
  for (const { fact, seen } of results)
    for (const value of seen.filter(wanted)) {
      const [expected, shown] = [shownValue(fact.value), shownSeen(value)];
      const name = JSON.stringify([fact.kind, lastPart(fact.id), expected, shown]);
      const made = { kind: fact.kind, expected, seen: shown, count: 0, facts: [], operations: [], entries: [], origin: fact.origin };
      const finding: Difference = findings.get(name) ?? made;
      finding.count += value.count;
      finding.facts.push(fact.id);
      finding.operations = union(finding.operations, value.operations);
      finding.entries = union(finding.entries, value.entries).slice(0, MOST_ENTRIES);
      findings.set(name, finding);
    }
  return [...findings.values()].toSorted((one, other) => other.count - one.count);
}

const union = (one: readonly string[], other: readonly string[]) => [...new Set([...one, ...other])];

/** Facts about the same field or header are said together. */
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

export interface Totals {
  confirmed: number;
  contradicted: number;
  notSeen: number;
  facts: number;
  /** How often a fact was confirmed, altogether. */
  confirmations: number;
}

export function totalsOf({ verdicts }: Comparison): Totals {
  const count = (...wanted: FactVerdict[]) => verdicts.filter(({ verdict }) => wanted.includes(verdict)).length;
  return {
    confirmed: count("confirmed"),
    contradicted: count("contradicted", "against_document"),
    notSeen: count("not_seen"),
    facts: verdicts.length,
    confirmations: verdicts.reduce((sum, { confirmed }) => sum + confirmed, 0),
  };
}

/** Nothing matched: neither a call of an operation nor a webhook. */
export const matchedNothing = ({ calls, webhooks }: Comparison) => calls + webhooks === 0;
