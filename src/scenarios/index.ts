// Arms, scores and disarms scenarios by name, from the package and from files.

import type { RuleState } from "../contracts/fault.ts";
import type { ScenarioExpectation, ScenarioResult, ScenarioState } from "../contracts/scenario.ts";
import { ACTS_ONCE, VERDICT_RANK, type Verdict, type VerdictMessage } from "../contracts/verdict.ts";
import type { RuleRegistry } from "../faults/rule-registry.ts";
import { isoTime } from "../kernel/clock.ts";
import { nearestOrAll } from "../kernel/did-you-mean.ts";
import { asMisuse, fail } from "../kernel/errors.ts";
import { once } from "../kernel/once.ts";
import { pick } from "../kernel/pick.ts";
import { merchantLabel } from "../kernel/random.ts";
import type { Newest, RunSummary } from "../store/request-log/run-summary.ts";
import type { compareEffects } from "../verify/check-effects.ts";
import type { checkVerdicts, VerdictsResult } from "../verify/check-verdicts.ts";
import { type CountedEffects, type GivenEffects, takeCount, UNCHECKED, withCountedEffects } from "./effects.ts";
import { createEndedScenarios } from "./ended.ts";
import {
  jsonSchema,
  readFolder,
  readScenario,
  type Scenario,
  type ScenarioChecks,
  type ScenarioFault,
} from "./scenario-files.ts";

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
  const arm = (scenario: Scenario, merchant: string | undefined, effects?: GivenEffects) =>
    stateOf(armedScenarios.arm(scenario, merchant, effects));
  const requireArmed = async (name: string, merchant: string | undefined): Promise<ArmedScenario> => {
    await byName(name);
    const whose = merchant === undefined ? "" : ` for ${merchant}`;
    return (
      findArmed(armedScenarios, name, merchant) ?? fail("invalid_state", `The scenario ${name} is not armed${whose}.`)
    );
  };
  return {
    /** Every scenario, listed once per merchant if it is armed for several. */
    async list(): Promise<ScenarioState[]> {
      return [...(await all()).values()].flatMap((scenario) => {
        const armed = armedScenarios.all().filter((one) => one.scenario.name === scenario.name);
        return armed.length === 0 ? [notArmed(scenario, options)] : armed.map(stateOf);
      });
    },
    /** Finds a scenario (default merchant: the scenario armed for all, or else the only armed one). */
    async find(name: string, merchant?: string) {
      const scenario = await byName(name);
      const armed = findArmed(armedScenarios, name, merchant);
      return armed ? stateOf(armed) : notArmed(scenario, options);
    },
    /** Arms a scenario. If it is already armed, its counts restart. */
    start: async (name: string, merchant?: string, effects?: GivenEffects) =>
      arm(await byName(name), merchant, effects),
    /** Takes a new count of how often the receiver has acted. */
    async count(name: string, merchant: string | undefined, effects: number): Promise<ScenarioState> {
      const armed = await requireArmed(name, merchant);
      if (!armed.effects)
        return fail(
          "invalid_state",
          `The scenario ${name} was armed without a count of the receiver's effects: start it again with effects.`,
        );
      armedScenarios.count(armed, armed.effects, effects);
      return stateOf(armed);
    },
    /** Arms a scenario for all merchants, by its name or its file, such as ./outage.json. */
    async startGiven(nameOrFile: string) {
      const scenario = await (isFile(nameOrFile) ? readScenario(nameOrFile, checks) : byName(nameOrFile)).catch(
        (error: unknown) => {
          throw asMisuse(error);
        },
      );
      add(scenario);
      return arm(scenario, undefined);
    },
    /** Disarms a scenario and returns its final state. */
    async stop(name: string, merchant?: string): Promise<ScenarioState> {
      const armed = await requireArmed(name, merchant);
      const state = stateOf(armed);
      armedScenarios.disarm(armed);
      return { ...state, armed: false, faults: state.faults.map((fault) => ({ ...fault, status: "removed" })) };
    },
    armed: () => armedScenarios.all().map(stateOf),
    /** The armed scenarios, and the results of those that were disarmed. */
    ofRun: () => armedScenarios.ended.with(armedScenarios.all().map(stateOf)),
    forgetEnded: armedScenarios.ended.clear,
    forget: armedScenarios.forget,
    schema: () => jsonSchema(options.rules.schema()),
  };
}

/** The name of a scenario contains none of these characters. */
const isFile = (nameOrFile: string) => /[./\\]/.test(nameOrFile);

