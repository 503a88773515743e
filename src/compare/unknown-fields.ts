// Collects the fields of the service that the sandbox does not have: how often each occurs, its types, forms and codes.

import { formOfAny } from "../contracts/value-formats.ts";
import type { ShownTexts } from "./shown-code.ts";

export interface UnknownField {
  /** The name of the object's schema, or its place. */
  object: string;
  field: string;
  count: number;
  types: Set<string>;
  /** The forms of its values; undefined among them if one has none. */
  forms: Set<string | undefined>;
  prefixes: Set<string>;
  /** The values with their counts, as far as they can be shown. */
  values: Map<string | number | boolean, number>;
  entries: string[];
}

const MOST_VALUES = 20;
const MOST_ENTRIES = 5;

export function createUnknownFields(shown: ShownTexts) {
  const found = new Map<string, UnknownField>();
  const objects = new Map<string, number>();
  return {
    /** How many objects of each name the recording shows. */
    objects,
    all: () => [...found.values()],
    countObject: (object: string) => objects.set(object, (objects.get(object) ?? 0) + 1),
    add(object: string, field: string, value: unknown, entry: string): void {
      const id = `${object}.${field}`;
      const known = found.get(id) ?? { object, field, count: 0, ...emptySets(), entries: [] };
      found.set(id, known);
      known.count++;
      known.types.add(typeOfJson(value));
      if (known.entries.length < MOST_ENTRIES && !known.entries.includes(entry)) known.entries.push(entry);
      if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean") return;
      known.forms.add(formOfAny(value));
      if (typeof value === "string") known.prefixes.add(PERSONAL.test(field) ? "no prefix" : shown.prefix(value));
      const scalar = shownScalar(field, value, shown);
      if (known.values.size < MOST_VALUES) known.values.set(scalar, (known.values.get(scalar) ?? 0) + 1);
    },
  };
}

const emptySets = () => ({
  types: new Set<string>(),
  forms: new Set<string | undefined>(),
  prefixes: new Set<string>(),
  values: new Map<string | number | boolean, number>(),
});

export function typeOfJson(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) ? "integer" : typeof value;
}

/** Fields whose values can be about a person. */
const PERSONAL =
  /name|mail|phone|mobile|address|street|city|town|birth|iban|holder|guest|contact|person|note|comment|descri|title|token|secret|key|password|pin|code$|\bip\b/i;

/** Larger numbers can be amounts, times and numbers of accounts. */
const LARGEST_SHOWN = 1_000;

/** A text is shown only if it is written as codes are: names of people and places begin with one capital. */
function shownScalar(field: string, value: string | number | boolean, shown: ShownTexts): string | number | boolean {
  if (typeof value === "boolean") return value;
  if (PERSONAL.test(field)) return "";
  if (typeof value === "number") return Math.abs(value) < LARGEST_SHOWN ? value : "";
  return /^([a-z][a-z0-9_.-]*|[A-Z][A-Z0-9_]*)$/.test(value) && shown.code(value) === value ? value : "";
}
