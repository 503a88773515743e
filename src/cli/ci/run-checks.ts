// The checks of `exec`: observes a run, finds its problems by the conditions of --fail-on, and writes the reports of
// --report.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { ControlApi, RunReport, Verdict } from "../../../generated/control-api.ts";
import { eventTypes } from "../../areas/index.ts";
import { verdictLine } from "../../client/verdict-text.ts";
import { REPORT_FORMATS } from "../../contracts/run-report.ts";
import { apiActions } from "../../faults/api-actions.ts";
import { didYouMean } from "../../kernel/did-you-mean.ts";
import { exitCodes, SandboxError, usageError } from "../../kernel/errors.ts";
import { grouped } from "../../kernel/grouped.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import { plural } from "../../kernel/text.ts";
import { checkLine, problemText, scenarioLine } from "../../report/problem-text.ts";
import type { Sandbox } from "../../sandbox/create.ts";
import { operations } from "../../sandbox/engine.ts";
import type { RunningSandbox } from "../remote/running-sandbox.ts";
import { type FailedWebhooks, failedWebhookLines, observeAttempt } from "./failed-webhooks.ts";

/** A condition of --fail-on. Returns one line per problem. */
interface FailCondition {
  exitCode: number;
  find(control: ControlApi, run: ObservedRun): Promise<string[]>;
}

/** The activity of a run, including what its tests reset or removed. Each list has a line for each request. */
export interface ObservedRun {
  requests: number;
  attempts: number;
  /** The number of requests that a client may retry: requests with a 429, a 5xx or a fault. */
  retryable: number;
  /** The responses with 5xx that no fault affected. */
  serverErrors: string[];
  /** The requests with input that had no effect. */
  ignored: string[];
  failedWebhooks: FailedWebhooks;
}

const MAX_LINES = 1_000;

export function observeRun(sandbox: Pick<Sandbox, "onLiveEvent">): ObservedRun {
  const run: ObservedRun = {
    requests: 0,
    attempts: 0,
    retryable: 0,
    serverErrors: [],
    ignored: [],
    failedWebhooks: new Map(),
  };
  const add = (lines: string[], line: string) => {
    if (lines.length < MAX_LINES) lines.push(line);
  };
  sandbox.onLiveEvent((event) => {
    if (event.kind === "attempt") {
      run.attempts++;
      observeAttempt(run.failedWebhooks, event.attempt, MAX_LINES);
    }
    if (event.kind !== "request") return;
    run.requests++;
    const { id, method, path, status, fault, ignored } = event.request;
    if (status >= 500 || status === 429 || fault !== null) run.retryable++;
    if (status >= 500 && fault === null) add(run.serverErrors, `${id} ${method} ${path} got ${status}`);
    if (ignored !== null) add(run.ignored, `${id} ${method} ${path} sent ${ignored}, which has no effect`);
  });
  return run;
}

const condition = (find: FailCondition["find"], exitCode: number = exitCodes.verdict): FailCondition => ({
  exitCode,
  find,
});

/** Lists verdicts, including those that a reset erased, and the results of audits and of expectations of effects. */
const verdictLines = async (control: ControlApi, verdict: "fail" | "inconclusive") => {
  const { data } = await control.verdicts.list({ verdict, erased: "1" });
  // Each cause gets one line. A wrong secret, for example, fails a rule at each delivery.
  const lines = [...grouped(data, causeOf).values()].map(([first, ...others]) => {
    const line = verdictLine(first as Verdict);
    return others.length === 0 ? line : `${line} And ${plural(others.length, "more verdict")} like it.`;
  });
  const { checks } = await reportOf(control);
  return [...lines, ...new Set(checks.filter((check) => check.verdict === verdict).map(checkLine))];
};

const reportOf = async (control: ControlApi) => (await control.report({ format: "json", failOn: "" })) as RunReport;

/** Verdicts that differ only in ids, numbers and event types have the same cause. */
const causeOf = ({ rule, operation, message, hint }: Verdict) =>
  [rule, operation, message.replace(VARYING, "…"), hint].join(" ");

const VARYING = /\b[a-z]{2,4}_\w+|(?<!got an? )\b\d+\b|(?<=\()[a-z_]+\.[a-z_]+(?=\))/g;

const simpleConditions: Readonly<Record<string, FailCondition>> = {
  verdicts: condition((control) => verdictLines(control, "fail")),
  inconclusive: condition((control) => verdictLines(control, "inconclusive"), exitCodes.inconclusive),
  "5xx": condition(async (_, { serverErrors }) => serverErrors),
  ignored: condition(async (_, { ignored }) => ignored),
  score: minimumScore(undefined),
  uncovered: maximumUncovered(0),
};

