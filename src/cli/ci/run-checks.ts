// The checks of `exec` after a run: finds problems by the conditions of --fail-on, and writes the reports of --report.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { ControlApi } from "../../../generated/control-api.ts";
import { eventTypes } from "../../areas/index.ts";
import { REPORT_FORMATS, type ReportFormat } from "../../contracts/run-report.ts";
import { evidenceText } from "../../contracts/verdict.ts";
import { didYouMean } from "../../kernel/did-you-mean.ts";
import { exitCodes, SandboxError, usageError } from "../../kernel/errors.ts";
import { operations } from "../../sandbox/engine.ts";
import type { RunningSandbox } from "../remote/running-sandbox.ts";

/** A condition of --fail-on. Returns one line per problem. */
interface FailCondition {
  exitCode: number;
  find(control: ControlApi): Promise<string[]>;
}

export interface FailedCondition {
  exitCode: number;
  lines: string[];
}

const condition = (find: FailCondition["find"], exitCode: number = exitCodes.verdict): FailCondition => ({ exitCode, find });

async function verdictLines(control: ControlApi, verdict: "fail" | "inconclusive"): Promise<string[]> {
  const { verdicts } = await control.verdicts.list({ verdict });
  return verdicts.map(
    ({ rule, says, hint, ...evidence }) => `${rule}: ${says}${verdict === "fail" ? ` ${hint}` : ""} (${evidenceText(evidence)})`,
  );
}

const simpleConditions: Readonly<Record<string, FailCondition>> = {
  verdicts: condition((control) => verdictLines(control, "fail")),
  inconclusive: condition((control) => verdictLines(control, "inconclusive"), exitCodes.inconclusive),
  "5xx": condition(find5xx),
  ignored: condition(findIgnored),
  score: minimumScore(undefined),
  uncovered: maximumUncovered(0),
};

/** Lists requests with 5xx from the log. If the log has dropped them, counts them per operation. */
async function find5xx(control: ControlApi): Promise<string[]> {
  const { data } = await control.requests.list({ status: "5xx", limit: 100 });
  if (data.length > 0) return data.map(({ id, method, path, status }) => `${id} ${method} ${path} was answered ${status}`);
  const { data: operations } = await control.operations();
  return operations.flatMap(({ id, byStatus }) =>
    Object.entries(byStatus)
      .filter(([status]) => status.startsWith("5"))
      .map(([status, calls]) => `${id} was answered ${status} ×${calls}`),
  );
}

async function findIgnored(control: ControlApi): Promise<string[]> {
  const { data } = await control.requests.list({ filter: "is:ignored", limit: 100 });
  return data.map(({ id, method, path, ignored }) => `${id} ${method} ${path} sent ${ignored}, which has no effect`);
}

const SYNTAX =
  "verdicts, inconclusive, 5xx, ignored, score, score=N, uncovered, uncovered=N, and uncovered=NAME,NAME with operations and event types";

/** Parses --fail-on. Commas separate conditions, and also the names after `uncovered=`. */
export function readConditions(text: string | undefined): FailCondition[] {
  const found: FailCondition[] = [];
  let names: string[] | undefined;
  for (const word of text?.split(",") ?? []) {
    const [, what, number] = /^(score|uncovered)=(\d+)$/.exec(word) ?? [];
    const simple = Object.hasOwn(simpleConditions, word) ? simpleConditions[word] : undefined;
    const next = what === "score" ? minimumScore(Number(number)) : what === "uncovered" ? maximumUncovered(Number(number)) : simple;
    if (next) {
      found.push(next);
      names = undefined;
    } else if (names) names.push(knownName(word));
    else {
      if (!word.startsWith("uncovered="))
        usageError(`--fail-on has no condition "${word}".${didYouMean(word, Object.keys(simpleConditions))} It takes ${SYNTAX}.`);
      names = [knownName(word.slice("uncovered=".length))];
      found.push(allCovered(names));
    }
  }
  return found;
}

