// Parses terminal input into key names such as `j`, `up` and `ctrl-d`. One chunk may hold several keys, or part of one.
// Pasted text is one key: `paste` followed by the text. No binding has this key; only text inputs accept it. A report
// of the terminal is one key too: `report` and its text.

import { StringDecoder } from "node:string_decoder";
import { MAX_PASTE, pasteKey } from "../panes/overlays/field.ts";

/** The characters after the escape. In application mode, terminals send O in place of the bracket. */
const SEQUENCE_KEYS: Record<string, string> = {
  "[A": "up",
  "[B": "down",
  "[C": "right",
  "[D": "left",
  "[H": "home",
  "[F": "end",
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
// biome-ignore lint/suspicious/noControlCharactersInRegex: sequences begin with an escape character.
const KEY = /\x1b(?:\[\[?[0-?]*[ -/]*[@-~]|O[A-Z]|\]\d[ -~]*(?:\x07|\x1b\\))|[\s\S]/gu;

/** An incomplete sequence at the end of a chunk. A lone escape is a key. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: sequences begin with an escape character.
const INCOMPLETE = /\x1b(?:\[\[?[0-?]*[ -/]*|O|\](?:\d[ -~]{0,99}\x1b?)?)$/;

/** C1 controls and broken characters, which no key sends. */
const NO_KEY = /[\x80-\x9f\ufffd]|\p{Cs}/u;

const REPORT_KEY = "report ";
// biome-ignore lint/suspicious/noControlCharactersInRegex: sequences begin with an escape character.
const REPORT_ENDS = /^\x1b\]|\x07$|\x1b\\$/g;

/** The text of a report, such as `11;rgb:0000/0000/0000`; undefined for any other key. */
export const reportOf = (key: string): string | undefined =>
  key.startsWith(REPORT_KEY) ? key.slice(REPORT_KEY.length) : undefined;

/** Unknown sequences are ignored. */
export function readKeys(text: string): string[] {
  return (text.match(KEY) ?? []).flatMap((found) => {
    if (found.startsWith("\x1b]")) return REPORT_KEY + found.replace(REPORT_ENDS, "");
    if (found.length > 1 && found.startsWith("\x1b")) return SEQUENCE_KEYS[found.slice(1).replace(/^O/, "[")] ?? [];
    const named = CONTROL_KEYS[found];
    if (named) return named;
    const code = found.codePointAt(0) ?? 0;
    if (code < 32) return `ctrl-${String.fromCharCode(code + 64).toLowerCase()}`;
    return NO_KEY.test(found) ? [] : found;
  });
}

/** The sequences in which the terminal encloses pasted text (bracketed paste). */
const PASTE_BEGIN = "\x1b[200~";
const PASTE_END = "\x1b[201~";

/** Reads chunks of input, wherever the terminal split them. */
export function createKeyReader(): (chunk: Buffer) => string[] {
  const decoder = new StringDecoder("utf8");
  let incomplete = "";
  let pasted: string | undefined;
  const read = (text: string): string[] => {
    if (pasted === undefined) {
      const begin = text.indexOf(PASTE_BEGIN);
      if (begin !== -1) {
        pasted = "";
        return [...readKeys(text.slice(0, begin)), ...read(text.slice(begin + PASTE_BEGIN.length))];
      }
      incomplete = INCOMPLETE.exec(text)?.[0] ?? "";
      return readKeys(text.slice(0, text.length - incomplete.length));
    }
    const end = text.indexOf(PASTE_END);
    // The end may be split between two chunks.
    incomplete = end === -1 ? text.slice(-PASTE_END.length + 1) : "";
    const content = pasted + (end === -1 ? text.slice(0, text.length - incomplete.length) : text.slice(0, end));
    pasted = end === -1 ? content.slice(0, MAX_PASTE) : undefined;
    return end === -1 ? [] : [pasteKey(content), ...read(text.slice(end + PASTE_END.length))];
  };
  return (chunk) => {
    const text = incomplete + decoder.write(chunk);
    incomplete = "";
    return read(text);
  };
}
