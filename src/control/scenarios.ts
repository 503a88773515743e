// Scenarios from outside: what there is, how each stands, and the way to arm and disarm one.

import { VERDICTS } from "../contracts/expectations.ts";
import type { ScenarioState } from "../contracts/scenario.ts";
import { isoTime } from "../kernel/clock.ts";
import { oneOf, Type, text } from "../schema/shapes.ts";
import { endpoint } from "./control-context.ts";
import { VerdictShape } from "./verdicts.ts";

const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const AnyObject = () => Type.Record(Type.Unknown());

const ResultShape = Type.Object({
  rule: Type.String({ description: "A rule of the judge, or several at once" }),
  points: Type.Integer({ description: "What it is worth" }),
  optional: Type.Boolean({ description: "Counts only once something was seen that could tell" }),
  verdict: oneOf(VERDICTS, "`pass` when one passed and none failed"),
  earned: Type.Integer(),
  pass: Type.Integer(),
  fail: Type.Integer(),
  inconclusive: Type.Integer(),
  verdicts: Type.Array(VerdictShape, { description: "What the judge found because of this scenario: failures first, 20 at most" }),
});

const ScenarioShape = Type.Object(
  {
    name: Type.String(),
    title: Type.String({ description: "What breaks, in one line" }),
    about: Type.String({ description: "What happens, and what a sound client does" }),
    armed: Type.Boolean(),
    merchant: nullable("Whom it strikes; null for everybody"),
    since: nullable("Sandbox time; null when it is not armed"),
    faults: Type.Array(AnyObject(), { description: "Its fault rules and what each has done; as they are written when it is not armed" }),
    expectations: Type.Array(ResultShape),
    score: Type.Integer({ description: "The points that were earned" }),
    points: Type.Integer({ description: "How many there are to be had" }),
    verdict: Type.Union([oneOf(VERDICTS, "`inconclusive` while something expected was not seen, or a fault has not fired"), Type.Null()], {
      description: "Null when it is not armed",
    }),
    says: Type.String({ description: "The same in a sentence" }),
  },
  { title: "scenario" },
);

const shown = (state: ScenarioState) => ({
  ...state,
  faults: state.faults.map((fault) => ({ ...fault })),
  expectations: state.expectations.map((result) => ({
    ...result,
    verdicts: result.verdicts.map((verdict) => ({ ...verdict, at: isoTime(verdict.at) })),
  })),
});

const whose = Type.Object({ merchant: Type.Optional(text("For whom it is armed; need not be said where it is armed once")) });

export const listScenarios = endpoint({
  id: "scenarios.list",
  area: "Scenarios",
  method: "GET",
  path: "/scenarios",
  summary: "Every scenario, and how those that are armed stand",
  reply: Type.Object({ object: oneOf(["list"], "Always `list`"), data: Type.Array(ScenarioShape) }),
  handle: async ({ scenarios }) => ({ object: "list" as const, data: (await scenarios.list()).map(shown) }),
});

export const showScenarioSchema = endpoint({
  id: "scenarios.schema",
  area: "Scenarios",
  method: "GET",
  path: "/scenarios/schema.json",
  summary: "The JSON Schema of a scenario's file",
  reply: AnyObject(),
  handle: ({ scenarios }) => scenarios.schema(),
});

export const showScenario = endpoint({
  id: "scenarios.get",
  area: "Scenarios",
  method: "GET",
  path: "/scenarios/{name}",
  summary: "How a scenario stands: its faults, each expectation with what the judge found, points and verdict",
  query: whose,
  reply: ScenarioShape,
  errors: ["validation_failed", "resource_not_found"],
  handle: async ({ scenarios, params, query }) => shown(await scenarios.find(params.name, query.merchant)),
});

export const startScenario = endpoint({
  id: "scenarios.start",
  area: "Scenarios",
  method: "POST",
  path: "/scenarios/{name}",
  summary: "Arm a scenario, for one merchant or for everybody",
  description:
    "Its faults strike from then on, and the judge's verdicts that they bring out are counted for it. One that is armed begins afresh; a reset disarms it.",
  body: Type.Object({ merchant: Type.Optional(text("Whom it strikes; everybody unless given")) }),
  example: { merchant: "mer_lodge" },
  exampleParams: { name: "lost-response" },
  reply: ScenarioShape,
  errors: ["validation_failed", "resource_not_found"],
  handle: async ({ scenarios, params, body }) => shown(await scenarios.start(params.name, body.merchant)),
});

export const stopScenario = endpoint({
  id: "scenarios.stop",
  area: "Scenarios",
  method: "DELETE",
  path: "/scenarios/{name}",
  summary: "Disarm a scenario; the answer says what it came to",
  query: whose,
  reply: ScenarioShape,
  errors: ["validation_failed", "resource_not_found", "invalid_state"],
  handle: async ({ scenarios, params, query }) => shown(await scenarios.stop(params.name, query.merchant)),
});
