// Webhook endpoints of all merchants: register, remove and enable them without going through /v1, so faults and the
// request log do not apply.

import { endpointFactory } from "../areas/declare/operation.ts";
import { matchingTypes } from "../areas/index.ts";
import { changeSecret, createEndpoint, deleteWebhook, webhookEndpoints } from "../areas/webhooks.ts";
import { NewEndpoint, WebhookHealth } from "../contracts/webhook.ts";
import { isoTime } from "../kernel/clock.ts";
import { fail } from "../kernel/errors.ts";
import { PROGRAM } from "../kernel/program-name.ts";
import { type Static, Type, text, timeText } from "../schema/shapes.ts";
import type { Stores } from "../store/stores.ts";
import { EVERY_TYPE } from "../store/webhooks/outbox.ts";
import type { Dispatcher } from "../webhooks/dispatcher.ts";
import { ownerOfEndpoint } from "./deliveries.ts";
import { LISTED_MERCHANTS, listedMerchants, spanOf, wholeList, wholeListOf } from "./given-values.ts";
import { commit, operationContextFor, operationInput, type RecordParts } from "./records.ts";

interface EndpointParts extends RecordParts, Pick<Stores, "outbox" | "heldEndpoints"> {}

interface Parts extends EndpointParts, Pick<Stores, "deliveries"> {
  dispatcher: Pick<Dispatcher, "enable" | "awaitServer">;
}

const endpoint = endpointFactory<Parts>("Webhooks");

const fields = {
  id: Type.String(),
  merchant: Type.String(),
  url: Type.String(),
  events: Type.Array(Type.String()),
  secret: Type.String({ description: "Secret that signs every delivery" }),
};

const RegisteredEndpoint = Type.Object(
  { ...fields, created: Type.Boolean({ description: "False if the merchant already had an endpoint at this URL" }) },
  { title: "registered_endpoint" },
);

const ListedEndpoint = Type.Object(
  {
    ...fields,
    status: Type.String({ description: "`enabled`, or `disabled` by a 410 or by the control API" }),
    health: WebhookHealth,
    created: timeText("Sandbox time"),
  },
  { title: "listed_endpoint" },
);

const listEndpoints = endpoint({
  id: "endpoints.list",
  method: "GET",
  path: "/endpoints",
  summary: "List the webhook endpoints of all merchants, with their secrets",
  description: LISTED_MERCHANTS,
  query: Type.Object({ merchant: Type.Optional(text("Only endpoints of this merchant")) }),
  reply: wholeListOf(ListedEndpoint, "Newest first"),
  errors: ["resource_not_found"],
  handle({ query: { merchant }, ...context }) {
    return wholeList(
      listedMerchants(context, merchant)
        .flatMap((id) => endpointsOf(context, id))
        .sort((one, other) => other.created.localeCompare(one.created)),
    );
  },
});

const getEndpoint = endpoint({
  id: "endpoints.get",
  method: "GET",
  path: "/endpoints/{id}",
  summary: "Get a webhook endpoint with its secret",
  reply: ListedEndpoint,
  errors: ["resource_not_found"],
  handle: ({ params: { id }, ...context }) =>
    endpointsOf(context, ownerOfEndpoint(context.deliveries, id)).find((one) => one.id === id) ??
    fail("resource_not_found", `There is no endpoint ${id}.`),
});

/** The endpoints of a merchant, newest first. */
function endpointsOf(context: Parts, merchant: string): Static<typeof ListedEndpoint>[] {
  const caller = operationContextFor(context, merchant);
  const secrets = new Map(context.deliveries.secrets(merchant).map(({ endpoint, secret }) => [endpoint, secret]));
  return caller
    .own(webhookEndpoints)
    .all()
    .reverse()
    .map(({ id, url, events, status, created }) => {
      const health = caller.health(merchant, id);
      return {
        id,
        merchant,
        url,
        events,
        status,
        health,
        created: isoTime(created * 1_000),
        secret: secrets.get(id) ?? "",
      };
    });
}

const registerEndpoint = endpoint({
  id: "endpoints.register",
  method: "PUT",
  path: "/endpoints",
  summary: "Register a webhook endpoint, unless the merchant has one at this URL",
  description:
    "Faults do not apply to this call, and the request log omits it, because it is not a client's call. " +
    "If the endpoint exists, the call changes only its events and its secret, if given.",
  body: NewEndpoint,
  example: { url: "http://localhost:3000/webhooks", events: ["payment.*"], merchant: "mer_lodge" },
  reply: RegisteredEndpoint,
  errors: [
    ...(["resource_not_found", "invalid_webhook_url", "webhook_url_not_local", "webhook_url_loopback"] as const),
    "invalid_state",
  ],
  async handle({ body, ...context }) {
    const registered = await register(context, body as NewEndpoint);
    // The caller has named this address itself, so deliveries to it are no longer held.
    context.heldEndpoints.release({ merchant: registered.merchant, endpoint: registered.id });
    return registered;
  },
});

