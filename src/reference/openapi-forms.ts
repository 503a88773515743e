// Converts an OpenAPI document: removes the sandbox's extensions, or writes it as OpenAPI 3.0 for tools that do not
// read version 3.1.

import { oneOf, type Static, Type } from "../schema/shapes.ts";

type Printed = { [keyword: string]: unknown };

export interface OpenApiDocument {
  openapi: "3.1.1" | "3.0.3";
  info: Printed;
  servers: Printed[];
  tags: { name: string; description: string }[];
  security: Printed[];
  paths: Record<string, Printed>;
  webhooks?: Record<string, Printed>;
  components: Printed;
}

export const OpenApiForm = Type.Object({
  version: Type.Optional(oneOf(["3.1", "3.0"], "Version of OpenAPI", { default: "3.1" })),
  extensions: Type.Optional(oneOf(["on", "off"], "`off` leaves out the fields `x-sandbox-*`", { default: "on" })),
});

export type OpenApiForm = Static<typeof OpenApiForm>;

export function inForm(document: OpenApiDocument, { version, extensions }: OpenApiForm): OpenApiDocument {
  const shown = extensions === "off" ? withoutMentions(withoutExtensions(document) as OpenApiDocument) : document;
  return version === "3.0" ? asVersion30(shown) : shown;
}

/** Removes the sentence in the description of the service that explains how assumptions are marked. */
const withoutMentions = ({ info, ...rest }: OpenApiDocument): OpenApiDocument => ({
  ...rest,
  info: { ...info, description: String(info.description).replaceAll(/ [^.]*`x-sandbox-[^.]*\./g, "") },
});

function withoutExtensions(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutExtensions);
  if (typeof value !== "object" || value === null) return value;
  const others = Object.entries(value).filter(([name]) => !name.startsWith("x-sandbox-"));
  return Object.fromEntries(others.map(([name, inner]) => [name, withoutExtensions(inner)]));
}

const LICENSE_URL = "https://spdx.org/licenses/MIT.html";

/** OpenAPI 3.0 has no `webhooks`, so they move to `x-webhooks`, which Redoc and Redocly know. */
function asVersion30({ openapi: _, info, webhooks, ...rest }: OpenApiDocument): OpenApiDocument {
  const { name } = info.license as Printed;
  const facts = { openapi: "3.0.3", info: { ...info, license: { name, url: LICENSE_URL } } };
  return mapSchemas({ ...facts, ...rest, ...(webhooks ? { "x-webhooks": webhooks } : {}) }) as OpenApiDocument;
}

/** The fields of a document that hold data, in which the names of keywords mean nothing. */
const DATA = new Set(["example", "examples", "default", "enum", "const"]);

/** Rewrites every schema of a document: each value of a field `schema`, and each schema in `components.schemas`. */
function mapSchemas(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(mapSchemas);
  if (typeof value !== "object" || value === null) return value;
  const mapped = Object.entries(value).map(([name, inner]) => {
    if (name === "schema") return [name, olderSchema(inner as Printed)];
    if (name === "schemas") return [name, mapValues(inner as Printed, olderSchema)];
    return [name, DATA.has(name) ? inner : mapSchemas(inner)];
  });
  return Object.fromEntries(mapped);
}

const mapValues = (map: Printed, change: (inner: Printed) => Printed): Printed =>
  Object.fromEntries(Object.entries(map).map(([name, inner]) => [name, change(inner as Printed)]));

function olderSchema(schema: Printed): Printed {
  const { properties, items, additionalProperties, patternProperties, anyOf, oneOf, allOf, ...rest } = schema;
  const inner = Object.entries({ anyOf, oneOf, allOf }).filter(([, list]) => list !== undefined);
  const values = patternProperties ? Object.values(patternProperties as Record<string, Printed>).map(olderSchema) : [];
  return withoutNull({
    ...withOlderKeywords(rest),
    ...(properties ? { properties: mapValues(properties as Printed, olderSchema) } : {}),
    ...(items ? { items: olderSchema(items as Printed) } : {}),
    ...Object.fromEntries(inner.map(([name, list]) => [name, (list as Printed[]).map(olderSchema)])),
    ...(additionalProperties === undefined ? {} : { additionalProperties: olderValues(additionalProperties) }),
    ...(values.length > 0 ? { additionalProperties: values.length === 1 ? values[0] : { anyOf: values } } : {}),
  });
}

const olderValues = (values: unknown) =>
  typeof values === "object" && values !== null ? olderSchema(values as Printed) : values;

/** `const` becomes an `enum` of one value. An exclusive bound becomes a bound with a flag. */
function withOlderKeywords({ const: only, exclusiveMinimum, exclusiveMaximum, ...rest }: Printed): Printed {
  return {
    ...rest,
    ...(only === undefined ? {} : { enum: [only] }),
    ...(exclusiveMinimum === undefined ? {} : { minimum: exclusiveMinimum, exclusiveMinimum: true }),
    ...(exclusiveMaximum === undefined ? {} : { maximum: exclusiveMaximum, exclusiveMaximum: true }),
  };
}

/** The type null becomes `nullable`, and several types become a union. */
function withoutNull(schema: Printed): Printed {
  const { type, anyOf, ...rest } = schema;
  if (Array.isArray(type)) {
    const others = type.filter((name) => name !== "null");
    const orNull = others.length < type.length ? { nullable: true } : {};
    if (others.length === 1) return { type: others[0], ...rest, ...orNull };
    return { anyOf: others.map((name) => ({ type: name, ...orNull })), ...rest };
  }
  if (type === "null") return { ...rest, ...NULL };
  if (!Array.isArray(anyOf)) return schema;
  const others = anyOf.filter(({ enum: values }: Printed) => JSON.stringify(values) !== "[null]");
  if (others.length === anyOf.length) return schema;
  const [only] = others;
  if (others.length > 1 || "$ref" in only) return { ...rest, anyOf: [...others, NULL] };
  return { ...only, ...rest, nullable: true, ...(only.enum ? { enum: [...only.enum, null] } : {}) };
}

/** OpenAPI 3.0 reads `nullable` only beside `type`, and nothing beside `$ref`, so null is a separate schema. */
const NULL = { type: "object", nullable: true, enum: [null] };
