// The request of a delivery: the headers, the signature and the body that a receiver gets.

import { plainSignature } from "../contracts/signature.ts";
import type { WebhookAdoption } from "../service/webhooks.ts";
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

/** Signs the event with the receiver's current secret and addresses it to its current URL. The headers have the sandbox's names. */
export function buildRequest(
  event: WebhookEvent,
  { url, secret }: Pick<Receiver, "url" | "secret">,
  userAgent: string,
  adoption?: WebhookAdoption,
): WebhookRequest {
  const { body, eventId, eventType } = adoption === undefined ? event : adoption.event(event);
  const headers = {
    "Content-Type": "application/json",
    [plainSignature.header]: adoption === undefined ? sign(body, secret) : adoption.sign(body, secret, eventId),
    "X-Webhook-Id": eventId,
    "X-Webhook-Event": eventType,
    "User-Agent": userAgent,
    "Accept-Encoding": "identity",
    "Content-Length": String(Buffer.byteLength(body)),
  };
  return { url, headers, body };
}
