// Text of any Unicode characters, for property tests.

import fc from "fast-check";

/** Surrogates are no characters of their own. */
const range = (min: number, max: number) =>
  fc.integer({ min, max }).map((code) => String.fromCodePoint(code >= 0xd800 && code <= 0xdfff ? 0xfffd : code));
const character = fc.oneof(range(0, 0x7f), range(0x80, 0xffff), range(0x1_0000, 0x10_ffff));

/** Equivalent to `fc.string({ unit: "binary" })`, which first lists every code point and takes seconds for it. */
export const anyText = (constraints: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> =>
  fc.string({ unit: character, ...constraints });
