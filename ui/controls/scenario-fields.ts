// The scenario fields of the fault form: arm a scenario, or disarm it and show its score.

import { controlCalls } from "../../src/client/control-call.ts";
import type { ScenariosListReply } from "../../src/client/control-plane.generated.ts";
import type { FormField, FormValues } from "../overlays/field.ts";
import { type Submission, submission } from "../overlays/form.ts";
import type { UiState } from "../state/state.ts";
import { allOrOneMerchant, toOptions } from "./form-defaults.ts";

/** The option of the fault form that shows these fields. */
export const SCENARIO = "scenario";

/** `listed` is undefined until the scenarios are fetched. */
export function scenarioFields(values: FormValues, state: UiState, listed: ScenariosListReply | undefined): FormField[] {
  const scenarios = listed?.data ?? [];
  const selected = scenarios.find(({ name }) => name === values.name) ?? scenarios[0];
  return [
    {
      name: "name",
      label: "scenario",
      help: selected ? (selected.armed ? selected.says : selected.title) : "Loading …",
      options: scenarios.map(({ name, title, armed, score, points }) => ({
        value: name,
        help: armed ? `ARMED ${score}/${points}: ${title}` : title,
      })),
      validate: (name) => (name === "" ? "is still loading" : undefined),
    },
    {
      name: "do",
      label: "action",
      help: "Arm it, or disarm it and show its score",
      options: toOptions(["arm", "disarm"]),
      initial: selected?.armed ? "disarm" : "arm",
    },
    {
      name: "merchant",
      label: "merchant",
      help: "The merchant it affects",
      options: allOrOneMerchant(state, "all merchants"),
      initial: (selected?.armed && selected.merchant) || "",
    },
  ];
}

export function scenarioSubmission({ name = "", do: action, merchant = "" }: FormValues): Submission {
  const input = { name, ...(merchant !== "" && { merchant }) };
  const stop = controlCalls.scenarios.stop(input);
  if (action === "disarm")
    return submission(stop, ({ score, points, says }) => ({ message: `Disarmed ${name}: ${score} of ${points} points. ${says}` }));
  return submission(controlCalls.scenarios.start(input), ({ title }) => ({ message: `Armed ${name}: ${title}`, undo: stop }));
}
