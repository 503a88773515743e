// Translates the objects of a schema between the names and forms of the sandbox and of the real service.

import { formOfSchema } from "../contracts/value-formats.ts";
import type { FieldError } from "../kernel/errors.ts";
import { escapePointer } from "../schema/json-pointer.ts";
import { prefixOf, type TSchema } from "../schema/shapes.ts";
import { refusedValue } from "../schema/validator.ts";
import { innerOf, nameOf, valuesOf } from "../schema/walk.ts";
import { conversionBetween } from "./conversions.ts";
import { type AddedField, type AdoptedField, changesOf, sampleOf } from "./field-changes.ts";
import type { AdoptedFacts } from "./service-file.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** Problems that the translation of a body finds, in the sandbox's names. */
export interface BodyNotes {
  /** Values that do not have the form of the service; they stay as they are. */
  problems: FieldError[];
  /** Names of fields that only the sandbox has; the fields are left out. */
  unknown: string[];
}

/** Where a translated value is: the object that holds it, and its pointer. */
export interface Place {
  record: Fields;
  pointer: string;
  /** Only for bodies: replies and events are correct by construction. */
  notes?: BodyNotes | undefined;
}

export type Translate = (value: unknown, at: Place) => unknown;

type Direction = "outwards" | "inwards";

export type Translator = ReturnType<typeof createTranslator>;

/** More than there are operations or kinds of records. */
export const MOST_KEPT = 100;

export const TOP: Place = { record: {}, pointer: "" };

/** The prefixes of ids that a file changes, by the sandbox's own. */
export type Prefixes = ReadonlyMap<string, string>;

export function createTranslator(facts: AdoptedFacts, prefixes: Prefixes) {
  /** The translation of the objects of a schema at a place; undefined if nothing changes. */
  const object = (direction: Direction, place: string, schema: TSchema): Translate | undefined => {
    const { fields, added } = changesOf(facts, nameOf(schema, place), schema);
    const translated = fields.map((field) => ({ field, translate: value(direction, field.id, field.schema) }));
    const changed = translated.filter(({ field, translate }) => translate !== undefined || isMoved(field));
    const samples = direction === "outwards" ? added : [];
    if (changed.length === 0 && samples.length === 0) return undefined;
    return objectTranslation(direction === "outwards" ? rulesOut(changed) : rulesIn(changed), samples);
  };

  const value = (direction: Direction, id: string, schema: TSchema): Translate | undefined => {
    const inner = innerOf(id, schema);
    if (!inner.isObject && !inner.isList) return scalar(facts, prefixes, direction, id, inner.schema);
    const translate = (inner.isObject ? object : value)(direction, inner.id, inner.schema);
    return inner.isList ? listTranslation(translate) : translate;
  };
  return { object };
}

function scalar(
  facts: AdoptedFacts,
  prefixes: Prefixes,
  direction: Direction,
  id: string,
  schema: TSchema,
): Translate | undefined {
  const form = facts.text(`${id}.format`);
  const conversion = conversionBetween(formOfSchema(schema), form);
  if (conversion && direction === "outwards")
    return (value, { record }) => (isScalar(value) ? conversion.outwards(value as never, record) : value);
  if (conversion)
    return (value, at) => {
      if (!isScalar(value)) return value;
      if (conversion.matches(value)) return conversion.inwards(value as never, at.record);
      at.notes?.problems.push(
        refusedValue(at.pointer, "wrong_format", `must have the form ${JSON.stringify(form)}`, value),
      );
      return value;
    };
  const own = prefixOf(schema);
  const prefix = own === undefined ? undefined : (facts.text(`${id}.prefix`) ?? prefixes.get(own));
  if (own !== undefined && prefix !== undefined && prefix !== own)
    return (value) => (typeof value === "string" ? withPrefix(value, own, prefix) : value);
  return nameTranslation(facts, direction, id, valuesOf(schema) ?? []);
}

const isScalar = (value: unknown) => typeof value === "string" || typeof value === "number";

