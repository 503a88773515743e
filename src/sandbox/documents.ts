// Builds the documents of both APIs and the list of assumptions from the catalogues, the kinds of records and the behaviours of each module.

import { existsSync, readFileSync } from "node:fs";
import { areaDescriptions, behaviours as areas, catalogue, resources } from "../areas/index.ts";
import { webhookEndpoints } from "../areas/webhooks.ts";
import type { ComparedOperation, ComparedSandbox } from "../compare/recording.ts";
import { errorObject } from "../contracts/error-object.ts";
import { envelope } from "../contracts/event-envelope.ts";
import { factKinds } from "../contracts/fact.ts";
import { withFields } from "../contracts/resource.ts";
import { WebhookHealth } from "../contracts/webhook.ts";
import { controlAreaDescriptions, controlCatalogue } from "../control/index.ts";
import { actions, matchSchemas } from "../faults/rule-schema.ts";
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
import { eventsOf } from "../reference/events.ts";
import type { Replies } from "../reference/examples.ts";
import { ledger } from "../reference/ledger.ts";
import { openapi } from "../reference/openapi.ts";
import { inForm, type OpenApiForm } from "../reference/openapi-forms.ts";
import { refine, titledSchemas } from "../reference/subschemas.ts";
import { pascal, serviceTypes } from "../reference/typescript.ts";
import { Condition, Count } from "../schema/conditions.ts";
import { type TProperties, Type } from "../schema/shapes.ts";
import { adoptLedger } from "../service/ledger.ts";
import { operationUnder } from "../service/operations.ts";
import type { AdoptedFacts } from "../service/service-file.ts";
import { createReadBody } from "../service/translate-request.ts";
import type { Operation } from "../store/operation-context.ts";
import { behaviours as arrivals } from "../store/records/arrivals.ts";
import { behaviours as collections } from "../store/records/collection.ts";
import { behaviours as ids } from "../store/records/id-counters.ts";
import { behaviours as logins } from "../store/records/logins.ts";
import { behaviours as pages } from "../store/records/record-pages.ts";
import { trafficMixSchema } from "../traffic/traffic-options.ts";
import { behaviours as dispatch } from "../webhooks/dispatcher.ts";
import { behaviours as targets } from "../webhooks/http/target-policy.ts";
import { behaviours as schedule } from "../webhooks/retry-schedule.ts";
import { behaviours as signature } from "../webhooks/signature.ts";
import { packageFile, version } from "./package-files.ts";

/** A webhook endpoint as lists show it. */
const WebhookEndpoint = withFields(webhookEndpoints, { health: WebhookHealth });

export const events = eventsOf(catalogue, resources);
export const behaviours = [
  ...[...paths, ...bodies, ...authentication, ...limits, ...errors],
  ...[...collections, ...arrivals, ...life, ...ids, ...logins, ...areas, ...pages],
  ...[...idempotency, ...dispatch, ...schedule, ...signature, ...targets],
];
export const service = (url: string) => ({ surface: serviceSurface(url, version()), operations: catalogue });
export const control = (url: string) => ({ surface: controlSurface(url, version()), operations: controlCatalogue });

const FaultMatch = Type.Object({ ...matchSchemas.api.properties, ...matchSchemas.delivery.properties });
const FaultAction = Type.Union(actions.map(({ schema }) => schema));
const FaultTrigger = triggerSchema;
const ruleFields = { match: FaultMatch, trigger: FaultTrigger, action: FaultAction };
const faultFields = { ...ruleFields, expect: Type.Array(Type.String()) };
/** Fields with a more precise schema than their operation declares; their own module checks them, with better messages. */
export const preciseFields: Readonly<Record<string, TProperties>> = {
  "faults.add": faultFields,
  "faults.change": faultFields,
  "traffic.start": { mix: trafficMixSchema },
};
export const faultTypes = { FaultMatch, FaultAction, FaultTrigger };
const actionTypes = Object.fromEntries(actions.map(({ type, schema }) => [`${pascal(type)}Action`, schema]));
const controlTypes = { Condition, Count, ...faultTypes, ...actionTypes };

const preciseControl = () =>
  controlCatalogue.map((operation) => {
    const { id, body, reply } = operation;
    const fields = preciseFields[id];
    const precise = body && fields ? { ...body, properties: { ...body.properties, ...fields } } : body;
    return { ...operation, body: precise, reply: refine(reply, "fault_rule", ruleFields) };
  });

/** The response bodies of the example requests, which the build records; none before the first build. */
const exampleReplies = once((): Replies => {
  const file = packageFile("dist/example-replies.json");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
});

/** The OpenAPI document of the service (default: OpenAPI 3.1, with the sandbox's extensions). */
export const serviceOpenapi = (url: string, form: OpenApiForm = {}) =>
  inForm(openapi({ ...service(url), events, areas: areaDescriptions, replies: exampleReplies(), names: { WebhookEndpoint } }), form);

/** The OpenAPI document of the control API. */
export const controlOpenapi = (url: string, form: OpenApiForm = {}) =>
  inForm(openapi({ ...control(url), operations: preciseControl(), areas: controlAreaDescriptions, names: controlTypes }), form);

/** Every fact about the service, with the kinds of facts. Facts from a service file have the origin `recorded`. */
export function assumptions(adopted?: AdoptedFacts) {
  const own = { kinds: factKinds, ...ledger({ operations: catalogue, resources, events, behaviours }) };
  if (!adopted) return own;
  const facts = adoptLedger(own.facts, adopted);
  return { ...own, total: facts.filter(({ origin }) => origin === "assumed").length, facts };
}

/** The TypeScript types of the service's bodies, replies, errors and events. */
export const serviceTypesPage = () =>
  serviceTypes({ operations: catalogue, error: errorObject, event: envelope, eventTypes: events.map(({ type }) => type) });

const ownFacts = once(() => assumptions().facts);
const ownRecords = once(() => titledSchemas([...resources.map(({ schema }) => schema), ...catalogue.map(({ reply }) => reply)]));

/** The facts and operations with which recordings of the service are compared: the sandbox's own, or with a service file's changes. */
export const comparedSandbox = (adopted?: AdoptedFacts): ComparedSandbox => ({
  facts: adopted ? adoptLedger(ownFacts(), adopted) : ownFacts(),
  operations: adopted ? catalogue.map((operation) => comparedOperation(operation, adopted)) : catalogue,
  records: ownRecords(),
  unique: new Map(resources.map(({ kind, unique }) => [kind, unique])),
  eventKinds: new Map(events.map(({ type, kind }) => [type, kind ?? ""])),
  event: envelope,
  error: errorObject,
});

/** Keeps the sandbox's `idempotent`, because recordings show whether a service honours the header. A window applies to all operations. */
function comparedOperation(operation: Operation, adopted: AdoptedFacts): ComparedOperation {
  const { idempotent, replayWindow } = operation;
  const under = operationUnder(operation, adopted);
  const seconds = adopted.number("idempotency.seconds");
  return {
    ...under,
    idempotent,
    replayWindow: seconds === undefined ? replayWindow : seconds * 1_000,
    readBody: createReadBody(operation.id, under.body, adopted, new Map()),
  };
}
