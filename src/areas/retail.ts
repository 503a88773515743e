// Retail: products, and the variants of them that are sold.

import { resource } from "../contracts/resource.ts";
import { assumed } from "../schema/assumed.ts";
import { amount, count, currency, id, metadata, nullables, optionals, Type, text } from "../schema/shapes.ts";
import { endpoint } from "../store/operation-context.ts";
import { homeCurrency } from "./merchants.ts";

export const products = resource({
  kind: "product",
  prefix: "prod",
  view: "products",
  fields: nullables({ name: text("What it is called"), description: text("What it is") }),
  defaults: { status: "active" },
  moves: { active: ["archived"], archived: ["active"] },
});

const sold = {
  sku: text("The merchant's own number of it; no two variants share it", { minLength: 1 }),
  price: amount("What one costs", { minimum: 0 }),
};

const more = {
  name: text("What the variant is called"),
  currency: currency(),
  stockQuantity: count("How many are in stock"),
  barcode: text("What the scanner reads"),
};

const options = Type.Record(Type.String(), {
  description: 'What sets it apart, such as `{"size": "M"}`; no two variants of a product share all of it',
});

export const productVariants = resource({
  kind: "product_variant",
  prefix: "var",
  view: "product_variants",
  fields: { productId: id("prod", "The product it is a variant of"), ...nullables({ ...sold, ...more }), options },
  defaults: { status: "active", options: {} },
  moves: { active: ["archived"], archived: ["active"] },
  events: { created: "product_variant.created" },
  unique: [["sku"], ["productId", "options"]],
});

export const createVariant = endpoint({
  id: "variants.create",
  area: "Retail",
  method: "POST",
  path: "/retail/products/{productId}/variants",
  summary: "Create a variant of a product",
  body: assumed(
    Type.Object({ ...sold, ...optionals({ ...more, options, metadata: metadata() }) }),
    "The document does not show the body; these are the fields that shop systems share.",
    "--bodies open",
  ),
  exampleParams: { productId: "prod_honey" },
  example: { sku: "HONEY-1000", name: "1 kg jar", options: { size: "1 kg" }, price: 1_650, currency: "EUR", stockQuantity: 24 },
  reply: productVariants.schema,
  errors: ["resource_not_found", "already_exists"],
  emits: [assumed("product_variant.created", "Derived from the operation's name.")],
  handle(call) {
    const { params, body, extra, own } = call;
    const product = own(products).require(params.productId);
    const currency = body.currency ?? homeCurrency(call);
    return own(productVariants).create({ ...extra, ...body, currency, productId: product.id });
  },
});
