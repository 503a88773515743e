// Marketplace orders: orders placed through external marketplaces.

import { resource } from "../contracts/resource.ts";
import { amount, assumedPageQuery, count, country, currency, id, listOf, nullable, nullables, Type, text } from "../schema/shapes.ts";
import { endpoint } from "../store/operation-context.ts";
import { sampleOrder } from "./samples/sales.ts";

const item = Type.Object({
  ...nullables({
    productId: id("prod", "Product ordered"),
    variantId: id("var", "Variant of the product"),
    sku: text("Stock keeping unit (SKU)"),
  }),
  name: text("Name of the item"),
  quantity: count("Quantity ordered", { minimum: 1 }),
  unitAmount: amount("Price per unit", { minimum: 0 }),
});

const address = Type.Object({
  name: text("Name of the recipient"),
  line1: text("Street and number"),
  line2: nullable(text("Apartment, floor or suite")),
  city: text("City or town"),
  postalCode: nullable(text("Postal code")),
  country: country(),
});

export const marketplaceOrders = resource({
  kind: "marketplace_order",
  prefix: "ord",
  view: "marketplace_orders",
  sample: sampleOrder,
  fields: {
    ...nullables({
      number: text("Order number shown to the customer"),
      channel: text("Marketplace on which the order was placed"),
      customerId: id("cus", "Customer who placed the order"),
    }),
    items: Type.Array(item, { description: "Items in the order" }),
    ...nullables({
      amount: amount("Total of all items", { minimum: 0 }),
      currency: currency(),
      shippingAddress: address,
    }),
  },
  defaults: { items: [] },
  states: {
    pending: { to: ["accepted", "refused", "canceled"], event: "marketplace_order.created" },
    accepted: { to: ["shipped", "canceled"], event: "marketplace_order.updated" },
    shipped: { to: ["delivered", "canceled"], event: "marketplace_order.updated" },
    delivered: { to: [], event: "marketplace_order.updated" },
    refused: { to: [], event: "marketplace_order.updated" },
    canceled: { to: [], event: "marketplace_order.updated" },
  },
});

export const listMarketplaceOrders = endpoint({
  id: "marketplace_orders.list",
  area: "Marketplace orders",
  method: "GET",
  path: "/marketplace/orders",
  summary: "List all marketplace orders",
  query: assumedPageQuery,
  reply: listOf(marketplaceOrders.schema),
  errors: ["invalid_limit", "invalid_cursor"],
  handle: ({ query, own }) => own(marketplaceOrders).list(query),
});
