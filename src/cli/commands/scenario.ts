// `scenario`: arms, shows, scores and disarms the scenarios of a running sandbox.

import type { Verdict } from "../../contracts/expectations.ts";
import type { RuleState } from "../../contracts/fault.ts";
import type { ScenarioResult, ScenarioState } from "../../contracts/scenario.ts";
import { exitCodes, SandboxError } from "../../kernel/errors.ts";
import { escapeControlCharacters } from "../../kernel/escape-control.ts";
import { actNamed, command, say } from "../command.ts";
import { type Running, running, runningFlags } from "../remote/running-sandbox.ts";

type Own = Record<string, string | undefined>;

/** What to do, and the scenario. */
const WORDS = 2;

export const scenario = command({
  summary: "faults with a score: scenario start lost-response, run your client, scenario score lost-response",
  usage: "scenario [ls | show NAME | start NAME | score NAME | stop NAME]",
  words: WORDS,
  flags: {
    for: { hint: "MERCHANT", words: "whom it strikes; everybody unless given" },
    json: { words: "one JSON object a line" },
    ...runningFlags,
  },
  async act({ own, positional: [act = "ls", name] }) {
    return actNamed("scenario", acts, act)(running(own), name, own);
  },
});

type Act = (sandbox: Running, name: string | undefined, own: Own) => Promise<number | undefined>;

const acts: Record<string, Act> = {
  async ls(sandbox, _, own) {
    const { data } = await sandbox.control<{ data: ScenarioState[] }>("GET", "/scenarios");
    for (const state of data) say(own.json === undefined ? line(state) : JSON.stringify(state));
    return undefined;
  },
  async show(sandbox, name, own) {
    const state = await sandbox.control<ScenarioState>("GET", await pathOf(sandbox, "show", name, own));
    tell(state, own, [line(state), "", state.about, "", ...state.faults.map(faultLine), ...state.expectations.flatMap(resultLines)]);
    return undefined;
  },
  async start(sandbox, name, own) {
    const merchant = await merchantOf(sandbox, own);
    const state = await sandbox.control<ScenarioState>("POST", pathTo("start", name), merchant === undefined ? {} : { merchant });
    tell(state, own, [line(state), state.about]);
    return undefined;
  },
  async score(sandbox, name, own) {
    const state = await sandbox.control<ScenarioState>("GET", await pathOf(sandbox, "score", name, own));
    tell(state, own, [line(state), ...state.expectations.flatMap(resultLines)]);
    return codeOf(state.verdict);
  },
  async stop(sandbox, name, own) {
    const state = await sandbox.control<ScenarioState>("DELETE", await pathOf(sandbox, "stop", name, own));
    tell(state, own, [line(state)]);
    return undefined;
  },
};

/** What is not armed cannot be told. */
const codeOf = (verdict: Verdict | null) =>
  verdict === "pass" ? exitCodes.ok : verdict === "fail" ? exitCodes.verdict : exitCodes.inconclusive;

function pathTo(act: string, name: string | undefined): string {
  if (name === undefined)
    throw new SandboxError(
      `Say which scenario: merchant-sandbox scenario ${act} lost-response; merchant-sandbox scenario ls lists them.`,
      "usage",
    );
  if (/[./\\]/.test(name))
    throw new SandboxError(`"${name}" is a file, which is read when a sandbox starts: merchant-sandbox --scenario ${name}.`, "usage");
  return `/scenarios/${encodeURIComponent(name)}`;
}

async function pathOf(sandbox: Running, act: string, name: string | undefined, own: Own): Promise<string> {
  const path = pathTo(act, name);
  const merchant = await merchantOf(sandbox, own);
  return merchant === undefined ? path : `${path}?${new URLSearchParams({ merchant })}`;
}

const merchantOf = async (sandbox: Running, own: Own) => (own.for === undefined ? undefined : (await sandbox.merchant(own.for)).id);

function tell(state: ScenarioState, own: Own, lines: readonly string[]): void {
  for (const text of own.json === undefined ? lines : [JSON.stringify(state)]) say(escapeControlCharacters(text));
}

function line({ name, title, armed, merchant, verdict, says }: ScenarioState): string {
  if (verdict === null) return escapeControlCharacters(`${name}: ${title}`);
  const whom = merchant === null ? "everybody" : merchant;
  return escapeControlCharacters(`${name} ${armed ? "armed" : "was armed"} for ${whom}: ${verdict}, ${says}`);
}

function faultLine(fault: ScenarioState["faults"][number]): string {
  const { action, status, fired } = fault as Partial<RuleState>;
  return `  fault ${action?.type ?? ""}${status === undefined ? "" : `: ${status}, fired ${fired ?? 0}`}`;
}

/** What failed is shown with what happened and how to mend it. */
function resultLines({ rule, points, optional, verdict, earned, verdicts }: ScenarioResult): string[] {
  const failed = verdicts.filter((found) => found.verdict === "fail");
  const open = optional && verdict === "inconclusive" ? " (optional, does not count)" : "";
  return [`  ${verdict} ${rule}: ${earned} of ${points}${open}`, ...failed.slice(0, 3).map(({ says, hint }) => `    ${says} ${hint}`)];
}
