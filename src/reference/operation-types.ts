// The TypeScript declarations of one operation, taken from the declarations of the whole service.

import type { ObjectSchema } from "../contracts/endpoint.ts";
import { pascal } from "../kernel/text.ts";
import type { TSchema } from "../schema/schema.ts";

interface TypedOperation {
  id: string;
  body?: ObjectSchema | undefined;
  reply: TSchema;
}

/** The names under which the types of an operation's body and reply are declared. */
export function typeNames({ id, body, reply }: TypedOperation) {
  const { title } = reply as { title?: string };
  return {
    ...(body && { body: `${pascal(id)}Body` }),
    reply: title === undefined ? `${pascal(id)}Reply` : pascal(title),
  };
}

/** The declarations of an operation's body and reply, and the declarations that they refer to. The body is first. */
export function operationTypes(page: string, operation: TypedOperation): string {
  const declarations = new Map(
    page.split("\n\n").map((text) => [/^export (?:interface|type) (\w+)/m.exec(text)?.[1] ?? "", text.trimEnd()]),
  );
  const names = new Set<string>(Object.values(typeNames(operation)));
  const found: string[] = [];
  // Iteration over a set includes the values that are added during the iteration.
  for (const name of names) {
    const declaration = declarations.get(name);
    if (declaration === undefined) continue;
    found.push(declaration);
    for (const [word] of declaration.replaceAll(COMMENT, "").matchAll(/\w+/g))
      if (declarations.has(word)) names.add(word);
  }
  return `${found.join("\n\n")}\n`;
}

const COMMENT = /\/\*\*.*?\*\//g;
