// The API's schemas of an endpoint's health, a delivery attempt and a test event.

import { PATTERNS } from "../schema/patterns.ts";
import { count, flag, id, nullable, oneOf, type Static, Type, text, timestamp } from "../schema/shapes.ts";

/** The header that contains the signature of a delivery. */
export const SIGNATURE_HEADER = "X-Webhook-Signature";

/** The header that contains the type of a delivery's event. */
export const EVENT_HEADER = "X-Webhook-Event";

/** A webhook request as it goes over the wire. */
export interface WebhookRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** A fault of the transport. `hang_up` sends everything and hardly waits for the response; `drop` sends nothing. */
  transport?: "slow_send" | "abort_mid_body" | "hang_up" | "drop";
}

/** The default form of the signature. */
export const USUAL_SIGNATURE = "hex digest of the body, keyed with the whole secret";

export const WebhookHealth = Type.Object(
  {
    state: oneOf(
      ["unknown", "healthy", "degraded", "failing", "disabled"],
      "`unknown`: no attempt yet; `degraded`: the last attempt failed and will be retried; `failing`: " +
        "retries of a delivery were exhausted since the last success",
    ),
    consecutiveFailures: count("Number of failed attempts since the last success"),
    pendingDeliveries: count("Number of pending deliveries"),
    succeeded24h: count("Number of successful attempts in the last 24 hours"),
    failed24h: count("Number of failed attempts in the last 24 hours"),
    lastAttemptAt: nullable(timestamp("Time of the last attempt")),
    lastSuccessAt: nullable(timestamp("Time of the last successful attempt")),
    lastFailureAt: nullable(timestamp("Time of the last failed attempt")),
    lastResponseStatus: nullable(count("Status of the last response; null if the receiver did not respond")),
    lastError: nullable(text("Error of the last failed attempt")),
    disabledReason: nullable(text("Reason the endpoint is disabled: `gone` after the receiver responded with 410")),
  },
  { description: "Health of the endpoint, calculated from its delivery log", title: "webhook_health" },
);

export type WebhookHealth = Static<typeof WebhookHealth>;

const attemptFields = {
  id: id("whd", "Unique identifier of the attempt"),
  object: oneOf(["webhook_delivery"], "Type of the object"),
  merchantId: id("mer", "Merchant that owns the object"),
  eventId: id("evt", "Event delivered; the same for every attempt"),
  eventType: text("Event type"),
  endpointId: id("we", "Endpoint that received the attempt"),
  url: text("URL to which the attempt was sent"),
  trigger: oneOf(["event", "retry", "replay", "test"], "What triggered the attempt"),
  attempt: count("Number of this attempt, starting at 1", { minimum: 1 }),
  maxAttempts: count("Maximum number of attempts", { minimum: 1 }),
};

/** One delivery attempt, as the delivery log returns it. */
export const WebhookDelivery = Type.Object(
  {
    ...attemptFields,
    status: oneOf(
      ["succeeded", "failed", "aborted"],
      "`aborted`: the sandbox stopped before a response arrived; the delivery is attempted again",
    ),
    responseStatus: nullable(count("Status of the response")),
    responseBody: nullable(Type.String({ description: "First 4 KiB of the response body" })),
    responseTruncated: flag("Whether the response body was truncated"),
    errorCode: nullable(
      oneOf(
        [
          "timeout",
          "connection_refused",
          "dns",
          "tls",
          "reset",
          "redirect_not_followed",
          "http_status",
          "target_not_allowed",
          "dropped",
        ],
        "Why the attempt failed; null if it succeeded",
      ),
    ),
    errorMessage: nullable(text("Description of the error")),
    durationMs: count("Duration in milliseconds on the sandbox clock; 0 while the clock is frozen"),
    requestHeaders: Type.Record(Type.String(), { description: "Request headers" }),
    requestBody: Type.String({ description: "Request body, exactly as it was signed and sent" }),
    nextAttemptAt: nullable(timestamp("Time of the next attempt; null if there is none")),
    livemode: flag("Always false: no money moves here"),
    created: timestamp("Time at which the attempt ended"),
  },
  { title: "webhook_delivery" },
);

export type WebhookDelivery = Static<typeof WebhookDelivery>;
export type AttemptStatus = WebhookDelivery["status"];
export type AttemptError = NonNullable<WebhookDelivery["errorCode"]>;

/** An endpoint as the control API and the options of a sandbox register it. */
export const NewEndpoint = Type.Object(
  {
    url: text("URL that receives the deliveries: an http or https address on this machine"),
    events: Type.Optional(
      Type.Array(text("An event type, a pattern such as `payment.*`, or `*`"), {
        description: "Event types to deliver (default: all, or the present types of an existing endpoint)",
        minItems: 1,
        maxItems: 100,
      }),
    ),
    merchant: Type.Optional(text("The owner, such as lodge (default: the first merchant)")),
    secret: Type.Optional(
      text("Secret of your own that signs the deliveries, such as `whsec_local` (default: generated)", {
        pattern: PATTERNS.webhookSecret.pattern,
      }),
    ),
  },
  { additionalProperties: false },
);

export type NewEndpoint = Static<typeof NewEndpoint>;

/** The reply to a test event. */
export const TestEvent = Type.Object({
  object: oneOf(["event"], "Type of the object"),
  id: id("evt", "Unique identifier of the event, in the log and in every delivery"),
  type: text("Event type"),
  data: Type.Record(Type.Unknown(), { description: "Event data" }),
  livemode: flag("Always false"),
  created: timestamp("Time at which the event was created"),
  deliveries: Type.Array(Type.Object({ endpointId: id("we", "Endpoint that receives the event") }), {
    description: "Deliveries created, one per endpoint",
  }),
});

export type TestEvent = Static<typeof TestEvent>;
