// The request of a delivery, with the headers, the signature and the body that a receiver gets; and the id of each
// attempt.

import type { DeliveryHeaders } from "../contracts/service-values.ts";
import { type Random, sortKeyIn } from "../kernel/random.ts";
import type { Sign } from "../kernel/signature-forms.ts";
import type { TranslateEvent } from "../service/translate-reply.ts";
import type { Delivery, Receiver } from "../store/webhooks/deliveries.ts";

/** `drop` sends nothing at all. */
export type TransportFault = "slow_send" | "abort_mid_body" | "drop";

/** A webhook request as it goes over the wire. */
export interface WebhookRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  transport?: TransportFault;
}

/** An event as a delivery carries it. `body` is the exact text that is signed and sent. */
export type WebhookEvent = Pick<Delivery, "body" | "eventId" | "eventType">;

/** The settings from which requests are built. */
export interface RequestOptions {
  userAgent: string;
  sign: Sign;
  /** The names of the request headers. */
  names: DeliveryHeaders;
  /** The service file's translation of events (default: none). */
  translateEvent?: TranslateEvent | undefined;
}

/** Signs the event with the receiver's current secret and addresses it to its current URL. */
export function buildRequest(
  event: WebhookEvent,
  { url, secret }: Pick<Receiver, "url" | "secret">,
  { userAgent, sign, names, translateEvent }: RequestOptions,
): WebhookRequest {
  const { body, eventId, eventType } = translateEvent === undefined ? event : translateEvent(event);
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (names.signature !== undefined) headers[names.signature] = sign(body, secret, eventId);
  if (names.id !== undefined) headers[names.id] = eventId;
  if (names.event !== undefined) headers[names.event] = eventType;
  headers["User-Agent"] = userAgent;
  headers["Accept-Encoding"] = "identity";
  headers["Content-Length"] = String(Buffer.byteLength(body));
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
