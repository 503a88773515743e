// The conditions of `exec --fail-on`: failed verdicts, missed scores, 5xx responses, and operations or events without coverage.

import type { Scenario } from "../../../generated/control-api.ts";
import { eventTypes } from "../../areas/index.ts";
import { evidenceText } from "../../contracts/verdict.ts";
import { didYouMean } from "../../kernel/did-you-mean.ts";
import { exitCodes, SandboxError } from "../../kernel/errors.ts";
import { operations } from "../../sandbox/engine.ts";
import type { RunningSandbox } from "../remote/running-sandbox.ts";

/** Finds problems of a run, one line each. */
interface FailCondition {
  exitCode: number;
  find(sandbox: RunningSandbox): Promise<string[]>;
}

export interface FailedCondition {
  exitCode: number;
  lines: string[];
}

const verdictsOf = (verdict: "fail" | "inconclusive") => async (sandbox: RunningSandbox) => {
  const { verdicts } = await sandbox.control.verdicts.list({ verdict });
  return verdicts.map(
    ({ rule, says, hint, ...evidence }) => `${rule}: ${says}${verdict === "fail" ? ` ${hint}` : ""} (${evidenceText(evidence)})`,
  );
};

const conditions: Record<string, FailCondition> = {
  verdicts: { exitCode: exitCodes.verdict, find: verdictsOf("fail") },
  inconclusive: { exitCode: exitCodes.inconclusive, find: verdictsOf("inconclusive") },
  "5xx": {
    exitCode: exitCodes.verdict,
    find: find5xx,
  },
};

/** Lists requests from the log; if the run is so long that the log has dropped them, counts per operation. */
async function find5xx(sandbox: RunningSandbox): Promise<string[]> {
  const { data } = await sandbox.control.requests.list({ status: "5xx", limit: 100 });
  if (data.length > 0) return data.map(({ id, method, path, status }) => `${id} ${method} ${path} was answered ${status}`);
  const operations = await sandbox.control.operations();
  return operations.data.flatMap(({ id, byStatus }) =>
    Object.entries(byStatus)
      .filter(([status]) => status.startsWith("5"))
      .map(([status, calls]) => `${id} was answered ${status} ×${calls}`),
  );
}

const SYNTAX =
  "verdicts, inconclusive, 5xx, score, score=N, uncovered, uncovered=N, and uncovered=NAME,NAME with operations and event types";

/** Commas separate conditions, and also the names after `uncovered=`. */
export function readConditions(text: string | undefined): FailCondition[] {
  const found: FailCondition[] = [];
  let names: string[] | undefined;
  for (const word of text?.split(",") ?? []) {
    const condition = Object.hasOwn(conditions, word) ? conditions[word] : undefined;
    if (condition) {
      found.push(condition);
      names = undefined;
    } else if (/^(uncovered|score)(=\d+)?$/.test(word)) {
      const [what, number] = word.split("=");
      found.push(what === "score" ? minimumScore(number) : maximumUncovered(Number(number ?? 0)));
      names = undefined;
    } else if (names) names.push(known(word));
    else {
      if (!word.startsWith("uncovered="))
        throw new SandboxError(
          `--fail-on has no condition "${word}".${didYouMean(word, [...Object.keys(conditions), "score", "uncovered"])} It takes ${SYNTAX}.`,
          "usage",
        );
      names = [known(word.slice("uncovered=".length))];
      found.push(allCovered(names));
    }
  }
  return found;
}

/** The problems of a run, those with the lowest exit code first: a failure takes precedence over an inconclusive result. */
export async function findProblems(wanted: readonly FailCondition[], sandbox: RunningSandbox): Promise<FailedCondition[]> {
  const problems: FailedCondition[] = [];
  for (const { exitCode, find } of wanted) {
    const lines = await find(sandbox);
    if (lines.length > 0) problems.push({ exitCode, lines });
  }
  return problems.sort((one, other) => one.exitCode - other.exitCode);
}

function known(name: string): string {
  const names = [...operations, ...eventTypes];
  if (names.includes(name)) return name;
  throw new SandboxError(
    `--fail-on uncovered names "${name}", which is neither an operation nor an event.${didYouMean(name, names)}`,
    "usage",
  );
}

/** Requires this score in each armed scenario; without a number, the verdict must be pass. */
function minimumScore(least: string | undefined): FailCondition {
  return {
    exitCode: exitCodes.verdict,
    async find(sandbox) {
      const { data } = await sandbox.control.scenarios.list();
      const armed = data.filter((scenario) => scenario.armed);
      if (armed.length === 0) return ["No scenario is armed, so there is no score: arm one with --scenario <name>"];
      const isMissed = ({ verdict, score }: Scenario) => (least === undefined ? verdict !== "pass" : score < Number(least));
      return armed
        .filter(isMissed)
        .map(({ name, says }) => `${name}: ${says}${least === undefined ? "" : ` At least ${least} points are required.`}`);
    },
  };
}

function maximumUncovered(most: number): FailCondition {
  return {
    exitCode: exitCodes.verdict,
    async find(sandbox) {
      const { data } = await sandbox.control.operations();
      const never = data.filter(({ calls }) => calls === 0).map(({ id }) => id);
      if (never.length <= most) return [];
      return [`${never.length} of ${data.length} operations were never called, and at most ${most} are allowed: ${never.join(", ")}`];
    },
  };
}

function allCovered(names: readonly string[]): FailCondition {
  return {
    exitCode: exitCodes.verdict,
    async find(sandbox) {
      const { data, events } = await sandbox.control.operations();
      const called = new Set(data.filter(({ calls }) => calls > 0).map(({ id }) => id));
      const sent = new Set(events.filter(({ emitted }) => emitted > 0).map(({ type }) => type));
      return names
        .filter((name) => !called.has(name) && !sent.has(name))
        .map((name) => (eventTypes.has(name) ? `No ${name} event was sent` : `${name} was never called`));
    },
  };
}
