// Webhook endpoints of all merchants: register, remove and enable them without a call of the service, which faults and the request log would see.

import { matchingTypes } from "../areas/index.ts";
import { createWebhook, deleteWebhook, webhookEndpoints } from "../areas/webhooks.ts";
import { endpointFactory } from "../contracts/endpoint.ts";
import { NewEndpoint } from "../contracts/webhook.ts";
import { fail } from "../kernel/errors.ts";
import { type Static, Type, text } from "../schema/shapes.ts";
import type { OperationContext } from "../store/operation-context.ts";
import type { Stores } from "../store/stores.ts";
import { EVERY_TYPE } from "../store/webhooks/outbox.ts";
import type { Dispatcher } from "../webhooks/dispatcher.ts";
import { afterCommit, callerOf, knownMerchant, type RecordParts } from "./records.ts";

interface EndpointParts extends RecordParts, Pick<Stores, "database" | "outbox"> {}

interface Parts extends EndpointParts, Pick<Stores, "deliveries"> {
  dispatcher: Pick<Dispatcher, "enable">;
}

const endpoint = endpointFactory<Parts>("Webhooks");

const RegisteredEndpoint = Type.Object(
  {
    id: Type.String(),
    merchant: Type.String(),
    url: Type.String(),
    events: Type.Array(Type.String()),
    secret: Type.String({ description: "Secret that signs every delivery" }),
    created: Type.Boolean({ description: "False if the merchant had an endpoint at this URL" }),
  },
  { title: "registered_endpoint" },
);

const registerEndpoint = endpoint({
  id: "endpoints.register",
  method: "PUT",
  path: "/endpoints",
  summary: "Register a webhook endpoint, unless the merchant has one at this URL",
  description:
    "No call of a client: faults do not hit it, and the request log does not contain it. An endpoint that exists keeps its secret, and gets the given `events`.",
  body: NewEndpoint,
  example: { url: "http://localhost:3000/webhooks", events: ["payment.*"], merchant: "mer_lodge" },
  reply: RegisteredEndpoint,
  errors: ["resource_not_found", "invalid_webhook_url", "webhook_url_not_local", "webhook_url_loopback"],
  handle: ({ body, ...context }) => register(context, body as Static<typeof NewEndpoint>),
});

/** Also called at the start, for the endpoints that the options name. */
export async function register(
  { database, outbox, ...context }: EndpointParts,
  { url, events, merchant: wanted }: Static<typeof NewEndpoint>,
): Promise<Static<typeof RegisteredEndpoint>> {
  const types = events && matchingTypes(events, (message) => fail("validation_failed", message));
  const work = () => {
    const merchant = merchantNamed(context, wanted);
    const caller = callerOf(context, merchant);
    const endpoints = caller.own(webhookEndpoints);
    const found = endpoints.page({ limit: MOST_ENDPOINTS }).data.find((one) => one.url === url);
    if (!found) {
      const made = createWebhook.handle(callOf(caller, { url, events: types ?? [EVERY_TYPE] })) as Omit<Registered, "merchant" | "created">;
      return { id: made.id, merchant, url, events: made.events, secret: made.secret, created: true };
    }
    // Only the whole record has the secret, which a page leaves out.
    const whole = endpoints.require(found.id) as typeof found & { secret: string };
    if (types && types.join() !== found.events.join()) {
      endpoints.update(whole, { events: types });
      outbox.changeTypes(merchant, found.id, types);
    }
    return { id: found.id, merchant, url, events: types ?? found.events, secret: whole.secret, created: false };
  };
  return afterCommit(context, database.groupCommit(work));
}

type Registered = Static<typeof RegisteredEndpoint>;

const MOST_ENDPOINTS = 1_000;

const callOf = (caller: OperationContext, body: Record<string, unknown>, params: Record<string, string> = {}) => ({
  ...caller,
  params,
  query: {},
  body,
  extra: {},
});

/** A merchant by its id or the part after mer_. */
const merchantNamed = (context: RecordParts, wanted: string | undefined) =>
  knownMerchant(context, context.tenants.has(`mer_${wanted}`) ? `mer_${wanted}` : wanted);

const removeEndpoint = endpoint({
  id: "endpoints.remove",
  method: "DELETE",
  path: "/endpoints/{id}",
  summary: "Remove a webhook endpoint",
  reply: Type.Object({ removed: text("The endpoint") }),
  errors: ["resource_not_found"],
  handle({ params, database, deliveries, ...context }) {
    const merchant = deliveries.ownerOf(params.id) ?? noSuchEndpoint(params.id);
    const remove = () => deleteWebhook.handle(callOf(callerOf(context, merchant), {}, { id: params.id }));
    return afterCommit(
      context,
      database.groupCommit(() => {
        remove();
        return { removed: params.id };
      }),
    );
  },
});

const noSuchEndpoint = (id: string) => fail("resource_not_found", `There is no endpoint ${id}.`);

const enableEndpoint = endpoint({
  id: "endpoints.enable",
  method: "POST",
  path: "/endpoints/{id}/enable",
  summary: "Re-enable an endpoint that a 410 disabled",
  reply: Type.Object({ enabled: Type.String() }),
  errors: ["resource_not_found"],
  async handle({ params, deliveries, dispatcher }) {
    const merchant = deliveries.ownerOf(params.id) ?? noSuchEndpoint(params.id);
    await dispatcher.enable(merchant, params.id);
    return { enabled: params.id };
  },
});

export const operations = [registerEndpoint, removeEndpoint, enableEndpoint];
