// Merchants: list, create, remove and reset them.

import { endpointFactory } from "../areas/declare/operation.ts";
import { ClockState, type LiveEvent, Merchant } from "../contracts/live-messages.ts";
import { API_PREFIX } from "../contracts/paths.ts";
import type { AnyRecord, Resource } from "../contracts/resource.ts";
import type { Clock } from "../kernel/clock.ts";
import { nullable, type Static, Type, text } from "../schema/shapes.ts";
import type { Tenant } from "../store/records/tenants.ts";
import type { Stores } from "../store/stores.ts";
import { savedFixture } from "../store/world/saved-fixture.ts";
import type { World } from "../store/world/world.ts";
import type { Dispatcher } from "../webhooks/dispatcher.ts";
import { publishClock } from "./clock.ts";
import { LISTED_MERCHANTS, MOST_LISTED, wholeList, wholeListOf } from "./given-values.ts";
import type { About } from "./overview.ts";

interface Parts extends Pick<Stores, "tenants" | "requestLog" | "createOperationContext"> {
  resources: readonly Resource[];
  about: Pick<About, "url">;
  world: Pick<World, "add" | "remove">;
  dispatcher: Pick<Dispatcher, "drainMerchant">;
  clock: Clock;
  publish(event: LiveEvent): void;
  /** Resets one merchant, or everything including the clock, to the start of the sandbox. */
  restore(merchant?: string): Promise<Restored>;
}

const ids = (description: string) => Type.Array(Type.String(), { description });

const Restored = Type.Object({
  faults: ids("The fault rules of the options, which are armed again"),
  scenarios: ids("The scenarios of the options, which are armed again"),
  endpoints: ids("The endpoints of the options, which are registered again"),
});

/** The fault rules, scenarios and endpoints of the options, which a reset sets up again. */
export type Restored = Static<typeof Restored>;

const endpoint = endpointFactory<Parts>("Merchants");

const ListedMerchant = Type.Object(
  {
    ...Merchant.properties,
    status: Type.String({ description: "`active`, or `suspended`: the merchant's requests are refused" }),
    records: Type.Integer({ description: "How many records the merchant has, of all kinds" }),
    requests: Type.Integer({ description: "How many requests of the merchant are in the log" }),
  },
  { title: "listed_merchant" },
);

const listMerchants = endpoint({
  id: "merchants.list",
  method: "GET",
  path: "/merchants",
  summary: "List the merchants with their API keys, and how many records and requests each has",
  description: LISTED_MERCHANTS,
  query: Type.Object({ merchant: Type.Optional(text("Only this merchant")) }),
  reply: wholeListOf(ListedMerchant),
  errors: ["resource_not_found"],
  handle({ query: { merchant }, tenants, requestLog }) {
    requestLog.flush();
    const found =
      merchant === undefined ? tenants.list(MOST_LISTED) : [tenants.find(tenants.require(merchant)) as Tenant];
    return wholeList(found.map((tenant) => ({ ...tenant, ...tenants.summaryOf(tenant.id) })));
  },
});

const addMerchant = endpoint({
  id: "merchants.add",
  method: "POST",
  path: "/merchants",
  summary: "Create a merchant with the records of a fixture",
  description:
    "The merchant's records have the ids of the fixture and are invisible to other merchants, so parallel tests can " +
    "each have their own merchant. If you pass a `name`, such as the title of a test, the merchant's id, key and " +
    "secrets, the ids of its records, events and requests, and the random choices of its faults are the same in " +
    "every run, in any order of tests. While a merchant of this name exists, another one counts as `name #2`. The " +
    "name of a removed merchant can be used again; its logs are then erased.",
  body: Type.Object({
    fixture: Type.Optional(text("Which fixture, or a merchant created from it (default: the first fixture)")),
    name: Type.Optional(
      text("Determines its ids and keys (default: the number of merchants created without a name)", {
        minLength: 1,
        maxLength: 1_000,
      }),
    ),
  }),
  example: { fixture: "lodge", name: "checkout.test.ts > pays once" },
  reply: Type.Object({
    id: Type.String(),
    apiKey: Type.String(),
    baseUrl: Type.String({ description: "Base URL for clients" }),
  }),
  status: 201,
  handle: ({ body, world, about }) => ({
    ...world.add(body.fixture, body.name),
    baseUrl: about.url() + API_PREFIX,
  }),
});

const Fixture = Type.Object(
  {
    description: Type.String(),
    asOf: Type.String({ description: "The day on which the dates are current; a sandbox moves them to its own day" }),
    merchant: Type.Record(Type.Unknown()),
    records: Type.Record(Type.Array(Type.Record(Type.Unknown())), { description: "By kind, oldest first" }),
  },
  { title: "fixture" },
);

const showFixture = endpoint({
  id: "merchants.fixture",
  method: "GET",
  path: "/merchants/{id}/fixture",
  exampleParams: { id: "mer_lodge" },
  summary: "Get a merchant and its records as a fixture, for `--fixtures`",
  description: "The fixture contains no secrets: no endpoints, no password, and an API key named after the merchant.",
  reply: Fixture,
  errors: ["resource_not_found"],
  handle({ params, tenants, createOperationContext, resources, clock }) {
    const { own } = createOperationContext(tenants.require(params.id), clock.seconds(), undefined);
    const profile = resources.find(({ kind }) => kind === "merchant") as Resource;
    return savedFixture(resources, own(profile).require(params.id) as AnyRecord, own, clock.now());
  },
});

const removeMerchant = endpoint({
  id: "merchants.remove",
  method: "DELETE",
  path: "/merchants/{id}",
  summary: "Remove a merchant with all its data",
  description:
    "First, the merchant's deliveries that are due or in flight are completed, recorded and judged, within the " +
    "timeout of one webhook. Then its keys stop working, its other pending deliveries are cancelled, and its fault " +
    "rules end. Its requests, events, deliveries and verdicts stay in the logs: " +
    "reports, coverage and `verify` include them until a reset of everything, or until a merchant of the same name " +
    "is created.",
  reply: Type.Object({ removed: Type.String() }),
  errors: ["resource_not_found"],
  async handle({ params, world, dispatcher }) {
    await dispatcher.drainMerchant(params.id);
    world.remove(params.id);
    return { removed: params.id };
  },
});

const reset = endpoint({
  id: "sandbox.reset",
  method: "POST",
  path: "/reset",
  summary: "Reset to the start of the sandbox, including ids",
  description:
    "Resets, of one merchant or all: records, keys, endpoints, events, deliveries, stored Idempotency-Key responses, " +
    "rate-limit windows, the request log, faults, scenarios and verdicts. " +
    "The data returns to the fixtures, or to the snapshot of the options. " +
    "Faults, scenarios and endpoints of the options are set up again. " +
    "Without `merchant`, the clock also returns to the start, and merchants that were created are removed. " +
    "With `merchant`, the clock and the other merchants stay as they are.",
  body: Type.Object({ merchant: Type.Optional(text("Only this merchant")) }),
  example: {},
  reply: Type.Object({
    reset: Type.String({ description: "The merchant, or `everything`" }),
    clock: nullable(
      Type.Object(ClockState.properties, { description: "The clock that was reset; null if only a merchant was" }),
    ),
    ...Restored.properties,
  }),
  errors: ["resource_not_found"],
  async handle({ body: { merchant }, restore, ...context }) {
    const restored = await restore(merchant);
    return {
      reset: merchant ?? "everything",
      clock: merchant === undefined ? publishClock(context) : null,
      ...restored,
    };
  },
});

export const operations = [listMerchants, addMerchant, showFixture, removeMerchant, reset];
