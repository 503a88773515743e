// Generates secrets of every kind, and the spellings in which they may arrive.

import fc from "fast-check";
import { SECRET_WORDS } from "../../src/kernel/secrets.ts";

type Spelling = (words: readonly string[]) => string;

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);
const spellings: readonly Spelling[] = [
  (words) => words.join("_"),
  (words) => words.join("-"),
  (words) => words.join("_").toUpperCase(),
  (words) => words.map(capital).join("-"),
  (words) => words.map((word, index) => (index === 0 ? word : capital(word))).join(""),
  ([first = "", ...rest]) => first + rest.map((word) => `[${word}]`).join(""),
];

/** Secret words that also end harmless words, such as `spin`. They are secret only as whole words. */
const ALONE = ["pin", "iban"];

const innocentWords = fc.array(fc.constantFrom("user", "card", "new", "my", "bank"), { maxLength: 2 });

/** A secret name without separators between its words, such as `mypassword`. */
export const gluedSecretNames = fc
  .tuple(
    innocentWords,
    fc.constantFrom(...SECRET_WORDS.filter((word) => !ALONE.includes(word))),
    fc.constantFrom("", "s", "2"),
  )
  .map(([before, word, end]) => `${before.join("")}${word.replaceAll(" ", "")}${end}`);

/** A name that is secret because of one of its words. */
export const secretNames = fc
  .tuple(innocentWords, fc.constantFrom(...SECRET_WORDS), innocentWords, fc.constantFrom(...spellings))
  .map(([before, word, after, spell]) => spell([...before, ...word.split(" "), ...after]));

const letters = (length: number) => fc.stringMatching(new RegExp(`^[A-Za-z0-9]{${length}}$`));

/** A key or a signing secret of the project's own form. */
export const keys = fc
  .tuple(fc.constantFrom("sk_test_", "whsec_", "sk_test_session_"), letters(16))
  .map(([prefix, rest]) => prefix + rest);

const withChecksum = (country: string, rest: string) => {
  const digits = [...`${rest}${country}00`].map((character) => Number.parseInt(character, 36)).join("");
  return `${country}${String(98n - (BigInt(digits) % 97n)).padStart(2, "0")}${rest}`;
};
const inGroups = (iban: string) => iban.replace(/(.{4})(?=.)/g, "$1 ");

/** A valid IBAN, with or without a space after every four characters. */
export const ibans = fc
  .tuple(
    fc.constantFrom(["DE", 18], ["PT", 21], ["FR", 23], ["NO", 11]) as fc.Arbitrary<[string, number]>,
    fc.bigInt(0n, 10n ** 24n),
    fc.boolean(),
  )
  .map(([[country, length], number, grouped]) => {
    const iban = withChecksum(country, String(number).padStart(length, "7").slice(0, length));
    return grouped ? inGroups(iban) : iban;
  });

/** Every letter and digit as a JSON escape. */
export const jsonEscaped = (text: string) =>
  text.replaceAll(/[a-zA-Z0-9_]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** Every character percent-encoded. */
export const percentEncoded = (text: string) =>
  [...Buffer.from(text.replaceAll(/[^\x20-\x7e]/g, ""))]
    .map((byte) => `%${byte.toString(16).padStart(2, "0")}`)
    .join("");
