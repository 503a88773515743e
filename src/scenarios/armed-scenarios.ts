// Scenarios that are armed: the fault rules of each, and how its merchant's clients fare under them.

import type { RuleRegistry, RuleState } from "../contracts/fault.ts";
import type { VerdictMessage } from "../contracts/live-messages.ts";
import type { ScenarioState } from "../contracts/scenario.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Scenario, WrittenFault } from "./scenario-schema.ts";
import { score } from "./score.ts";

export interface Run {
  readonly scenario: Scenario;
  readonly merchant: string | undefined;
  /** Sandbox milliseconds. */
  readonly since: number;
  /** Ids of its rules. */
  readonly rules: readonly string[];
}

export interface Runs {
  all(): Run[];
  /** For everybody where no merchant is given. */
  find(name: string, merchant: string | undefined): Run | undefined;
  start(scenario: Scenario, merchant: string | undefined): Run;
  stop(run: Run): void;
  forget(merchant?: string): void;
  stateOf(run: Run): ScenarioState;
}

export interface RunNeeds {
  now(): number;
  rules: Pick<RuleRegistry, "add" | "remove" | "list">;
  /** What the judge found so far. */
  verdicts(): readonly VerdictMessage[];
}

export function createRuns({ now, rules, verdicts }: RunNeeds): Runs {
  const runs = new Map<string, Run>();
  let count = 0;
  const states = ({ rules: ids }: Run) => {
    const there = new Map(rules.list().map((state) => [state.id, state]));
    return ids.map((id) => there.get(id));
  };
  const stop = (run: Run) => {
    for (const state of states(run)) if (state) rules.remove(state.id);
    runs.delete(nameOf(run.scenario.name, run.merchant));
  };
  return {
    all: () => [...runs.values()],
    find: (name, merchant) => runs.get(nameOf(name, merchant)),
    start(scenario, merchant) {
      const before = runs.get(nameOf(scenario.name, merchant));
      // Ids are never used again: what the judge found under an earlier arming is no part of this one.
      const number = count + 1;
      const given = scenario.faults.map((fault, index) => ownRule(fault, `flt_${scenario.name}-${number}-${index + 1}`, merchant));
      const added = addAll(given, rules);
      count = number;
      if (before) stop(before);
      const run = { scenario, merchant, since: now(), rules: added };
      runs.set(nameOf(scenario.name, merchant), run);
      return run;
    },
    stop,
    forget(merchant) {
      for (const run of [...runs.values()]) if (merchant === undefined || run.merchant === merchant) stop(run);
      // Equal runs with a reset between them give equal ids.
      if (merchant === undefined) count = 0;
    },
    stateOf: (run) => describe(run, states(run), verdicts()),
  };
}

const nameOf = (name: string, merchant: string | undefined) => `${name} ${merchant ?? ""}`;

/** A rule of the scenario as it is armed for one merchant, or for everybody. */
function ownRule(fault: WrittenFault, id: string, merchant: string | undefined): WrittenFault {
  const match = { ...(fault.match as object | undefined), ...(merchant === undefined ? {} : { merchant }) };
  return { ...fault, id, match };
}

/** All of them, or none. */
function addAll(given: readonly WrittenFault[], rules: RunNeeds["rules"]): string[] {
  const added: string[] = [];
  try {
    for (const rule of given) added.push(rules.add(rule).id);
    return added;
  } catch (error) {
    for (const id of added) rules.remove(id);
    throw error;
  }
}

function describe(run: Run, states: readonly (RuleState | undefined)[], verdicts: readonly VerdictMessage[]): ScenarioState {
  const { scenario, merchant = null, since, rules } = run;
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
