// Formats a run as JUnit XML: a case for each verdict and for each operation of the service.

import type { ReportedScenario, ReportedVerdict, RunReport } from "../contracts/run-report.ts";
import { evidenceText } from "../contracts/verdict.ts";
import { countsAsFailure } from "./run-data.ts";

export function junit(run: RunReport): string {
  const suites = [
    ...(run.problems.length === 0 ? [] : [suite("problems", run, run.problems.map(problemCase))]),
    ...(run.scenarios.length === 0 ? [] : [suite("scenarios", run, run.scenarios.map(scenarioCase(run)))]),
    suite("verdicts", run, run.verdicts.map(verdictCase(run))),
    suite("coverage", run, run.coverage.map(coverageCase)),
  ];
  const { tests, failures } = total(suites);
  const head = `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${attributes({ name: "merchant-sandbox", tests, failures, errors: 0, time: 0 })}>`;
  return `${[head, ...suites.map(({ text }) => text), "</testsuites>"].join("\n")}\n`;
}

interface Case {
  outcome: "passed" | "failed" | "skipped";
  text: string;
}

type Suite = ReturnType<typeof suite>;

const total = (suites: readonly Suite[]) => ({
  tests: suites.reduce((sum, { tests }) => sum + tests, 0),
  failures: suites.reduce((sum, { failures }) => sum + failures, 0),
});

function suite(name: string, run: RunReport, cases: readonly Case[]) {
  const of = (outcome: Case["outcome"]) => cases.filter((one) => one.outcome === outcome).length;
  const counts = { tests: cases.length, failures: of("failed"), skipped: of("skipped") };
  const described = { name, ...counts, errors: 0, time: 0, timestamp: run.sandbox.now.slice(0, 19), hostname: "localhost" };
  return { ...counts, text: [`  <testsuite${attributes(described)}>`, ...cases.map(({ text }) => text), "  </testsuite>"].join("\n") };
}

function problemCase(problem: string, index: number): Case {
  const failure = `      <failure${attributes({ message: problem, type: "problem" })}/>`;
  return testcase("failed", "problems", `problem ${index + 1}`, failure);
}

const skipped = (classname: string, name: string, message: string) =>
  testcase("skipped", classname, name, `      <skipped${attributes({ message })}/>`);

/** A failure that does not fail the run, because `--fail-on` does not name it, is a skipped case too. */
const tolerated = (condition: string, says: string) => `Failed, but the run does not fail on ${condition}: ${says}`;

/** An inconclusive verdict is a skipped case. */
const scenarioCase =
  (run: RunReport) =>
  (scenario: ReportedScenario): Case => {
    const { name, merchant, title, verdict, says, expectations } = scenario;
    const named = [name, merchant].filter((part) => part !== null).join(" ");
    if (verdict === "pass") return testcase("passed", "scenarios", named);
    if (verdict === "inconclusive") return skipped("scenarios", named, says);
    if (!countsAsFailure(run, "score")) return skipped("scenarios", named, tolerated("score", says));
    const shown = [title, ...expectations.map(({ rule, points, earned, verdict: came }) => `${rule} ${came}, ${earned} of ${points}`)];
    const failure = `      <failure${attributes({ message: says, type: "scenario" })}>${escapeXml(shown.join("\n"))}</failure>`;
    return testcase("failed", "scenarios", named, failure);
  };

const verdictCase =
  (run: RunReport) =>
  (verdict: ReportedVerdict): Case => {
    const { id, rule, says, hint, severity, operation } = verdict;
    const name = [rule, operation, id].filter((part) => part !== null).join(" ");
    if (verdict.verdict === "pass") return testcase("passed", "verdicts", name);
    if (verdict.verdict === "inconclusive") return skipped("verdicts", name, says);
    if (!countsAsFailure(run, "verdicts")) return skipped("verdicts", name, tolerated("verdicts", says));
    const shown = [hint, evidenceText(verdict)].join("\n");
    return testcase(
      "failed",
      "verdicts",
      name,
      `      <failure${attributes({ message: says, type: severity })}>${escapeXml(shown)}</failure>`,
    );
  };

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