function nameTranslation(
  facts: AdoptedFacts,
  direction: Direction,
  id: string,
  values: readonly string[],
): Translate | undefined {
  const pairs = values.map((one) => [one, String(facts.value(`${id}.values.${one}`) ?? one)] as const);
  if (pairs.every(([one, name]) => one === name)) return undefined;
  const names = new Map<unknown, string>(direction === "outwards" ? pairs : pairs.map(([one, name]) => [name, one]));
  if (direction === "outwards") return (value) => names.get(value) ?? value;
  return (value, { pointer, notes }) => {
    if (!isScalar(value)) return value;
    const own = names.get(value);
    if (own === undefined)
      notes?.problems.push(
        refusedValue(pointer, "not_allowed", `must be one of ${[...names.keys()].join(", ")}`, value),
      );
    return own ?? value;
  };
}

const isMoved = ({ own, name, presence }: AdoptedField) => own !== name || presence === "absent";

interface FieldRule {
  /** The translated name; undefined if the field is left out. */
  name?: string;
  translate?: Translate | undefined;
}

interface TranslatedField {
  field: AdoptedField;
  translate: Translate | undefined;
}

type FieldRules = ReadonlyMap<string, FieldRule>;

const rulesOut = (changed: readonly TranslatedField[]): FieldRules =>
  new Map(
    changed.map(({ field: { own, name, presence }, translate }) => [
      own,
      presence === "absent" ? {} : { name, translate },
    ]),
  );

/** Leaves out a field with a name that only the sandbox has, unless it is the service's name of another field. */
const rulesIn = (changed: readonly TranslatedField[]): FieldRules =>
  new Map([
    ...changed.map(({ field }): [string, FieldRule] => [field.own, {}]),
    ...changed
      .filter(({ field }) => field.presence !== "absent")
      .map(({ field: { own, name }, translate }): [string, FieldRule] => [name, { name: own, translate }]),
  ]);

export const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function objectTranslation(rules: FieldRules, samples: readonly AddedField[]): Translate {
  return (value, { pointer, notes }) => {
    if (!isFields(value)) return value;
    const translated: Record<string, unknown> = {};
    for (const [field, inner] of Object.entries(value)) {
      const { name, translate } = rules.get(field) ?? { name: field };
      if (name === undefined) {
        if (pointer === "") notes?.unknown.push(field);
        continue;
      }
      const at = { record: value, pointer: `${pointer}/${escapePointer(name)}`, notes };
      const moved = translate === undefined || inner === null ? inner : translate(inner, at);
      Object.defineProperty(translated, name, { value: moved, enumerable: true, configurable: true, writable: true });
    }
    addSamples(translated, samples, value);
    return translated;
  };
}

/** Adds sample values, except for fields that a client has sent and the sandbox has stored. */
function addSamples(translated: Record<string, unknown>, samples: readonly AddedField[], record: Fields): void {
  for (const one of samples) {
    const sample = sampleOf(one, record);
    if (sample !== undefined && !Object.hasOwn(translated, one.name)) translated[one.name] = sample;
  }
}

const listTranslation = (translate: Translate | undefined): Translate | undefined =>
  translate &&
  ((value, { record, pointer, notes }) =>
    Array.isArray(value)
      ? value.map((item, index) =>
          item === null ? item : translate(item, { record, pointer: `${pointer}/${index}`, notes }),
        )
      : value);

/**
 * Exchanges two prefixes of ids, in both directions, so that an id with the sandbox's own prefix is unknown, and shown
 * as it was sent.
 */
function withPrefix(text: string, from: string, to: string): string {
  if (text.startsWith(from)) return to + text.slice(from.length);
  return text.startsWith(to) ? from + text.slice(to.length) : text;
}

/**
 * An id that a client sent, with the sandbox's prefix. An id that was sent with the sandbox's prefix is unknown to the
 * service.
 */
export function ownId(prefixes: Prefixes, text: string): string {
  for (const [own, prefix] of prefixes) {
    const exchanged = withPrefix(text, prefix, own);
    if (exchanged !== text) return exchanged;
  }
  return text;
}

/**
 * The changed prefixes: `payment.id.prefix` holds for each reference to a payment. `records` are the schemas by kind of
 * record.
 */
export function adoptedPrefixes(facts: AdoptedFacts, records: Iterable<[kind: string, schema: TSchema]>): Prefixes {
  const found = new Map<string, string>();
  for (const [kind, schema] of records) {
    const { id } = (schema as { properties?: Record<string, TSchema> }).properties ?? {};
    const own = id && prefixOf(id);
    const prefix = facts.text(`${kind}.id.prefix`);
    if (own !== undefined && prefix !== undefined && own !== prefix) found.set(own, prefix);
  }
  return found;
}
