// One example request per operation, which succeeds on a freshly seeded sandbox, as data and as a curl command.

import type { Catalogue, DeclaredOperation } from "../reference/api-surface.ts";
import { examplePathOf, type Replies } from "../reference/examples.ts";

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

/** Example lists request one record, because one is enough to show the format. */
const ONE = "?limit=1";

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

/** Quotes a text for the shell, if necessary. */
const quote = (text: string) => (/^[\w:/.-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
