// Scenarios that are armed: their fault rules, and their score so far.

import type { RuleRegistry, RuleState } from "../contracts/fault.ts";
import type { ScenarioState } from "../contracts/scenario.ts";
import type { VerdictMessage } from "../contracts/verdict.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Scenario, ScenarioFault } from "./scenario-schema.ts";
import { score } from "./score.ts";

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
    /** Without a merchant: the one that is armed for all. */
    find: (name: string, merchant: string | undefined) => allArmed.get(nameOf(name, merchant)),
    arm(scenario: Scenario, merchant: string | undefined) {
      const before = allArmed.get(nameOf(scenario.name, merchant));
      // Rule ids are not reused, not even those of earlier runs on the same file: the verdicts of another arming do not count for this one.
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
    /** Disarms those of one merchant, or all. */
    forget(merchant?: string) {
      for (const armed of [...allArmed.values()]) if (merchant === undefined || armed.merchant === merchant) disarm(armed);
      // The same run after a reset gives its rules the same ids.
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

/** Adds all rules, or none if one is not valid. */
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
