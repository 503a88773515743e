// Retail: products and their variants.

import type { RecordBase, Rule } from "../contracts/resource.ts";
import { fail } from "../kernel/errors.ts";
import { assumed } from "../schema/assumed.ts";
import {
  amount,
  count,
  currency,
  id,
  metadata,
  nullables,
  optionals,
  Type,
  text,
  timestamp,
} from "../schema/shapes.ts";
import { assumedBody, endpoint } from "./declare/operation.ts";
import { resource } from "./declare/resource.ts";
import { merchantCurrency } from "./merchants.ts";
import { sampleProduct, sampleVariant } from "./samples/sales.ts";

const archivedAt = timestamp("Time of archiving");

export const products = resource({
  kind: "product",
  prefix: "prod",
  view: "products",
  sample: sampleProduct,
  fields: nullables({ name: text("Name of the product"), description: text("Description of the product"), archivedAt }),
  states: {
    active: { to: ["archived"], event: "product.restored" },
    archived: { to: ["active"], event: "product.archived", at: "archivedAt" },
  },
  created: "product.created",
  updated: "product.updated",
});

const requiredFields = {
  sku: text("Stock keeping unit (SKU); unique among the merchant's variants", { minLength: 1 }),
  price: amount("Price per unit", { minimum: 0 }),
};

const optionalFields = {
  name: text("Name of the variant"),
  currency: currency(),
  stockQuantity: count("Number of units in stock"),
  barcode: text("Barcode"),
};

const options = Type.Record(Type.String(), {
  description: 'Option values, such as `{"size": "M"}`; each combination is unique within a product',
});

/** An archived product takes no new variants, and its archived variants cannot be restored. */
const productTakesVariants: Rule<RecordBase & { productId: string }> = ({ productId, status }, { before, own }) => {
  if (status !== "active" || (before?.status === "active" && before.productId === productId)) return undefined;
  const product = own(products).find(productId);
  if (product?.status === "archived")
    fail("invalid_state", `Product ${productId} is archived; only active products take variants.`, {
      currentStatus: "archived",
      allowedFrom: ["active"],
    });
  return undefined;
};

export const productVariants = resource({
  kind: "product_variant",
  prefix: "var",
  view: "product_variants",
  sample: sampleVariant,
  fields: {
    productId: id("prod", "Product of the variant"),
    ...nullables({
      ...requiredFields,
      ...optionalFields,
      stockQuantity: count("Number of units in stock; negative if oversold", {
        minimum: Number.MIN_SAFE_INTEGER,
      }),
      archivedAt,
    }),
    options,
  },
  defaults: { options: {} },
  states: {
    active: { to: ["archived"], event: "product_variant.restored" },
    archived: { to: ["active"], event: "product_variant.archived", at: "archivedAt" },
  },
  created: "product_variant.created",
  updated: "product_variant.updated",
  rules: [productTakesVariants],
  references: { productId: "product" },
  unique: [["sku"], ["productId", "options"]],
});

const createVariant = endpoint({
  id: "variants.create",
  position: 18,
  area: "Retail",
  method: "POST",
  path: "/retail/products/{productId}/variants",
  summary: "Create a product variant",
  body: assumedBody(
    { ...requiredFields, ...optionals({ ...optionalFields, options, metadata: metadata() }) },
    "The service's documentation does not show this body; these fields are common to retail APIs.",
  ),
  exampleParams: { productId: "prod_honey" },
  example: {
    sku: "HONEY-1000",
    name: "1 kg jar",
    options: { size: "1 kg" },
    price: 1_650,
    currency: "EUR",
    stockQuantity: 24,
  },
  reply: productVariants.schema,
  errors: ["resource_not_found", "invalid_state", "already_exists"],
  emits: [assumed("product_variant.created", "Derived from the name of the operation.")],
  handle(call) {
    const { params, body, extra, own } = call;
    const product = own(products).require(params.productId);
    const currency = body.currency ?? merchantCurrency(call);
    return own(productVariants).create({ ...extra, ...body, currency, productId: product.id });
  },
});

export const operations = [createVariant];

export const resources = [products, productVariants];
