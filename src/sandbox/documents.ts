// Passes the sources of the reference to it: both catalogues, every kind of record, and the documented behaviours of each module.

import { basename } from "node:path";
import { eventSources } from "../areas/event-sources.ts";
import { areaDescriptions, behaviours as areas, catalogue, resources } from "../areas/index.ts";
import { webhookEndpoints } from "../areas/webhooks.ts";
import { conditionTexts } from "../compare/conditions.ts";
import type { ComparedSandbox } from "../compare/recording.ts";
import { errorObject } from "../contracts/error-object.ts";
import { envelope } from "../contracts/event-envelope.ts";
import { factKinds } from "../contracts/fact.ts";
import { withFields } from "../contracts/resource.ts";
import { WebhookHealth } from "../contracts/webhook.ts";
import { controlAreaDescriptions, controlCatalogue } from "../control/index.ts";
import { actions, matchSchemas, RULE_FIELDS } from "../faults/rule-schema.ts";
import { triggerSchema } from "../faults/trigger.ts";
import { behaviours as authentication } from "../http/authenticate.ts";
import { behaviours as idempotency } from "../http/idempotency.ts";
import { behaviours as limits } from "../http/rate-limit.ts";
import { behaviours as bodies } from "../http/read-body.ts";
import { behaviours as errors } from "../http/reply.ts";
import { behaviours as paths } from "../http/route.ts";
import { once } from "../kernel/once.ts";
import { behaviours as life } from "../life/life.ts";
import { controlSurface, serviceSurface } from "../reference/api-surface.ts";
import { assumptionsPage as renderAssumptions } from "../reference/assumptions-page.ts";
import { type PreciseFields, programTypes } from "../reference/control-api-types.ts";
import { operationTable } from "../reference/control-operations.ts";
import { eventsOf } from "../reference/events.ts";
import { eventsPage as renderEvents } from "../reference/events-page.ts";
import { exampleCall, prerequisiteOf, type Replies } from "../reference/example.ts";
import { exampleReplies } from "../reference/example-replies.generated.ts";
import { faultsPage as renderFaults } from "../reference/faults-page.ts";
import { ledger } from "../reference/ledger.ts";
import { openapi } from "../reference/openapi.ts";
import { inForm, type OpenApiForm } from "../reference/openapi-forms.ts";
import { controlPage as renderControl, referencePage as renderReference } from "../reference/reference-page.ts";
import { serviceTypes } from "../reference/service-types.ts";
import { refine, titledSchemas } from "../reference/subschemas.ts";
import { pascal } from "../reference/typescript.ts";
import { Condition, Count } from "../schema/conditions.ts";
import { Type } from "../schema/shapes.ts";
import type { AdoptedFacts } from "../service/adopted-facts.ts";
import { adoptLedger } from "../service/adopted-ledger.ts";
import { adoptedSchemas } from "../service/adopted-reply.ts";
import type { Adoption } from "../service/adoption.ts";
import { comparedOperation } from "../service/compared-operation.ts";
import { serviceFileSchema } from "../service/service-file.ts";
import { behaviours as arrivals } from "../store/records/arrivals.ts";
import { behaviours as collections } from "../store/records/collection.ts";
import { behaviours as ids } from "../store/records/id-counters.ts";
import { behaviours as logins } from "../store/records/logins.ts";
import { behaviours as pages } from "../store/records/record-pages.ts";
import { readFixtures } from "../store/world/fixtures.ts";
import { findImageTimes } from "../store/world/image-times.ts";
import { trafficMixSchema } from "../traffic/traffic-options.ts";
import { behaviours as dispatch } from "../webhooks/dispatcher.ts";
import { behaviours as targets } from "../webhooks/http/target-policy.ts";
import { behaviours as schedule } from "../webhooks/retry-schedule.ts";
import { behaviours as signature } from "../webhooks/signature.ts";
import { adoptedDocument } from "./adopted-documents.ts";
import { configSchema } from "./config-schema.ts";
import { optionDefinitions } from "./options.ts";
import { version } from "./package-files.ts";

/** The address that the written pages show. */
const USUAL_URL = "http://127.0.0.1:4747";

/** A webhook endpoint as lists show it. */
const WebhookEndpoint = withFields(webhookEndpoints, { health: WebhookHealth });

const events = eventsOf(catalogue, resources);
const behaviours = [
  ...[...paths, ...bodies, ...authentication, ...limits, ...errors],
  ...[...collections, ...arrivals, ...life, ...ids, ...logins, ...areas, ...pages],
  ...[...idempotency, ...dispatch, ...schedule, ...signature, ...targets],
];
const service = (url: string) => ({ surface: serviceSurface(url, version()), operations: catalogue });
const control = (url: string) => ({ surface: controlSurface(url, version()), operations: controlCatalogue });

const FaultMatch = Type.Object({ ...matchSchemas.api.properties, ...matchSchemas.delivery.properties });
const FaultAction = Type.Union(actions.map(({ schema }) => schema));
const FaultTrigger = triggerSchema;
const ruleFields = { match: FaultMatch, trigger: FaultTrigger, action: FaultAction };
const faultFields = { ...ruleFields, expect: Type.Array(Type.String()) };
/** Fields from their own schema, which is more precise than the one of the operation: the operation leaves the check, and its messages, to their room. */
const preciseFields: PreciseFields = {
  "faults.add": faultFields,
  "faults.change": faultFields,
  "traffic.start": { mix: trafficMixSchema },
};
const faultTypes = { FaultMatch, FaultAction, FaultTrigger };
const actionTypes = Object.fromEntries(actions.map(({ type, schema }) => [`${pascal(type)}Action`, schema]));
const controlTypes = { Condition, Count, ...faultTypes, ...actionTypes };

