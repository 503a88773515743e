// The generated pages and schemas, by path, and data from the sources for other scripts that generate files.

import { eventSources } from "../../src/areas/event-sources.ts";
import { catalogue, resources } from "../../src/areas/index.ts";
import { conditionTexts } from "../../src/compare/conditions.ts";
import { actions, matchSchemas, RULE_FIELDS } from "../../src/faults/rule-schema.ts";
import { triggerSchema } from "../../src/faults/trigger.ts";
import { configSchema, optionDefinitions, withDefault } from "../../src/sandbox/options.ts";
import { annotate } from "../../src/schema/assumed.ts";
import { Type } from "../../src/schema/shapes.ts";
import { assumptions, control, events, faultTypes, service } from "../reference/documents.ts";
import { prerequisiteOf, type Replies } from "../reference/examples.ts";
import { assumptionsPage } from "./assumptions-page.ts";
import { eventsPage } from "./events-page.ts";
import { exampleCall } from "./example-calls.ts";
import { faultsPage } from "./faults-page.ts";
import { controlPage, referencePage } from "./reference-page.ts";

export { assumptions, controlOpenapi, serviceOpenapi, serviceTypesPage } from "../reference/documents.ts";

/** The address that the pages and the OpenAPI documents of the package show. */
export const USUAL_URL = "http://127.0.0.1:4747";

/** `replies` are the responses to the example calls. */
export const pages = (replies: Replies): Record<string, string> => ({
  "docs/reference.md": referencePage({
    service: service(USUAL_URL),
    control: control(USUAL_URL),
    resources,
    events,
    replies,
  }),
  "docs/control.md": controlPage(control(USUAL_URL)),
  "docs/assumptions.md": assumptionsPage(assumptions(), conditionTexts()),
  "docs/faults.md": faultsPage({ actions, match: matchSchemas, trigger: triggerSchema, rule: RULE_FIELDS }),
  "docs/events.md": eventsPage([...eventSources().values()]),
  "types/config.schema.json": schemaFile(configFileSchema()),
});

/** The JSON Schema of merchant-sandbox.json. */
function configFileSchema() {
  const { FaultMatch, FaultTrigger, FaultAction } = faultTypes;
  const rule = Type.Object({
    ...RULE_FIELDS,
    match: Type.Optional(FaultMatch),
    trigger: Type.Optional(FaultTrigger),
    action: FaultAction,
  });
  const { properties, ...schema } = configSchema;
  const faults = Type.Union([Type.String(), Type.Array(rule)], {
    description: "a file of fault rules, or the rules themselves",
  });
  const settable = assumptions().facts.flatMap(({ id, settable: values, value, why }) =>
    values === undefined
      ? []
      : [
          [
            id,
            Type.Optional(annotate(values, { default: value, ...(why !== undefined && { description: why }) })),
          ] as const,
        ],
  );
  const assumed = Type.Object(Object.fromEntries(settable), {
    additionalProperties: false,
    description: optionDefinitions.assumptions.description,
  });
  return { ...schema, properties: { ...properties, faults, assumptions: assumed } };
}

const schemaFile = (schema: object) =>
  `${JSON.stringify({ $schema: "https://json-schema.org/draft/2020-12/schema", ...schema })}\n`;

/**
 * For each operation of the service, a call that succeeds on a freshly seeded sandbox. `after` is the operation, if
 * any, whose example must be run first. `replies` must then contain the response to that example.
 */
export const exampleCalls = (replies: Replies = {}) =>
  catalogue.map((operation) => ({
    id: operation.id,
    after: prerequisiteOf(service(USUAL_URL), operation)?.id,
    ...exampleCall(service(USUAL_URL), operation, replies),
  }));

/** The description of each option, for its doc comment in types/. */
export const optionDescriptions: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(optionDefinitions).map(([name, option]) => [name, withDefault(option)]),
);
