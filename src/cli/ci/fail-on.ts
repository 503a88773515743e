// What makes a run fail although its command succeeded: verdicts of the judge, points missed, answers 5xx, and what was never touched.

import { eventTypes } from "../../areas/index.ts";
import type { Scenario } from "../../client/control-plane.generated.ts";
import { didYouMean } from "../../kernel/did-you-mean.ts";
import { exitCodes, SandboxError } from "../../kernel/errors.ts";
import { operations } from "../../sandbox/engine.ts";
import type { Running } from "../remote/running-sandbox.ts";

/** Looks at a run; says what is wrong with it, a line each. */
interface Condition {
  exitCode: number;
  find(sandbox: Running): Promise<string[]>;
}

export interface Finding {
  exitCode: number;
  lines: string[];
}

const verdictsOf = (verdict: "fail" | "inconclusive") => async (sandbox: Running) => {
  const { verdicts } = await sandbox.control.verdicts.list({ verdict });
  return verdicts.map(({ rule, says, hint }) => `${rule}: ${says}${verdict === "fail" ? ` ${hint}` : ""}`);
};

const conditions: Record<string, Condition> = {
  verdicts: { exitCode: exitCodes.verdict, find: verdictsOf("fail") },
  inconclusive: { exitCode: exitCodes.inconclusive, find: verdictsOf("inconclusive") },
  "5xx": {
    exitCode: exitCodes.verdict,
    find: findBroken,
  },
};

/** The newest as requests; of a run so long that those are forgotten, what the counts of each operation still know. */
async function findBroken(sandbox: Running): Promise<string[]> {
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
  "verdicts, inconclusive, 5xx, score, score=N, uncovered, uncovered=N, and uncovered=NAME,NAME with operations and types of events";

/** Names that follow `uncovered=` belong to it until a condition follows. */
export function readConditions(text: string | undefined): Condition[] {
  const found: Condition[] = [];
  let names: string[] | undefined;
  for (const word of text?.split(",") ?? []) {
    const condition = Object.hasOwn(conditions, word) ? conditions[word] : undefined;
    if (condition) {
      found.push(condition);
      names = undefined;
    } else if (/^(uncovered|score)(=\d+)?$/.test(word)) {
      const [what, number] = word.split("=");
      found.push(what === "score" ? leastScore(number) : mostUncovered(Number(number ?? 0)));
      names = undefined;
    } else if (names) names.push(known(word));
    else {
      if (!word.startsWith("uncovered="))
        throw new SandboxError(
          `--fail-on knows no "${word}".${didYouMean(word, [...Object.keys(conditions), "score", "uncovered"])} It takes ${SYNTAX}.`,
          "usage",
        );
      names = [known(word.slice("uncovered=".length))];
      found.push(allCovered(names));
    }
  }
  return found;
}

/** The worst first: a verdict that failed says more than one that cannot be told. */
export async function findWrong(wanted: readonly Condition[], sandbox: Running): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { exitCode, find } of wanted) {
    const lines = await find(sandbox);
    if (lines.length > 0) findings.push({ exitCode, lines });
  }
  return findings.sort((one, other) => one.exitCode - other.exitCode);
}

function known(name: string): string {
  const names = [...operations, ...eventTypes];
  if (names.includes(name)) return name;
  throw new SandboxError(`--fail-on uncovered names "${name}", which is no operation and no event.${didYouMean(name, names)}`, "usage");
}

/** So many points in each scenario that is armed; where no number is given, all there are and nothing left open. */
function leastScore(least: string | undefined): Condition {
  return {
    exitCode: exitCodes.verdict,
    async find(sandbox) {
      const { data } = await sandbox.control.scenarios.list();
      const armed = data.filter((scenario) => scenario.armed);
      if (armed.length === 0) return ["No scenario is armed that could have a score: arm one with --scenario <name>"];
      const isMissed = ({ verdict, score }: Scenario) => (least === undefined ? verdict !== "pass" : score < Number(least));
      return armed
        .filter(isMissed)
        .map(({ name, says }) => `${name}: ${says}${least === undefined ? "" : ` At least ${least} were asked for.`}`);
    },
  };
}

function mostUncovered(most: number): Condition {
  return {
    exitCode: exitCodes.verdict,
    async find(sandbox) {
      const { data } = await sandbox.control.operations();
      const never = data.filter(({ calls }) => calls === 0).map(({ id }) => id);
      if (never.length <= most) return [];
      return [`${never.length} of ${data.length} operations were never called, and at most ${most} may be: ${never.join(", ")}`];
    },
  };
}

function allCovered(names: readonly string[]): Condition {
  return {
    exitCode: exitCodes.verdict,
    async find(sandbox) {
      const { data, events } = await sandbox.control.operations();
      const called = new Set(data.filter(({ calls }) => calls > 0).map(({ id }) => id));
      const sent = new Set(events.filter(({ emitted }) => emitted > 0).map(({ type }) => type));
      return names
        .filter((name) => !called.has(name) && !sent.has(name))
        .map((name) => (eventTypes.has(name) ? `No event ${name} was sent` : `${name} was never called`));
    },
  };
}
