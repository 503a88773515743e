// Formats a run as JUnit XML. Each rule and operation that the judge decided is a case. If there is a condition on
// coverage, each operation is also a case.

import { evidenceText, verdictLine } from "../client/verdict-text.ts";
import type { ReceiverCheck, ReportedScenario, ReportedVerdict, RunReport } from "../contracts/run-report.ts";
import type { Verdict } from "../contracts/verdict.ts";
import { grouped } from "../kernel/grouped.ts";
import { plural } from "../kernel/text.ts";
import { checkLine, checkName, problemText, scenarioLine } from "./problem-text.ts";
import { failsOnScore, failsOnVerdicts } from "./run-data.ts";

export function junit(run: RunReport): string {
  const problems = otherProblems(run);
  const suites = [
    ...(problems.length === 0 ? [] : [suite("problems", run, problems.map(problemCase))]),
    ...(run.scenarios.length === 0 ? [] : [suite("scenarios", run, run.scenarios.map(scenarioCase(run)))]),
    ...(run.checks.length === 0 ? [] : [suite("checks", run, checkCases(run))]),
    suite("verdicts", run, verdictCases(run)),
    ...(run.failOn?.some((condition) => condition.startsWith("uncovered"))
      ? [suite("coverage", run, run.coverage.map(coverageCase))]
      : []),
  ];
  const total = (counted: "tests" | "failures") => suites.reduce((sum, one) => sum + one[counted], 0);
  const totals = { tests: total("tests"), failures: total("failures"), errors: 0, time: 0 };
  const figures = attributes({ name: "merchant-sandbox", ...totals });
  const head = `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${figures}>`;
  return `${[head, ...suites.map(({ text }) => text), "</testsuites>"].join("\n")}\n`;
}

interface Case {
  outcome: "passed" | "failed" | "skipped";
  text: string;
}

function suite(name: string, run: RunReport, cases: readonly Case[]) {
  const of = (outcome: Case["outcome"]) => cases.filter((one) => one.outcome === outcome).length;
  const counts = { tests: cases.length, failures: of("failed"), skipped: of("skipped") };
  const described = {
    name,
    ...counts,
    errors: 0,
    time: 0,
    timestamp: run.sandbox.now.slice(0, 19),
    hostname: "localhost",
  };
  return {
    ...counts,
    text: [`  <testsuite${attributes(described)}>`, ...cases.map(({ text }) => text), "  </testsuite>"].join("\n"),
  };
}

/** The problems that have no case of their own: all except failed verdicts, checks and scenarios. */
function otherProblems(run: RunReport): string[] {
  const isFailed = ({ verdict }: { verdict: Verdict }) => verdict === "fail" && failsOnVerdicts(run);
  const shown = [
    ...run.verdicts.filter(isFailed).map(verdictLine),
    ...run.checks.filter(isFailed).map(checkLine),
    ...run.scenarios.filter((scenario) => failsOnScore(run, scenario)).map(scenarioLine),
  ].map(problemText);
  // A problem may continue after the line, with the number of verdicts that have the same cause.
  return run.problems.filter((problem) => !shown.some((line) => problem.startsWith(line)));
}

function problemCase(problem: string): Case {
  const failure = `      <failure${attributes({ message: problem, type: "problem" })}/>`;
  return testcase("failed", "problems", problem, failure);
}

const skipped = (classname: string, name: string, message: string) =>
  testcase("skipped", classname, name, `      <skipped${attributes({ message })}/>`);

interface Judged {
  classname: string;
  name: string;
  verdict: Verdict;
  message: string;
  /** Whether the result fails the report. */
  isFailure: boolean;
  type: string;
  shown: readonly string[];
}

/**
 * An inconclusive verdict becomes a skipped case. So does a failure that no condition of `--fail-on` covers, because it
 * does not fail the run.
 */
function judgedCase({ classname, name, verdict, message, isFailure, type, shown }: Judged): Case {
  if (!isFailure && verdict === "pass") return testcase("passed", classname, name);
  if (!isFailure && verdict === "inconclusive") return skipped(classname, name, message);
  if (!isFailure) return skipped(classname, name, `Failed, but --fail-on allows it: ${message}`);
  const failure = `      <failure${attributes({ message, type })}>${escapeXml(shown.join("\n"))}</failure>`;
  return testcase("failed", classname, name, failure);
}