/** Registers an endpoint. Also called at startup, for the endpoints in the options. */
export async function register(
  { outbox, ...context }: EndpointParts,
  { url, events, merchant: wanted, secret }: NewEndpoint,
): Promise<Static<typeof RegisteredEndpoint>> {
  const types = events && matchingTypes(events, (message) => fail("validation_failed", message));
  return commit(context, () => {
    const merchant = merchantNamed(context, wanted);
    const caller = operationContextFor(context, merchant);
    const endpoints = caller.own(webhookEndpoints);
    const found = endpoints.all().find((one) => one.url === url);
    if (!found) {
      const made = createEndpoint(caller, { url, events: types ?? [EVERY_TYPE] }, { secret });
      return { id: made.id, merchant, url, events: made.events, secret: made.secret, created: true };
    }
    // Pages omit the secret, so read the full record.
    const whole = endpoints.require(found.id) as typeof found & { secret: string };
    if (types && types.join() !== found.events.join()) {
      endpoints.update(whole, { events: types });
      outbox.changeTypes(merchant, found.id, types);
    }
    if (secret !== undefined && secret !== whole.secret) changeSecret(caller, endpoints.require(found.id), secret);
    const now = { events: types ?? found.events, secret: secret ?? whole.secret };
    return { id: found.id, merchant, url, ...now, created: false };
  });
}

/** Finds a merchant by its id, or by the part of its id after `mer_`. */
const merchantNamed = (context: RecordParts, wanted: string | undefined) =>
  context.tenants.requireOrFirst(context.tenants.has(`mer_${wanted}`) ? `mer_${wanted}` : wanted);

const removeEndpoint = endpoint({
  id: "endpoints.remove",
  method: "DELETE",
  path: "/endpoints/{id}",
  summary: "Remove a webhook endpoint",
  reply: Type.Object({ removed: text("The endpoint") }),
  errors: ["resource_not_found"],
  handle({ params, deliveries, ...context }) {
    const merchant = ownerOfEndpoint(deliveries, params.id);
    return commit(context, () => {
      deleteWebhook.handle(operationInput(operationContextFor(context, merchant), {}, { id: params.id }));
      return { removed: params.id };
    });
  },
});

const disableEndpoint = endpoint({
  id: "endpoints.disable",
  method: "POST",
  path: "/endpoints/{id}/disable",
  summary: "Disable an endpoint, like a 410 from its receiver",
  description: "Its pending deliveries are cancelled, and nothing is sent to it until it is enabled again.",
  reply: Type.Object({ disabled: Type.String() }),
  errors: ["resource_not_found"],
  handle({ params: { id }, deliveries, ...context }) {
    const merchant = ownerOfEndpoint(deliveries, id);
    return commit(context, () => {
      deliveries.disable(merchant, id);
      return { disabled: id };
    });
  },
});

const enableEndpoint = endpoint({
  id: "endpoints.enable",
  method: "POST",
  path: "/endpoints/{id}/enable",
  summary: "Enable a disabled endpoint",
  reply: Type.Object({ enabled: Type.String() }),
  errors: ["resource_not_found"],
  async handle({ params, deliveries, dispatcher }) {
    await dispatcher.enable(ownerOfEndpoint(deliveries, params.id), params.id);
    return { enabled: params.id };
  },
});

const awaitEndpoint = endpoint({
  id: "endpoints.await",
  method: "POST",
  path: "/endpoints/{id}/await",
  summary: "Delay the deliveries to an endpoint until its server accepts connections",
  description:
    "Replies as soon as the server accepts a connection. Deliveries that fall due before are sent after the reply, " +
    "or when the caller closes its own connection.",
  body: Type.Object({ within: Type.Optional(text("Maximum wait in real time, such as 5s (default: 30s)")) }),
  example: { within: "5s" },
  reply: Type.Object({
    endpoint: Type.String(),
    accepts: Type.Boolean({ description: "False if the server did not accept a connection in time" }),
  }),
  errors: ["resource_not_found", "invalid_state", "webhook_url_not_local", "webhook_url_loopback"],
  async handle({ params: { id }, body, deliveries, heldEndpoints, dispatcher, gone }) {
    const endpoint = { merchant: ownerOfEndpoint(deliveries, id), endpoint: id };
    if (heldEndpoints.isHeld(endpoint.merchant, id))
      fail("invalid_state", `Deliveries to ${id} are held until you run ${PROGRAM} replay waiting.`);
    const within = spanOf("within", body.within, { to: "24h" }) ?? 30_000;
    return { endpoint: id, accepts: await dispatcher.awaitServer(endpoint, { within, gone }) };
  },
});

export const operations = [
  listEndpoints,
  getEndpoint,
  registerEndpoint,
  removeEndpoint,
  disableEndpoint,
  enableEndpoint,
  awaitEndpoint,
];
