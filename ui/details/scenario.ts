// The detail of a scenario: what it does, its score by check, and its faults.

import type { Scenario } from "../../generated/control-api.ts";
import type { Detail } from "../overlays/detail.ts";
import { type UiState, valuesOf } from "../state/state.ts";
import { counted, dateTimeToSecond, milliseconds, verdictLabel } from "../view/format.ts";
import { type DetailLine, labelled, linkTo, paragraph, section, sectionOf } from "./detail-lines.ts";
import { fieldsText, triggerText } from "./fault.ts";

/** A scenario that is armed for several merchants is listed for each. */
export const scenarioId = ({ name, merchant }: Pick<Scenario, "name" | "merchant">) => `${name} ${merchant ?? ""}`;

export const scenarioDetail = (_: UiState, opened: Scenario): Detail => ({
  title: `Scenario ${opened.name}`,
  lines(_data, state, width) {
    const { theme } = state;
    const listed = valuesOf<Scenario>(state, "scenarios");
    // Once it is disarmed, its row is that of no merchant.
    const scenario =
      listed.find((one) => scenarioId(one) === scenarioId(opened)) ?? listed.find(({ name }) => name === opened.name) ?? opened;
    return [
      ...paragraph(theme, width, scenario.title, "bold"),
      ...paragraph(theme, width, scenario.about),
      ...section(theme, "Score", scoreLines(state, scenario, width)),
      ...sectionOf(theme, "Checks", scenario.expectations, (check) => checkLines(state, scenario, check, width)),
      ...sectionOf(theme, "Faults", scenario.faults, (fault) => faultLines(state, scenario, fault, width)),
    ];
  },
});

function scoreLines({ theme }: UiState, { armed, merchant, since, score, points, verdict, says }: Scenario, width: number): string[] {
  if (!armed)
    return [...labelled(theme, width, "status", "not armed. Press A to start it"), ...labelled(theme, width, "points", String(points))];
  const [label, style] = verdictLabel(theme, verdict ?? "inconclusive");
  return [
    ...labelled(theme, width, "status", `armed for ${merchant ?? "all merchants"}. Press A to stop it`, "magenta"),
    ...(since === null ? [] : labelled(theme, width, "since", dateTimeToSecond(milliseconds(since)))),
    ...labelled(theme, width, "points", `${score} of ${points}`),
    ...labelled(theme, width, "verdict", label, style),
    ...labelled(theme, width, "finding", says),
  ];
}

type Check = Scenario["expectations"][number];

/** A check with its points, and the verdicts that decide it. */
function checkLines({ theme }: UiState, { armed }: Scenario, check: Check, width: number): DetailLine[] {
  const { rule, points, earned, optional, verdict, pass, fail, inconclusive, verdicts } = check;
  const name = `${rule}${optional ? ", counts once a verdict decides it" : ""}`;
  if (!armed) return labelled(theme, width, counted(points, "point"), name);
  const [label, style] = verdictLabel(theme, verdict);
  const counts = [
    [pass, "passed"],
    [fail, "failed"],
    [inconclusive, "inconclusive"],
  ] as const;
  const found = counts.flatMap(([times, word]) => (times === 0 ? [] : [`${times} ${word}`]));
  const result = `${label}  ${name}${found.length === 0 ? "" : `: ${found.join(", ")}`}`;
  return [
    ...labelled(theme, width, `${earned} of ${points}`, result, style),
    ...verdicts.flatMap(({ id, says }) => (id === null ? [] : linkTo("verdicts", id, labelled(theme, width, "", says)))),
  ];
}

/** An armed fault is a link to its rule. */
function faultLines({ theme }: UiState, { armed }: Scenario, fault: Scenario["faults"][number], width: number): DetailLine[] {
  const { id, action, match, trigger } = fault as Partial<Record<string, Readonly<Record<string, unknown>>>> & { id?: unknown };
  const { type, ...fields } = action ?? {};
  const parts = [String(type), fieldsText(fields), fieldsText(match ?? {}), trigger ? triggerText(trigger) : ""];
  const lines = labelled(theme, width, armed ? String(id) : "fault", parts.filter((part) => part !== "").join(", "));
  return armed && fault.status !== "removed" ? linkTo("faults", String(id), lines) : lines;
}
