// The scenario fields of the fault form: arm a scenario, or disarm it and show its score.

import type { ScenariosListReply } from "../../generated/control-api.ts";
import { controlCalls } from "../../src/client/control-call.ts";
import type { FieldOption, FormField, FormValues } from "../overlays/field.ts";
import { type Submission, submission } from "../overlays/form.ts";
import type { UiState } from "../state/state.ts";
import { allOrOneMerchant, toOptions } from "./form-defaults.ts";

const PREFIX = "scenario";

/** Whether an option of the fault form is a scenario. */
export const isScenario = (option: string) => option.startsWith(PREFIX);

const nameIn = (option: string) => option.slice(PREFIX.length + 1);

/** An option for each scenario; one to wait with until they are fetched. */
export const scenarioOptions = (listed: ScenariosListReply | undefined): FieldOption[] =>
  listed
    ? listed.data.map(({ name, title, armed, score, points }) => ({
        value: `${PREFIX} ${name}`,
        help: armed ? `ARMED ${score}/${points}: ${title}` : title,
      }))
    : [{ value: PREFIX, help: "A named set of faults with a score" }];

/** The fields of the scenario that an option stands for. */
export function scenarioFields(option: string, state: UiState, listed: ScenariosListReply | undefined): FormField[] {
  const selected = listed?.data.find(({ name }) => name === nameIn(option));
  if (!selected) return [];
  return [
    {
      name: "do",
      label: "action",
      help: selected.armed ? selected.says : "Arm it, or disarm it and show its score",
      options: toOptions(["arm", "disarm"]),
      initial: selected.armed ? "disarm" : "arm",
    },
    {
      name: "merchant",
      label: "merchant",
      help: "The merchant it affects",
      options: allOrOneMerchant(state, "all merchants"),
      initial: (selected.armed && selected.merchant) || "",
    },
  ];
}

export function scenarioSubmission(option: string, { do: action, merchant = "" }: FormValues): Submission {
  const name = nameIn(option);
  const input = { name, ...(merchant !== "" && { merchant }) };
  const stop = controlCalls.scenarios.stop(input);
  if (action === "disarm")
    return submission(stop, ({ score, points, says }) => ({ message: `Disarmed ${name}: ${score} of ${points} points. ${says}` }));
  return submission(controlCalls.scenarios.start(input), ({ title }) => ({ message: `Armed ${name}: ${title}`, undo: stop }));
}
