// Examples in the documents: the path of an example request, and a sample value for a response that no example request returned.

import { paramNames } from "../contracts/endpoint.ts";
import { prefixOf, type TSchema } from "../schema/shapes.ts";
import type { Catalogue, DeclaredOperation } from "./api-surface.ts";
import type { DocumentedKeywords } from "./subschemas.ts";

/** The response bodies of the example requests, by operation id. */
export type Replies = Readonly<Record<string, unknown>>;

/** The operation whose example creates the record that this example needs, if the seed data may not contain one. */
export function prerequisiteOf(
  { operations }: Catalogue,
  { path, method, exampleParams }: DeclaredOperation,
): DeclaredOperation | undefined {
  const [collection] = path.split("/{");
  if (Object.keys(exampleParams).length > 0 || (method === "POST" && path === collection)) return undefined;
  return operations.find((other) => other.method === "POST" && other.path === collection);
}

/** The path parameters of the example; undefined if neither the declaration nor the reply to the prerequisite gives one. */
export function examplePathOf(catalogue: Catalogue, operation: DeclaredOperation, replies: Replies): Record<string, string | undefined> {
  const { path, exampleParams } = operation;
  const prerequisite = prerequisiteOf(catalogue, operation);
  const createdId = prerequisite && (replies[prerequisite.id] as { id?: string } | undefined)?.id;
  return Object.fromEntries(paramNames(path).map((name) => [name, exampleParams[name] ?? createdId]));
}

/** 2026-01-05, 09:00 UTC. */
const TIME = 1_767_603_600;

/** Fields whose name says what they contain. */
const KNOWN: Readonly<Record<string, string>> = {
  merchant: "mer_lodge",
  merchantId: "mer_lodge",
  apiKey: "sk_test_lodge",
  operation: "payments.list",
  method: "GET",
  path: "/v1/payments",
  url: "http://localhost:3000/webhooks",
  baseUrl: "http://127.0.0.1:4747/v1",
};

const PATTERNS: Readonly<Record<string, string>> = {
  "^[A-Z]{3}$": "EUR",
  "^[A-Z]{2}$": "PT",
  "^[0-9]{4}-(0[1-9]|1[0-2])$": "2026-01",
  "^[1-5]([0-9]{2}|xx)$": "200",
  "^[01]$": "1",
  "^[a-z0-9_]+(\\.[a-z0-9_]+)+$": "payment.succeeded",
  "^[a-z_]+(\\.[a-z_]+)*(\\.\\*)?$": "effect.single",
  "^flt_[0-9A-Za-z_-]{1,60}$": "flt_1",
  "^[0-9]+(\\.[0-9]+)?(ms|s|m|h|d)$": "30s",
  "^[a-z][a-z0-9]*(-[a-z0-9]+)*\\.mjs$": "shop.mjs",
  "^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$": "ola@lodge.example",
};

/** A value that matches the schema. `name` is the name of the field that holds it. */
export function sampleOf(schema: TSchema, name = ""): unknown {
  const { const: only, default: usual, enum: values, anyOf, type, properties, items } = schema as DocumentedKeywords;
  if (only !== undefined) return only;
  if (usual !== undefined) return usual;
  if (values) return values[0];
  if (anyOf?.[0]) return sampleOf(anyOf[0], name);
  if (properties) return Object.fromEntries(Object.entries(properties).map(([field, inner]) => [field, sampleOf(inner, field)]));
  const [first] = [type ?? "object"].flat();
  if (first === "array") return items ? [sampleOf(items, name)] : [];
  if (first === "string") return textOf(schema as DocumentedKeywords, name);
  if (first === "integer" || first === "number") return numberOf(schema as DocumentedKeywords);
  return first === "boolean" ? true : {};
}

function textOf(schema: DocumentedKeywords & { pattern?: string }, name: string): string {
  const { format, pattern = "" } = schema;
  const prefix = prefixOf(schema);
  if (prefix !== undefined) return `${prefix}1`;
  if (format === "date") return "2026-01-05";
  if (format === "date-time") return "2026-01-05T09:00:00.000Z";
  return PATTERNS[pattern] ?? KNOWN[name] ?? (name === "" ? "text" : name);
}

function numberOf({ format, minimum = 0, maximum = Infinity }: DocumentedKeywords): number {
  return format === "int64" ? TIME : Math.min(Math.max(minimum, 1), maximum);
}
