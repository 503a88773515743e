// Webhooks: endpoints and their secrets, the delivery log, and test events.

import type { RecordBase } from "../contracts/resource.ts";
import { TestEvent, WebhookDelivery, WebhookHealth } from "../contracts/webhook.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { fail } from "../kernel/errors.ts";
import { assumed, type Behaviour } from "../schema/assumed.ts";
import { PATTERNS } from "../schema/patterns.ts";
import {
  assumedListOf,
  assumedPageQuery,
  flag,
  id,
  oneOf,
  prefixed,
  type Static,
  Type,
  timestamp,
} from "../schema/shapes.ts";
import type { OperationContext } from "../store/operation-context.ts";
import { withoutHidden } from "../store/records/collection.ts";
import { ENDPOINT_KIND } from "../store/webhooks/deliveries.ts";
import { EVERY_TYPE } from "../store/webhooks/outbox.ts";
import { endpoint } from "./declare/operation.ts";
import { resource, withFields } from "./declare/resource.ts";

const named = { minLength: 1, maxLength: 255 };

const subscription = {
  url: Type.String({ description: "URL that receives the deliveries: an http or https address on this machine" }),
  events: assumed(
    Type.Array(
      Type.String({
        description: "An event type, or `*` for all events",
        pattern: PATTERNS.subscribedEvent.pattern,
        ...named,
      }),
      {
        description: "Event types to deliver, such as `payment.succeeded`",
        minItems: 1,
        maxItems: 100,
      },
    ),
    "The service's documentation shows an array of event types; its bounds and `*` are common conventions.",
  ),
};

/** The most endpoints of one merchant, and thus the most deliveries of one event. */
const MOST_ENDPOINTS = 100;

/** Checked even with `--bodies open`, because the service's documentation shows this body. */
const newEndpoint = Type.Object(subscription);

/** `secret`, `previousSecret`, `rotated` and `disabledReason` are stored in the record but never returned with it. */
export const webhookEndpoints = resource({
  kind: ENDPOINT_KIND,
  prefix: "we",
  view: "webhook_endpoints",
  fields: subscription,
  states: {
    enabled: { to: ["disabled"] },
    disabled: { to: ["enabled"] },
  },
  hidden: ["secret", "previousSecret", "rotated", "disabledReason"],
});

const secret = prefixed("whsec", "Secret that signs every delivery; returned only in this response");

export const createWebhook = endpoint({
  id: "webhooks.create",
  position: 23,
  area: "Webhooks",
  method: "POST",
  path: "/webhooks",
  summary: "Create a webhook endpoint",
  description:
    "The URL must be on this machine. Unknown event types are accepted and listed in `X-Sandbox-Warning`. The " +
    "secret is returned only in this response.",
  body: newEndpoint,
  example: { url: "http://localhost:3000/webhooks", events: ["payment.succeeded", "booking.declined"] },
  reply: withFields(webhookEndpoints, { health: WebhookHealth, secret }),
  status: assumed<number>(
    201,
    "The service's documentation describes this response as a created endpoint; other operations return `OK`.",
  ),
  errors: [
    "validation_failed",
    "invalid_webhook_url",
    "webhook_url_not_local",
    "webhook_url_loopback",
    "invalid_state",
  ],
  idempotent: false,
  notFromPages: true,
  handle: (call) => createEndpoint(call, call.body as Static<typeof newEndpoint>, { ...call.extra, secret: undefined }),
});

/** Creates an endpoint. `others` are the other fields of its record, such as the secret. */
export function createEndpoint(
  call: OperationContext,
  { url, events }: Static<typeof newEndpoint>,
  { secret = mintSecret(call), ...others }: { secret?: string | undefined },
) {
  call.webhooks.checkTarget(url);
  if (call.own(webhookEndpoints).newestOf(MOST_ENDPOINTS).length === MOST_ENDPOINTS)
    fail(
      "invalid_state",
      `The merchant already has ${MOST_ENDPOINTS} webhook endpoints, which is the maximum. ` +
        "Delete one with DELETE /v1/webhooks/{id}.",
    );
  const types = [...new Set(events)];
  warnAboutUnknownTypes(call, types);
  const created = call.own(webhookEndpoints).create({
    ...others,
    url,
    events: types,
    secret,
    previousSecret: null,
    disabledReason: null,
  });
  call.outbox.subscribe(call.merchant, created.id, types);
  return { ...withoutHidden(webhookEndpoints, created), health: call.health(call.merchant, created.id), secret };
}

const listWebhooks = endpoint({
  id: "webhooks.list",
  position: 24,
  area: "Webhooks",
  method: "GET",
  path: "/webhooks",
  summary: "List all webhook endpoints",
  query: assumedPageQuery,
  reply: assumedListOf(withFields(webhookEndpoints, { health: WebhookHealth })),
  errors: ["invalid_limit", "invalid_cursor"],
  handle({ query, own, merchant, health }) {
    const page = own(webhookEndpoints).page(query);
    return { ...page, data: page.data.map((found) => ({ ...found, health: health(merchant, found.id) })) };
  },
});

export const deleteWebhook = endpoint({
  id: "webhooks.delete",
  position: 25,
  area: "Webhooks",
  method: "DELETE",
  path: "/webhooks/{id}",
  summary: "Delete a webhook endpoint",
  description: "Pending deliveries are cancelled; the delivery log is kept.",
  reply: assumed(
    Type.Object({
      id: id("we", "Deleted endpoint"),
      object: oneOf([ENDPOINT_KIND], "Type of the object"),
      deleted: flag("Always true"),
    }),
    "The service's documentation does not show this response.",
  ),
  errors: ["resource_not_found"],
  handle({ params, own, outbox, merchant }) {
    const found = own(webhookEndpoints).require(params.id);
    own(webhookEndpoints).remove(found);
    outbox.unsubscribe(merchant, found.id);
    return { id: found.id, object: ENDPOINT_KIND, deleted: true };
  },
});