/** The problems of a run, the lowest exit code first, so that a failure takes precedence over an inconclusive result. */
export async function findProblems(wanted: readonly FailCondition[], control: ControlApi): Promise<FailedCondition[]> {
  const problems: FailedCondition[] = [];
  for (const { exitCode, find } of wanted) {
    const lines = await find(control);
    if (lines.length > 0) problems.push({ exitCode, lines });
  }
  return problems.sort((one, other) => one.exitCode - other.exitCode);
}

function knownName(name: string): string {
  const names = [...operations, ...eventTypes];
  if (names.includes(name)) return name;
  usageError(`--fail-on uncovered names "${name}", which is neither an operation nor an event.${didYouMean(name, names)}`);
}

/** Requires this score in each armed scenario (default: the verdict must be pass). */
function minimumScore(least: number | undefined): FailCondition {
  return condition(async (control) => {
    const armed = (await control.scenarios.list()).data.filter((scenario) => scenario.armed);
    if (armed.length === 0) return ["No scenario is armed, so there is no score: arm one with --scenario <name>"];
    const missed = armed.filter(({ verdict, score }) => (least === undefined ? verdict !== "pass" : score < least));
    return missed.map(({ name, says }) => `${name}: ${says}${least === undefined ? "" : ` At least ${least} points are required.`}`);
  });
}

function maximumUncovered(most: number): FailCondition {
  return condition(async (control) => {
    const { data } = await control.operations();
    const never = data.filter(({ calls }) => calls === 0).map(({ id }) => id);
    if (never.length <= most) return [];
    return [`${never.length} of ${data.length} operations were never called, and at most ${most} are allowed: ${never.join(", ")}`];
  });
}

function allCovered(names: readonly string[]): FailCondition {
  return condition(async (control) => {
    const { data, events } = await control.operations();
    const called = new Set(data.filter(({ calls }) => calls > 0).map(({ id }) => id));
    const sent = new Set(events.filter(({ emitted }) => emitted > 0).map(({ type }) => type));
    const missing = names.filter((name) => !called.has(name) && !sent.has(name));
    return missing.map((name) => (eventTypes.has(name) ? `No ${name} event was sent` : `${name} was never called`));
  });
}

export interface RequestedReport {
  format: ReportFormat;
  file: string;
}

/** Parses --report. A comma separates reports only if a format follows, so that file names may contain commas. */
export function readReports(text: string | undefined): RequestedReport[] {
  const parts = text?.split(new RegExp(`,(?=(?:${REPORT_FORMATS.join("|")})=)`)) ?? [];
  return parts.map((part) => {
    const [, format = part, file = ""] = /^([^=]*)=(.*)$/.exec(part) ?? [];
    const known = REPORT_FORMATS.find((name) => name === format);
    if (known !== undefined && file !== "") return { format: known, file: resolve(file) };
    return usageError(
      `--report takes <format>=<file>, with a format of ${REPORT_FORMATS.join(", ")}; received "${part}".${didYouMean(format, REPORT_FORMATS)}`,
    );
  });
}

/** Limits for problems, because they are sent in a URL. */
const MAX_PROBLEMS = 10;
const MAX_PROBLEM = 300;

/** `problems` contains the reasons for the exit code, so that the report fails exactly if the run does. */
export async function writeReport(
  { format, file }: RequestedReport,
  sandbox: RunningSandbox,
  { problems, failOn }: { problems: readonly string[]; failOn: string },
): Promise<void> {
  const lines = problems.slice(0, MAX_PROBLEMS).map((line) => line.replaceAll(/\s+/g, " ").slice(0, MAX_PROBLEM));
  const report: unknown = await sandbox.control.report({ format, failOn, ...(lines.length > 0 ? { problems: lines.join("\n") } : {}) });
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof report === "string" ? report : `${JSON.stringify(report, null, 2)}\n`, { mode: 0o600 });
  } catch (error) {
    throw new SandboxError(`Cannot write the report ${file}: ${(error as Error).message}.`);
  }
}
