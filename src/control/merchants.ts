// Merchants: list, create, remove and reset them.

import { endpointFactory } from "../contracts/endpoint.ts";
import { Merchant } from "../contracts/live-messages.ts";
import { Type, text } from "../schema/shapes.ts";
import type { Tenant } from "../store/records/tenants.ts";
import type { Stores } from "../store/stores.ts";
import type { World } from "../store/world/world.ts";
import { wholeList, wholeListOf } from "./given-values.ts";

interface Parts extends Pick<Stores, "tenants" | "requestLog"> {
  world: Pick<World, "mint" | "remove" | "reset">;
}

const endpoint = endpointFactory<Parts>("Merchants");

const ListedMerchant = Type.Object(
  {
    ...Merchant.properties,
    status: Type.String({ description: "`active`, or `suspended`: its requests are refused" }),
    records: Type.Integer({ description: "How many records it has, of all kinds" }),
    requests: Type.Integer({ description: "How many of its requests the log has" }),
  },
  { title: "listed_merchant" },
);

const listMerchants = endpoint({
  id: "merchants.list",
  method: "GET",
  path: "/merchants",
  summary: "List the merchants with their API keys, and how many records and requests each has",
  access: { learner: { query: "merchant" } },
  query: Type.Object({ merchant: Type.Optional(text("Only this merchant")) }),
  reply: wholeListOf(ListedMerchant),
  errors: ["resource_not_found"],
  handle({ query: { merchant }, tenants, requestLog }) {
    requestLog.flush();
    const found = merchant === undefined ? tenants.list() : [tenants.find(tenants.require(merchant)) as Tenant];
    return wholeList(found.map((tenant) => ({ ...tenant, ...tenants.summaryOf(tenant.id) })));
  },
});

const mintMerchant = endpoint({
  id: "merchants.mint",
  method: "POST",
  path: "/merchants",
  summary: "Create a merchant with the records of a fixture",
  description: "Its records have the ids of the fixture and are invisible to other merchants, so parallel tests can each have their own.",
  body: Type.Object({ fixture: Type.Optional(text("Which fixture (default: lodge)")) }),
  example: { fixture: "lodge" },
  reply: Type.Object({ merchant: Type.String(), apiKey: Type.String() }),
  status: 201,
  handle: ({ body, world }) => world.mint(body.fixture ?? "lodge"),
});

const removeMerchant = endpoint({
  id: "merchants.remove",
  method: "DELETE",
  path: "/merchants/{id}",
  summary: "Remove a merchant with all its data",
  description:
    "Its keys stop working, its pending deliveries are cancelled, and its fault rules end. Its requests, events, deliveries and verdicts stay in the " +
    "logs, so that reports, coverage and `verify` include them until a reset of everything.",
  reply: Type.Object({ removed: Type.String() }),
  errors: ["resource_not_found"],
  handle({ params, world }) {
    world.remove(params.id);
    return { removed: params.id };
  },
});

const reset = endpoint({
  id: "sandbox.reset",
  method: "POST",
  path: "/reset",
  summary: "Reset to the fixtures, including ids",
  description:
    "Everything, or one merchant: records, keys, endpoints, events, deliveries, stored Idempotency-Key responses, rate-limit windows and the request log.",
  body: Type.Object({ merchant: Type.Optional(text("Only this merchant")) }),
  example: {},
  reply: Type.Object({ reset: Type.String({ description: "The merchant, or `everything`" }) }),
  errors: ["resource_not_found"],
  handle({ body, world }) {
    world.reset(body.merchant);
    return { reset: body.merchant ?? "everything" };
  },
});

export const operations = [listMerchants, mintMerchant, removeMerchant, reset];