const rotateWebhookSecret = endpoint({
  id: "webhooks.rotate_secret",
  position: 26,
  area: "Webhooks",
  method: "POST",
  path: "/webhooks/{id}/rotate-secret",
  summary: "Rotate the secret of a webhook endpoint",
  description:
    "The new secret signs every attempt from now on, including retries. It is returned only in this response.",
  reply: assumed(
    Type.Object({
      id: id("we", "Endpoint"),
      object: oneOf([ENDPOINT_KIND], "Type of the object"),
      secret,
      rotated: timestamp("Time of the rotation"),
    }),
    "The service's documentation does not show this response; without the new secret, it would be of no use.",
  ),
  errors: ["resource_not_found"],
  idempotent: false,
  handle(call) {
    const found = call.own(webhookEndpoints).require(call.params.id);
    const secret = mintSecret(call);
    changeSecret(call, found, secret);
    return { id: found.id, object: ENDPOINT_KIND, secret, rotated: call.now };
  },
});

/** Sets a new secret. The previous one is kept to explain signatures made with it. */
export function changeSecret(call: Pick<OperationContext, "own" | "now">, found: RecordBase, secret: string): void {
  const { secret: previousSecret } = found as typeof found & { secret: string };
  call.own(webhookEndpoints).update(found as never, { secret, previousSecret, rotated: call.now });
}

const FILTER_WHY =
  "The service's documentation shows no filters; a log of every attempt is of little use without them.";

const filters = {
  eventId: assumed(Type.Optional(Type.String({ description: "Only deliveries of this event" })), FILTER_WHY),
  endpointId: assumed(Type.Optional(Type.String({ description: "Only deliveries to this endpoint" })), FILTER_WHY),
  type: assumed(Type.Optional(Type.String({ description: "Only deliveries of events of this type" })), FILTER_WHY),
  status: assumed(
    Type.Optional(oneOf(["succeeded", "failed", "aborted"], "Only attempts with this status")),
    FILTER_WHY,
  ),
};

const listDeliveries = endpoint({
  id: "deliveries.list",
  position: 27,
  area: "Webhooks",
  method: "GET",
  path: "/webhook-deliveries",
  summary: "List all delivery attempts",
  description: "Returns one record per attempt for all of your endpoints, including deleted ones, newest first.",
  query: Type.Object({ ...assumedPageQuery.properties, ...filters }),
  reply: assumedListOf(
    assumed(
      WebhookDelivery,
      "The service's documentation says that every attempt is logged but not what the log contains.",
    ),
  ),
  errors: ["validation_failed", "invalid_limit", "invalid_cursor"],
  handle: ({ query, merchant, attempts }) => attempts.page(merchant, query),
});

const testEvent = Type.Object({
  type: Type.String({
    description: "Event type, such as `payment.succeeded`",
    pattern: PATTERNS.eventType.pattern,
    ...named,
  }),
  data: Type.Optional(
    Type.Record(Type.Unknown(), { description: "Event data, sent unchanged; may contain an `amount`" }),
  ),
});

const sendTestEvent = endpoint({
  id: "events.test",
  position: 28,
  area: "Webhooks",
  method: "POST",
  path: "/webhook-events/test",
  summary: "Send a test event",
  description:
    "The event is sent to all endpoints subscribed to its type, signed and retried like any other event. It " +
    "changes no records.",
  body: testEvent,
  example: { type: "payment.succeeded", data: { amount: 1_500 } },
  reply: assumed(
    TestEvent,
    "The service's documentation does not show this response; clients need the event id to search the log.",
  ),
  errors: ["validation_failed"],
  idempotent: false,
  handle(call) {
    const { type, data = {} } = call.body as Static<typeof testEvent>;
    warnAboutUnknownTypes(call, [type]);
    const { event, endpoints } = call.emitTest(type, data);
    const { object, id, livemode, created } = event;
    return { object, id, type, data, livemode, created, deliveries: endpoints.map((endpointId) => ({ endpointId })) };
  },
});

export const operations = [
  createWebhook,
  listWebhooks,
  deleteWebhook,
  rotateWebhookSecret,
  listDeliveries,
  sendTestEvent,
];

export const behaviours: Behaviour[] = [
  {
    id: "webhooks.endpoint_limit",
    fact: `A merchant has at most ${MOST_ENDPOINTS} endpoints; another one gets 409.`,
    why: "The service's documentation gives no limit; comparable services allow fewer than a hundred.",
  },
];

/**
 * The whole string, with its prefix, is the HMAC key. It is hexadecimal, so that clients do not decode it as base64.
 */
const mintSecret = (call: OperationContext) => `whsec_${call.secret()}`;

function warnAboutUnknownTypes({ webhooks: { eventTypes }, warn }: OperationContext, types: readonly string[]): void {
  const unknown = types.filter((type) => type !== EVERY_TYPE && !eventTypes.has(type));
  if (unknown.length === 0) return;
  const hints = unknown.map((type) => `${type}.${didYouMean(type, eventTypes)}`);
  warn(`The sandbox never sends ${hints.join(" It never sends ")}`);
}
