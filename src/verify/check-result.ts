// The result of checking one expectation once: whether it holds now, the evidence, and whether waiting could still change it.

import type { Expectation, NearMiss, VerificationResult } from "../contracts/expectations.ts";
import type { Verdict } from "../contracts/verdict.ts";
import { type Count, compareCount, describeCount } from "../schema/conditions.ts";

export interface CheckResult extends Omit<VerificationResult, "expectation"> {
  /** Whether the expectation can still come to hold. */
  open: boolean;
}

export type ExpectationOf<Kind extends keyof Expectation> = NonNullable<Expectation[Kind]>;

/** Checks one expectation. `elapsed` is the real time in milliseconds since verification began. */
export type Check = (elapsed: number) => CheckResult;

export const MAX_EVIDENCE = 20;
const AT_LEAST_ONCE: Count = { atLeast: 1 };

export const result = (verdict: Verdict, message: string, rest: Partial<CheckResult> = {}): CheckResult => ({
  verdict,
  message,
  found: 0,
  evidence: [],
  closest: [],
  open: false,
  ...rest,
});

/** Compares the number of ids found with the expected count. */
export function resultOfCount(
  ids: readonly string[],
  count: Count = AT_LEAST_ONCE,
  [singular, plural]: readonly [singular: string, plural: string],
  closest: () => NearMiss[] = () => [],
): CheckResult {
  const compared = compareCount(count, ids.length);
  const seen = { found: ids.length, evidence: ids.slice(-MAX_EVIDENCE) };
  const matched = `${ids.length} ${ids.length === 1 ? singular : plural} matched`;
  const were = count.exactly === 1 ? "was" : "were";
  if (compared === "right") return result("pass", `${matched}, and ${describeCount(count)} ${were} wanted.`, seen);
  const isMissing = compared === "too few";
  const message = `${matched}; ${describeCount(count)} ${were} wanted.`;
  return result("fail", message, { ...seen, closest: isMissing ? closest() : [], open: isMissing });
}
