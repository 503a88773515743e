// Escapes control characters, so that text from outside cannot steer a terminal.

export const escapeControlCharacters = (text: string) =>
  text.replace(/[\p{Cc}\p{Cf}]/gu, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`);
