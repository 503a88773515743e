// Scenarios in the form of faults: which there are, how each stands, and the calls that arm and disarm one.

import type { Field, Values } from "../overlays/field.ts";
import type { Context, Outcome } from "../overlays/form.ts";
import type { Answer, Call } from "../wire/control-calls.ts";
import { merchantsOrAll, options } from "./form-defaults.ts";

/** What stands for all of them among the faults. */
export const SCENARIO = "scenario";

interface Scenario {
  name: string;
  title: string;
  armed: boolean;
  merchant: string | null;
  score: number;
  points: number;
  says: string;
}

export function scenarioFields(values: Values, { state, answers }: Context): Field[] {
  const scenarios = (answers.scenarios as { data: Scenario[] } | undefined)?.data ?? [];
  const here = scenarios.find(({ name }) => name === values.name) ?? scenarios[0];
  return [
    {
      name: "name",
      label: "scenario",
      words: here ? (here.armed ? here.says : here.title) : "Asking the sandbox …",
      options: scenarios.map(({ name, title, armed, score, points }) => ({
        value: name,
        words: armed ? `ARMED ${score}/${points}: ${title}` : title,
      })),
      problem: (name) => (name === "" ? "is not known yet: the sandbox is being asked" : undefined),
    },
    {
      name: "do",
      label: "do",
      words: "Arm it, or disarm it and hear its score",
      options: options(["arm", "disarm"]),
      first: here?.armed ? "disarm" : "arm",
    },
    {
      name: "whom",
      label: "merchant",
      words: "Whom it strikes",
      options: merchantsOrAll(state, "everybody"),
      first: (here?.armed && here.merchant) || "",
    },
  ];
}

export function scenarioCall({ name = "", do: act, whom = "" }: Values): Call {
  const path = `/scenarios/${encodeURIComponent(name)}`;
  if (act === "disarm") return { method: "DELETE", path: whom === "" ? path : `${path}?merchant=${encodeURIComponent(whom)}` };
  return { method: "POST", path, body: whom === "" ? {} : { merchant: whom } };
}

export function scenarioDone({ body }: Answer, held: Values): Outcome {
  const { name, title, score, points, says } = body as Scenario;
  if (held.do === "disarm") return { words: `${name} is disarmed with ${score} of ${points} points: ${says}` };
  return { words: `${name} is armed: ${title}`, undo: scenarioCall({ ...held, do: "disarm" }) };
}
