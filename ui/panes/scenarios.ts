// The pane of scenarios: what each makes fail, which are armed, and their scores as the verdicts come.

import type { Scenario } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import { scenarioDetail, scenarioId } from "../details/scenario.ts";
import { type StateUpdate, shortMerchant, type UiState, valuesOf } from "../state/state.ts";
import { makeCall } from "../state/updates.ts";
import { count, verdictLabel } from "../view/format.ts";
import { listPane } from "./pane.ts";

export const scenarios = listPane<Scenario>({
  name: "scenarios",
  title: "Scenarios",
  rowId: scenarioId,
  filterBy: ({ name, title, merchant, verdict, armed }) => ({
    text: `${name} ${title}`,
    fields: { name, merchant, verdict, is: armed ? ["armed"] : [] },
  }),
  vocabulary: { fields: ["name", "merchant", "verdict"], marks: ["armed"] },
  poll: controlCalls.scenarios.list(),
  titleNote(state) {
    const armed = valuesOf<Scenario>(state, "scenarios").filter((one) => one.armed).length;
    return armed === 0 ? "" : `${count(armed)} armed`;
  },
  columns({ name, title, armed, merchant, score, points, verdict }, { theme }) {
    const [label, style] = verdict ? verdictLabel(theme, verdict) : ["", "dim" as const];
    return [
      { text: armed ? "*" : "", width: 1, styles: ["magenta"] },
      { heading: "scenario", text: name, width: 24, styles: armed ? ["bold"] : [] },
      { heading: "what fails", text: title, styles: armed ? [] : ["dim"] },
      { heading: "merchant", text: armed ? shortMerchant(merchant ?? "all") : "", width: 10, truncate: "middle", hideBelow: 84 },
      { heading: "points", text: armed ? `${score}/${points}` : String(points), width: 6, align: "right", styles: armed ? [] : ["dim"] },
      { heading: "verdict", text: label, width: 14, styles: [style], hideBelow: 70 },
    ];
  },
  emptyText: () => ["Loading scenarios …"],
  detail: scenarioDetail,
  keys: [
    {
      keys: ["A"],
      label: "start, stop",
      help: "start the scenario for all merchants, or stop it and show its score",
      run: startOrStop,
    },
  ],
});

/** Starts the scenario for all merchants, or stops it, as its newest row says. */
function startOrStop(state: UiState, selected: Scenario): StateUpdate {
  const scenario = valuesOf<Scenario>(state, "scenarios").find((one) => scenarioId(one) === scenarioId(selected)) ?? selected;
  const { name, armed, merchant } = scenario;
  const stop = controlCalls.scenarios.stop({ name, ...(armed && merchant !== null && { merchant }) });
  if (armed)
    return makeCall(state, stop, ({ score, points, says }) => ({ message: `Disarmed ${name}: ${score} of ${points} points. ${says}` }));
  return makeCall(state, controlCalls.scenarios.start({ name }), ({ title }) => ({
    message: `Armed ${name}: ${title}. Its score is on the first line`,
    undo: stop,
    undoLabel: `scenario ${name}`,
  }));
}
