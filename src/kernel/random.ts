// The one source of randomness: each value is a function of the seed and of its purpose, so a sandbox with the same
// seed repeats it. Tokens that protect a shared sandbox come from the system instead: a search of the seed's 32 bits
// finds the seed from any one value.

import { hash, randomBytes, timingSafeEqual } from "node:crypto";

export type Random = ReturnType<typeof createRandom>;

/** A part of a random value's name, such as a merchant or a counter. The same parts give the same value. */
export type NamePart = string | number;

export const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ID_LENGTH = 16;
const SORT_KEY_LENGTH = 4;

export function createRandom(seed: number) {
  const name = (parts: NamePart[]) => `${seed}/${parts.join("/")}`;
  const hex = (parts: NamePart[]) => hash("sha256", name(parts), "hex");
  // Base64, because Node returns a digest as text in less than half the time that it takes for bytes.
  const letters = (parts: NamePart[], length: number) =>
    hash("sha256", name(parts), "base64").slice(0, length).replace(/[+/]/g, "0");
  return {
    /** An id such as `bkg_4fJ…`. */
    id: (prefix: string, ...parts: NamePart[]) => `${prefix}_${letters([prefix, ...parts], ID_LENGTH)}`,
    /**
     * An id that begins with a sort key from `sortKeyOf` or `sortKeyIn`, so records made together are neighbours in the
     * database's indexes.
     */
    sortableId: (sortKey: string, prefix: string, ...parts: NamePart[]) =>
      `${prefix}_${sortKey}${letters([prefix, ...parts], ID_LENGTH - sortKey.length)}`,
    /** Lower-case hex digits, two for each byte (32 bytes at most). */
    hex: (bytes: number, ...parts: NamePart[]) => hex(parts).slice(0, 2 * bytes),
    /** Base62 characters (32 at most). */
    text: (length: number, ...parts: NamePart[]) => base62(hash("sha256", name(parts), "buffer").subarray(0, length)),
    /** A number in [0, 1). */
    fraction: (...parts: NamePart[]) => Number.parseInt(hex(parts).slice(0, 12), 16) / 2 ** 48,
  };
}

/** Random values named by words: the same word gives the same value. */
export interface Draws {
  /** A number in [0, 1). */
  chance(word: string): number;
  /** An integer from `from` to `to`, both included. */
  between(word: string, from: number, to: number): number;
  pick<T>(word: string, of: readonly [T, ...T[]]): T;
  pick<T>(word: string, of: readonly T[]): T | undefined;
}

export function drawsOf(random: Random, ...name: NamePart[]): Draws {
  const chance = (word: string) => random.fraction(...name, word);
  const between = (word: string, from: number, to: number) => from + Math.floor(chance(word) * (to - from + 1));
  return { chance, between, pick: <T>(word: string, of: readonly T[]) => of[between(word, 0, of.length - 1)] as T };
}

/** One character for each byte. The first eight characters are slightly more frequent, because 256 modulo 62 is 8. */
const base62 = (bytes: Buffer) => Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join("");

/** The sort key of the nth id of its kind. Sort keys repeat after 62⁴, almost 15 million. */
export function sortKeyOf(count: number): string {
  let key = "";
  for (let rest = count; key.length < SORT_KEY_LENGTH; rest = Math.floor(rest / ALPHABET.length))
    key = ALPHABET[rest % ALPHABET.length] + key;
  return key;
}

/** The sort key in an id, to give the ids of related records the same one. */
export function sortKeyIn(id: string): string {
  const start = id.indexOf("_") + 1;
  return id.slice(start, start + SORT_KEY_LENGTH);
}

/**
 * The part of other ids that names their merchant: `lodge` of mer_lodge. A fixture's id may be any text, and is hashed
 * if an HTTP header could not contain it.
 */
export const merchantLabel = (merchant: string) =>
  /^mer_\w{1,24}$/.test(merchant) ? merchant.slice("mer_".length) : hash("sha256", merchant, "hex").slice(0, 12);

/** An access token of 192 bits from the system, which no seed predicts. */
export const randomToken = () => randomBytes(24).toString("hex");

/** Compares two tokens in constant time. */
export const isSameToken = (received: string, expected: string) =>
  timingSafeEqual(hash("sha256", received, "buffer"), hash("sha256", expected, "buffer"));
