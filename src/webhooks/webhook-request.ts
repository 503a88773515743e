// The request of a delivery, with the headers, the signature and the body that a receiver gets; and the id of each
// attempt.

import { EVENT_HEADER, SIGNATURE_HEADER, type WebhookRequest } from "../contracts/webhook.ts";
import { type Random, sortKeyIn } from "../kernel/random.ts";
import type { Sign } from "../kernel/signature-forms.ts";
import type { Delivery, Receiver } from "../store/webhooks/deliveries.ts";

/** An event as a delivery carries it. `body` is the exact text that is signed and sent. */
export type WebhookEvent = Pick<Delivery, "body" | "eventId" | "eventType">;

/** The settings from which requests are built. */
export interface RequestOptions {
  userAgent: string;
  sign: Sign;
}

/**
 * Signs the event with the receiver's current secret and addresses it to its current URL. `traceparent` is sent if it
 * is given.
 */
export function buildRequest(
  { body, eventId, eventType }: WebhookEvent,
  { url, secret, baggage }: Pick<Receiver, "url" | "secret" | "baggage">,
  { userAgent, sign }: RequestOptions,
  traceparent?: string,
): WebhookRequest {
  const headers = {
    "Content-Type": "application/json",
    [SIGNATURE_HEADER]: sign(body, secret, eventId),
    "X-Webhook-Id": eventId,
    [EVENT_HEADER]: eventType,
    "User-Agent": userAgent,
    "Accept-Encoding": "identity",
    "Content-Length": String(Buffer.byteLength(body)),
    ...(baggage !== undefined && { baggage }),
    ...(traceparent !== undefined && { traceparent }),
  };
  return { url, headers, body };
}

type DeliveryIdentity = Pick<Delivery, "merchant" | "eventId" | "endpoint" | "replay" | "copy">;

/** The id is derived from the delivery, not counted, so that concurrent attempts get the same ids in every run. */
export type AttemptId = (delivery: DeliveryIdentity, attempt: number) => string;

export const createAttemptIds =
  (random: Random): AttemptId =>
  (delivery, attempt) => {
    const { merchant, eventId, endpoint, replay, copy } = delivery;
    return random.sortableId(
      sortKeyIn(eventId),
      "whd",
      merchant,
      eventId,
      endpoint,
      replay,
      attempt,
      ...(copy > 0 ? ["copy", copy] : []),
    );
  };
