// What the terminal sends, read as names of keys. Several keys may come in one piece.

import { StringDecoder } from "node:string_decoder";

const SEQUENCES: Record<string, string> = {
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

const CONTROLS: Record<string, string> = {
  "\r": "enter",
  "\n": "enter",
  "\t": "tab",
  "\x7f": "backspace",
  "\b": "backspace",
  "\x1b": "escape",
  " ": "space",
};

/** An escape, and what follows it when it is the beginning of a longer sequence. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's keys begin with one.
const KEY = /\x1b(?:\[\[?[0-?]*[ -/]*[@-~]|O[A-Z])|[\s\S]/gu;

/** The beginning of a sequence, at the end of a piece: its rest is on the way. An escape alone is a key. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: as above.
const BEGUN = /\x1b(?:\[\[?[0-?]*[ -/]*|O)$/;

/** Controls of the other half of the code, and characters of which a half is missing: nobody has a key for them. */
const NO_KEY = /[\x80-\x9f\ufffd]|\p{Cs}/u;

/** Names such as `j`, `G`, `up`, `enter`, `ctrl-d`; a sequence that is no key of ours is passed over. */
export function readKeys(text: string): string[] {
  return (text.match(KEY) ?? []).flatMap((found) => {
    if (found.length > 1 && found.startsWith("\x1b")) return SEQUENCES[found.slice(1)] ?? [];
    const named = CONTROLS[found];
    if (named) return named;
    const code = found.codePointAt(0) ?? 0;
    if (code < 32) return `ctrl-${String.fromCharCode(code + 64).toLowerCase()}`;
    return NO_KEY.test(found) ? [] : found;
  });
}

/** Reads the pieces that a terminal sends, wherever they were cut. */
export function createKeyReader(): (piece: Buffer) => string[] {
  const letters = new StringDecoder("utf8");
  let begun = "";
  return (piece) => {
    const text = begun + letters.write(piece);
    begun = BEGUN.exec(text)?.[0] ?? "";
    return readKeys(text.slice(0, text.length - begun.length));
  };
}

/** The text that a key writes where text is asked for; undefined for a key that writes none. */
export function textOf(key: string): string | undefined {
  if (key === "space") return " ";
  return [...key].length === 1 ? key : undefined;
}
