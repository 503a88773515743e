// Event types by pattern: payment.succeeded, payment.* or *.

import { didYouMean } from "../kernel/did-you-mean.ts";
import { EVERY_TYPE } from "../store/webhooks/outbox.ts";
import { eventTypes } from "./index.ts";

/** The types that the words name; `fail` is called with a message for a word that matches none. `*` stays as it is. */
export const matchingTypes = (words: readonly string[], fail: (message: string) => never): string[] => [
  ...new Set(words.flatMap((word) => typesOf(word, fail))),
];

function typesOf(word: string, fail: (message: string) => never): string[] {
  if (word === EVERY_TYPE || eventTypes.has(word)) return [word];
  const isPattern = word.endsWith(".*");
  const found = isPattern ? [...eventTypes].filter((type) => type.startsWith(word.slice(0, -1))) : [];
  if (found.length > 0) return found;
  const known = isPattern ? new Set([...eventTypes].map((type) => `${type.split(".")[0]}.*`)) : eventTypes;
  return fail(`The service sends no event ${word}.${didYouMean(word, known)}`);
}
