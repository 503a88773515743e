// `scenario`: arms, shows, scores and disarms the scenarios of a running sandbox.

import type { ControlApi, FaultRule, Scenario } from "../../../generated/control-api.ts";
import { countInScenario } from "../../client/effects.ts";
import { ACTS_ONCE } from "../../contracts/verdict.ts";
import { usageError, verdictExits } from "../../kernel/errors.ts";
import { PROGRAM } from "../../kernel/program-name.ts";
import type { FlagDefinitions } from "../arguments.ts";
import { type Arguments, commandGroup } from "../command.ts";
import { countWith } from "../process/count-command.ts";
import { linesOf, sandboxCommand } from "../sandbox-command.ts";

const effectsFlag = {
  effects: {
    value: "command",
    description: "a command that prints how often the receiver has acted, such as the number of rows in a table",
    defaultText: "how often it acts is not checked",
  },
};

const eventFlag = {
  event: {
    value: "type",
    description: "the events on which the receiver acts",
    defaultText: "all events, if all have one type",
  },
};

interface OfOne {
  word: string;
  summary: string;
  flags?: FlagDefinitions;
  call(control: ControlApi, armed: { name: string; merchant?: string }, given: Arguments): Promise<Scenario>;
  lines(state: Scenario): readonly string[];
}

/** Creates a subcommand about one scenario. */
const ofOne = ({ word, summary, flags, call, lines }: OfOne) =>
  sandboxCommand({
    summary,
    usage: `scenario ${word} <name>`,
    example: `scenario ${word} lost-response`,
    flags: {
      merchant: { value: "merchant", description: "apply it to this merchant", defaultText: "all merchants" },
      ...flags,
    },
    async call(sandbox, given) {
      const [name = ""] = given.positionals;
      if (/[./\\]/.test(name))
        usageError(`"${name}" is a file. Give it when the sandbox starts: ${PROGRAM} --scenario ${name}.`);
      const merchant = await sandbox.merchantId(given.flags.merchant);
      return call(sandbox.control, { name, ...(merchant !== undefined && { merchant }) }, given);
    },
    lines,
    // A scenario that is not armed counts as inconclusive.
    ...(word === "score" && { exitCode: ({ verdict }: Scenario) => verdictExits[verdict ?? "inconclusive"] }),
  });

/** Arms a scenario. With --effects, first counts the receiver's effects. */
async function start(control: ControlApi, armed: { name: string }, { flags: { effects, event } }: Arguments) {
  if (effects === undefined && event !== undefined)
    usageError("--event names the events that --effects counts: add --effects <command>.");
  const counted = effects === undefined ? {} : { effects: await countWith(effects) };
  return control.scenarios.start({ ...armed, ...counted, ...(event !== undefined && { event }) });
}

/** If --effects is given, counts the effects and passes the count to the scenario. */
async function counted(
  control: ControlApi,
  armed: { name: string; merchant?: string },
  { flags: { effects } }: Arguments,
): Promise<void> {
  if (effects !== undefined) await countInScenario(control, armed, () => countWith(effects));
}

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
    show: ofOne({
      word: "show",
      summary: "describe a scenario, and what it has found so far",
      call: (control, armed) => control.scenarios.get(armed),
      lines: detailLines,
    }),
    start: ofOne({
      word: "start",
      summary: "arm its faults",
      flags: { ...effectsFlag, ...eventFlag },
      call: start,
      lines: (state) => [lineOf(state), state.about],
    }),
    score: ofOne({
      word: "score",
      summary: "score the client or receiver (exit code 3: failed, 4: inconclusive)",
      flags: effectsFlag,
      async call(control, armed, given) {
        await counted(control, armed, given);
        return control.scenarios.get(armed);
      },
      lines: scoreLines,
    }),
    stop: ofOne({
      word: "stop",
      summary: "remove its faults",
      flags: effectsFlag,
      async call(control, armed, given) {
        await counted(control, armed, given);
        return control.scenarios.stop(armed);
      },
      lines: (state) => [lineOf(state)],
    }),
  },
});

function lineOf({ name, title, armed, merchant, verdict, message }: Scenario): string {
  if (verdict === null) return `${name}: ${title}`;
  const whom = merchant === null ? "all merchants" : merchant;
  return `${name} ${armed ? "armed" : "was armed"} for ${whom}: ${verdict}, ${message}`;
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
    return [`${name} is not armed, so it has no score. Arm it with ${PROGRAM} scenario start ${name}.`];
  return [lineOf(state), ...expectations.flatMap(resultLines), ...uncheckedLines(state)];
}

/** Scenarios send no old events, so a receiver that rejects forgeries may still accept old events. */
const uncheckedLines = ({ expectations }: Scenario) =>
  expectations.some(({ rule }) => rule === "webhook.forgery_rejected")
    ? [`  not checked: whether it rejects old events (${PROGRAM} audit <url> --max-age <duration>)`]
    : [];

/** The lines of an expectation, with the first failed verdicts and their hints. */
function resultLines(expectation: Scenario["expectations"][number]): string[] {
  const { rule, points, optional, verdict, score, message, verdicts } = expectation;
  const failed = verdicts.filter((found) => found.verdict === "fail");
  const open = optional && verdict === "inconclusive" ? " (optional, does not count)" : "";
  // Without a count of effects, the expectation that the receiver acts once is not scored.
  const isUnchecked = message.startsWith("not checked");
  const result = isUnchecked ? message : `${score} of ${points}${open}`;
  const isCounted = rule === ACTS_ONCE && !isUnchecked;
  return [
    `  ${verdict} ${rule}: ${result}`,
    ...(isCounted && verdict !== "pass" && failed.length === 0 ? [`    ${message}`] : []),
    ...failed.slice(0, 3).map(({ message, hint }) => `    ${message} ${hint}`),
  ];
}
