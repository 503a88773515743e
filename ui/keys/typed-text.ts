// The text that a key enters in a text input. A paste is one key, `paste` with its text.

const PASTE_KEY = "paste ";
/** Longer than any text that an input needs; the rest is dropped. */
export const MAX_PASTE = 10_000;

/** The key for pasted text: line breaks and tabs become spaces, other controls are dropped. */
export const pasteKey = (text: string) =>
  PASTE_KEY +
  text
    .slice(0, MAX_PASTE)
    .replace(/\s+/g, " ")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it finds control characters.
    .replace(/[\x00-\x1f\x7f-\x9f]/g, "")
    .trim();

export const isPaste = (key: string) => key.startsWith(PASTE_KEY);

/** Undefined for a key such as `up`. */
export function textOf(key: string): string | undefined {
  if (key === "space") return " ";
  if (isPaste(key)) return key.slice(PASTE_KEY.length);
  return [...key].length === 1 ? key : undefined;
}
