// The one source of randomness: each value is a function of the seed and of its purpose, so a sandbox with the same seed repeats it.
// Only what guards access in a shared sandbox comes from the system instead: one value of a seed reveals all others to a search of its 32 bits.

import { hash, randomBytes, timingSafeEqual } from "node:crypto";

export interface Random {
  /** An id such as `bkg_4fJ…`. */
  id(prefix: string, ...parts: NamePart[]): string;
  /** An id that begins with a sort key of `sortKeyOf` or `sortKeyIn`: records made together are neighbours in each index of the database. */
  sortableId(sortKey: string, prefix: string, ...parts: NamePart[]): string;
  /** Lower-case hex digits, two for each byte (32 bytes at most). */
  hex(bytes: number, ...parts: NamePart[]): string;
  /** Base62 characters (32 at most). */
  text(length: number, ...parts: NamePart[]): string;
  /** A number in [0, 1). */
  fraction(...parts: NamePart[]): number;
}

/** A part of the name of a random value, such as a merchant or a counter: the same parts give the same value. */
export type NamePart = string | number;

export const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ID_LENGTH = 16;
const SORT_KEY_LENGTH = 4;

export function createRandom(seed: number): Random {
  const name = (parts: NamePart[]) => `${seed}/${parts.join("/")}`;
  const hex = (parts: NamePart[]) => hash("sha256", name(parts), "hex");
  // Base64 instead of bytes: Node returns a digest as text in less than half the time.
  const letters = (parts: NamePart[], length: number) => hash("sha256", name(parts), "base64").slice(0, length).replace(/[+/]/g, "0");
  return {
    id: (prefix, ...parts) => `${prefix}_${letters([prefix, ...parts], ID_LENGTH)}`,
    sortableId: (sortKey, prefix, ...parts) => `${prefix}_${sortKey}${letters([prefix, ...parts], ID_LENGTH - sortKey.length)}`,
    hex: (bytes, ...parts) => hex(parts).slice(0, 2 * bytes),
    text: (length, ...parts) => base62(hash("sha256", name(parts), "buffer").subarray(0, length)),
    fraction: (...parts) => Number.parseInt(hex(parts).slice(0, 12), 16) / 2 ** 48,
  };
}

/** Random values named by words: the same word gives the same value. */
export interface Draws {
  /** A number in [0, 1). */
  chance(word: string): number;
  /** An integer between the two, both included. */
  between(word: string, from: number, to: number): number;
  pick<T>(word: string, of: readonly [T, ...T[]]): T;
  pick<T>(word: string, of: readonly T[]): T | undefined;
}

export function drawsOf(random: Random, ...name: NamePart[]): Draws {
  const chance = (word: string) => random.fraction(...name, word);
  const between = (word: string, from: number, to: number) => from + Math.floor(chance(word) * (to - from + 1));
  return { chance, between, pick: <T>(word: string, of: readonly T[]) => of[between(word, 0, of.length - 1)] as T };
}

/** One character for each byte. 256 is no multiple of 62, so the first eight characters are a little more frequent. */
const base62 = (bytes: Buffer) => Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join("");

/** The sort key of the nth id of its kind; it starts again after 62⁴, some fourteen million. */
export function sortKeyOf(count: number): string {
  let key = "";
  for (let rest = count; key.length < SORT_KEY_LENGTH; rest = Math.floor(rest / ALPHABET.length))
    key = ALPHABET[rest % ALPHABET.length] + key;
  return key;
}

/** The sort key in an id, for records that belong to it. */
export function sortKeyIn(id: string): string {
  const start = id.indexOf("_") + 1;
  return id.slice(start, start + SORT_KEY_LENGTH);
}

/** A token that no seed predicts (192 bits): it guards access. */
export const randomToken = () => randomBytes(24).toString("hex");

/** Base62 characters that no seed predicts, of almost six bits each. */
export const randomText = (length: number) => base62(randomBytes(length));

/** Compares a token in a time that does not depend on how much of it is right. */
export const isSameToken = (received: string, expected: string) =>
  timingSafeEqual(hash("sha256", received, "buffer"), hash("sha256", expected, "buffer"));
