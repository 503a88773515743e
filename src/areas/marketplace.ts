// Marketplace: orders that came in through a marketplace, newest first.

import { resource } from "../contracts/resource.ts";
import { amount, assumedPageQuery, count, country, currency, id, listOf, nullable, nullables, Type, text } from "../schema/shapes.ts";
import { endpoint } from "../store/operation-context.ts";

const item = Type.Object({
  ...nullables({
    productId: id("prod", "The product"),
    variantId: id("var", "The variant of it"),
    sku: text("The merchant's own number of it"),
  }),
  name: text("What was ordered"),
  quantity: count("How many", { minimum: 1 }),
  unitAmount: amount("The price of one", { minimum: 0 }),
});

const address = Type.Object({
  name: text("Who receives it"),
  line1: text("Street and number"),
  line2: nullable(text("Floor, flat")),
  city: text("Town"),
  postalCode: nullable(text("Postal code")),
  country: country(),
});

export const marketplaceOrders = resource({
  kind: "marketplace_order",
  prefix: "ord",
  view: "marketplace_orders",
  fields: {
    ...nullables({
      number: text("The number that the customer sees"),
      channel: text("The marketplace it came through"),
      customerId: id("cus", "The customer who ordered"),
    }),
    items: Type.Array(item, { description: "What was ordered" }),
    ...nullables({
      amount: amount("The sum of the items", { minimum: 0 }),
      currency: currency(),
      shippingAddress: address,
    }),
  },
  defaults: { status: "pending", items: [] },
  moves: {
    pending: ["accepted", "refused", "canceled"],
    accepted: ["shipped", "canceled"],
    shipped: ["delivered", "canceled"],
    delivered: [],
    refused: [],
    canceled: [],
  },
  events: {
    created: "marketplace_order.created",
    accepted: "marketplace_order.updated",
    shipped: "marketplace_order.updated",
    delivered: "marketplace_order.updated",
    refused: "marketplace_order.updated",
    canceled: "marketplace_order.updated",
  },
});

export const listMarketplaceOrders = endpoint({
  id: "marketplace_orders.list",
  area: "Marketplace orders",
  method: "GET",
  path: "/marketplace/orders",
  summary: "List the orders that came in through marketplaces",
  query: assumedPageQuery,
  reply: listOf(marketplaceOrders.schema),
  errors: ["invalid_limit", "invalid_cursor"],
  handle: ({ query, own }) => own(marketplaceOrders).list(query),
});
