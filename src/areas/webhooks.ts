// Webhooks: who is told of what, the secrets that sign it, the log of deliveries, and events made up for a test.

import { resource, withFields } from "../contracts/resource.ts";
import { didYouMean } from "../kernel/did-you-mean.ts";
import { fail } from "../kernel/errors.ts";
import { assumed } from "../schema/assumed.ts";
import { assumedListOf, assumedPageQuery, count, flag, id, listOf, nullable, oneOf, Type, text, timestamp } from "../schema/shapes.ts";
import { endpoint, type OperationContext } from "../store/operation-context.ts";
import { withoutHidden } from "../store/records/collection.ts";
import { ATTEMPT_ERRORS } from "../store/webhooks/attempts.ts";
import { ENDPOINT_KIND } from "../store/webhooks/deliveries.ts";
import { EVERY_TYPE } from "../store/webhooks/outbox.ts";

const NAME = "[a-z0-9_]+(\\.[a-z0-9_]+)+";
const named = { minLength: 1, maxLength: 255 };

const subscription = {
  url: Type.String({ description: "Where deliveries go: an http or https address on this machine" }),
  events: assumed(
    Type.Array(Type.String({ description: "A type of event, or `*` for every type", pattern: `^(\\*|${NAME})$`, ...named }), {
      description: "The types of event that are delivered, such as `payment.succeeded`",
      minItems: 1,
      maxItems: 100,
    }),
    "The document shows an array of type names; its bounds and `*` are common conventions.",
  ),
};

/** `secret`, `previousSecret`, `rotated` and `disabledReason` are kept beside these fields and never shown with them. */
export const webhookEndpoints = resource({
  kind: ENDPOINT_KIND,
  prefix: "we",
  view: "webhook_endpoints",
  fields: subscription,
  defaults: { status: "enabled" },
  moves: { enabled: ["disabled"], disabled: ["enabled"] },
  hidden: ["secret", "previousSecret", "rotated", "disabledReason"],
});

const secret = text("Signs every delivery; shown in this answer and never again (`whsec_…`)");

const health = Type.Object(
  {
    state: oneOf(
      ["unknown", "healthy", "degraded", "failing", "disabled"],
      "`unknown`: never tried; `degraded`: the last attempt failed, and is being retried; `failing`: a delivery was given up since the last success",
    ),
    consecutiveFailures: count("Attempts that failed since the last success"),
    pendingDeliveries: count("Deliveries that are still owed"),
    succeeded24h: count("Attempts that succeeded within the last 24 hours"),
    failed24h: count("Attempts that failed within the last 24 hours"),
    lastAttemptAt: nullable(timestamp("When an attempt last ended")),
    lastSuccessAt: nullable(timestamp("When one last succeeded")),
    lastFailureAt: nullable(timestamp("When one last failed")),
    lastResponseStatus: nullable(count("What the receiver last answered; null when it did not")),
    lastError: nullable(text("What was wrong with the last attempt that failed")),
    disabledReason: nullable(text("Why nothing is delivered any more: `gone` after the receiver answered 410")),
  },
  { description: "How the endpoint fares, counted from its log", title: "webhook_health" },
);

const whoAndHow = {
  id: id("whd", "Identifies the attempt"),
  object: oneOf(["webhook_delivery"], "The kind of the record"),
  merchantId: id("mer", "The merchant that owns it"),
  eventId: id("evt", "The event that was delivered; the same at every attempt"),
  eventType: text("The type of the event"),
  endpointId: id("we", "The endpoint that was told"),
  url: text("Where the attempt went"),
  trigger: oneOf(["event", "retry", "replay", "test"], "What made the attempt"),
  attempt: count("Counts the attempts of this delivery, from 1", { minimum: 1 }),
  maxAttempts: count("How many there may be", { minimum: 1 }),
};

