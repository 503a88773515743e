// Escapes control characters, so that text from outside cannot steer a terminal.

const PRINTABLE_ASCII = /^[\x20-\x7e]*$/;
/** C0, DEL and C1, invisible format characters such as those that change the direction of text, and line separators. */
const CONTROL = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Escapes as JSON does, so that JSON stays the same value. */
export const escapeControlCharacters = (text: string) => (PRINTABLE_ASCII.test(text) ? text : text.replace(CONTROL, escaped));

const escaped = (character: string) => {
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
};
