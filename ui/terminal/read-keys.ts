// Parses terminal input into key names such as `j`, `up` and `ctrl-d`. One chunk may hold several keys, or part of one.

import { StringDecoder } from "node:string_decoder";

const SEQUENCE_KEYS: Record<string, string> = {
  "[A": "up",
  "[B": "down",
  "[C": "right",
  "[D": "left",
  OA: "up",
  OB: "down",
  OC: "right",
  OD: "left",
  "[H": "home",
  "[F": "end",
  OH: "home",
  OF: "end",
  "[1~": "home",
  "[4~": "end",
  "[7~": "home",
  "[8~": "end",
  "[3~": "delete",
  "[5~": "pageup",
  "[6~": "pagedown",
  "[Z": "shift-tab",
};

const CONTROL_KEYS: Record<string, string> = {
  "\r": "enter",
  "\n": "enter",
  "\t": "tab",
  "\x7f": "backspace",
  "\b": "backspace",
  "\x1b": "escape",
  " ": "space",
};

/** An escape sequence, or any single character. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one.
const KEY = /\x1b(?:\[\[?[0-?]*[ -/]*[@-~]|O[A-Z])|[\s\S]/gu;

/** An incomplete sequence at the end of a chunk. A lone escape is a key. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above.
const INCOMPLETE = /\x1b(?:\[\[?[0-?]*[ -/]*|O)$/;

/** C1 controls and broken characters: no key sends them. */
const NO_KEY = /[\x80-\x9f\ufffd]|\p{Cs}/u;

/** Unknown sequences are ignored. */
export function readKeys(text: string): string[] {
  return (text.match(KEY) ?? []).flatMap((found) => {
    if (found.length > 1 && found.startsWith("\x1b")) return SEQUENCE_KEYS[found.slice(1)] ?? [];
    const named = CONTROL_KEYS[found];
    if (named) return named;
    const code = found.codePointAt(0) ?? 0;
    if (code < 32) return `ctrl-${String.fromCharCode(code + 64).toLowerCase()}`;
    return NO_KEY.test(found) ? [] : found;
  });
}

/** Reads chunks of input, wherever the terminal split them. */
export function createKeyReader(): (chunk: Buffer) => string[] {
  const decoder = new StringDecoder("utf8");
  let incomplete = "";
  return (chunk) => {
    const text = incomplete + decoder.write(chunk);
    incomplete = INCOMPLETE.exec(text)?.[0] ?? "";
    return readKeys(text.slice(0, text.length - incomplete.length));
  };
}

/** The text that a key enters in a text input; undefined for a key such as `up`. */
export function textOf(key: string): string | undefined {
  if (key === "space") return " ";
  return [...key].length === 1 ? key : undefined;
}