/** Scenarios by name, from the package and from files. */
function createLibrary({ rules, judgeRules, folder }: ScenariosOptions) {
  const checks: ScenarioChecks = { checkFault: rules.check, judgeRules };
  const added = new Map<string, Scenario>();
  /** The package's scenarios, read on first use, because most runs use none. */
  const packaged = once(() => readFolder(folder, checks));
  const all = async () =>
    new Map([...(await packaged()).map((scenario) => [scenario.name, scenario] as const), ...added]);
  return {
    checks,
    all,
    add: (scenario: Scenario) => void added.set(scenario.name, scenario),
    async byName(name: string): Promise<Scenario> {
      const known = await all();
      const others = [...known.keys()];
      return (
        known.get(name) ?? fail("resource_not_found", `There is no scenario ${name}.${nearestOrAll(name, others)}`)
      );
    },
  };
}

function findArmed(
  armedScenarios: ArmedScenarios,
  name: string,
  merchant: string | undefined,
): ArmedScenario | undefined {
  const exact = armedScenarios.find(name, merchant);
  if (exact || merchant !== undefined) return exact;
  const [only, ...others] = armedScenarios.all().filter(({ scenario }) => scenario.name === name);
  if (others.length === 0) return only;
  const merchants = [only, ...others].map((armed) => armed?.merchant).join(", ");
  return fail("validation_failed", `The scenario ${name} is armed for ${merchants}: set merchant to one of them.`);
}

function notArmed({ faults, expect, ...about }: Scenario, { checkVerdicts }: ScenariosOptions): ScenarioState {
  const points = sum(expect.map((one) => one.points));
  return {
    ...about,
    armed: false,
    merchant: null,
    since: null,
    faults,
    effects: null,
    expectations: score(expect, (rule) => checkVerdicts([], { rules: [rule] }), 0).results,
    score: 0,
    points,
    verdict: null,
    message: `Not armed; ${points} points are available.`,
  };
}

/** Verdicts shown with each expectation. */
const MAX_SHOWN = 20;

type Check = (rule: string) => VerdictsResult<VerdictMessage>;

/** Scores a scenario. `unfired` is the number of its faults that have not fired. */
function score(expected: readonly ScenarioExpectation[], check: Check, unfired: number) {
  const results = expected.map((one) => resultOf(one, check(one.rule)));
  const counting = results.filter(isCounting);
  const score = sum(counting.map((result) => result.score));
  const points = sum(counting.map((result) => result.points));
  const verdict = verdictOf(counting, unfired);
  return {
    results,
    score,
    points,
    verdict,
    message: `${score} of ${points} points: ${reasonOf(counting, unfired)}`,
  };
}

function resultOf(
  expected: ScenarioExpectation,
  { verdict, message, counts, verdicts }: VerdictsResult<VerdictMessage>,
): ScenarioResult {
  const shown = verdicts.toSorted((one, other) => VERDICT_RANK[one.verdict] - VERDICT_RANK[other.verdict]);
  const score = verdict === "pass" ? expected.points : 0;
  return { ...expected, verdict, score, message, ...counts, verdicts: shown.slice(0, MAX_SHOWN) };
}

const isCounting = ({ optional, verdict }: ScenarioResult) => !(optional && verdict === "inconclusive");

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** A scenario passes only if all its faults have fired. */
function verdictOf(results: readonly ScenarioResult[], unfired: number): Verdict {
  if (results.some(({ verdict }) => verdict === "fail")) return "fail";
  return unfired > 0 || results.some(({ verdict }) => verdict === "inconclusive") ? "inconclusive" : "pass";
}

function reasonOf(results: readonly ScenarioResult[], unfired: number): string {
  const rulesThat = (verdict: Verdict) =>
    results.filter((result) => result.verdict === verdict).map(({ rule }) => rule);
  const failed = rulesThat("fail");
  const undecided = rulesThat("inconclusive");
  const isUnchecked = undecided.includes(ACTS_ONCE);
  const open = undecided.filter((rule) => rule !== ACTS_ONCE);
  const parts = [
    failed.length > 0 ? `${failed.join(", ")} failed` : "",
    open.length > 0 ? `${open.join(", ")} not decided` : "",
    isUnchecked ? UNCHECKED : "",
    unfired > 0 ? `${unfired} of its faults ${unfired === 1 ? "has" : "have"} not fired` : "",
  ].filter((part) => part !== "");
  return `${parts.join("; ") || "everything expected was found"}.`;
}

interface ArmedScenario {
  readonly scenario: Scenario;
  readonly merchant: string | undefined;
  /** Sandbox milliseconds. */
  readonly since: number;
  /** The ids of the scenario's fault rules. */
  readonly rules: readonly string[];
  /** The newest delivery and the newest attempt before the scenario was armed. */
  readonly newest: Newest;
  readonly effects: CountedEffects | undefined;
}

type ArmedScenarios = ReturnType<typeof createArmedScenarios>;

interface ArmedScenariosOptions {
  now(): number;
  rules: Pick<RuleRegistry, "add" | "remove" | "list" | "isLogged">;
  verdicts(): readonly VerdictMessage[];
  checkVerdicts: typeof checkVerdicts;
  compareEffects: typeof compareEffects;
  runSummary: Pick<RunSummary, "deliveries" | "newest">;
}

