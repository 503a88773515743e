// The score of a scenario: each expectation compared with the verdicts of the judge, the points, and the overall verdict.

import type { ScenarioExpectation, ScenarioResult } from "../contracts/scenario.ts";
import { matchesRule, VERDICTS, type Verdict, type VerdictMessage } from "../contracts/verdict.ts";

export interface Score {
  results: ScenarioResult[];
  score: number;
  points: number;
  verdict: Verdict;
  says: string;
}

/** Verdicts shown with each expectation. */
const MAX_SHOWN = 20;
const RANK: Record<Verdict, number> = { fail: 0, inconclusive: 1, pass: 2 };

/** `found` are the verdicts that the scenario's faults led to; `unfired` is how many of its faults have not fired. */
export function score(expected: readonly ScenarioExpectation[], found: readonly VerdictMessage[], unfired: number): Score {
  const results = expected.map((one) => resultOf(one, found));
  const counting = results.filter(counts);
  const earned = sum(counting.map((result) => result.earned));
  const points = sum(counting.map((result) => result.points));
  const verdict = verdictOf(counting, unfired);
  return { results, score: earned, points, verdict, says: `${earned} of ${points} points: ${reasonOf(counting, unfired)}` };
}

function resultOf(expected: ScenarioExpectation, found: readonly VerdictMessage[]): ScenarioResult {
  const about = found.filter(({ rule }) => matchesRule(expected.rule, rule));
  const number = (verdict: Verdict) => about.filter((one) => one.verdict === verdict).length;
  const [pass, fail, inconclusive] = VERDICTS.map(number) as [number, number, number];
  const verdict = fail > 0 ? "fail" : pass > 0 ? "pass" : "inconclusive";
  const verdicts = about.sort((one, other) => RANK[one.verdict] - RANK[other.verdict]).slice(0, MAX_SHOWN);
  return { ...expected, verdict, earned: verdict === "pass" ? expected.points : 0, pass, fail, inconclusive, verdicts };
}

const counts = ({ optional, verdict }: ScenarioResult) => !(optional && verdict === "inconclusive");

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** A scenario passes only if all its faults have fired. */
function verdictOf(results: readonly ScenarioResult[], unfired: number): Verdict {
  if (results.some(({ verdict }) => verdict === "fail")) return "fail";
  return unfired > 0 || results.some(({ verdict }) => verdict === "inconclusive") ? "inconclusive" : "pass";
}

function reasonOf(results: readonly ScenarioResult[], unfired: number): string {
  const rulesThat = (verdict: Verdict) => results.filter((result) => result.verdict === verdict).map(({ rule }) => rule);
  const failed = rulesThat("fail");
  const open = rulesThat("inconclusive");
  const parts = [
    failed.length > 0 ? `${failed.join(", ")} failed` : "",
    open.length > 0 ? `${open.join(", ")} not decided yet` : "",
    unfired > 0 ? `${unfired} of its faults ${unfired === 1 ? "has" : "have"} not fired` : "",
  ].filter((part) => part !== "");
  return `${parts.join("; ") || "everything expected was found"}.`;
}
