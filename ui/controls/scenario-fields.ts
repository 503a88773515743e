// The scenario fields of the fault form: arm a scenario, or disarm it and show its score.

import { controlCalls } from "../../src/client/control-call.ts";
import type { Scenario } from "../../src/client/control-plane.generated.ts";
import type { FormField, FormValues } from "../overlays/field.ts";
import type { FormContext, FormResult } from "../overlays/form.ts";
import type { Answer, Call } from "../wire/control-calls.ts";
import { allOrOneMerchant, toOptions } from "./form-defaults.ts";

/** The option of the fault form that shows these fields. */
export const SCENARIO = "scenario";

export function scenarioFields(values: FormValues, { state, data }: FormContext): FormField[] {
  const scenarios = (data.scenarios as { data: Scenario[] } | undefined)?.data ?? [];
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

export function scenarioCall({ name = "", do: action, merchant = "" }: FormValues): Call {
  const input = { name, ...(merchant !== "" && { merchant }) };
  if (action === "disarm") return controlCalls.scenarios.stop(input);
  return controlCalls.scenarios.start(input);
}

export function scenarioResult({ body }: Answer, values: FormValues): FormResult {
  const { name, title, score, points, says } = body as Scenario;
  if (values.do === "disarm") return { message: `Disarmed ${name}: ${score} of ${points} points. ${says}` };
  return { message: `Armed ${name}: ${title}`, undo: scenarioCall({ ...values, do: "disarm" }) };
}
