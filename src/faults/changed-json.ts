// Changes JSON so that it stays valid: applies a merge patch, or what a later version of the service might change.

import { EVOLUTIONS, type Evolution } from "../contracts/fault.ts";
import { isObject } from "../kernel/json-object.ts";
import type { TSchema } from "../schema/shapes.ts";
import { fieldsOf, itemsOf, typesOf, valueSchema, valuesOf } from "../schema/walk.ts";

/** A JSON Merge Patch (RFC 7396): null removes a field, objects are merged, and any other value replaces. */
export function mergePatch(value: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  const merged = new Map(Object.entries(isObject(value) ? value : {}));
  for (const [name, change] of Object.entries(patch))
    if (change === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), change));
  return Object.fromEntries(merged);
}

const ADDED_FIELD = "addedLater";
const ADDED_VALUE = "added_later";

/**
 * The value as a later version might send it, in ways that clients must accept: with an unknown field in each object,
 * an unknown value of each enumeration, null where the schema allows it, and the fields in another order. `as` selects
 * one of these changes, or all.
 */
export function evolved(value: unknown, schema: TSchema | undefined, as: Evolution): unknown {
  const has = (one: Evolution) => as === one || as === EVOLUTIONS[0];
  const known = schema && valueSchema(schema);
  if (has("nulls") && schema && value !== null && typesOf(schema).includes("null")) return null;
  if (Array.isArray(value)) {
    const items = known && itemsOf(known);
    return value.map((item) => evolved(item, items, as));
  }
  if (isObject(value)) {
    const fields = new Map(known ? fieldsOf(known) : []);
    const entries = Object.entries(value).map(([name, child]) => [name, evolved(child, fields.get(name), as)] as const);
    if (has("order")) entries.reverse();
    return Object.fromEntries([
      ...entries,
      ...(has("fields") ? [[ADDED_FIELD, { by: "a later version" }] as const] : []),
    ]);
  }
  // An enumeration with one value names the type of an object, such as `payment`, and stays.
  const isEnumeration = known !== undefined && (valuesOf(known)?.length ?? 0) > 1;
  return has("enums") && isEnumeration && typeof value === "string" ? ADDED_VALUE : value;
}
