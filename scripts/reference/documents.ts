// The documents that scripts generate from the declarations: OpenAPI of both APIs, the list of facts, and the types of
// the service.

import { existsSync, readFileSync } from "node:fs";
import { withFields } from "../../src/areas/declare/resource.ts";
import { areaDescriptions, behaviours as areas, catalogue, resources } from "../../src/areas/index.ts";
import { behaviours as endpoints, webhookEndpoints } from "../../src/areas/webhooks.ts";
import { envelope, errorObject } from "../../src/contracts/envelopes.ts";
import { factKinds } from "../../src/contracts/fact.ts";
import { WebhookHealth } from "../../src/contracts/webhook.ts";
import { controlAreaDescriptions, controlCatalogue } from "../../src/control/index.ts";
import { actions, matchSchemas } from "../../src/faults/rule-schema.ts";
import { triggerSchema } from "../../src/faults/trigger.ts";
import { behaviours as authentication } from "../../src/http/authenticate.ts";
import { behaviours as idempotency } from "../../src/http/idempotency.ts";
import { behaviours as isolation } from "../../src/http/isolation.ts";
import { behaviours as limits } from "../../src/http/rate-limit.ts";
import { behaviours as bodies } from "../../src/http/read-body.ts";
import { behaviours as errors } from "../../src/http/reply.ts";
import { behaviours as paths } from "../../src/http/route.ts";
import { once } from "../../src/kernel/once.ts";
import { pascal } from "../../src/kernel/text.ts";
import { behaviours as life } from "../../src/life/life.ts";
import { eventsOf } from "../../src/reference/events.ts";
import { inForm, type OpenApiForm } from "../../src/reference/openapi-forms.ts";
import { packageFile, version } from "../../src/sandbox/package-files.ts";
import { Condition, Count } from "../../src/schema/conditions.ts";
import { type TProperties, Type } from "../../src/schema/shapes.ts";
import { behaviours as arrivals } from "../../src/store/records/arrivals.ts";
import { behaviours as collections } from "../../src/store/records/collection.ts";
import { behaviours as ids } from "../../src/store/records/id-counters.ts";
import { behaviours as pages } from "../../src/store/records/record-pages.ts";
import { behaviours as logins } from "../../src/store/records/tenants.ts";
import { behaviours as loops } from "../../src/store/webhooks/event-chains.ts";
import { behaviours as pending } from "../../src/store/webhooks/outbox.ts";
import { behaviours as dispatch } from "../../src/webhooks/dispatcher.ts";
import { behaviours as eventBodies } from "../../src/webhooks/event-body.ts";
import { behaviours as targets } from "../../src/webhooks/http/target-policy.ts";
import { behaviours as schedule } from "../../src/webhooks/retry-schedule.ts";
import { behaviours as signature } from "../../src/webhooks/signature.ts";
import { controlSurface, serviceSurface } from "./api-surface.ts";
import type { Replies } from "./examples.ts";
import { ledger } from "./ledger.ts";
import { openapi } from "./openapi.ts";
import { refine } from "./subschemas.ts";
import { serviceTypes } from "./typescript.ts";

/** A webhook endpoint as lists show it. */
const WebhookEndpoint = withFields(webhookEndpoints, { health: WebhookHealth });

export const events = eventsOf(catalogue, resources);
export const behaviours = [
  ...[...paths, ...bodies, ...authentication, ...isolation, ...limits, ...errors],
  ...[...collections, ...arrivals, ...life, ...ids, ...logins, ...areas, ...pages],
  ...[...idempotency, ...dispatch, ...schedule, ...eventBodies, ...signature, ...targets],
  ...[...endpoints, ...loops, ...pending],
];
export const service = (url: string) => ({ surface: serviceSurface(url, version()), operations: catalogue });
export const control = (url: string) => ({ surface: controlSurface(url, version()), operations: controlCatalogue });

const FaultMatch = Type.Object({ ...matchSchemas.api.properties, ...matchSchemas.delivery.properties });
const FaultAction = Type.Union(actions.map(({ schema }) => schema));
const FaultTrigger = triggerSchema;
const ruleFields = { match: FaultMatch, trigger: FaultTrigger, action: FaultAction };
const faultFields = { ...ruleFields, expect: Type.Array(Type.String()) };
/**
 * Fields with a more precise schema than the operation declares. Another module checks these fields, with better
 * messages.
 */
export const preciseFields: Readonly<Record<string, TProperties>> = {
  "faults.add": faultFields,
  "faults.change": faultFields,
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

/** The response bodies of the example requests, which the build records. Before the first build there are none. */
const exampleReplies = once((): Replies => {
  const file = packageFile("dist/example-replies.json");
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
});

/** The OpenAPI document of the service (default: OpenAPI 3.1, with the sandbox's extensions). */
export const serviceOpenapi = (url: string, form: OpenApiForm = {}) =>
  inForm(
    openapi({
      ...service(url),
      events,
      areas: areaDescriptions,
      replies: exampleReplies(),
      names: { WebhookEndpoint },
    }),
    form,
  );

/** The OpenAPI document of the control API. */
export const controlOpenapi = (url: string, form: OpenApiForm = {}) =>
  inForm(
    openapi({ ...control(url), operations: preciseControl(), areas: controlAreaDescriptions, names: controlTypes }),
    form,
  );

/** Every fact about the service, with the kinds of facts. */
export const assumptions = () => ({
  kinds: factKinds,
  ...ledger({ operations: catalogue, resources, events, behaviours }),
});

/** The TypeScript types of the service's bodies, replies, errors and events. */
export const serviceTypesPage = () =>
  serviceTypes({
    operations: catalogue,
    error: errorObject,
    event: envelope,
    eventTypes: events.map(({ type }) => type),
  });
