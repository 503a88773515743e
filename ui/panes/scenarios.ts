// The pane of scenarios, and the detail of one: what it tests, whether it is armed, its faults, and its score check by
// check.

import type { Scenario, ScenariosListReply } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import { fieldsText, triggerText } from "../../src/client/rule-text.ts";
import { selectedRow } from "../state/list.ts";
import { type KeyBinding, listOf, type StateUpdate, shortMerchant, type UiState, valuesOf } from "../state/state.ts";
import { makeCall } from "../state/updates.ts";
import { count, countNote, dateTimeToSecond, milliseconds, plural, verdictLabel } from "../text/format.ts";
import { allOrOneMerchant, filledIn } from "./controls/form-fields.ts";
import { type DetailLine, type DetailWriter, linkTo } from "./details/detail-lines.ts";
import { openForm } from "./overlays/form.ts";
import { type Form, submission } from "./overlays/form-view.ts";
import { listPane } from "./pane.ts";

/** A scenario that is armed for several merchants has a row for each. */
const scenarioId = ({ name, merchant }: Pick<Scenario, "name" | "merchant">) => `${name} ${merchant ?? ""}`;

function scoreLines(
  { theme, field }: DetailWriter,
  { armed, merchant, since, score, points, verdict, message }: Scenario,
): string[] {
  if (!armed) return [...field("status", "not armed. Press A to start it"), ...field("points", String(points))];
  const [label, style] = verdictLabel(theme, verdict ?? "inconclusive");
  return [
    ...field("status", `armed for ${merchant ?? "all merchants"}. Press A to stop it`, "magenta"),
    ...field("since", since && dateTimeToSecond(milliseconds(since))),
    ...field("points", `${score} of ${points}`),
    ...field("verdict", label, style),
    ...field("finding", message),
  ];
}

/** A check with its points, and the verdicts that decide it. */
function checkLines(
  { theme, field }: DetailWriter,
  { armed }: Scenario,
  check: Scenario["expectations"][number],
): DetailLine[] {
  const { rule, points, score, optional, verdict, pass, fail, inconclusive, verdicts } = check;
  const name = `${rule}${optional ? ", counts only if it is decided" : ""}`;
  if (!armed) return field(plural(points, "point"), name);
  const [label, style] = verdictLabel(theme, verdict);
  const counts = [
    [pass, "passed"],
    [fail, "failed"],
    [inconclusive, "inconclusive"],
  ] as const;
  const found = counts.flatMap(([times, word]) => (times === 0 ? [] : [`${count(times)} ${word}`]));
  const result = `${label}  ${name}${found.length === 0 ? "" : `: ${found.join(", ")}`}`;
  return [
    ...field(`${score} of ${points}`, result, style),
    ...verdicts.flatMap(({ id, message }) => (id === null ? [] : linkTo("verdicts", id, field("", message)))),
  ];
}

/** An armed fault is a link to its rule. */
function faultLines({ field }: DetailWriter, { armed }: Scenario, fault: Scenario["faults"][number]): DetailLine[] {
  const { id, action, match, trigger } = fault as Partial<Record<string, Readonly<Record<string, unknown>>>> & {
    id?: unknown;
  };
  const { type, ...fields } = action ?? {};
  const parts = [String(type), fieldsText(fields), fieldsText(match ?? {}), trigger ? triggerText(trigger) : ""];
  const lines = field(armed ? String(id) : "fault", parts.filter((part) => part !== "").join(", "));
  return armed && fault.status !== "removed" ? linkTo("faults", String(id), lines) : lines;
}

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
  titleNote: (state) => countNote(valuesOf<Scenario>(state, "scenarios").filter(({ armed }) => armed).length, "armed"),
  columns({ name, title, armed, merchant, score, points, verdict }, state) {
    const [label, style] = verdict ? verdictLabel(state.theme, verdict) : ["", "dim" as const];
    return [
      { text: armed ? "*" : "", width: 1, styles: ["magenta"] },
      { heading: "scenario", text: name, styles: armed ? ["bold"] : [] },
      { heading: "what fails", text: title, rank: 1, grows: true, styles: armed ? [] : ["dim"] },
      {
        heading: "merchant",
        text: armed ? shortMerchant(merchant ?? "all") : "",
        rank: 3,
        truncate: "middle",
      },
      {
        heading: "points",
        text: armed ? `${score}/${points}` : String(points),
        align: "right",
        styles: armed ? [] : ["dim"],
      },
      { heading: "verdict", text: label, rank: 2, styles: [style] },
    ];
  },
  emptyText: () => ["Loading scenarios …"],
  detail: (opened) => ({
    title: `Scenario ${opened.name}`,
    lines(_data, write, state) {
      const listed = valuesOf<Scenario>(state, "scenarios");
      // Once a scenario is disarmed, its row has no merchant.
      const scenario =
        listed.find((one) => scenarioId(one) === scenarioId(opened)) ??
        listed.find(({ name }) => name === opened.name) ??
        opened;
      return [
        ...write.text(scenario.title, "bold"),
        ...write.text(scenario.about),
        ...write.section("Score", scoreLines(write, scenario)),
        ...write.section(
          "Checks",
          scenario.expectations.flatMap((check) => checkLines(write, scenario, check)),
        ),
        ...write.section(
          "Faults",
          scenario.faults.flatMap((fault) => faultLines(write, scenario, fault)),
        ),
      ];
    },
  }),
});

/** Works everywhere, so that a scenario can be started without leaving the requests. */
export const scenarioKey: KeyBinding = {
  keys: ["A"],
  label: "scenario",
  help: "choose a scenario to start, and for whom; or stop the selected one",
  run(state) {
    const selected = selectedRow(listOf(state, "scenarios"))?.value as Scenario | undefined;
    const row = valuesOf<Scenario>(state, "scenarios").find(
      (one) => selected && scenarioId(one) === scenarioId(selected),
    );
    return row?.armed
      ? stopScenario(state, row)
      : openForm(state, startForm, { ...(selected && { name: selected.name }) });
  },
};

const startForm: Form<{ scenarios: ScenariosListReply }> = {
  title: "Start a scenario",
  verb: () => "Start",
  fetch: { scenarios: controlCalls.scenarios.list() },
  fields: (_, { state, data }) => [
    {
      name: "name",
      label: "scenario",
      help: "Its faults stay until it is stopped",
      options: (data.scenarios?.data ?? []).map(({ name, title }) => ({ value: name, help: title })),
    },
    {
      name: "merchant",
      help: "The merchant that its faults affect",
      options: allOrOneMerchant(state, "all merchants"),
    },
  ],
  submission({ name = "", merchant = "" }) {
    const given = { name, ...filledIn({ merchant }) };
    return submission(controlCalls.scenarios.start(given), ({ title }) => ({
      message: `Armed ${name}: ${title}. The first line shows its score. Press A to stop it`,
      undo: controlCalls.scenarios.stop(given),
      undoLabel: `${name} is disarmed`,
    }));
  },
};

function stopScenario(state: UiState, { name, merchant }: Scenario): StateUpdate {
  const stop = controlCalls.scenarios.stop({ name, ...(merchant !== null && { merchant }) });
  return makeCall(state, stop, ({ message }) => ({
    message: `Disarmed ${name}: ${message}`,
    updateState: (later) => ({ ...later, undo: later.undo.filter(({ call }) => call?.path !== stop.path) }),
  }));
}
