// Scenarios: list, arm, score and disarm them.

import { VERDICTS } from "../contracts/expectations.ts";
import type { ScenarioState } from "../contracts/scenario.ts";
import { isoTime } from "../kernel/clock.ts";
import { oneOf, Type, text } from "../schema/shapes.ts";
import { endpoint } from "./control-context.ts";
import { VerdictReply } from "./verdicts.ts";

const nullableText = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const anyObject = () => Type.Record(Type.Unknown());

const ResultShape = Type.Object({
  rule: Type.String({ description: "A rule of the judge, or several, as in retry_after.*" }),
  points: Type.Integer({ description: "Points for meeting it" }),
  optional: Type.Boolean({ description: "Counts only once there is a verdict that is not `inconclusive`" }),
  verdict: oneOf(VERDICTS, "`pass` if at least one verdict passed and none failed"),
  earned: Type.Integer(),
  pass: Type.Integer(),
  fail: Type.Integer(),
  inconclusive: Type.Integer(),
  verdicts: Type.Array(VerdictReply, { description: "Verdicts caused by this scenario: failures first, 20 at most" }),
});

const ScenarioShape = Type.Object(
  {
    name: Type.String(),
    title: Type.String({ description: "What breaks, in one line" }),
    about: Type.String({ description: "What happens, and what a correct client does" }),
    armed: Type.Boolean(),
    merchant: nullableText("The merchant it applies to; null for all"),
    since: nullableText("Sandbox time at which it was armed; null if it is not armed"),
    faults: Type.Array(anyObject(), { description: "Its fault rules with their counts; as written if it is not armed" }),
    expectations: Type.Array(ResultShape),
    score: Type.Integer({ description: "Points earned" }),
    points: Type.Integer({ description: "Points available" }),
    verdict: Type.Union([oneOf(VERDICTS, "`inconclusive` while an expectation is undecided, or a fault has not fired"), Type.Null()], {
      description: "Null if it is not armed",
    }),
    says: Type.String({ description: "The result as a sentence" }),
  },
  { title: "scenario" },
);

const scenarioReply = (state: ScenarioState) => ({
  ...state,
  faults: state.faults.map((fault) => ({ ...fault })),
  expectations: state.expectations.map((result) => ({
    ...result,
    verdicts: result.verdicts.map((verdict) => ({ ...verdict, at: isoTime(verdict.at) })),
  })),
});

const merchantQuery = Type.Object({ merchant: Type.Optional(text("The merchant it is armed for; optional if it is armed once")) });

export const listScenarios = endpoint({
  id: "scenarios.list",
  area: "Scenarios",
  method: "GET",
  path: "/scenarios",
  summary: "List the scenarios, with the results of those that are armed",
  reply: Type.Object({ object: oneOf(["list"], "Always `list`"), data: Type.Array(ScenarioShape) }),
  handle: async ({ scenarios }) => ({ object: "list" as const, data: (await scenarios.list()).map(scenarioReply) }),
});

export const showScenarioSchema = endpoint({
  id: "scenarios.schema",
  area: "Scenarios",
  method: "GET",
  path: "/scenarios/schema.json",
  summary: "Get the JSON Schema of a scenario file",
  reply: anyObject(),
  handle: ({ scenarios }) => scenarios.schema(),
});

export const showScenario = endpoint({
  id: "scenarios.get",
  area: "Scenarios",
  method: "GET",
  path: "/scenarios/{name}",
  summary: "Get a scenario: its faults, expectations, verdicts and score",
  query: merchantQuery,
  reply: ScenarioShape,
  errors: ["validation_failed", "resource_not_found"],
  handle: async ({ scenarios, params, query }) => scenarioReply(await scenarios.find(params.name, query.merchant)),
});

export const startScenario = endpoint({
  id: "scenarios.start",
  area: "Scenarios",
  method: "POST",
  path: "/scenarios/{name}",
  summary: "Arm a scenario, for one merchant or for all",
  description:
    "Its faults are armed, and the verdicts they cause count towards its score. A scenario that is already armed starts again; a reset disarms it.",
  body: Type.Object({ merchant: Type.Optional(text("The merchant it applies to (default: all)")) }),
  example: { merchant: "mer_lodge" },
  exampleParams: { name: "lost-response" },
  reply: ScenarioShape,
  errors: ["validation_failed", "resource_not_found"],
  handle: async ({ scenarios, params, body }) => scenarioReply(await scenarios.start(params.name, body.merchant)),
});

export const stopScenario = endpoint({
  id: "scenarios.stop",
  area: "Scenarios",
  method: "DELETE",
  path: "/scenarios/{name}",
  summary: "Disarm a scenario; the reply has its final score",
  query: merchantQuery,
  reply: ScenarioShape,
  errors: ["validation_failed", "resource_not_found", "invalid_state"],
  handle: async ({ scenarios, params, query }) => scenarioReply(await scenarios.stop(params.name, query.merchant)),
});
