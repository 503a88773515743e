// Keeps the results of scenarios that were decided before they were disarmed, for the report of the run.

import type { ScenarioState } from "../contracts/scenario.ts";
import type { Verdict } from "../contracts/verdict.ts";

/** The most results that are kept: one for each scenario and merchant. */
const MOST = 500;

/** A lower rank replaces a higher one: fail before pass, and either of them before an undecided result. */
const RANK: Readonly<Record<Verdict, number>> = { fail: 0, pass: 1, inconclusive: 2 };

export function createEndedScenarios() {
  const ended = new Map<string, ScenarioState>();
  const addTo = (states: Map<string, ScenarioState>, state: ScenarioState) => {
    const name = `${state.name} ${state.merchant ?? ""}`;
    const before = states.get(name);
    states.set(name, before && compare(before, state) < 0 ? before : state);
  };
  return {
    add(state: ScenarioState) {
      if (state.verdict !== "pass" && state.verdict !== "fail") return;
      addTo(ended, state);
      const [oldest] = ended.keys();
      if (ended.size > MOST && oldest !== undefined) ended.delete(oldest);
    },
    /** The kept states and these. A scenario that was armed several times for a merchant has only its worst result. */
    with(armed: readonly ScenarioState[]): ScenarioState[] {
      const states = new Map(ended);
      for (const state of armed) addTo(states, state);
      return [...states.values()];
    },
    clear: () => ended.clear(),
  };
}

const compare = (one: ScenarioState, other: ScenarioState) =>
  RANK[one.verdict ?? "inconclusive"] - RANK[other.verdict ?? "inconclusive"] || one.score - other.score;
