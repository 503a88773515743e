// Armed scenarios: their fault rules, and their score so far.

import type { RuleState } from "../contracts/fault.ts";
import type { ScenarioExpectation, ScenarioResult, ScenarioState } from "../contracts/scenario.ts";
import { matchesRule, VERDICT_RANK, VERDICTS, type Verdict, type VerdictMessage } from "../contracts/verdict.ts";
import type { RuleRegistry } from "../faults/rule-registry.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Scenario, ScenarioFault } from "./scenario-files.ts";

/** Verdicts shown with each expectation. */
const MAX_SHOWN = 20;

/** `found` are the verdicts that the scenario's faults led to; `unfired` is how many of its faults have not fired. */
export function score(expected: readonly ScenarioExpectation[], found: readonly VerdictMessage[], unfired: number) {
  const results = expected.map((one) => resultOf(one, found));
  const counting = results.filter(counts);
  const earned = sum(counting.map((result) => result.earned));
  const points = sum(counting.map((result) => result.points));
  const verdict = verdictOf(counting, unfired);
  return { results, score: earned, points, verdict, says: `${earned} of ${points} points: ${reasonOf(counting, unfired)}` };
}

function resultOf(expected: ScenarioExpectation, found: readonly VerdictMessage[]): ScenarioResult {
  const about = found.filter(({ rule }) => matchesRule(expected.rule, rule));
  const number = (verdict: Verdict) => about.filter((one) => one.verdict === verdict).length;
  const [pass, fail, inconclusive] = VERDICTS.map(number) as [number, number, number];
  const verdict = fail > 0 ? "fail" : pass > 0 ? "pass" : "inconclusive";
  const verdicts = about.sort((one, other) => VERDICT_RANK[one.verdict] - VERDICT_RANK[other.verdict]).slice(0, MAX_SHOWN);
  return { ...expected, verdict, earned: verdict === "pass" ? expected.points : 0, pass, fail, inconclusive, verdicts };
}

const counts = ({ optional, verdict }: ScenarioResult) => !(optional && verdict === "inconclusive");

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** A scenario passes only if all its faults have fired. */
function verdictOf(results: readonly ScenarioResult[], unfired: number): Verdict {
  if (results.some(({ verdict }) => verdict === "fail")) return "fail";
  return unfired > 0 || results.some(({ verdict }) => verdict === "inconclusive") ? "inconclusive" : "pass";
}

function reasonOf(results: readonly ScenarioResult[], unfired: number): string {
  const rulesThat = (verdict: Verdict) => results.filter((result) => result.verdict === verdict).map(({ rule }) => rule);
  const failed = rulesThat("fail");
  const open = rulesThat("inconclusive");
  const parts = [
    failed.length > 0 ? `${failed.join(", ")} failed` : "",
    open.length > 0 ? `${open.join(", ")} not decided` : "",
    unfired > 0 ? `${unfired} of its faults ${unfired === 1 ? "has" : "have"} not fired` : "",
  ].filter((part) => part !== "");
  return `${parts.join("; ") || "everything expected was found"}.`;
}

export interface ArmedScenario {
  readonly scenario: Scenario;
  readonly merchant: string | undefined;
  /** Sandbox milliseconds. */
  readonly since: number;
  /** Ids of its fault rules. */
  readonly rules: readonly string[];
}

export type ArmedScenarios = ReturnType<typeof createArmedScenarios>;

export interface ArmedScenariosOptions {
  now(): number;
  rules: Pick<RuleRegistry, "add" | "remove" | "list" | "isLogged">;
  verdicts(): readonly VerdictMessage[];
}

export function createArmedScenarios({ now, rules, verdicts }: ArmedScenariosOptions) {
  const allArmed = new Map<string, ArmedScenario>();
  let count = 0;
  const states = ({ rules: ids }: ArmedScenario) => {
    const known = new Map(rules.list().map((state) => [state.id, state]));
    return ids.map((id) => known.get(id));
  };
  const disarm = (armed: ArmedScenario) => {
    for (const state of states(armed)) if (state) rules.remove(state.id);
    allArmed.delete(nameOf(armed.scenario.name, armed.merchant));
  };
  return {
    all: () => [...allArmed.values()],
    /** Without a merchant, finds the scenario that is armed for all. */
    find: (name: string, merchant: string | undefined) => allArmed.get(nameOf(name, merchant)),
    arm(scenario: Scenario, merchant: string | undefined) {
      const before = allArmed.get(nameOf(scenario.name, merchant));
      // Rule ids are never reused, even in later runs on the same file, so that the verdicts of an earlier arming do not count for this one.
      let number = count + 1;
      const idOf = (index: number) => `flt_${scenario.name}-${number}-${index + 1}`;
      while (scenario.faults.some((_, index) => rules.isLogged(idOf(index)))) number++;
      const given = scenario.faults.map((fault, index) => ruleFor(fault, idOf(index), merchant));
      const added = addAll(given, rules);
      count = number;
      if (before) disarm(before);
      const armed = { scenario, merchant, since: now(), rules: added };
      allArmed.set(nameOf(scenario.name, merchant), armed);
      return armed;
    },
    disarm,
    /** Disarms the scenarios of one merchant, or all scenarios. */
    forget(merchant?: string) {
      for (const armed of [...allArmed.values()]) if (merchant === undefined || armed.merchant === merchant) disarm(armed);
      // Restarts the count, so that a run that is repeated after a reset gives its rules the same ids.
      if (merchant === undefined) count = 0;
    },
    stateOf: (armed: ArmedScenario) => describe(armed, states(armed), verdicts()),
  };
}

const nameOf = (name: string, merchant: string | undefined) => `${name} ${merchant ?? ""}`;

/** The fault rule with its id, and limited to the merchant if there is one. */
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

function describe(armed: ArmedScenario, states: readonly (RuleState | undefined)[], verdicts: readonly VerdictMessage[]): ScenarioState {
  const { scenario, merchant = null, since, rules } = armed;
  const { name, title, about, faults, expect } = scenario;
  const found = verdicts.filter(({ fault }) => fault !== null && rules.includes(fault));
  const unfired = states.filter((state) => !state || state.fired === 0).length;
  const { results, ...scored } = score(expect, found, unfired);
  return {
    name,
    title,
    about,
    armed: true,
    merchant,
    since: isoTime(since),
    faults: states.map((state, index) => state ?? { ...faults[index], id: rules[index], status: "removed" }),
    expectations: results,
    ...scored,
  };
}
