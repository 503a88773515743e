// Scenarios: those that come with the package and those of files, armed, scored and disarmed by name.

import type { RuleRegistry } from "../contracts/fault.ts";
import type { ScenarioRegistry, ScenarioState } from "../contracts/scenario.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { asMisuse, fail } from "../kernel/errors.ts";
import { once } from "../kernel/once.ts";
import { createRuns, type Run, type RunNeeds, type Runs } from "./armed-scenarios.ts";
import { type Grammar, readFolder, readScenario } from "./scenario-files.ts";
import { jsonSchema, type Scenario } from "./scenario-schema.ts";

export interface Scenarios extends ScenarioRegistry {
  /** Arms, for everybody, a scenario by its name, or one of somebody's own by its file, such as ./outage.json. */
  startGiven(nameOrFile: string): Promise<ScenarioState>;
}

interface Needs extends RunNeeds {
  rules: Pick<RuleRegistry, "add" | "remove" | "list" | "check" | "schema">;
  /** Ids of the judge's rules. */
  judgeRules: readonly string[];
  /** Where the scenarios of the package are. */
  folder: string;
}

export function createScenarios(needs: Needs): Scenarios {
  const { known, named, keep, grammar } = openLibrary(needs);
  const runs = createRuns(needs);
  const arm = (scenario: Scenario, merchant: string | undefined) => runs.stateOf(runs.start(scenario, merchant));
  return {
    async list() {
      const all = await known();
      return [...all.values()].flatMap((scenario) => {
        const armed = runs.all().filter((run) => run.scenario.name === scenario.name);
        return armed.length === 0 ? [atRest(scenario)] : armed.map(runs.stateOf);
      });
    },
    async find(name, merchant) {
      const scenario = await named(name);
      const run = runOf(runs, name, merchant);
      return run ? runs.stateOf(run) : atRest(scenario);
    },
    start: async (name, merchant) => arm(await named(name), merchant),
    async startGiven(given) {
      const scenario = await (isFile(given) ? readScenario(given, grammar) : named(given)).catch((error: unknown) => {
        throw asMisuse(error);
      });
      keep(scenario);
      return arm(scenario, undefined);
    },
    async stop(name, merchant) {
      await named(name);
      const run = runOf(runs, name, merchant);
      if (!run) return fail("invalid_state", `The scenario ${name} is not armed${merchant === undefined ? "" : ` for ${merchant}`}.`);
      const state = runs.stateOf(run);
      runs.stop(run);
      return { ...state, armed: false, faults: state.faults.map((fault) => ({ ...fault, status: "removed" })) };
    },
    armed: () => runs.all().map(runs.stateOf),
    forget: runs.forget,
    schema: () => jsonSchema(needs.rules.schema()),
  };
}

/** No name of a scenario has any of these. */
const isFile = (given: string) => /[./\\]/.test(given);

/** The scenarios that can be named: those of the package, and those that were read from a file. */
function openLibrary({ rules, judgeRules, folder }: Needs) {
  const grammar: Grammar = { checkFault: rules.check, judgeRules };
  const own = new Map<string, Scenario>();
  /** Read when somebody first asks: most runs have no scenario. */
  const packaged = once(() => readFolder(folder, grammar));
  const known = async () => new Map([...(await packaged()).map((scenario) => [scenario.name, scenario] as const), ...own]);
  return {
    grammar,
    known,
    keep: (scenario: Scenario) => void own.set(scenario.name, scenario),
    async named(name: string): Promise<Scenario> {
      const all = await known();
      const others = () => didYouMean(name, all.keys()) || ` There are ${[...all.keys()].join(", ")}.`;
      return all.get(name) ?? fail("resource_not_found", `There is no scenario ${name}.${others()}`);
    },
  };
}

/** Without a merchant: the one for everybody, else the only one. */
function runOf(runs: Runs, name: string, merchant: string | undefined): Run | undefined {
  const exact = runs.find(name, merchant);
  if (exact || merchant !== undefined) return exact;
  const [only, ...others] = runs.all().filter(({ scenario }) => scenario.name === name);
  if (others.length === 0) return only;
  const merchants = [only, ...others].map((run) => run?.merchant).join(", ");
  return fail("validation_failed", `The scenario ${name} is armed for ${merchants}: say with merchant which one you mean.`);
}

function atRest({ name, title, about, faults, expect }: Scenario): ScenarioState {
  const expectations = expect.map((one) => ({
    ...one,
    verdict: "inconclusive" as const,
    earned: 0,
    pass: 0,
    fail: 0,
    inconclusive: 0,
    verdicts: [],
  }));
  const points = expect.reduce((sum, one) => sum + one.points, 0);
  return {
    name,
    title,
    about,
    armed: false,
    merchant: null,
    since: null,
    faults,
    expectations,
    score: 0,
    points,
    verdict: null,
    says: `Not armed; ${points} points are to be had.`,
  };
}