/** The conditions that take a number, as in `score=7`. */
const NUMBERED: Readonly<Record<string, (number: number) => FailCondition>> = {
  score: minimumScore,
  uncovered: maximumUncovered,
};

const SYNTAX =
  "verdicts, inconclusive, 5xx, ignored, score, score=N, uncovered, uncovered=N, and uncovered=NAME,NAME with " +
  "operations and event types";

/** Parses --fail-on. Commas separate conditions, and also the names after `uncovered=`. */
export function readConditions(text: string | undefined): FailCondition[] {
  const found: FailCondition[] = [];
  let names: string[] | undefined;
  for (const word of text?.split(",") ?? []) {
    const [, what, number] = /^(score|uncovered)=(\d+)$/.exec(word) ?? [];
    const simple = Object.hasOwn(simpleConditions, word) ? simpleConditions[word] : undefined;
    const next = what === undefined ? simple : NUMBERED[what]?.(Number(number));
    if (next) {
      found.push(next);
      names = undefined;
    } else if (names) names.push(knownName(word));
    else {
      if (!word.startsWith("uncovered="))
        usageError(
          `--fail-on has no condition "${word}".${didYouMean(word, Object.keys(simpleConditions))} It takes ${SYNTAX}.`,
        );
      names = [knownName(word.slice("uncovered=".length))];
      found.push(allCovered(names));
    }
  }
  return found;
}

/**
 * The problems of a run, the lowest exit code first, so that a failure takes precedence over an inconclusive result. If
 * the run had no requests and no webhooks, no condition has anything to check, so that is the only problem.
 */
export async function findProblems(wanted: readonly FailCondition[], control: ControlApi, run: ObservedRun) {
  const unused = wanted.length > 0 ? await findUnused(control, run) : [];
  if (unused.length > 0) return [{ exitCode: exitCodes.inconclusive, lines: unused }];
  const problems: { exitCode: number; lines: string[] }[] = [];
  for (const { exitCode, find } of wanted.length > 0 ? [...wanted, condition(findOpen, exitCodes.inconclusive)] : []) {
    const lines = await find(control, run);
    if (lines.length > 0) problems.push({ exitCode, lines });
  }
  return problems.sort((one, other) => one.exitCode - other.exitCode);
}

/** Explains why there is nothing to check. Empty if the run used this sandbox, or one that a test created. */
async function findUnused(control: ControlApi, { requests, attempts }: ObservedRun): Promise<string[]> {
  if (requests > 0 || attempts > 0) return [];
  const { added, checks, sandbox } = await reportOf(control);
  if (checks.length > 0 || added.some((other) => other.requests !== 0)) return [];
  const advice =
    "Check that the command ran tests, and that the client under test sends its requests to MERCHANT_BASE_URL";
  return [
    `No request arrived and no webhook was sent, so nothing was checked. ${advice}, which was ${sandbox.url}/v1.`,
  ];
}

/** Reports sandboxes that tests created and left open, because their verdicts are missing. */
async function findOpen(control: ControlApi): Promise<string[]> {
  const { added } = await reportOf(control);
  const open = added.filter(({ requests }) => requests === null).map(({ sandbox }) => sandbox);
  return open.length === 0
    ? []
    : [
        `Tests left their own sandboxes open, so these were not checked: ${open.join(", ")}. ` +
          "Await close() of each, or stop it.",
      ];
}

/**
 * Warns about what a run without problems did not check. If the command failed, warns only about gaps that may be the
 * reason.
 */
export async function findWarnings(
  { failOn, isGreen }: { failOn: string; isGreen: boolean },
  control: ControlApi,
  run: ObservedRun,
): Promise<string[]> {
  if (failOn !== "" && !failOn.split(",").includes("verdicts")) return [];
  const unused = failOn === "" ? [...(await findUnused(control, run)), ...(await findOpen(control))] : [];
  const failed = failedWebhookLines(run.failedWebhooks);
  if (!isGreen) return [...unused, ...failed];
  const untested = failOn === "" ? [] : await findUntested(control, run);
  return [...unused, ...untested, ...failed, ...(await findUnchecked(control))];
}

async function findUnchecked(control: ControlApi): Promise<string[]> {
  const { unchecked } = await reportOf(control);
  if (!unchecked.includes("whether it acted once")) return [];
  return [
    `Not checked about the webhook receiver: ${unchecked.join(", ")}. Run ${PROGRAM} audit <url> --effects ` +
      "<command>, or use an expectation of effects, to check whether it acted once; audit --max-age checks old events.",
  ];
}

