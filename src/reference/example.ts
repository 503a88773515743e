// One call of each operation that succeeds on the seeded world: as data, and as the command that makes it.

import { paramNames } from "../contracts/endpoint.ts";
import type { Catalogue, Declared } from "./api-surface.ts";

/** The body that each operation's example call was answered, by the operation's id. */
export type Replies = Readonly<Record<string, unknown>>;

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

/** The operation whose example makes the record that this one is about, where the seeded world may have none. */
export function makerOf({ operations }: Catalogue, { path, method, exampleParams }: Declared): Declared | undefined {
  const [collection] = path.split("/{");
  if (Object.keys(exampleParams).length > 0 || (method === "POST" && path === collection)) return undefined;
  return operations.find((other) => other.method === "POST" && other.path === collection);
}

export function exampleCall(catalogue: Catalogue, operation: Declared, replies: Replies): ExampleCall {
  const { surface } = catalogue;
  const { method, path, query, body, example, exampleParams, idempotent, id } = operation;
  const maker = makerOf(catalogue, operation);
  const made = maker && (replies[maker.id] as { id?: string } | undefined)?.id;
  const idFor = (name: string) => exampleParams[name] ?? made ?? `{${name}}`;
  const filled = paramNames(path).reduce((whole, name) => whole.replace(`{${name}}`, idFor(name)), path);
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

/** Quoted for a shell where it needs to be. */
const quote = (text: string) => (/^[\w:/.-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
