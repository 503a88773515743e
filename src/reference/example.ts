// One example request per operation that succeeds on a freshly seeded sandbox, as data and as a curl command.

import { paramNames } from "../contracts/endpoint.ts";
import type { Catalogue, DeclaredOperation } from "./api-surface.ts";

/** The response bodies of the example requests, by operation id. */
export type Replies = Readonly<Record<string, unknown>>;

export interface ExampleCall {
  method: string;
  /** The path, relative to the server. */
  path: string;
  headers: Record<string, string>;
  /** The body as JSON text. */
  body: string | undefined;
}

/** The API key of the fixture merchant with records in every area. */
const KEY = "sk_test_lodge";

/** Example lists request one record, which is enough to show the format. */
const ONE = "?limit=1";

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

export function exampleCall(catalogue: Catalogue, operation: DeclaredOperation, replies: Replies): ExampleCall {
  const { surface } = catalogue;
  const { method, path, query, body, example, idempotent, id } = operation;
  const values = Object.entries(examplePathOf(catalogue, operation, replies));
  const filled = values.reduce((whole, [name, value]) => whole.replace(`{${name}}`, value ?? `{${name}}`), path);
  const takesKey = idempotent && surface.errors.key.length > 0;
  return {
    method,
    path: surface.prefix + filled + ("limit" in query.properties ? ONE : ""),
    headers: {
      ...(surface.security.required ? { Authorization: `Bearer ${KEY}` } : {}),
      ...(body && example ? { "Content-Type": "application/json" } : {}),
      ...(takesKey ? { "Idempotency-Key": `${id}-1` } : {}),
    },
    body: body && example ? JSON.stringify(example, null, 2) : undefined,
  };
}

export function curl(server: string, { method, path, headers, body }: ExampleCall): string {
  const implied = body === undefined ? "GET" : "POST";
  const verb = method === implied ? "" : `-X ${method} `;
  const lines = [
    `curl ${verb}${quote(server + path)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quote(body)}`]),
  ];
  return lines.join(" \\\n  ");
}

/** Quotes the text for a shell if necessary. */
const quote = (text: string) => (/^[\w:/.-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
