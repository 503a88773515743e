// Kinds of records as a command names them: payment, payments, payout-method, or order for marketplace_order.

import { resources } from "../../areas/index.ts";
import type { Resource } from "../../contracts/resource.ts";
import { didYouMean } from "../../kernel/did-you-mean.ts";
import { SandboxError } from "../../kernel/errors.ts";
import { kebab } from "../../kernel/text.ts";
import { type FlagDefinitions, positionalsIn } from "../arguments.ts";

/** The words for each kind: its name and its plural, and the first and the last part of a name of two words, where no other kind has it. */
const words = new Map<string, Resource>();
for (const resource of resources)
  for (const part of [0, -1].map((index) => resource.kind.split("_").at(index) as string))
    for (const word of part.endsWith("s") ? [part] : [part, `${part}s`]) if (!words.has(word)) words.set(word, resource);
for (const resource of resources) for (const word of [resource.view, resource.kind].map(kebab)) words.set(word, resource);

export const kindNames = resources.map(({ kind }) => kebab(kind));

export const findKind = (word: string): Resource | undefined => words.get(kebab(word.toLowerCase()));

/** The kind that a word of a command names. */
export function kindNamed(word: string | undefined, example: string): Resource {
  if (word === undefined) throw new SandboxError(`The kind of record is missing: merchant-sandbox ${example}.`, "usage");
  const found = findKind(word);
  if (found) return found;
  const hint = didYouMean(kebab(word), words.keys()) || ` There are ${kindNames.join(", ")}.`;
  throw new SandboxError(`There is no kind of record ${word}.${hint}`, "usage");
}

/** The status that a word of a command names. */
export function statusNamed({ kind, transitions }: Resource, word: string): string {
  const known = Object.keys(transitions);
  const status = word.toLowerCase().replaceAll("-", "_");
  if (known.includes(status)) return status;
  const name = kebab(kind);
  if (known.length === 0) throw new SandboxError(`A ${name} has no status.`, "usage");
  throw new SandboxError(`A ${name} has no status ${word}.${didYouMean(status, known)} It has ${known.join(", ")}.`, "usage");
}

/** The first positional argument that names a kind, or else the first of them: flags are read before the kind is checked. */
export function kindIn(argv: readonly string[], flags: FlagDefinitions): string | undefined {
  const words = positionalsIn(argv, flags).map(({ value }) => value);
  return words.find(findKind) ?? words[0];
}
