// `scenario`: arms, shows, scores and disarms the scenarios of a running sandbox.

import { readdirSync } from "node:fs";
import type { FaultRule, Scenario, ScenariosGetInput } from "../../../generated/control-api.ts";
import { exitCodes, SandboxError } from "../../kernel/errors.ts";
import { packageFile } from "../../sandbox/package-files.ts";
import type { FlagDefinition, Flags } from "../arguments.ts";
import { command, commandGroup } from "../command.ts";
import { print } from "../output/print.ts";
import { connectionFlags } from "../remote/find-sandbox.ts";
import { connectToSandbox, type RunningSandbox } from "../remote/running-sandbox.ts";

const json: FlagDefinition = { description: "print one JSON object per line" };
const flags = {
  for: { value: "merchant", description: "apply it to this merchant (default: all merchants)" },
  json,
  ...connectionFlags,
};

type Act = (sandbox: RunningSandbox, name: ScenariosGetInput, flags: Flags) => Promise<number | undefined>;

/** A subcommand that is about one scenario. */
const act = (name: string, summary: string, run: Act) =>
  command({
    summary,
    usage: `scenario ${name} <name>`,
    positionals: 1,
    flags,
    words: scenarioNames,
    async run({ flags, positionals: [wanted] }) {
      const sandbox = await connectToSandbox(flags);
      return run(sandbox, await armedScenario(sandbox, name, wanted, flags), flags);
    },
  });

export const scenario = commandGroup({
  name: "scenario",
  summary: "test a client with scripted faults: scenario start lost-response, run it, scenario score lost-response",
  default: "ls",
  subcommands: {
    ls: command({
      summary: "list the scenarios (the default)",
      usage: "scenario ls",
      flags: { json, ...connectionFlags },
      async run({ flags }) {
        const { data } = await (await connectToSandbox(flags)).control.scenarios.list();
        for (const state of data) print(flags.json === undefined ? line(state) : JSON.stringify(state));
        return undefined;
      },
    }),
    show: act("show", "describe a scenario, and what it has found so far", async ({ control }, name, flags) => {
      const state = await control.scenarios.get(name);
      tell(state, flags, [line(state), "", state.about, "", ...state.faults.map(faultLine), ...state.expectations.flatMap(resultLines)]);
      return undefined;
    }),
    start: act("start", "arm its faults", async ({ control }, name, flags) => {
      const state = await control.scenarios.start(name);
      tell(state, flags, [line(state), state.about]);
      return undefined;
    }),
    score: act("score", "score the client (exit code 3: failed, 4: inconclusive)", async ({ control }, name, flags) => {
      const state = await control.scenarios.get(name);
      tell(state, flags, [line(state), ...state.expectations.flatMap(resultLines)]);
      return codeOf(state.verdict);
    }),
    stop: act("stop", "remove its faults", async ({ control }, name, flags) => {
      const state = await control.scenarios.stop(name);
      tell(state, flags, [line(state)]);
      return undefined;
    }),
  },
});

/** The scenarios of the package, for completion. */
function scenarioNames(given: readonly string[]): string[] {
  if (given.length > 0) return [];
  return readdirSync(packageFile("fixtures/scenarios")).map((file) => file.replace(/\.json$/, ""));
}

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
