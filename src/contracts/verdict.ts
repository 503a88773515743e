// What the rooms say to one another about the judge: its rules as they are shown, and how its verdicts are asked for.

import { didYouMean } from "../kernel/did-you-mean.ts";
import { matchesWildcard } from "../schema/conditions.ts";
import type { Verdict } from "./expectations.ts";
import type { VerdictMessage } from "./live-messages.ts";

export interface JudgedRule {
  readonly id: string;
  /** How bad a failure is. */
  readonly severity: VerdictMessage["severity"];
  /** What a client or a receiver must do, in one sentence. */
  readonly demands: string;
  /** How to mend what fails. */
  readonly hint: string;
}

export interface VerdictFilter {
  /** The id of a rule, or several at once, as in `retry_after.*`. */
  rule?: string | undefined;
  verdict?: Verdict | undefined;
  merchant?: string | undefined;
  /** Only those at or after this time, in sandbox milliseconds. */
  since?: number | undefined;
}

/** What was found so far: for whoever reads and clears it. */
export interface JudgeResults {
  readonly rules: readonly JudgedRule[];
  /** Oldest first; then, without ids, what would be said of what is still open. */
  verdicts(filter?: VerdictFilter): VerdictMessage[];
  /** Forgets one merchant, or everything. */
  forget(merchant?: string): void;
}

/** How somebody names one of the judge's rules, or several at once. */
export const RULE_PATTERN = "^[a-z_]+(\\.[a-z_]+)*(\\.\\*)?$";

/** Whether an id, in which `*` stands for anything, names a rule. */
export const matchesRule = (pattern: string, rule: string) => matchesWildcard(rule, pattern);

/** What is wrong with a name that no rule of the judge has; undefined where it names one or several. */
export function unknownRuleMessage(pattern: string, rules: readonly string[]): string | undefined {
  if (rules.some((rule) => matchesRule(pattern, rule))) return undefined;
  return `The judge has no rule ${pattern}.${didYouMean(pattern, rules) || ` It has ${rules.join(", ")}.`}`;
}
