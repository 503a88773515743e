// How an error lists the invalid fields of a body: the common forms of the list, and its places in the error.

import { isObject } from "../kernel/json-object.ts";

/** Places of the list in the error. */
const places = ["details.errors", "details", "errors"] as const;

export type InvalidFieldsPlace = (typeof places)[number];

export const OWN_INVALID_FIELDS = "a list of objects in details.errors";

const isText = (value: unknown) => typeof value === "string";

/** An invalid field of RFC 9457, named only by a pointer such as `#/name`. */
const isProblem = (value: unknown) =>
  isObject(value) && !("field" in value) && "pointer" in value && /^#\//.test(String(value.pointer));

/** The form of a value; undefined if it has no known form. */
export function formOfInvalidFields(value: unknown): string | undefined {
  if (!isObject(value) && !Array.isArray(value)) return undefined;
  const items: unknown[] = Object.values(value);
  if (items.length === 0) return undefined;
  if (Array.isArray(value) && items.every(isText)) return "a list of messages";
  if (Array.isArray(value) && items.every(isProblem)) return "a list of #/ pointers";
  if (Array.isArray(value)) return items.every(isObject) ? "a list of objects" : undefined;
  if (items.every(isText)) return "a message by field";
  return items.every((item) => Array.isArray(item) && item.every(isText)) ? "messages by field" : undefined;
}
