// The verdicts: the newest of each kind, how many there were of each rule, and who hears of them.

import { matchesRule, VERDICTS, type Verdict, type VerdictFilter, type VerdictMessage } from "../contracts/verdict.ts";
import type { Finding, Rule } from "./rules/rule.ts";

/** Whom and what a finding is about. */
export interface About {
  merchant: string | undefined;
  operation: string | undefined;
  /** Sandbox milliseconds. */
  at: number;
  fault: string | undefined;
}

export interface Book {
  add(rule: Rule, finding: Finding, about: About): void;
  /** What was found, oldest first. */
  kept(): VerdictMessage[];
  forget(merchant?: string): void;
}

/** So many of each verdict are kept: passes never push a failure out. */
const MOST_KEPT = 1_000;

export function openBook(told: (verdict: VerdictMessage) => void): Book {
  const kept = new Map<Verdict, VerdictMessage[]>(VERDICTS.map((verdict) => [verdict, []]));
  let number = 0;
  return {
    add(rule, finding, about) {
      const verdict = describeVerdict(rule, finding, about, `vdt_${++number}`);
      const list = kept.get(verdict.verdict) ?? [];
      list.push(verdict);
      if (list.length > 2 * MOST_KEPT) list.splice(0, MOST_KEPT);
      told(verdict);
    },
    kept: () => [...kept.values()].flatMap((list) => list.slice(-MOST_KEPT)).sort((one, other) => numberOf(one) - numberOf(other)),
    forget(merchant) {
      for (const [verdict, list] of kept)
        kept.set(verdict, merchant === undefined ? [] : list.filter((found) => found.merchant !== merchant));
      if (merchant === undefined) number = 0;
    },
  };
}

const numberOf = ({ id }: VerdictMessage) => Number(id?.slice("vdt_".length));

/** Without an id it is not written down: what would be said if nothing more came. */
export function describeVerdict(rule: Rule, finding: Finding, about: About, id: string | null): VerdictMessage {
  return {
    id,
    rule: rule.id,
    severity: rule.severity,
    verdict: finding.verdict,
    at: about.at,
    merchant: about.merchant ?? null,
    operation: about.operation ?? null,
    says: finding.says,
    hint: rule.hint,
    requests: (finding.calls ?? []).map(({ request }) => request),
    attempts: (finding.attempts ?? []).map(({ id: attempt }) => attempt),
    milliseconds: finding.milliseconds ?? {},
    fault: about.fault ?? null,
  };
}

export function fitsFilter({ rule, verdict, merchant, since }: VerdictFilter, found: VerdictMessage): boolean {
  return (
    (rule === undefined || matchesRule(rule, found.rule)) &&
    (verdict === undefined || verdict === found.verdict) &&
    (merchant === undefined || merchant === found.merchant) &&
    (since === undefined || found.at >= since)
  );
}
