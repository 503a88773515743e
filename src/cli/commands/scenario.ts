// `scenario`: arms, shows, scores and disarms the scenarios of a running sandbox.

import type { Verdict } from "../../contracts/expectations.ts";
import type { RuleState } from "../../contracts/fault.ts";
import type { ScenarioResult, ScenarioState } from "../../contracts/scenario.ts";
import { exitCodes, SandboxError } from "../../kernel/errors.ts";
import { escapeControlCharacters } from "../../kernel/escape-control.ts";
import { command, print, subcommandNamed } from "../command.ts";
import { type Running, running, runningFlags } from "../remote/running-sandbox.ts";

type Flags = Record<string, string | undefined>;

export const scenario = command({
  summary: "test a client with scripted faults: scenario start lost-response, run it, scenario score lost-response",
  usage: "scenario [ls | show <name> | start <name> | score <name> | stop <name>]",
  positionals: 2,
  flags: {
    for: { value: "merchant", description: "apply it to this merchant (default: all merchants)" },
    json: { description: "print one JSON object per line" },
    ...runningFlags,
  },
  async run({ flags, positionals: [act = "ls", name] }) {
    return subcommandNamed("scenario", acts, act)(running(flags), name, flags);
  },
});

type Act = (sandbox: Running, name: string | undefined, flags: Flags) => Promise<number | undefined>;

const acts: Record<string, Act> = {
  async ls(sandbox, _, flags) {
    const { data } = await sandbox.control<{ data: ScenarioState[] }>("GET", "/scenarios");
    for (const state of data) print(flags.json === undefined ? line(state) : JSON.stringify(state));
    return undefined;
  },
  async show(sandbox, name, flags) {
    const state = await sandbox.control<ScenarioState>("GET", await pathOf(sandbox, "show", name, flags));
    tell(state, flags, [line(state), "", state.about, "", ...state.faults.map(faultLine), ...state.expectations.flatMap(resultLines)]);
    return undefined;
  },
  async start(sandbox, name, flags) {
    const merchant = await merchantOf(sandbox, flags);
    const state = await sandbox.control<ScenarioState>("POST", pathTo("start", name), merchant === undefined ? {} : { merchant });
    tell(state, flags, [line(state), state.about]);
    return undefined;
  },
  async score(sandbox, name, flags) {
    const state = await sandbox.control<ScenarioState>("GET", await pathOf(sandbox, "score", name, flags));
    tell(state, flags, [line(state), ...state.expectations.flatMap(resultLines)]);
    return codeOf(state.verdict);
  },
  async stop(sandbox, name, flags) {
    const state = await sandbox.control<ScenarioState>("DELETE", await pathOf(sandbox, "stop", name, flags));
    tell(state, flags, [line(state)]);
    return undefined;
  },
};

/** A scenario that is not armed is inconclusive. */
const codeOf = (verdict: Verdict | null) =>
  verdict === "pass" ? exitCodes.ok : verdict === "fail" ? exitCodes.verdict : exitCodes.inconclusive;

function pathTo(act: string, name: string | undefined): string {
  if (name === undefined)
    throw new SandboxError(
      `The scenario is missing: merchant-sandbox scenario ${act} lost-response. List them with merchant-sandbox scenario ls.`,
      "usage",
    );
  if (/[./\\]/.test(name))
    throw new SandboxError(`"${name}" is a file, which only a start can read: merchant-sandbox --scenario ${name}.`, "usage");
  return `/scenarios/${encodeURIComponent(name)}`;
}

async function pathOf(sandbox: Running, act: string, name: string | undefined, flags: Flags): Promise<string> {
  const path = pathTo(act, name);
  const merchant = await merchantOf(sandbox, flags);
  return merchant === undefined ? path : `${path}?${new URLSearchParams({ merchant })}`;
}

const merchantOf = async (sandbox: Running, flags: Flags) => (flags.for === undefined ? undefined : (await sandbox.merchant(flags.for)).id);

function tell(state: ScenarioState, flags: Flags, lines: readonly string[]): void {
  for (const text of flags.json === undefined ? lines : [JSON.stringify(state)]) print(escapeControlCharacters(text));
}

function line({ name, title, armed, merchant, verdict, says }: ScenarioState): string {
  if (verdict === null) return escapeControlCharacters(`${name}: ${title}`);
  const whom = merchant === null ? "all merchants" : merchant;
  return escapeControlCharacters(`${name} ${armed ? "armed" : "was armed"} for ${whom}: ${verdict}, ${says}`);
}

function faultLine(fault: ScenarioState["faults"][number]): string {
  const { action, status, fired } = fault as Partial<RuleState>;
  return `  fault ${action?.type ?? ""}${status === undefined ? "" : `: ${status}, fired ${fired ?? 0}`}`;
}

/** A failed expectation shows its first verdicts, each with a hint. */
function resultLines({ rule, points, optional, verdict, earned, verdicts }: ScenarioResult): string[] {
  const failed = verdicts.filter((found) => found.verdict === "fail");
  const open = optional && verdict === "inconclusive" ? " (optional, does not count)" : "";
  return [`  ${verdict} ${rule}: ${earned} of ${points}${open}`, ...failed.slice(0, 3).map(({ says, hint }) => `    ${says} ${hint}`)];
}