const preciseControl = () =>
  controlCatalogue.map((operation) => {
    const { id, body, reply } = operation;
    const fields = preciseFields[id];
    const precise = body && fields ? { ...body, properties: { ...body.properties, ...fields } } : body;
    return { ...operation, body: precise, reply: refine(reply, "fault_rule", ruleFields) };
  });

/** The OpenAPI document of the service (default: OpenAPI 3.1, with the sandbox's extensions). */
export function serviceOpenapi(url: string, form: OpenApiForm = {}, adopted?: Adoption) {
  const own = { ...service(url), events, areas: areaDescriptions, replies: exampleReplies, names: { WebhookEndpoint } };
  return inForm(openapi(adopted ? adoptedDocument(own, adopted) : own), form);
}

/** The OpenAPI document of the control API. */
export const controlOpenapi = (url: string, form: OpenApiForm = {}) =>
  inForm(openapi({ ...control(url), operations: preciseControl(), areas: controlAreaDescriptions, names: controlTypes }), form);

/** Every fact about the service, with the kinds of facts. Under a service file, its facts are recorded. */
export function assumptions(adopted?: AdoptedFacts) {
  const own = { kinds: factKinds, ...ledger({ operations: catalogue, resources, events, behaviours }) };
  if (!adopted) return own;
  const facts = adoptLedger(own.facts, adopted);
  return { ...own, total: facts.filter(({ origin }) => origin === "assumed").length, facts };
}

/**
 * A call of each operation of the service that succeeds on a freshly seeded sandbox. `after` is the operation, if any, whose
 * own example must come first, and whose answer must then be in `replies`.
 */
export const exampleCalls = (replies: Replies = {}) =>
  catalogue.map((operation) => ({
    id: operation.id,
    after: prerequisiteOf(service(USUAL_URL), operation)?.id,
    ...exampleCall(service(USUAL_URL), operation, replies),
  }));

/** `replies` are the responses to the example calls. */
export const referencePage = (replies: Replies) =>
  renderReference({ service: service(USUAL_URL), control: control(USUAL_URL), resources, events, behaviours, replies });

/** The same replies, as the source of the examples in the OpenAPI document. */
export const exampleRepliesPage = (replies: Replies) =>
  `// The response bodies of the example requests, by operation id. Generated by \`npm run docs\`.\n\nexport const exampleReplies = ${JSON.stringify(replies, null, 2)};\n`;

export const controlPage = () => renderControl(control(USUAL_URL));

export const assumptionsPage = () => renderAssumptions(assumptions(), conditionTexts());

/** The positions of the times in an image of the world that these fixtures make, for the build. */
export const imageTimes = (bytes: Buffer, folder: string) => findImageTimes(bytes, readFixtures(folder), resources);

/** The description of each option, for its doc comment in types/. */
export const optionDescriptions: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(optionDefinitions).map(([name, { description }]) => [name, description]),
);

/** The JSON Schema of merchant-sandbox.json. */
export function configSchemaPage(): string {
  const rule = Type.Object({
    ...RULE_FIELDS,
    match: Type.Optional(FaultMatch),
    trigger: Type.Optional(triggerSchema),
    action: FaultAction,
  });
  const { properties, ...schema } = configSchema;
  const faults = Type.Union([Type.String(), Type.Array(rule)], { description: "a file of fault rules, or the rules themselves" });
  return schemaPage({ ...schema, properties: { ...properties, faults } });
}

/** The JSON Schema of a service file. */
export const serviceSchemaPage = () => schemaPage(serviceFileSchema);

const schemaPage = (schema: object) => `${JSON.stringify({ $schema: "https://json-schema.org/draft/2020-12/schema", ...schema })}\n`;

/** The table from which the client builds its calls. */
export const operationsPage = () => operationTable(controlCatalogue);

/** The types of the control API. */
export const programPage = () => programTypes(controlCatalogue, faultTypes, preciseFields);

export const faultsPage = () => renderFaults({ actions, match: matchSchemas, trigger: triggerSchema, rule: RULE_FIELDS });

export const eventsPage = () => renderEvents([...eventSources.values()]);

/** The types of the service as a program sees it, by a service file if there is one. */
export function serviceTypesPage(service?: Adoption & { file: string }): string {
  const schemas = service && adoptedSchemas(service.facts, service.prefixes);
  const operations = (service?.catalogue ?? catalogue).map((operation) => ({
    id: operation.id,
    body: operation.body,
    reply: schemas?.reply(operation) ?? operation.reply,
  }));
  const named = (type: string) => String(service?.facts.value(`event.type.values.${type}`) ?? type);
  return serviceTypes({
    operations,
    error: schemas?.error ?? errorObject,
    errorObject: schemas?.errorObject ?? errorObject,
    event: schemas?.event ?? envelope,
    eventTypes: events.map(({ type }) => named(type)),
    source: service ? `, as ${basename(service.file)} has it` : "",
  });
}

const ownFacts = once(() => assumptions().facts);
const ownRecords = once(() => titledSchemas([...resources.map(({ schema }) => schema), ...catalogue.map(({ reply }) => reply)]));

/** The facts and operations that recordings of the service are compared with: the sandbox's own, or those under a service file. */
export const comparedSandbox = (adopted?: AdoptedFacts): ComparedSandbox => ({
  facts: adopted ? adoptLedger(ownFacts(), adopted) : ownFacts(),
  operations: adopted ? catalogue.map((operation) => comparedOperation(operation, adopted)) : catalogue,
  records: ownRecords(),
  unique: new Map(resources.map(({ kind, unique }) => [kind, unique])),
  eventKinds: new Map(events.map(({ type, kind }) => [type, kind ?? ""])),
  event: envelope,
  error: errorObject,
});