/** One attempt; the log keeps every one of them. */
const delivery = assumed(
  Type.Object(
    {
      ...whoAndHow,
      status: oneOf(["succeeded", "failed", "aborted"], "`aborted`: the sandbox was stopped before the answer came, and tried again"),
      responseStatus: nullable(count("The status that the receiver answered")),
      responseBody: nullable(Type.String({ description: "The first 4 KiB of the receiver's answer" })),
      responseTruncated: flag("Whether the answer was longer"),
      errorCode: nullable(oneOf(ATTEMPT_ERRORS, "Why the attempt failed; null when it did not")),
      errorMessage: nullable(text("The same in words")),
      durationMs: count("Milliseconds from the start to the end, on the sandbox clock: 0 while it stands still"),
      requestHeaders: Type.Record(Type.String(), { description: "The headers that were sent" }),
      requestBody: Type.String({ description: "The body that was sent, and signed, byte for byte" }),
      nextAttemptAt: nullable(timestamp("When the next attempt is due; null when none follows")),
      livemode: flag("Always false: no money moves here"),
      created: timestamp("When the attempt ended"),
    },
    { title: "webhook_delivery" },
  ),
  "The document says that every attempt is logged, and not what the log holds.",
);

export const createWebhook = endpoint({
  id: "webhooks.create",
  area: "Webhooks",
  method: "POST",
  path: "/webhooks",
  summary: "Register an endpoint for webhooks",
  description:
    "Deliveries go to addresses on this machine only. An unknown type of event is taken, and named in `X-Sandbox-Warning`. The secret is in this answer only.",
  body: Type.Object(subscription),
  example: { url: "http://localhost:3000/webhooks", events: ["payment.succeeded", "booking.declined"] },
  reply: withFields(webhookEndpoints, { health, secret }),
  status: assumed<number>(201, "The document calls the answer a created endpoint, where its other rows say `OK`."),
  errors: ["validation_failed", "invalid_webhook_url", "webhook_url_not_local"],
  idempotent: false,
  handle(call) {
    const { url = missing("url"), events = missing("events") } = call.body;
    call.webhooks.checkTarget(url);
    const wanted = [...new Set(events)];
    warnOfUnknown(call, wanted);
    const made = call.own(webhookEndpoints).create({
      ...call.extra,
      url,
      events: wanted,
      secret: mintSecret(call),
      previousSecret: null,
      disabledReason: null,
    });
    call.outbox.subscribe(call.merchant, made.id, wanted);
    const { secret } = made as typeof made & { secret: string };
    return { ...withoutHidden(webhookEndpoints, made), health: call.health(call.merchant, made.id), secret };
  },
});

export const listWebhooks = endpoint({
  id: "webhooks.list",
  area: "Webhooks",
  method: "GET",
  path: "/webhooks",
  summary: "List your endpoints with their health",
  query: assumedPageQuery,
  reply: assumedListOf(withFields(webhookEndpoints, { health })),
  errors: ["invalid_limit", "invalid_cursor"],
  handle({ query, own, merchant, health }) {
    const page = own(webhookEndpoints).page(query);
    return { ...page, data: page.data.map((found) => ({ ...found, health: health(merchant, found.id) })) };
  },
});

export const deleteWebhook = endpoint({
  id: "webhooks.delete",
  area: "Webhooks",
  method: "DELETE",
  path: "/webhooks/{id}",
  summary: "Delete an endpoint",
  description: "What was still owed to it is cancelled; the log of its deliveries stays.",
  reply: assumed(
    Type.Object({
      id: id("we", "The endpoint that was deleted"),
      object: oneOf([ENDPOINT_KIND], "The kind of the record"),
      deleted: flag("Always true"),
    }),
    "The document shows no answer.",
  ),
  errors: ["resource_not_found"],
  handle({ params, own, outbox, merchant }) {
    const found = own(webhookEndpoints).require(params.id);
    own(webhookEndpoints).remove(found);
    outbox.unsubscribe(merchant, found.id);
    return { id: found.id, object: ENDPOINT_KIND, deleted: true };
  },
});

