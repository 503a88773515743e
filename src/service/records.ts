// Translates records, lists, errors and events from the sandbox's names and forms to those of the real service, and bodies back.

import { formOfSchema } from "../contracts/value-formats.ts";
import { prefixOf, type TSchema } from "../schema/shapes.ts";
import { innerOf, nameOf, valuesOf } from "../schema/walk.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";
import { conversionBetween, sampleOfForm } from "./conversions.ts";
import { type AddedField, type AdoptedField, changesOf, createChildren, type Prefixes } from "./object-changes.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Translates a value; `record` is the object that holds it. */
export type Translate = (value: unknown, record: Fields) => unknown;

export type Direction = "outwards" | "inwards";

export interface Translator {
  /** The translation of the objects of a schema at a place; undefined if nothing changes. */
  object(direction: Direction, place: string, schema: TSchema, isBody?: boolean): Translate | undefined;
}

/** `prefixes` are the prefixes of ids that change, by the sandbox's own. */
export function createTranslator(facts: AdoptedFacts, prefixes: Prefixes): Translator {
  const children = createChildren(facts);

  const object: Translator["object"] = (direction, place, schema, isBody = false) => {
    const { fields, added } = changesOf(facts, children, nameOf(schema, place), schema, isBody);
    const translated = fields.map((field) => ({ field, translate: value(direction, field.id, field.schema, isBody) }));
    const isOutwards = direction === "outwards";
    const changed = translated.filter(({ field, translate }) => translate !== undefined || isMoved(field));
    const samples = isOutwards && !isBody ? added : [];
    if (changed.length === 0 && samples.length === 0) return undefined;
    const rules = new Map(
      changed.map(({ field, translate }) => [isOutwards ? field.own : field.name, ruleOf(field, translate, isOutwards)]),
    );
    return objectTranslation(rules, samples);
  };

  const value = (direction: Direction, id: string, schema: TSchema, isBody: boolean): Translate | undefined => {
    const inner = innerOf(id, schema);
    if (inner.isObject || inner.isList) {
      const translate = (inner.isObject ? object : value)(direction, inner.id, inner.schema, isBody);
      return inner.isList ? listTranslation(translate) : translate;
    }
    return scalar(facts, prefixes, direction, id, inner.schema);
  };
  return { object };
}

function scalar(facts: AdoptedFacts, prefixes: Prefixes, direction: Direction, id: string, schema: TSchema): Translate | undefined {
  const form = conversionBetween(formOfSchema(schema as object), facts.value(`${id}.format`));
  if (form) {
    const convert = form[direction] as Translate;
    return (value, record) => (typeof value === "string" || typeof value === "number" ? convert(value, record) : value);
  }
  const own = prefixOf(schema as object);
  const prefix = own === undefined ? undefined : (facts.text(`${id}.prefix`) ?? prefixes.get(own));
  if (own !== undefined && prefix !== undefined && prefix !== own) return exchangePrefix(own, prefix);
  return nameTranslation(facts, direction, id, valuesOf(schema) ?? []);
}

function nameTranslation(facts: AdoptedFacts, direction: Direction, id: string, values: readonly string[]): Translate | undefined {
  const pairs = values
    .map((one) => [one, String(facts.value(`${id}.values.${one}`) ?? one)] as const)
    .filter(([one, name]) => one !== name);
  if (pairs.length === 0) return undefined;
  const names = new Map<unknown, string>(direction === "outwards" ? pairs : pairs.map(([one, name]) => [name, one]));
  return (value) => names.get(value) ?? value;
}

const isMoved = ({ own, name, presence }: AdoptedField) => own !== name || presence === "absent";

interface FieldRule {
  /** Undefined: the field is left out. */
  name: string | undefined;
  translate: Translate | undefined;
}

const ruleOf = ({ own, name, presence }: AdoptedField, translate: Translate | undefined, isOutwards: boolean): FieldRule => ({
  name: presence === "absent" && isOutwards ? undefined : isOutwards ? name : own,
  translate,
});

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null && !Array.isArray(value);

function objectTranslation(rules: ReadonlyMap<string, FieldRule>, samples: readonly AddedField[]): Translate {
  return (value) => {
    if (!isFields(value)) return value;
    const translated: Record<string, unknown> = {};
    for (const [field, inner] of Object.entries(value)) {
      const rule = rules.get(field);
      const name = rule === undefined ? field : rule.name;
      if (name === undefined) continue;
      const moved = rule?.translate === undefined || inner === null ? inner : rule.translate(inner, value);
      Object.defineProperty(translated, name, { value: moved, enumerable: true, configurable: true, writable: true });
    }
    for (const one of samples) {
      const sample = sampleOf(one, value);
      // A client may have sent the field itself, and the sandbox stored it.
      if (sample !== undefined && !Object.hasOwn(translated, one.name)) translated[one.name] = sample;
    }
    return translated;
  };
}

const listTranslation = (translate: Translate | undefined): Translate | undefined =>
  translate && ((value, record) => (Array.isArray(value) ? value.map((item) => (item === null ? item : translate(item, record))) : value));

/** Exchanges two prefixes of ids, in both directions, so that an id with the sandbox's own prefix is unknown, and shown as it was sent. */
export function withPrefix(text: string, from: string, to: string): string {
  if (text.startsWith(from)) return to + text.slice(from.length);
  return text.startsWith(to) ? from + text.slice(to.length) : text;
}

const exchangePrefix =
  (own: string, prefix: string): Translate =>
  (value) =>
    typeof value === "string" ? withPrefix(value, own, prefix) : value;

/** Unix seconds: the time that samples show in objects without `created`. */
const SAMPLE_TIME = 1_767_225_600;

/** A value for a field that the sandbox does not have: the same for the same record. */
function sampleOf({ name, isOptional, types, format, prefix, values, example }: AddedField, record: Fields): unknown {
  const number = numberOf(`${record.id}${name}`);
  if (isOptional && number % 2 === 1) return undefined;
  if (example !== undefined) return example;
  if (values !== undefined && values.length > 0) return values[number % values.length];
  if (format !== undefined) return sampleOfForm(format, typeof record.created === "number" ? record.created : SAMPLE_TIME) ?? null;
  if (prefix !== undefined) return prefix + number.toString(36);
  const [type = "null"] = types;
  return (
    { string: name, integer: number % 100, number: (number % 100) / 4, boolean: number % 2 === 0, array: [], object: {} }[type] ?? null
  );
}

/** A number that follows from a text (FNV-1a). */
function numberOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const letter of text) hash = Math.imul(hash ^ (letter.codePointAt(0) as number), 0x01000193) >>> 0;
  return hash;
}

/** The prefixes that a file changes, by the sandbox's own: `payment.id.prefix` holds for each reference to a payment. */
export function adoptedPrefixes(facts: AdoptedFacts, records: Iterable<[kind: string, schema: TSchema]>): Prefixes {
  const found = new Map<string, string>();
  for (const [kind, schema] of records) {
    const { id } = (schema as { properties?: Record<string, TSchema> }).properties ?? {};
    const own = id && prefixOf(id as object);
    const prefix = facts.text(`${kind}.id.prefix`);
    if (own !== undefined && prefix !== undefined && own !== prefix) found.set(own, prefix);
  }
  return found;
}
