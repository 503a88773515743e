// `scenario`: arms, shows, scores and disarms the scenarios of a running sandbox.

import type { FaultRule, Scenario, ScenariosGetInput } from "../../client/control-plane.generated.ts";
import { exitCodes, SandboxError } from "../../kernel/errors.ts";
import type { Flags } from "../arguments.ts";
import { command, subcommandNamed } from "../command.ts";
import { print } from "../output/print.ts";
import { connectionFlags, connectToSandbox, type RunningSandbox } from "../remote/running-sandbox.ts";

export const scenario = command({
  summary: "test a client with scripted faults: scenario start lost-response, run it, scenario score lost-response",
  usage: "scenario [ls | show <name> | start <name> | score <name> | stop <name>]",
  positionals: 2,
  flags: {
    for: { value: "merchant", description: "apply it to this merchant (default: all merchants)" },
    json: { description: "print one JSON object per line" },
    ...connectionFlags,
  },
  async run({ flags, positionals: [act = "ls", name] }) {
    return subcommandNamed("scenario", acts, act)(connectToSandbox(flags), name, flags);
  },
});

type Act = (sandbox: RunningSandbox, name: string | undefined, flags: Flags) => Promise<number | undefined>;

const acts: Record<string, Act> = {
  async ls(sandbox, _, flags) {
    const { data } = await sandbox.control.scenarios.list();
    for (const state of data) print(flags.json === undefined ? line(state) : JSON.stringify(state));
    return undefined;
  },
  async show(sandbox, name, flags) {
    const state = await sandbox.control.scenarios.get(await armedScenario(sandbox, "show", name, flags));
    tell(state, flags, [line(state), "", state.about, "", ...state.faults.map(faultLine), ...state.expectations.flatMap(resultLines)]);
    return undefined;
  },
  async start(sandbox, name, flags) {
    const state = await sandbox.control.scenarios.start(await armedScenario(sandbox, "start", name, flags));
    tell(state, flags, [line(state), state.about]);
    return undefined;
  },
  async score(sandbox, name, flags) {
    const state = await sandbox.control.scenarios.get(await armedScenario(sandbox, "score", name, flags));
    tell(state, flags, [line(state), ...state.expectations.flatMap(resultLines)]);
    return codeOf(state.verdict);
  },
  async stop(sandbox, name, flags) {
    const state = await sandbox.control.scenarios.stop(await armedScenario(sandbox, "stop", name, flags));
    tell(state, flags, [line(state)]);
    return undefined;
  },
};

/** A scenario that is not armed is inconclusive. */
const codeOf = (verdict: Scenario["verdict"]) =>
  verdict === "pass" ? exitCodes.ok : verdict === "fail" ? exitCodes.verdict : exitCodes.inconclusive;

/** The scenario a command names, and the merchant it is armed for. */
async function armedScenario(sandbox: RunningSandbox, act: string, name: string | undefined, flags: Flags): Promise<ScenariosGetInput> {
  if (name === undefined)
    throw new SandboxError(
      `The scenario is missing: merchant-sandbox scenario ${act} lost-response. List them with merchant-sandbox scenario ls.`,
      "usage",
    );
  if (/[./\\]/.test(name))
    throw new SandboxError(`"${name}" is a file, which only a start can read: merchant-sandbox --scenario ${name}.`, "usage");
  return { name, ...(flags.for !== undefined && { merchant: (await sandbox.merchant(flags.for)).id }) };
}

function tell(state: Scenario, flags: Flags, lines: readonly string[]): void {
  for (const text of flags.json === undefined ? lines : [JSON.stringify(state)]) print(text);
}

function line({ name, title, armed, merchant, verdict, says }: Scenario): string {
  if (verdict === null) return `${name}: ${title}`;
  const whom = merchant === null ? "all merchants" : merchant;
  return `${name} ${armed ? "armed" : "was armed"} for ${whom}: ${verdict}, ${says}`;
}

function faultLine(fault: Scenario["faults"][number]): string {
  const { action, status, fired } = fault as Partial<FaultRule>;
  return `  fault ${action?.type ?? ""}${status === undefined ? "" : `: ${status}, fired ${fired ?? 0}`}`;
}

/** A failed expectation shows its first verdicts, each with a hint. */
function resultLines({ rule, points, optional, verdict, earned, verdicts }: Scenario["expectations"][number]): string[] {
  const failed = verdicts.filter((found) => found.verdict === "fail");
  const open = optional && verdict === "inconclusive" ? " (optional, does not count)" : "";
  return [`  ${verdict} ${rule}: ${earned} of ${points}${open}`, ...failed.slice(0, 3).map(({ says, hint }) => `    ${says} ${hint}`)];
}
