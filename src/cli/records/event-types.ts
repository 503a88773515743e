// Event types as a command names them: payment.succeeded, payment.* or *.

import { eventTypes } from "../../areas/index.ts";
import { didYouMean } from "../../kernel/did-you-mean.ts";
import { SandboxError } from "../../kernel/errors.ts";

const EVERY = "*";

/** The same types, with a pattern such as `payment.*` replaced by the types that it matches. Throws for a type that the service never sends. */
export function knownEventTypes(words: readonly string[]): string[] {
  return [...new Set(words.flatMap(matching))];
}

function matching(word: string): string[] {
  if (word === EVERY || eventTypes.has(word)) return [word];
  const found = word.endsWith(".*") ? [...eventTypes].filter((type) => type.startsWith(word.slice(0, -1))) : [];
  if (found.length > 0) return found;
  const known = word.endsWith(".*") ? new Set([...eventTypes].map((type) => `${type.split(".")[0]}.*`)) : eventTypes;
  throw new SandboxError(`The service sends no event ${word}.${didYouMean(word, known)} See docs/events.md for all of them.`, "usage");
}
