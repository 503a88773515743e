// Scenarios: list, arm, score and disarm them.

import { endpointFactory } from "../areas/declare/operation.ts";
import { type ScenarioState, ShownScenario } from "../contracts/scenario.ts";
import { isoTime } from "../kernel/clock.ts";
import type { Scenarios } from "../scenarios/index.ts";
import { jsonSchemaReply, Type, text } from "../schema/shapes.ts";
import { wholeList, wholeListOf } from "./given-values.ts";

const endpoint = endpointFactory<{
  scenarios: Pick<Scenarios, "list" | "find" | "start" | "count" | "stop" | "schema">;
}>("Scenarios");

const scenarioReply = (state: ScenarioState) => ({
  ...state,
  expectations: state.expectations.map((result) => ({
    ...result,
    verdicts: result.verdicts.map((verdict) => ({ ...verdict, at: isoTime(verdict.at) })),
  })),
});

const merchantQuery = Type.Object({
  merchant: Type.Optional(text("The merchant it is armed for; required only if it is armed more than once")),
});

const listScenarios = endpoint({
  id: "scenarios.list",
  method: "GET",
  path: "/scenarios",
  summary: "List the scenarios, with the results of those that are armed",
  reply: wholeListOf(ShownScenario),
  handle: async ({ scenarios }) => wholeList((await scenarios.list()).map(scenarioReply)),
});

const showScenarioSchema = endpoint({
  id: "scenarios.schema",
  method: "GET",
  path: "/scenarios/schema.json",
  summary: "Get the JSON Schema of a scenario file",
  reply: jsonSchemaReply,
  handle: ({ scenarios }) => scenarios.schema(),
});

const showScenario = endpoint({
  id: "scenarios.get",
  method: "GET",
  path: "/scenarios/{name}",
  summary: "Get a scenario: its faults, expectations, verdicts and score",
  query: merchantQuery,
  reply: ShownScenario,
  errors: ["resource_not_found"],
  handle: async ({ scenarios, params, query }) => scenarioReply(await scenarios.find(params.name, query.merchant)),
});

const startScenario = endpoint({
  id: "scenarios.start",
  method: "POST",
  path: "/scenarios/{name}",
  summary: "Arm a scenario, for one merchant or for all",
  description:
    "Arms the scenario's faults. The verdicts they cause count towards the scenario's score. " +
    "A scenario that is already armed starts again; a reset disarms it.",
  body: Type.Object({
    merchant: Type.Optional(text("The merchant it applies to (default: all)")),
    effects: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: "How often the receiver has acted so far; send later counts with `PATCH` (default: not counted)",
      }),
    ),
    event: Type.Optional(
      text("The type of the events on which the receiver acts, or a pattern (default: all, if they are of one type)"),
    ),
  }),
  example: { merchant: "mer_lodge" },
  exampleParams: { name: "lost-response" },
  reply: ShownScenario,
  errors: ["resource_not_found"],
  async handle({ scenarios, params, body: { merchant, effects, event } }) {
    const counted = effects === undefined ? undefined : { before: effects, event };
    return scenarioReply(await scenarios.start(params.name, merchant, counted));
  },
});

const countEffects = endpoint({
  id: "scenarios.count",
  method: "PATCH",
  path: "/scenarios/{name}",
  summary: "Update how often the receiver has acted, if the scenario was armed with `effects`",
  description: "The increase must equal the number of events that the receiver accepted since the scenario was armed.",
  query: merchantQuery,
  body: Type.Object({
    effects: Type.Integer({ minimum: 0, description: "How often the receiver has acted so far" }),
  }),
  example: { effects: 1 },
  reply: ShownScenario,
  errors: ["resource_not_found", "invalid_state"],
  handle: async ({ scenarios, params, query, body: { effects = 0 } }) =>
    scenarioReply(await scenarios.count(params.name, query.merchant, effects)),
});

const stopScenario = endpoint({
  id: "scenarios.stop",
  method: "DELETE",
  path: "/scenarios/{name}",
  summary: "Disarm a scenario; the reply has its final score",
  query: merchantQuery,
  reply: ShownScenario,
  errors: ["resource_not_found", "invalid_state"],
  handle: async ({ scenarios, params, query }) => scenarioReply(await scenarios.stop(params.name, query.merchant)),
});

export const operations = [listScenarios, showScenarioSchema, showScenario, startScenario, countEffects, stopScenario];
