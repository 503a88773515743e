// Schemas in the names and forms of the real service: for validation, documents and types.

import { formOfSchema } from "../contracts/value-formats.ts";
import { prefixOf, type TSchema } from "../schema/shapes.ts";
import { hasFields, isRequired, itemsOf, itemsPlace, nameOf, valueSchema, valuesOf } from "../schema/walk.ts";
import type { AdoptedFacts } from "./adopted-facts.ts";
import { conversionBetween, schemaOfForm } from "./conversions.ts";
import { type AddedField, type AdoptedField, changesOf, createChildren, type Prefixes } from "./object-changes.ts";

interface Keywords {
  type?: string | readonly string[];
  description?: string;
  enum?: readonly unknown[];
  properties?: Record<string, TSchema>;
  required?: readonly string[];
}

export interface SchemaAdoption {
  /** The schema of an object at a place; itself if nothing changes. */
  object(place: string, schema: TSchema, isBody?: boolean): TSchema;
}

/** `prefixes` are the prefixes of ids that change, by the sandbox's own. */
export function createSchemaAdoption(facts: AdoptedFacts, prefixes: Prefixes): SchemaAdoption {
  const children = createChildren(facts);

  const object = (place: string, schema: TSchema, isBody = false): TSchema => {
    const name = nameOf(schema, place);
    const { fields, added } = changesOf(facts, children, name, schema, isBody);
    const kept = fields
      .filter(({ presence }) => presence !== "absent")
      .map((field) => ({ field, adopted: value(field.id, field.schema, isBody) }));
    const isChanged =
      added.length > 0 || kept.length < fields.length || kept.some(({ field, adopted }) => adopted !== field.schema || changes(field));
    const refuses = isBody && facts.value(`${name}.other_fields`) === "refused";
    if (!isChanged && !refuses) return schema;
    const required = kept.filter(({ field }) => staysRequired(schema, field)).map(({ field }) => field.name);
    return {
      ...schema,
      properties: Object.fromEntries([
        ...kept.map(({ field, adopted }) => [field.name, adopted]),
        ...added.map((one) => [one.name, schemaOfAdded(one)]),
      ]),
      required: [...required, ...added.filter(({ isOptional }) => !isOptional).map((one) => one.name)],
      ...(refuses && { additionalProperties: false }),
    } as TSchema;
  };

  const value = (id: string, schema: TSchema, isBody: boolean): TSchema => {
    const inner = valueSchema(schema);
    const items = itemsOf(inner);
    const nested = hasFields(inner)
      ? object(id, inner, isBody)
      : items
        ? itemsSchema(id, inner, items, isBody)
        : scalar(facts, prefixes, id, inner);
    const adopted = nested === inner ? schema : rewrapped(schema, inner, nested);
    return withNull(adopted, facts.value(`${id}.type`));
  };

  const itemsSchema = (id: string, array: TSchema, items: TSchema, isBody: boolean): TSchema => {
    const place = itemsPlace(id);
    const adopted = hasFields(valueSchema(items)) ? object(place, valueSchema(items), isBody) : value(place, items, isBody);
    return adopted === items ? array : ({ ...array, items: adopted } as TSchema);
  };
  return { object };
}

function scalar(facts: AdoptedFacts, prefixes: Prefixes, id: string, schema: TSchema): TSchema {
  const form = conversionBetween(formOfSchema(schema as Keywords), facts.value(`${id}.format`));
  if (form) return converted(schema, String(facts.value(`${id}.format`)), form.schema);
  const own = prefixOf(schema as Keywords);
  const prefix = own === undefined ? undefined : (facts.text(`${id}.prefix`) ?? prefixes.get(own));
  if (own !== undefined && prefix !== undefined && prefix !== own)
    return described(schema, (text) => text.replace(`${own}…`, `${prefix}…`));
  const values = valuesOf(schema);
  return values ? listed(facts, schema, id, values) : schema;
}

function listed(facts: AdoptedFacts, schema: TSchema, id: string, values: readonly string[]): TSchema {
  const more = facts.value(`${id}.values`);
  const names = values.map((one) => String(facts.value(`${id}.values.${one}`) ?? one));
  const all = [...new Set([...names, ...(Array.isArray(more) ? more.filter((one) => !values.includes(one)) : [])])];
  if (all.join("\n") === values.join("\n")) return schema;
  const renames = new Map(values.map((own, at) => [`\`${own}\``, `\`${names[at]}\``]));
  const renamed = described(schema, (text) => text.replace(/`[^`]+`/g, (quoted) => renames.get(quoted) ?? quoted));
  const { const: _, ...rest } = renamed as TSchema & { const?: unknown };
  const hasNull = (schema as Keywords).enum?.includes(null);
  return { ...rest, enum: hasNull ? [...all, null] : all } as unknown as TSchema;
}

const changes = ({ own, name, presence, required }: AdoptedField) => own !== name || presence === "sometimes" || required !== undefined;

const staysRequired = (schema: TSchema, { own, presence, required }: AdoptedField) =>
  required ?? (presence === undefined ? isRequired(schema, own) : presence === "always" || presence === "known");

const described = (schema: TSchema, change: (text: string) => string): TSchema =>
  ({ ...schema, description: change((schema as Keywords).description ?? "") }) as TSchema;

const FORM_KEYWORDS = new Set(["format", "pattern", "minimum", "maximum", "minLength", "maxLength"]);

/** The field keeps its description, without the unit of the sandbox. */
function converted(schema: TSchema, form: string, { type, ...keywords }: { type: string }): TSchema {
  const { description = "", type: own } = schema as Keywords;
  const isNullable = Array.isArray(own) && own.includes("null");
  const meaning = description.replace(/, in (Unix seconds|the currency's smallest unit)$/, "");
  const kept = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !FORM_KEYWORDS.has(keyword)));
  return { ...kept, type: isNullable ? [type, "null"] : type, description: `${meaning} (${form})`, ...keywords } as unknown as TSchema;
}

/** Puts a changed schema of the values other than null in the place of the old one. */
function rewrapped(schema: TSchema, inner: TSchema, changed: TSchema): TSchema {
  const { anyOf } = schema as { anyOf?: readonly TSchema[] };
  return anyOf ? ({ ...schema, anyOf: anyOf.map((one) => (one === inner ? changed : one)) } as unknown as TSchema) : changed;
}

function withNull(schema: TSchema, types: unknown): TSchema {
  const { type } = schema as Keywords;
  if (!Array.isArray(types) || !types.includes("null") || typeof type !== "string") return schema;
  return { ...schema, type: [type, "null"] } as unknown as TSchema;
}

function schemaOfAdded({ types, format, values, prefix }: AddedField): TSchema {
  const form = format === undefined ? undefined : schemaOfForm(format);
  const isNullable = types.includes("null");
  const [only, ...others] = types.filter((type) => type !== "null");
  const kinds = [...(form ? [form.type] : only === undefined ? [] : [only, ...others]), ...(isNullable ? ["null"] : [])];
  const hint = [...(format === undefined ? [] : [format]), ...(prefix === undefined ? [] : [`\`${prefix}…\``])].join(", ");
  return {
    ...form,
    ...(kinds.length > 0 && { type: kinds.length === 1 ? kinds[0] : kinds }),
    ...(values && { enum: isNullable ? [...values, null] : [...values] }),
    description: `A field of the service that the sandbox does not have${hint === "" ? "" : ` (${hint})`}`,
  } as unknown as TSchema;
}
