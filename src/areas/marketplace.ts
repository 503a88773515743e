// Marketplace orders: orders placed through external marketplaces.

import type { AnyRecord, Arrival, RecordBase, Resource, Rule, Warning } from "../contracts/resource.ts";
import { addDays } from "../kernel/calendar.ts";
import { fail } from "../kernel/errors.ts";
import { grouped } from "../kernel/grouped.ts";
import { exactSum } from "../schema/field-rules.ts";
import {
  amount,
  count,
  country,
  currency,
  day,
  id,
  listOf,
  nullable,
  nullables,
  type Static,
  Type,
  text,
  timestamp,
} from "../schema/shapes.ts";
import { unknownReference } from "../store/records/record-rules.ts";
import { initialsOf } from "./declare/initials.ts";
import { listEndpoint } from "./declare/operation.ts";
import { resource } from "./declare/resource.ts";
import { problem } from "./declare/rules.ts";
import { merchantDay, onDay, profileOf } from "./merchants.ts";
import { products, productVariants } from "./retail.ts";
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

const DELIVERY_DAYS = 3;

interface Order {
  items: Static<typeof item>[];
  shippingAmount: number | null;
  amount: number | null;
}

const totalOf = ({ items, shippingAmount }: Order) =>
  exactSum([shippingAmount ?? 0, ...items.map(({ quantity, unitAmount }) => quantity * unitAmount)], "items");

const amountOfItems: Rule<RecordBase & Order> = (order) => {
  const { amount, items } = order;
  if (items.length === 0 || amount === null || amount === totalOf(order)) return undefined;
  return problem(
    "amount",
    "wrong_sum",
    `amount must be the sum of the items and shippingAmount, ${totalOf(order)}; received ${amount}.`,
  );
};

/** Items refer to the merchant's own products and variants, and each variant belongs to the item's product. */
const knownItems: Rule<RecordBase & Order> = ({ items }, { before, own }) => {
  if (before !== undefined && JSON.stringify(items) === JSON.stringify(before.items)) return undefined;
  for (const [index, { productId, variantId }] of items.entries()) {
    if (productId !== null && !own(products).find(productId))
      return unknownReference(`items/${index}/productId`, "product", productId);
    const variant = variantId === null ? undefined : own(productVariants).find(variantId);
    if (variantId !== null && !variant)
      return unknownReference(`items/${index}/variantId`, "product_variant", variantId);
    if (variant && productId !== null && variant.productId !== productId)
      return problem(
        `items/${index}/variantId`,
        "wrong_product",
        `items.${index}.variantId must be a variant of ${productId}; ${variantId} is one of ${variant.productId}.`,
      );
  }
  return undefined;
};

/** Checks the items of stored orders with `knownItems`. */
const strayItems: Resource["worldChecks"][number] = (world, own) =>
  (world.get("marketplace_order") ?? []).flatMap((order) => {
    const problem = knownItems(order as AnyRecord & Order, { before: undefined, now: order.created, own });
    return problem ? [{ kind: "marketplace_order", id: order.id, field: problem.field, message: problem.message }] : [];
  });

const itemsFixed: Rule<RecordBase & Order & { acceptedAt: number | null }> = ({ items }, { before }) =>
  before === undefined || before.acceptedAt === null || JSON.stringify(items) === JSON.stringify(before.items)
    ? undefined
    : problem("items", "fixed", "items are fixed once the order is accepted, because their stock is taken.");

/** Warns if an order that is accepted takes more of a variant than is in stock. */
const soldOut: Warning<RecordBase & Order> = ({ status, items }, { before, own }) => {
  if (status !== "accepted" || before?.status === "accepted") return undefined;
  for (const [variantId, ordered] of grouped(items, (item) => item.variantId)) {
    const stock = variantId === null ? null : (own(productVariants).find(variantId)?.stockQuantity ?? null);
    const needed = ordered.reduce((sum, { quantity }) => sum + quantity, 0);
    if (stock !== null && needed > stock) return `The order takes ${needed} of ${variantId}; ${stock} are in stock.`;
  }
  return undefined;
};

/** Subtracts the items from the stock (`sign` -1), or adds them (1). Ignores variants without a stock quantity. */
function moveStock({ record, own }: Arrival<RecordBase & Order>, sign: 1 | -1): void {
  const variants = own(productVariants);
  for (const { variantId, quantity } of record.items) {
    const variant = variantId === null ? undefined : variants.find(variantId);
    if (!variant || variant.stockQuantity === null) continue;
    const stockQuantity = variant.stockQuantity + sign * quantity;
    if (!Number.isSafeInteger(stockQuantity))
      fail(
        "invalid_state",
        `Order ${record.id} changes the stock of ${variant.id} by ${quantity}, beyond ${Number.MAX_SAFE_INTEGER}.`,
      );
    variants.update(variant, { stockQuantity });
  }
}

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
      shippingAmount: amount("Price of shipping", { minimum: 0 }),
      amount: amount("Total of all items and shipping", { minimum: 0 }),
      currency: currency(),
      shippingAddress: address,
      trackingNumber: text("Tracking number of the parcel"),
      expectedDelivery: day("Day on which the parcel is expected"),
      acceptedAt: timestamp("Time of acceptance"),
      shippedAt: timestamp("Time of shipping"),
      deliveredAt: timestamp("Time of delivery"),
      refusedAt: timestamp("Time of refusal"),
      canceledAt: timestamp("Time of cancellation"),
    }),
  },
  defaults: { items: [] },
  states: {
    pending: {
      to: ["accepted", "refused", "canceled"],
      event: "marketplace_order.created",
      sets: ({ record, own }) =>
        record.items.length === 0
          ? {}
          : {
              amount: record.amount ?? totalOf(record),
              currency: record.currency ?? profileOf(record.merchantId, own).currency,
            },
    },
    accepted: {
      to: ["shipped", "canceled"],
      event: "marketplace_order.accepted",
      at: "acceptedAt",
      arrive: (order) => moveStock(order, -1),
    },
    shipped: {
      to: ["delivered", "canceled"],
      event: "marketplace_order.shipped",
      at: "shippedAt",
      sets: ({ record, now, own }) => ({
        trackingNumber: record.trackingNumber ?? `TRK${record.id.slice(record.id.indexOf("_") + 1).toUpperCase()}`,
        expectedDelivery: addDays(merchantDay({ record, own }, now), DELIVERY_DAYS),
      }),
      next: (order) => onDay(order, order.record.expectedDelivery, "opening", "delivered"),
    },
    delivered: { to: [], event: "marketplace_order.delivered", at: "deliveredAt" },
    refused: { to: [], event: "marketplace_order.refused", at: "refusedAt" },
    canceled: {
      to: [],
      event: "marketplace_order.canceled",
      at: "canceledAt",
      // Only an accepted order has taken its items from stock.
      arrive: (order) => order.record.acceptedAt !== null && moveStock(order, 1),
    },
  },
  series: [{ field: "number", prefix: ({ channel }) => initialsOf(channel, "ORD") }],
  updated: "marketplace_order.updated",
  worldChecks: [strayItems],
  rules: [amountOfItems, knownItems, itemsFixed],
  warnings: [soldOut],
  references: { customerId: "customer" },
});

const listMarketplaceOrders = listEndpoint(
  marketplaceOrders,
  {
    id: "marketplace_orders.list",
    position: 8,
    area: "Marketplace orders",
    path: "/marketplace/orders",
    summary: "List all marketplace orders",
  },
  { reply: listOf(marketplaceOrders.schema) },
);

export const operations = [listMarketplaceOrders];

export const resources = [marketplaceOrders];
