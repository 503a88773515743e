// `scenario`: arms, shows, scores and disarms the scenarios of a running sandbox.

import type { FaultRule, Scenario } from "../../../generated/control-api.ts";
import { exitCodes, usageError } from "../../kernel/errors.ts";
import { commandGroup } from "../command.ts";
import { linesOf, sandboxCommand } from "../sandbox-command.ts";

/** Creates a subcommand about one scenario. */
const ofOne = (
  word: string,
  summary: string,
  action: "get" | "start" | "stop",
  lines: (state: Scenario) => readonly string[],
) =>
  sandboxCommand({
    summary,
    usage: `scenario ${word} <name>`,
    example: `scenario ${word} lost-response`,
    flags: { for: { value: "merchant", description: "apply it to this merchant", defaultText: "all merchants" } },
    async call(sandbox, { flags, positionals: [name = ""] }) {
      if (/[./\\]/.test(name))
        usageError(`"${name}" is a file, which only a start can read: merchant-sandbox --scenario ${name}.`);
      const merchant = await sandbox.merchantId(flags.for);
      return sandbox.control.scenarios[action]({ name, ...(merchant !== undefined && { merchant }) });
    },
    lines,
    ...(word === "score" && { exitCode: ({ verdict }: Scenario) => codeOf(verdict) }),
  });

export const scenario = commandGroup({
  name: "scenario",
  summary: "test a client with scripted faults: scenario start lost-response, run it, scenario score lost-response",
  default: "ls",
  subcommands: {
    ls: sandboxCommand({
      summary: "list the scenarios (the default)",
      usage: "scenario ls",
      call: ({ control }) => control.scenarios.list(),
      lines: linesOf(lineOf, "No scenarios."),
    }),
    show: ofOne("show", "describe a scenario, and what it has found so far", "get", detailLines),
    start: ofOne("start", "arm its faults", "start", (state) => [lineOf(state), state.about]),
    score: ofOne("score", "score the client (exit code 3: failed, 4: inconclusive)", "get", scoreLines),
    stop: ofOne("stop", "remove its faults", "stop", (state) => [lineOf(state)]),
  },
});

/** The exit code of a verdict. A scenario that is not armed counts as inconclusive. */
function codeOf(verdict: Scenario["verdict"]): number {
  if (verdict === "pass") return exitCodes.ok;
  return verdict === "fail" ? exitCodes.verdict : exitCodes.inconclusive;
}

function lineOf({ name, title, armed, merchant, verdict, says }: Scenario): string {
  if (verdict === null) return `${name}: ${title}`;
  const whom = merchant === null ? "all merchants" : merchant;
  return `${name} ${armed ? "armed" : "was armed"} for ${whom}: ${verdict}, ${says}`;
}

function faultLine(fault: Scenario["faults"][number]): string {
  const { action, status, fired } = fault as Partial<FaultRule>;
  return `  fault ${action?.type ?? ""}${status === undefined ? "" : `: ${status}, fired ${fired ?? 0}`}`;
}

function detailLines(state: Scenario): string[] {
  const { about, verdict, faults, expectations } = state;
  const checks =
    verdict === null
      ? expectations.map(({ rule, points }) => `  ${rule}: ${points} points`)
      : expectations.flatMap(resultLines);
  return [lineOf(state), "", about, "", ...faults.map(faultLine), ...checks];
}

function scoreLines(state: Scenario): string[] {
  const { name, verdict, expectations } = state;
  if (verdict === null)
    return [`${name} is not armed, so it has no score. Arm it with merchant-sandbox scenario start ${name}.`];
  return [lineOf(state), ...expectations.flatMap(resultLines)];
}

/** The lines of an expectation, with the first failed verdicts and their hints. */
function resultLines({
  rule,
  points,
  optional,
  verdict,
  earned,
  verdicts,
}: Scenario["expectations"][number]): string[] {
  const failed = verdicts.filter((found) => found.verdict === "fail");
  const open = optional && verdict === "inconclusive" ? " (optional, does not count)" : "";
  return [
    `  ${verdict} ${rule}: ${earned} of ${points}${open}`,
    ...failed.slice(0, 3).map(({ says, hint }) => `    ${says} ${hint}`),
  ];
}
