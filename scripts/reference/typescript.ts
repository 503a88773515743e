// Generates TypeScript from JSON Schemas: named schemas become interfaces, and descriptions become doc comments.

import type { ObjectSchema } from "../../src/contracts/endpoint.ts";
import { pascal } from "../../src/kernel/text.ts";
import { typeNames } from "../../src/reference/operation-types.ts";
import type { TSchema } from "../../src/schema/shapes.ts";
import { type DocumentedKeywords, descriptionOf, titleOf } from "./subschemas.ts";

export type Types = ReturnType<typeof createTypes>;

interface TypedService {
  operations: readonly { id: string; body?: ObjectSchema | undefined; reply: TSchema }[];
  error: TSchema;
  event: TSchema;
  /** The types of events. */
  eventTypes: readonly string[];
}

/**
 * `names` gives names to schemas without a title. Schemas are compared by their JSON text. `words` has the known names
 * of each kind, such as the ids of operations. Text with `x-sandbox-names` must be one of these names, or a pattern
 * with `*`.
 */
export function createTypes(
  names: Readonly<Record<string, TSchema>>,
  words: Readonly<Record<string, readonly string[]>> = {},
) {
  const declared = new Map<string, string>();
  const nameOf = new Map(Object.entries(names).map(([name, schema]) => [JSON.stringify(schema), name]));

  /** Declares a schema without a title under this name. */
  const named = (name: string, schema: TSchema): string => {
    if (declared.has(name)) return name;
    // The name is registered before the type is printed, so that a recursive type terminates.
    declared.set(name, "");
    const { properties } = schema as DocumentedKeywords;
    const written = properties ? `interface ${name} ${print(schema)}` : `type ${name} = ${print(schema)};`;
    declared.set(name, `${comment(schema)}export ${written}`);
    return name;
  };
  /** The TypeScript type of a schema, where it is used. */
  const typeOf = (schema: TSchema): string => {
    const kind = (schema as { "x-sandbox-names"?: string })["x-sandbox-names"];
    const known = kind === undefined ? undefined : words[kind];
    if (kind !== undefined && known) return patternOf(kind, known);
    const title = titleOf(schema);
    const name = nameOf.get(JSON.stringify(schema)) ?? (title === undefined ? undefined : pascal(title));
    return name === undefined ? print(schema) : named(name, schema);
  };
  const patternOf = (kind: string, known: readonly string[]): string => {
    const name = `${pascal(kind)}Pattern`;
    const members = [...known.map((word) => JSON.stringify(word)), `\`\${string}*\${string}\``];
    const note = docComment(`A known ${kind}, or a pattern in which * matches anything.`);
    declared.set(name, `${note}export type ${name} =\n${members.map((one) => `  | ${one}`).join("\n")};`);
    return name;
  };
  const print = (schema: TSchema): string => printed(schema as DocumentedKeywords, typeOf);
  /** All declarations, sorted by name. */
  const declarations = () => [...declared].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, text]) => text);
  return { typeOf, named, declarations };
}

/** The declarations of a service: the bodies and replies of its operations, its errors and its events. */
export function serviceTypes({ operations, error, event, eventTypes }: TypedService): string {
  // The names Error and Event are avoided, because they are JavaScript globals.
  const types = createTypes({ ApiError: error, WebhookEvent: event });
  for (const { id, body, reply } of operations) {
    const names = typeNames({ id, body, reply });
    if (body && names.body !== undefined) types.named(names.body, body);
    types.named(names.reply, reply);
  }
  for (const schema of [error, event]) types.typeOf(schema);
  const names =
    "/** The types of events. */\nexport type EventType =\n" +
    `${eventTypes.map((type) => `  | ${JSON.stringify(type)}`).join("\n")};`;
  const parts = ["// The types of the service, by merchant-sandbox types.", ...types.declarations(), names];
  return `${parts.join("\n\n")}\n`;
}

function printed(schema: DocumentedKeywords, typeOf: (schema: TSchema) => string): string {
  const { type, anyOf, items, properties, patternProperties } = schema;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (anyOf) return [...new Set(anyOf.map(typeOf))].join(" | ");
  if (Array.isArray(type)) return type.map((one) => printed({ ...schema, type: one }, typeOf)).join(" | ");
  if (properties) return block(schema, typeOf);
  if (patternProperties) return `Record<string, ${Object.values(patternProperties).map(typeOf).join(" | ")}>`;
  if (type === "array") return arrayOf(items ? typeOf(items) : "unknown");
  return (
    { string: "string", integer: "number", number: "number", boolean: "boolean", null: "null" }[type ?? ""] ?? "unknown"
  );
}

const arrayOf = (item: string) => (/^[\w.]+$/.test(item) ? `${item}[]` : `(${item})[]`);

function block(
  { properties = {}, required = [], additionalProperties }: DocumentedKeywords,
  typeOf: (schema: TSchema) => string,
): string {
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${comment(schema)}${keyOf(name)}${required.includes(name) ? "" : "?"}: ${typeOf(schema)};`,
  );
  const open = additionalProperties === true ? ["[field: string]: unknown;"] : [];
  const lines = [...fields, ...open];
  return lines.length === 0 ? "{}" : `{\n${indented(lines.join("\n"))}\n}`;
}

const keyOf = (name: string) => (/^\w+$/.test(name) ? name : JSON.stringify(name));

const comment = (schema: TSchema) => docComment(descriptionOf(schema));

/** A doc comment, or nothing if the text is empty. */
export const docComment = (words: string) => (words === "" ? "" : `/** ${words.replaceAll("*/", "* /")} */\n`);

export const indented = (text: string) => text.replaceAll(/^(?=.)/gm, "  ");

/** Writes `rate_limits` as `rateLimits`. */
export const camel = (name: string) => name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
