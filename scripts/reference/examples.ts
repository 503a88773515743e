// Examples in the documents: the responses of the example requests, and the paths of these requests.

import { paramNames } from "../../src/client/control-call.ts";
import type { Catalogue, DeclaredOperation } from "./api-surface.ts";

/** The response bodies of the example requests, by operation id. */
export type Replies = Readonly<Record<string, unknown>>;

/**
 * The operation whose example creates the record that this example needs; undefined if the example names a seeded
 * record or needs none.
 */
export function prerequisiteOf(
  { operations }: Catalogue,
  { path, method, exampleParams }: DeclaredOperation,
): DeclaredOperation | undefined {
  const [collection] = path.split("/{");
  if (Object.keys(exampleParams).length > 0 || (method === "POST" && path === collection)) return undefined;
  return operations.find((other) => other.method === "POST" && other.path === collection);
}

/** The path parameters of the example. They come from the declaration, or from the reply to the prerequisite. */
export function examplePathOf(
  catalogue: Catalogue,
  operation: DeclaredOperation,
  replies: Replies,
): Record<string, string | undefined> {
  const { path, exampleParams } = operation;
  const prerequisite = prerequisiteOf(catalogue, operation);
  const createdId = prerequisite && (replies[prerequisite.id] as { id?: string } | undefined)?.id;
  return Object.fromEntries(paramNames(path).map((name) => [name, exampleParams[name] ?? createdId]));
}
