// The changes of a service file to the objects of one schema: fields left out, renamed, added, and their values.

import { otherName } from "../contracts/fact.ts";
import type { TSchema } from "../schema/shapes.ts";
import { fieldPlace, fieldsOf } from "../schema/walk.ts";
import { sampleOfForm } from "./conversions.ts";
import type { AdoptedFacts } from "./service-file.ts";

export type AdoptedField = ReturnType<typeof changesOf>["fields"][number];

/** A field that the sandbox does not have. */
export type AddedField = ReturnType<typeof addedField>;

export function changesOf(facts: AdoptedFacts, place: string, schema: TSchema) {
  const own = fieldsOf(schema);
  const known = new Set(own.map(([name]) => name));
  const fields = own.map(([name, inner]) => {
    const id = fieldPlace(place, name);
    // `own` is the sandbox's name, `name` the service's; without `presence`, the file does not say.
    return {
      id,
      own: name,
      name: otherName(facts.value(`${id}.name`)) ?? name,
      schema: inner,
      presence: facts.text(id),
    };
  });
  const added = facts
    .addedBelow(place)
    .filter((name) => !known.has(name))
    .map((name) => addedField(facts, fieldPlace(place, name), name));
  return { fields, added };
}

function addedField(facts: AdoptedFacts, id: string, name: string) {
  const values = facts.value(`${id}.values`);
  const types = facts.value(`${id}.type`);
  return {
    name,
    isOptional: facts.value(id) === "sometimes",
    types: Array.isArray(types) ? (types as readonly string[]) : [],
    format: facts.text(`${id}.format`),
    prefix: facts.text(`${id}.prefix`),
    values: Array.isArray(values) ? (values as readonly string[]) : undefined,
    example: facts.value(`${id}.example`),
  };
}

/** Unix seconds: the time that samples show in objects without `created`. */
const SAMPLE_TIME = 1_767_225_600;

/** A value for a field that the sandbox does not have; the same record always gets the same value. */
export function sampleOf(
  { name, isOptional, types, format, prefix, values, example }: AddedField,
  record: Readonly<Record<string, unknown>>,
): unknown {
  const number = numberOf(`${record.id}${name}`);
  if (isOptional && number % 2 === 1) return undefined;
  if (example !== undefined) return example;
  if (values !== undefined && values.length > 0) return values[number % values.length];
  if (format !== undefined)
    return sampleOfForm(format, typeof record.created === "number" ? record.created : SAMPLE_TIME) ?? null;
  if (prefix !== undefined) return prefix + number.toString(36);
  const [type = "null"] = types;
  return (
    {
      string: name,
      integer: number % 100,
      number: (number % 100) / 4,
      boolean: number % 2 === 0,
      array: [],
      object: {},
    }[type] ?? null
  );
}

/** The hash of a text (FNV-1a). */
function numberOf(text: string): number {
  let hash = 0x811c9dc5;
  for (const letter of text) hash = Math.imul(hash ^ (letter.codePointAt(0) as number), 0x01000193) >>> 0;
  return hash;
}
