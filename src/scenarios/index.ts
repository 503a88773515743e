// Scenarios of the package and of files: arms, scores and disarms them by name.

import type { ScenarioState } from "../contracts/scenario.ts";
import type { RuleRegistry } from "../faults/rule-registry.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { asMisuse, fail } from "../kernel/errors.ts";
import { once } from "../kernel/once.ts";
import { type ArmedScenario, type ArmedScenarios, type ArmedScenariosOptions, createArmedScenarios, score } from "./armed-scenarios.ts";
import { jsonSchema, readFolder, readScenario, type Scenario, type ScenarioChecks } from "./scenario-files.ts";

export type Scenarios = ReturnType<typeof createScenarios>;

interface ScenariosOptions extends ArmedScenariosOptions {
  rules: Pick<RuleRegistry, "add" | "remove" | "list" | "isLogged" | "check" | "schema">;
  /** Ids of the judge's rules. */
  judgeRules: readonly string[];
  /** The folder with the scenarios of the package. */
  folder: string;
}

export function createScenarios(options: ScenariosOptions) {
  const { all, byName, add, checks } = createLibrary(options);
  const armedScenarios = createArmedScenarios(options);
  const { stateOf } = armedScenarios;
  const arm = (scenario: Scenario, merchant: string | undefined) => stateOf(armedScenarios.arm(scenario, merchant));
  return {
    /** Every scenario, listed once per merchant if it is armed for several. */
    async list(): Promise<ScenarioState[]> {
      return [...(await all()).values()].flatMap((scenario) => {
        const armed = armedScenarios.all().filter((one) => one.scenario.name === scenario.name);
        return armed.length === 0 ? [notArmed(scenario)] : armed.map(stateOf);
      });
    },
    /** Finds a scenario (default merchant: the scenario armed for all, or else the only armed one). */
    async find(name: string, merchant?: string) {
      const scenario = await byName(name);
      const armed = findArmed(armedScenarios, name, merchant);
      return armed ? stateOf(armed) : notArmed(scenario);
    },
    /** Arms a scenario. If it is armed already, its counts restart. */
    start: async (name: string, merchant?: string) => arm(await byName(name), merchant),
    /** Arms a scenario for all merchants, by its name or its file, such as ./outage.json. */
    async startGiven(nameOrFile: string) {
      const scenario = await (isFile(nameOrFile) ? readScenario(nameOrFile, checks) : byName(nameOrFile)).catch((error: unknown) => {
        throw asMisuse(error);
      });
      add(scenario);
      return arm(scenario, undefined);
    },
    /** Disarms a scenario and returns its final state. */
    async stop(name: string, merchant?: string): Promise<ScenarioState> {
      await byName(name);
      const armed = findArmed(armedScenarios, name, merchant);
      if (!armed) return fail("invalid_state", `The scenario ${name} is not armed${merchant === undefined ? "" : ` for ${merchant}`}.`);
      const state = stateOf(armed);
      armedScenarios.disarm(armed);
      return { ...state, armed: false, faults: state.faults.map((fault) => ({ ...fault, status: "removed" })) };
    },
    armed: () => armedScenarios.all().map(stateOf),
    forget: armedScenarios.forget,
    schema: () => jsonSchema(options.rules.schema()),
  };
}

/** The name of a scenario contains none of these characters. */
const isFile = (nameOrFile: string) => /[./\\]/.test(nameOrFile);

/** Scenarios by name: those of the package, and those read from files. */
function createLibrary({ rules, judgeRules, folder }: ScenariosOptions) {
  const checks: ScenarioChecks = { checkFault: rules.check, judgeRules };
  const added = new Map<string, Scenario>();
  /** Read on first use: most runs have no scenario. */
  const packaged = once(() => readFolder(folder, checks));
  const all = async () => new Map([...(await packaged()).map((scenario) => [scenario.name, scenario] as const), ...added]);
  return {
    checks,
    all,
    add: (scenario: Scenario) => void added.set(scenario.name, scenario),
    async byName(name: string): Promise<Scenario> {
      const known = await all();
      const others = () => didYouMean(name, known.keys()) || ` There are ${[...known.keys()].join(", ")}.`;
      return known.get(name) ?? fail("resource_not_found", `There is no scenario ${name}.${others()}`);
    },
  };
}

function findArmed(armedScenarios: ArmedScenarios, name: string, merchant: string | undefined): ArmedScenario | undefined {
  const exact = armedScenarios.find(name, merchant);
  if (exact || merchant !== undefined) return exact;
  const [only, ...others] = armedScenarios.all().filter(({ scenario }) => scenario.name === name);
  if (others.length === 0) return only;
  const merchants = [only, ...others].map((armed) => armed?.merchant).join(", ");
  return fail("validation_failed", `The scenario ${name} is armed for ${merchants}: set merchant to one of them.`);
}

function notArmed({ name, title, about, faults, expect }: Scenario): ScenarioState {
  const points = expect.reduce((sum, one) => sum + one.points, 0);
  return {
    name,
    title,
    about,
    armed: false,
    merchant: null,
    since: null,
    faults,
    expectations: score(expect, [], 0).results,
    score: 0,
    points,
    verdict: null,
    says: `Not armed; ${points} points are available.`,
  };
}
