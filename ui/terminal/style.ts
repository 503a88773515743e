// Text styles: the terminal's own colours where they are readable, so that the user's theme applies, or none. Colour is never the only signal.

import { HUES, type Hue, type Tones, tonesOn } from "./tones.ts";

const STYLE_CODES = {
  bold: [1, 22],
  dim: [2, 22],
  inverse: [7, 27],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
  brightWhite: [97, 39],
  onBlack: [40, 49],
} as const;

/** `failure`: a red mark, then bold bright white on black, the only pair of the 16 colours with a contrast of 4.5 in every common palette. */
export type TextStyle = keyof typeof STYLE_CODES | "failure";

/** The capabilities of the terminal. */
export interface Theme {
  colours: boolean;
  unicode: boolean;
  /** The colours with enough contrast for text. Default: none, because the background is unknown. */
  tones?: Tones;
}

const COLOURLESS: ReadonlySet<TextStyle> = new Set(["bold", "dim", "inverse"]);
const COLOURED: ReadonlySet<TextStyle> = new Set(HUES);
/** Bars and marks are visible in any colour; words have to be readable. */
const WORD = /[\p{L}\p{N}]/u;

/** Without colours, only bold, dim and inverse are applied. */
export function styled(theme: Theme, text: string, ...styles: readonly TextStyle[]): string {
  let result = text;
  for (const style of styles) {
    if (style === "failure") {
      result = failureText(theme, result);
      continue;
    }
    if (!theme.colours && !COLOURLESS.has(style)) continue;
    const [on, off] = STYLE_CODES[style];
    const code = COLOURED.has(style) ? (theme.tones?.[style as Hue] ?? (WORD.test(text) ? undefined : on)) : on;
    if (code !== undefined) result = `\x1b[${code}m${result}\x1b[${off}m`;
  }
  return result;
}

function failureText(theme: Theme, text: string): string {
  const { bad } = symbols(theme);
  const mark = text.startsWith(bad) ? bad : "";
  // The blanks that fill a column keep the background of the screen.
  const [, before = "", words = "", after = ""] = /^( *)(.*?)( *)$/s.exec(text.slice(mark.length)) ?? [];
  return `${mark && styled(theme, mark, "red", "bold")}${before}${styled(theme, words, "onBlack", "brightWhite", "bold")}${after}`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: styles begin with one.
const STYLES = /\x1b\[[\d;]+m/g;

/** The text without its styles. */
export const stripStyles = (text: string) => text.replace(STYLES, "");

const UNICODE = {
  cursor: "▸",
  link: "›",
  caret: "▏",
  ellipsis: "…",
  replayed: "↻",
  good: "✓",
  bad: "✗",
  unsure: "~",
  skipped: "-",
  full: "█",
  empty: "░",
  /** From lowest to highest. */
  levels: "▁▂▃▄▅▆▇█",
  horizontal: "─",
  vertical: "│",
  topLeft: "┌",
  topRight: "┐",
  bottomLeft: "└",
  bottomRight: "┘",
} as const;

const ASCII: Record<keyof typeof UNICODE, string> = {
  cursor: ">",
  link: "*",
  caret: "_",
  ellipsis: "~",
  replayed: "r",
  good: "+",
  bad: "x",
  unsure: "~",
  skipped: "-",
  full: "#",
  empty: ".",
  levels: "_.-=+*%#",
  horizontal: "-",
  vertical: "|",
  topLeft: "+",
  topRight: "+",
  bottomLeft: "+",
  bottomRight: "+",
};

export const symbols = (theme: Theme): Record<keyof typeof UNICODE, string> => (theme.unicode ? UNICODE : ASCII);

/** The Linux console, which answers no questions. */
const CONSOLE = { background: "000000", green: "00aa00", cyan: "00aaaa" };

/** Reads the environment and the `--no-color` flag. */
export function detectTheme(environment: NodeJS.ProcessEnv, flags: { color?: boolean } = {}): Theme {
  const { NO_COLOR, TERM, LC_ALL, LC_CTYPE, LANG } = environment;
  const locale = LC_ALL || LC_CTYPE || LANG || "";
  return {
    colours: (flags.color ?? true) && (NO_COLOR ?? "") === "" && TERM !== "dumb",
    // The font of the Linux console lacks most of the symbols.
    ...(TERM === "linux" && { tones: tonesOn(CONSOLE) }),
    unicode: TERM !== "linux" && (process.platform === "win32" || process.platform === "darwin" || /utf-?8/i.test(locale)),
  };
}
