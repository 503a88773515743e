// One call of each operation that succeeds on the seeded world: as data, and as the command that makes it.

import { paramNames } from "../kernel/endpoint.ts";
import type { Declared, Surface } from "./surface.ts";

export interface ExampleCall {
  method: string;
  /** After the surface's address. */
  path: string;
  headers: Record<string, string>;
  /** JSON, as it goes out. */
  body: string | undefined;
}

/** The fixture merchant that has something in every area. */
const KEY = "sk_test_lodge";

/** Lists are asked for one record, which shows the shape. */
const ONE = "?limit=1";

export function exampleCall(surface: Surface, operation: Declared): ExampleCall {
  const { method, path, query, body, example, exampleParams, id } = operation;
  const filled = paramNames(path).reduce((whole, name) => whole.replace(`{${name}}`, exampleParams[name] ?? `{${name}}`), path);
  const takesKey = operation.idempotent && surface.errors.key.length > 0;
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

export function curl(surface: Surface, operation: Declared): string {
  const { method, path, headers, body } = exampleCall(surface, operation);
  const implied = body === undefined ? "GET" : "POST";
  const verb = method === implied ? "" : `-X ${method} `;
  const lines = [
    `curl ${verb}${quote(surface.server + path)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quote(body)}`]),
  ];
  return lines.join(" \\\n  ");
}

/** Quoted for a shell where it needs to be. */
const quote = (text: string) => (/^[\w:/.-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