const scenarioCase =
  (run: RunReport) =>
  (scenario: ReportedScenario): Case => {
    const { name, merchant, title, verdict, message, expectations } = scenario;
    const shown = [
      title,
      ...expectations.map(({ rule, points, score, verdict: came }) => `${rule} ${came}, ${score} of ${points}`),
    ];
    const described = {
      classname: "scenarios",
      name: [name, merchant].filter((part) => part !== null).join(" "),
      type: "scenario",
    };
    return judgedCase({ ...described, verdict, message, isFailure: failsOnScore(run, scenario), shown });
  };

/** One case for each audit and expectation, with its worst results. `run.checks` has the failed ones first. */
function checkCases(run: RunReport): Case[] {
  return [...grouped(run.checks, checkName)].map(([name, same]) => {
    const [{ verdict, message }] = same as [ReceiverCheck];
    const worst = same.filter((check) => check.verdict === verdict);
    const failed = worst.flatMap(({ probes }) => probes.filter((probe) => probe.verdict === "fail"));
    const shown = [
      ...worst.map((check) => check.message),
      ...failed.map(({ probe, did, should, why }) => `${probe}: ${did}; it should ${should}. ${why}`),
    ];
    const isFailure = verdict === "fail" && failsOnVerdicts(run);
    return judgedCase({ classname: "checks", name, verdict, message, isFailure, type: "check", shown });
  });
}

/** The worst verdicts on each rule and operation are one case, so that names are unique and the same in each run. */
function verdictCases(run: RunReport): Case[] {
  const byName = new Map<string, [ReportedVerdict, ...ReportedVerdict[]]>();
  // Failed verdicts come first, then inconclusive ones.
  for (const found of run.verdicts) {
    const name = [found.rule, found.operation].filter((part) => part !== null).join(" ");
    const same = byName.get(name);
    if (!same) byName.set(name, [found]);
    else if (same[0].verdict === found.verdict) same.push(found);
  }
  const cases = [...byName].map(([name, found]) => {
    const [{ verdict, message, hint, severity: type }] = found;
    const shown = [
      hint,
      ...found.flatMap((one) => [...(one.message === message ? [] : [one.message]), evidenceText(one)]),
    ];
    const isFailure = verdict === "fail" && failsOnVerdicts(run);
    return judgedCase({ classname: "verdicts", name, verdict, message, isFailure, type, shown });
  });
  const unchecked = run.unchecked.map((what) => skipped("verdicts", `not checked: ${what}`, `not checked: ${what}`));
  const { notAccepted } = run.totals;
  const failed = `The receiver did not accept ${plural(notAccepted, "webhook")}`;
  return [...cases, ...(notAccepted > 0 ? [skipped("verdicts", "not accepted: webhooks", failed)] : []), ...unchecked];
}

/** An operation that was never called is a skipped case. */
function coverageCase({ area, operation, calls, method, path }: RunReport["coverage"][number]): Case {
  const of = `coverage.${area}`;
  if (calls > 0) return testcase("passed", of, operation);
  return skipped(of, operation, `${method} ${path} was never called`);
}

function testcase(outcome: Case["outcome"], classname: string, name: string, content?: string): Case {
  const head = `    <testcase${attributes({ classname, name, time: 0 })}`;
  return { outcome, text: content === undefined ? `${head}/>` : `${head}>\n${content}\n    </testcase>` };
}

const attributes = (values: Record<string, string | number>) =>
  Object.entries(values)
    .map(([name, value]) => ` ${name}="${escapeXml(String(value))}"`)
    .join("");

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
  "\n": "&#10;",
  "\t": "&#9;",
  "\r": "&#13;",
};

/** XML cannot represent most control characters, so they become U+FFFD. */
export const escapeXml = (text: string) =>
  text
    .toWellFormed()
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to replace.
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd")
    .replace(/[&<>"'\n\t\r]/g, (character) => ENTITIES[character] ?? character);
