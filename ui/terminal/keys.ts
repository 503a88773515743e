// What the terminal sends, read as names of keys. Several keys may come in one piece.

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
const KEY = /\x1b(?:\[[0-9;?]*[ -/]*[@-~]|O[A-Z])|[\s\S]/gu;

/** Names such as `j`, `G`, `up`, `enter`, `ctrl-d`; a sequence that is no key of ours is passed over. */
export function readKeys(piece: string): string[] {
  return (piece.match(KEY) ?? []).flatMap((found) => {
    if (found.length > 1 && found.startsWith("\x1b")) return SEQUENCES[found.slice(1)] ?? [];
    const named = CONTROLS[found];
    if (named) return named;
    const code = found.codePointAt(0) ?? 0;
    return code < 32 ? `ctrl-${String.fromCharCode(code + 96)}` : found;
  });
}

/** The text that a key writes where text is asked for; undefined for a key that writes none. */
export function textOf(key: string): string | undefined {
  if (key === "space") return " ";
  return [...key].length === 1 ? key : undefined;
}