async function findUntested(control: ControlApi, run: ObservedRun): Promise<string[]> {
  if (run.retryable > 0) return [];
  const { added } = await reportOf(control);
  // A test's own sandbox does not report whether its calls could be retried, so its presence prevents this warning.
  if (added.some(({ requests }) => requests !== 0)) return [];
  const { data } = await control.scenarios.list();
  const armed = data.filter((scenario) => scenario.armed && scenario.faults.some(isOnCalls)).map(({ name }) => name);
  const why = armed.length === 0 ? "add --scenario lost-response to test them" : `no call met ${armed.join(", ")}`;
  return [`No call got a 429, a 5xx or a fault, so the client's retries were not tested: ${why}.`];
}

const CALL_ACTIONS: ReadonlySet<unknown> = new Set(apiActions.map(({ type }) => type));

const isOnCalls = ({ action }: Record<string, unknown>) => CALL_ACTIONS.has((action as { type: unknown }).type);

function knownName(name: string): string {
  const names = [...operations, ...eventTypes];
  if (names.includes(name)) return name;
  usageError(
    `--fail-on uncovered names "${name}", which is neither an operation nor an event.${didYouMean(name, names)}`,
  );
}

/** Requires this score in each armed scenario (default: the verdict must be pass). */
function minimumScore(least: number | undefined): FailCondition {
  return condition(async (control) => {
    const { scenarios } = await reportOf(control);
    if (scenarios.length === 0) return ["No scenario is armed, so there is no score: arm one with --scenario <name>"];
    const missed = scenarios.filter(({ verdict, score }) => (least === undefined ? verdict !== "pass" : score < least));
    const required = least === undefined ? "" : ` At least ${least} points are required.`;
    return missed.map((scenario) => scenarioLine(scenario) + required);
  });
}

function maximumUncovered(most: number): FailCondition {
  return condition(async (control) => {
    const { data } = await control.operations({ erased: "1" });
    const never = data.filter(({ calls }) => calls === 0).map(({ id }) => id);
    if (never.length <= most) return [];
    return [
      `${never.length} of ${data.length} operations were never called, and at most ${most} are allowed: ` +
        `${never.join(", ")}`,
    ];
  });
}

function allCovered(names: readonly string[]): FailCondition {
  return condition(async (control) => {
    const { data, events } = await control.operations({ erased: "1" });
    const called = new Set(data.filter(({ calls }) => calls > 0).map(({ id }) => id));
    const sent = new Set(events.filter(({ emitted }) => emitted > 0).map(({ type }) => type));
    const missing = names.filter((name) => !called.has(name) && !sent.has(name));
    return missing.map((name) => (eventTypes.has(name) ? `No ${name} event was sent` : `${name} was never called`));
  });
}

const EXTENSIONS: Readonly<Record<(typeof REPORT_FORMATS)[number], string>> = {
  json: "json",
  junit: "xml",
  markdown: "md",
  html: "html",
  har: "har",
};

/** Parses --report. A comma separates reports only if a format follows, so that file names may contain commas. */
export function readReports(text: string | undefined) {
  const parts = text?.split(new RegExp(`,(?=(?:${REPORT_FORMATS.join("|")})=)`)) ?? [];
  return parts.map((part) => {
    const [, format = part, file = ""] = /^([^=]*)=(.*)$/.exec(part) ?? [];
    const known = REPORT_FORMATS.find((name) => name === format);
    if (known !== undefined && file !== "") return { format: known, file: resolve(file) };
    if (known !== undefined)
      usageError(`--report ${part} names no file, as in --report ${known}=report.${EXTENSIONS[known]}.`);
    return usageError(
      `--report takes <format>=<file>, with a format of ${REPORT_FORMATS.join(", ")}; ` +
        `received "${part}".${didYouMean(format, REPORT_FORMATS)}`,
    );
  });
}

/** Limits the length of the URL in which the problems are sent. */
const MAX_PROBLEMS = 10;

/** Writes a report. `problems` has the reasons for the exit code, so that the report fails exactly if the run does. */
export async function writeReport(
  { format, file }: ReturnType<typeof readReports>[number],
  sandbox: RunningSandbox,
  { problems, failOn }: { problems: readonly string[]; failOn: string },
): Promise<void> {
  const lines = problems.slice(0, MAX_PROBLEMS).map(problemText);
  const report: unknown = await sandbox.control.report({
    format,
    failOn,
    ...(lines.length > 0 ? { problems: lines.join("\n") } : {}),
  });
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof report === "string" ? report : `${JSON.stringify(report, null, 2)}\n`);
  } catch (error) {
    throw new SandboxError(`Cannot write the report ${file}: ${(error as Error).message}.`);
  }
}
