// Keeps values that do not match their schema: the object holds a matching value instead, and its JSON shows the value
// that was sent.

import { isDeepStrictEqual } from "node:util";
import { isObject } from "../kernel/json-object.ts";
import type { TProperties, TSchema } from "./schema.ts";
import { matchesSchema } from "./validator.ts";

type Fields = Record<string, unknown>;

/**
 * A copy of an object whose JSON has these values in place of its own. `JSON.stringify` calls `toJSON` at any depth,
 * and spreading the object copies it, so a handler passes the values on without knowing of them.
 */
export function withSent<F extends object>(fields: F, sent: Fields): F {
  const { toJSON: own, ...others } = fields as F & { toJSON?: unknown };
  // A client may also have sent a field named `toJSON`.
  const shown = own === undefined || isShowing(own) ? sent : { toJSON: own, ...sent };
  if (Object.keys(sent).length === 0) return (shown === sent ? others : fields) as F;
  function toJSON(this: Fields): Fields {
    const { toJSON: _, ...rest } = this;
    return { ...rest, ...shown };
  }
  return { ...others, toJSON: Object.assign(toJSON, { sent: shown }) } as unknown as F;
}

/** A copy of an object with changes. A value that was sent for a field is shown until the field changes. */
export function withChanges<F extends object>(fields: F, changes: Fields): F {
  const before = sentIn(fields);
  if (before === undefined) return { ...fields, ...changes };
  const kept = Object.entries(before).filter(([name]) => !Object.hasOwn(changes, name));
  return withSent({ ...fields, ...changes }, { ...Object.fromEntries(kept), ...sentIn(changes) });
}

/** Whether changes leave the JSON of an object as it is. */
export function isUnchanged(fields: object, changes: Fields): boolean {
  const [before, sent] = [fields as Fields, sentIn(fields)];
  const { toJSON, ...wanted } = changes;
  const all = Object.entries(isShowing(toJSON) ? { ...wanted, ...toJSON.sent } : changes);
  return all.every(([name, value]) => {
    const shown = sent && Object.hasOwn(sent, name) ? sent[name] : before[name];
    return shown === value || isDeepStrictEqual(shown, value);
  });
}

/**
 * Replaces the values of a stored object that do not match its schema, because they were stored as sent, with values
 * that do.
 */
export function usable<F extends object>(
  schema: TSchema & { properties: TProperties; required?: readonly string[] },
  stored: F,
  defaults: object,
): F {
  if (matchesSchema(schema, stored)) return stored;
  const fields = stored as Fields;
  const known: Fields = {};
  const sent: Fields = {};
  for (const [name, property] of Object.entries(schema.properties)) {
    if (!Object.hasOwn(fields, name) && !schema.required?.includes(name)) continue;
    const repaired = repair(property, fields[name]);
    known[name] = repaired ?? defaults[name as keyof object] ?? placeholder(property);
    if (repaired === undefined && Object.hasOwn(fields, name)) sent[name] = fields[name];
  }
  return withSent({ ...stored, ...known }, sent);
}

/**
 * The value with its nested fields made usable; undefined if the value is of another type or lacks a required field.
 */
function repair(schema: TSchema, value: unknown): unknown {
  if (matchesSchema(schema, value)) return value;
  const { properties, items } = schema as TSchema & { properties?: TProperties; items?: TSchema };
  let repaired: unknown;
  if (items && Array.isArray(value)) repaired = value.map((item) => repair(items, item));
  else if (properties && isObject(value)) repaired = repairFields(properties, value);
  return matchesSchema(schema, repaired) ? repaired : undefined;
}

function repairFields(properties: TProperties, fields: object): object {
  const wrong = Object.entries(fields).filter(
    ([name, value]) => properties[name] && !matchesSchema(properties[name], value),
  );
  const usable = wrong.map(([name, value]) => {
    const property = properties[name] as TSchema;
    return [name, repair(property, value) ?? placeholder(property)] as const;
  });
  return withSent({ ...fields, ...Object.fromEntries(usable) }, Object.fromEntries(wrong));
}

const PLACEHOLDERS = [null, "", 0, false, [], {}];

/** The most neutral value that matches the schema. */
const placeholder = (schema: TSchema) => PLACEHOLDERS.find((value) => matchesSchema(schema, value));

const isShowing = (value: unknown): value is (() => Fields) & { sent: Fields } => typeof value === "function";

/** The values that the object's JSON shows as they were sent. */
export function sentIn(fields: object): Fields | undefined {
  const { toJSON } = fields as { toJSON?: unknown };
  return isShowing(toJSON) ? toJSON.sent : undefined;
}
