// Deliveries as the real service sends them: the type of the event, the signature and the names of the headers.

import { plainSignature } from "../contracts/signature.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";
import type { EventTypes } from "./event-types.ts";
import { type Sign, signerOf } from "./signatures.ts";

/** An event as a delivery carries it. */
interface SentEvent {
  body: string;
  eventId: string;
  eventType: string;
}

export interface WebhookAdoption {
  /** The name that the service has for a type of event. */
  typeOf(type: string): string;
  event<E extends SentEvent>(event: E): E;
  sign: Sign;
  /** The headers of a delivery in the names of the service, without those that it does not send. */
  headers(headers: Record<string, string>): Record<string, string>;
  /** How the service signs, if not as the sandbox does. */
  readonly signature: string | undefined;
  /** The header that carries the signature; undefined if the service sends none. */
  readonly signatureHeader: string | undefined;
}

export function adoptedWebhooks(
  facts: AdoptedFacts,
  types: EventTypes | undefined,
  translate: ((event: Record<string, unknown>) => unknown) | undefined,
): WebhookAdoption {
  const signature = facts.text("webhook.signature.key");
  const names = new Map(
    HEADERS.map((name) => [name, facts.value(`webhook.header.${name}`) === "absent" ? undefined : shownName(facts, name)]),
  );
  return {
    signature,
    signatureHeader: names.get(plainSignature.header),
    typeOf: (type) => types?.shown(type) ?? type,
    event(event) {
      if (types === undefined && translate === undefined) return event;
      const eventType = types?.shown(event.eventType) ?? event.eventType;
      const own = JSON.parse(event.body) as Record<string, unknown>;
      const named = { ...own, type: types?.shown(String(own.type)) ?? own.type };
      const shown = translate?.(named) ?? named;
      return { ...event, eventType, body: JSON.stringify(shown) };
    },
    sign: signerOf(signature),
    headers: (headers) =>
      Object.fromEntries(
        Object.entries(headers).flatMap(([name, value]) => {
          const shown = names.has(name) ? names.get(name) : name;
          return shown === undefined ? [] : [[shown, value]];
        }),
      ),
  };
}

const HEADERS = [plainSignature.header, "X-Webhook-Id", "X-Webhook-Event"];

const shownName = (facts: AdoptedFacts, name: string) => facts.text(`webhook.header.${name}.name`) ?? name;