function createArmedScenarios(options: ArmedScenariosOptions) {
  const { now, rules, verdicts, checkVerdicts, compareEffects, runSummary } = options;
  const allArmed = new Map<string, ArmedScenario>();
  /** How often scenarios were armed, per merchant, so that merchants do not change the ids of each other's rules. */
  const counts = new Map<string | undefined, number>();
  const states = ({ rules: ids }: ArmedScenario) => {
    const known = new Map(rules.list().map((state) => [state.id, state]));
    return ids.map((id) => known.get(id));
  };
  const ended = createEndedScenarios();
  const stateOf = (armed: ArmedScenario): ScenarioState => {
    const all = verdicts();
    // Counts only verdicts that the scenario's own faults caused.
    return describe(armed, states(armed), (rule) => {
      const judged = checkVerdicts(all, { rules: [rule], faults: [...armed.rules] });
      return rule === ACTS_ONCE ? withCountedEffects(judged, armed.effects) : judged;
    });
  };
  const disarm = (armed: ArmedScenario) => {
    ended.add(stateOf(armed));
    for (const state of states(armed)) if (state) rules.remove(state.id);
    allArmed.delete(nameOf(armed.scenario.name, armed.merchant));
  };
  return {
    all: () => [...allArmed.values()],
    /** Without a merchant, finds the scenario that is armed for all. */
    find: (name: string, merchant: string | undefined) => allArmed.get(nameOf(name, merchant)),
    arm(scenario: Scenario, merchant: string | undefined, effects: GivenEffects | undefined) {
      const before = allArmed.get(nameOf(scenario.name, merchant));
      // Rule ids are never reused, even in later runs on the same file. Otherwise, verdicts from when the scenario was
      // armed before would count again.
      let number = (counts.get(merchant) ?? 0) + 1;
      const owner = merchant === undefined ? "" : `-${merchantLabel(merchant)}`;
      const idOf = (index: number) => `flt_${scenario.name}${owner}-${number}-${index + 1}`;
      while (scenario.faults.some((_, index) => rules.isLogged(idOf(index)))) number++;
      const given = scenario.faults.map((fault, index) => ruleFor(fault, idOf(index), merchant));
      const added = addAll(given, rules);
      counts.set(merchant, number);
      if (before) disarm(before);
      const armed: ArmedScenario = {
        scenario,
        merchant,
        since: now(),
        rules: added,
        newest: runSummary.newest(),
        effects: effects && { ...effects, now: null },
      };
      allArmed.set(nameOf(scenario.name, merchant), armed);
      return armed;
    },
    disarm,
    count: ({ merchant, newest }: ArmedScenario, effects: CountedEffects, now: number) =>
      takeCount(effects, now, { deliveries: runSummary.deliveries(merchant), newest }, compareEffects),
    /** Disarms the scenarios of one merchant, or all scenarios. */
    forget(merchant?: string) {
      for (const armed of [...allArmed.values()])
        if (merchant === undefined || armed.merchant === merchant) disarm(armed);
      // Restarts the count, so that a run that is repeated after a reset gives its rules the same ids.
      if (merchant === undefined) counts.clear();
      else counts.delete(merchant);
    },
    stateOf,
    ended,
  };
}

const nameOf = (name: string, merchant: string | undefined) => `${name} ${merchant ?? ""}`;

/** Gives the fault rule its id, and limits it to the merchant if there is one. */
function ruleFor(fault: ScenarioFault, id: string, merchant: string | undefined): ScenarioFault {
  const match = { ...(fault.match as object | undefined), ...(merchant === undefined ? {} : { merchant }) };
  return { ...fault, id, match };
}

/** Adds all rules, or none if one is invalid. */
function addAll(given: readonly ScenarioFault[], rules: ArmedScenariosOptions["rules"]): string[] {
  const added: string[] = [];
  try {
    for (const rule of given) added.push(rules.add(rule).id);
    return added;
  } catch (error) {
    for (const id of added) rules.remove(id);
    throw error;
  }
}

function describe(armed: ArmedScenario, states: readonly (RuleState | undefined)[], check: Check): ScenarioState {
  const { scenario, merchant = null, since, rules, effects } = armed;
  const { faults, expect, ...about } = scenario;
  const unfired = states.filter((state) => !state || state.fired === 0).length;
  const { results, ...scored } = score(expect, check, unfired);
  return {
    ...about,
    armed: true,
    merchant,
    since: isoTime(since),
    effects: effects ? { ...pick(effects, ["before", "now"]), event: effects.event ?? null } : null,
    faults: states.map((state, index) => state ?? { ...faults[index], id: rules[index], status: "removed" }),
    expectations: results,
    ...scored,
  };
}
