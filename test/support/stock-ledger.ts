// The stock of variants against the orders that took it: what left the stock is what the orders took, and what came back is what they gave back.

import type { AnyRecord, RecordsByKind } from "../../src/contracts/resource.ts";
import type { JsonObject } from "../../src/schema/schema.ts";

interface Item {
  variantId: string | null;
  quantity: number;
}

/** The stock of each variant that accepted orders have taken and not given back. */
function takenOf(world: RecordsByKind): Map<string, number> {
  const taken = new Map<string, number>();
  for (const { status, acceptedAt, items } of world.get("marketplace_order") ?? []) {
    if (acceptedAt == null || status === "canceled" || status === "refused") continue;
    for (const { variantId, quantity } of items as Item[])
      if (variantId !== null) taken.set(variantId, (taken.get(variantId) ?? 0) + quantity);
  }
  return taken;
}

/** The variants whose stock changed by something else than their orders. A stock that is not counted, or that the caller set, is left out. */
export function stockLedger(before: RecordsByKind, after: RecordsByKind, isSet: (variant: AnyRecord) => boolean): string[] {
  const [taken, takenNow] = [takenOf(before), takenOf(after)];
  const earlier = new Map((before.get("product_variant") ?? []).map((variant) => [variant.id, variant]));
  return (after.get("product_variant") ?? []).flatMap((variant) => {
    const { id, stockQuantity: left } = variant;
    const had = earlier.get(id)?.stockQuantity;
    if (typeof had !== "number" || typeof left !== "number" || isSet(variant)) return [];
    const took = (takenNow.get(id) ?? 0) - (taken.get(id) ?? 0);
    return had - left === took ? [] : [`${id}: its stock went from ${had} to ${left}; orders took ${took}`];
  });
}

/** Whether a request sets the stock of a variant itself. */
export const setByCaller =
  ({ path, body }: { path: string; body: JsonObject }) =>
  ({ id }: AnyRecord) =>
    Object.hasOwn(body, "stockQuantity") && path.endsWith(`/product_variant/${id}`);
