// Verdicts of the judge in words, for everything that shows them.

import type { Confirmation, ExplainedVerdict, VerdictCall, VerdictMessage } from "../contracts/verdict.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { matchesWildcard } from "../schema/conditions.ts";

/** The error message for a pattern that matches no rule; undefined if it matches one. */
export function unknownRuleMessage(pattern: string, rules: readonly string[]): string | undefined {
  if (rules.some((rule) => matchesWildcard(rule, pattern))) return undefined;
  return `The judge has no rule ${pattern}.${didYouMean(pattern, rules) || ` It has ${rules.join(", ")}.`}`;
}

const CONFIRMED: Record<Confirmation, string> = {
  database: "confirmed in the database",
  connections: "confirmed by the order on connections",
  time: "confirmed by timing",
};
const MOST_CALLS = 6;

/** `on connection 3 after 12 ms`: where and when a call of a verdict arrived. */
export const whereAndWhen = ({ connection, milliseconds }: VerdictCall) =>
  `on connection ${connection} after ${milliseconds} ms`;

export const confirmationText = ({ confirmedBy }: Pick<VerdictMessage, "confirmedBy">) =>
  confirmedBy === null ? "not confirmed" : CONFIRMED[confirmedBy];

/** The verdict in one line: the rule, the operation, the finding, the fix and the evidence. */
export const verdictLine = ({ rule, operation, verdict, message, hint, ...evidence }: ExplainedVerdict) =>
  `${rule}${operation === null ? "" : ` ${operation}`}: ${message}${verdict === "fail" ? ` ${hint}` : ""} ` +
  `(${evidenceText(evidence)})`;

/**
 * The calls and attempts that show a verdict, and what confirms it, in one line. Shortens many calls to the first ones
 * and the last.
 */
export function evidenceText({
  calls,
  attempts,
  confirmedBy,
}: Pick<VerdictMessage, "calls" | "attempts" | "confirmedBy">): string {
  const shown = calls.map((call) => `${call.request} ${whereAndWhen(call)}`);
  const omitted = shown.length - MOST_CALLS;
  if (omitted > 0) shown.splice(MOST_CALLS - 1, omitted, `${omitted} more calls`);
  return `${[...shown, ...attempts].join(", ")}; ${confirmationText({ confirmedBy })}`;
}