export const rotateWebhookSecret = endpoint({
  id: "webhooks.rotate_secret",
  area: "Webhooks",
  method: "POST",
  path: "/webhooks/{id}/rotate-secret",
  summary: "Replace the secret of an endpoint",
  description: "The new secret signs from the next attempt on, retries included. It is in this answer only.",
  reply: assumed(
    Type.Object({
      id: id("we", "The endpoint"),
      object: oneOf([ENDPOINT_KIND], "The kind of the record"),
      secret,
      rotated: timestamp("When it was replaced"),
    }),
    "The document says that the secret is rotated and not what is answered; a new secret that is not shown could not be used.",
  ),
  errors: ["resource_not_found"],
  idempotent: false,
  handle(call) {
    const found = call.own(webhookEndpoints).require(call.params.id);
    const secret = mintSecret(call);
    const { secret: previousSecret } = found as typeof found & { secret: string };
    call.own(webhookEndpoints).update(found, { secret, previousSecret, rotated: call.now });
    return { id: found.id, object: ENDPOINT_KIND, secret, rotated: call.now };
  },
});

const filters = {
  eventId: Type.Optional(Type.String({ description: "Only of this event" })),
  endpointId: Type.Optional(Type.String({ description: "Only to this endpoint" })),
  type: Type.Optional(Type.String({ description: "Only of events of this type" })),
  status: Type.Optional(oneOf(["succeeded", "failed", "aborted"], "Only with this outcome")),
};

export const listDeliveries = endpoint({
  id: "deliveries.list",
  area: "Webhooks",
  method: "GET",
  path: "/webhook-deliveries",
  summary: "Read the log of deliveries",
  description: "One record for each attempt, across all of your endpoints, newest first. Deleted endpoints stay in it.",
  query: Type.Object({ ...assumedPageQuery.properties, ...filters }),
  reply: listOf(delivery),
  errors: ["validation_failed", "invalid_limit", "invalid_cursor"],
  handle: ({ query, merchant, attempts }) => attempts.page(merchant, query),
});

export const sendTestEvent = endpoint({
  id: "events.test",
  area: "Webhooks",
  method: "POST",
  path: "/webhook-events/test",
  summary: "Send a made-up event to your endpoints",
  description: "It goes to the endpoints that want its type, signed and retried like any other. Nothing else changes, and no money moves.",
  body: Type.Object({
    type: Type.String({ description: "The type of the event, such as `payment.succeeded`", pattern: `^${NAME}$`, ...named }),
    data: Type.Optional(Type.Record(Type.Unknown(), { description: "Sent as it comes; it may hold an `amount`" })),
  }),
  example: { type: "payment.succeeded", data: { amount: 1_500 } },
  reply: assumed(
    Type.Object({
      object: oneOf(["event"], "The kind of the answer"),
      id: id("evt", "Identifies the event in the log and in every delivery"),
      type: text("The type of the event"),
      data: Type.Record(Type.Unknown(), { description: "What was sent" }),
      livemode: flag("Always false"),
      created: timestamp("When the event was made"),
      deliveries: Type.Array(Type.Object({ endpointId: id("we", "An endpoint that is told") }), { description: "Who is told" }),
    }),
    "The document shows no answer; the event id is what the log is searched by.",
  ),
  errors: ["validation_failed"],
  idempotent: false,
  handle(call) {
    const { type = missing("type"), data = {} } = call.body;
    warnOfUnknown(call, [type]);
    const { event, endpoints } = call.emitTest(type, data);
    const { object, id, livemode, created } = event;
    return { object, id, type, data, livemode, created, deliveries: endpoints.map((endpointId) => ({ endpointId })) };
  },
});

/** The whole text is the key of the signature: hex, so that nobody is tempted to decode it first. */
const mintSecret = (call: OperationContext) => `whsec_${call.secret("webhook")}`;

/** A body that was let through open still needs what the operation cannot do without. */
function missing(field: string): never {
  const message = `${field} is required.`;
  fail("validation_failed", message, { errors: [{ pointer: `/${field}`, field, code: "required", message }] });
}

function warnOfUnknown({ webhooks: { eventTypes }, warn }: OperationContext, types: readonly string[]): void {
  const unknown = types.filter((type) => type !== EVERY_TYPE && !eventTypes.has(type));
  if (unknown.length === 0) return;
  const hints = unknown.map((type) => `${type}.${didYouMean(type, eventTypes)}`);
  warn(`The sandbox never sends ${hints.join(" It never sends ")}`.slice(0, 1_000));
}
