// The request of a delivery: the headers, the signature and the body that a receiver gets.

import type { Delivery, Receiver } from "../store/webhooks/deliveries.ts";
import type { TransportFault } from "./faults/transport.ts";
import { sign } from "./signature.ts";

/** A webhook request as it goes over the wire. */
export interface WebhookRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
  transport?: TransportFault;
}

/** An event as a delivery carries it. `body` is the exact text that is signed and sent. */
export type WebhookEvent = Pick<Delivery, "body" | "eventId" | "eventType">;

/** Signs the event with the receiver's current secret and addresses it to its current URL. */
export function buildRequest(
  { body, eventId, eventType }: WebhookEvent,
  { url, secret }: Pick<Receiver, "url" | "secret">,
  userAgent: string,
): WebhookRequest {
  const headers = {
    "Content-Type": "application/json",
    "X-Webhook-Signature": sign(body, secret),
    "X-Webhook-Id": eventId,
    "X-Webhook-Event": eventType,
    "User-Agent": userAgent,
    "Accept-Encoding": "identity",
    "Content-Length": String(Buffer.byteLength(body)),
  };
  return { url, headers, body };
}
