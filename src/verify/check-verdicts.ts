// Checks expected verdicts. `verify`, lessons, the scores of scenarios and the `expect` of fault rules all use it.

import { verdictLine } from "../client/verdict-text.ts";
import type { ExpectationOf } from "../contracts/expectations.ts";
import type { ExplainedVerdict, Verdict, VerdictMessage } from "../contracts/verdict.ts";
import { type Count, compareCount, describeCount, matchesWildcard } from "../schema/conditions.ts";
import { type CheckResult, MAX_EVIDENCE, result } from "./check-result.ts";

/** A verdict of the judge, as far as the check depends on it. */
export type CheckedVerdict = ExplainedVerdict & Partial<Pick<VerdictMessage, "merchant" | "id" | "requests" | "fault">>;

/** The result, with the verdicts that it is about. */
export interface VerdictsResult<Found extends CheckedVerdict> extends CheckResult {
  readonly verdicts: readonly Found[];
  readonly counts: Readonly<Record<Verdict, number>>;
}

/**
 * Checks the verdicts on the expected rules, of one merchant or of all. If no verdict is conclusive, the result is
 * inconclusive, even if the expectation is only that none fails. An expectation on the number of inconclusive verdicts
 * is always decided.
 */
export function checkVerdicts<Found extends CheckedVerdict>(
  all: readonly Found[],
  { rules, faults, ...expected }: ExpectationOf<"verdicts">,
  merchant?: string,
): VerdictsResult<Found> {
  const verdicts = all.filter(
    (one) =>
      rules.some((pattern) => matchesWildcard(one.rule, pattern)) &&
      (faults === undefined || faults.includes(one.fault ?? "")) &&
      (merchant === undefined || one.merchant === merchant),
  );
  const number = (verdict: Verdict) => verdicts.filter((one) => one.verdict === verdict).length;
  const counts = { pass: number("pass"), fail: number("fail"), inconclusive: number("inconclusive") };
  const evidence = [...new Set(verdicts.map(({ rule, verdict }) => `${rule} ${verdict}`))];
  return { ...compare(verdicts, counts, rules, expected), found: verdicts.length, evidence, verdicts, counts };
}

function compare(
  verdicts: readonly CheckedVerdict[],
  counts: Record<Verdict, number>,
  rules: readonly string[],
  expected: Partial<Record<Verdict, Count>>,
): CheckResult {
  const limits = Object.keys(expected).length > 0 ? expected : { fail: { exactly: 0 } };
  const text = `${counts.pass} passed, ${counts.fail} failed, ${counts.inconclusive} inconclusive`;
  if (limits.inconclusive === undefined && counts.pass + counts.fail === 0)
    return result("inconclusive", `The judge cannot decide ${rules.join(", ")} yet: ${text}.`, { open: true });
  const compared = (Object.entries(limits) as [Verdict, Count][]).map(
    ([verdict, count]) => [verdict, count, compareCount(count, counts[verdict])] as const,
  );
  const wrong = compared.find(([, , comparison]) => comparison !== "right");
  if (!wrong) return result("pass", `${text}.`);
  const lines = [`${text}; expected ${describeCount(wrong[1])} ${wrong[0]}.`];
  if (wrong[2] === "too many") lines.push(...verdicts.filter(({ verdict }) => verdict === wrong[0]).map(verdictLine));
  const open = compared.every(([, , comparison]) => comparison !== "too many");
  return result("fail", lines.slice(0, MAX_EVIDENCE).join("\n"), { open });
}
