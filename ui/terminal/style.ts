// How text looks: sixteen colours that follow the user's theme, or none. What a colour says is always said in words or signs too.

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  inverse: [7, 27],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  blue: [34, 39],
  magenta: [35, 39],
  cyan: [36, 39],
} as const;

export type Tone = keyof typeof CODES;

/** What the terminal can show. */
export interface Look {
  colours: boolean;
  unicode: boolean;
}

const NEEDS_NO_COLOUR: ReadonlySet<Tone> = new Set(["bold", "dim", "inverse"]);

/** Text in some tones; without colours only what is not one is left. */
export function tint(look: Look, text: string, ...tones: readonly Tone[]): string {
  let tinted = text;
  for (const tone of tones) {
    const [on, off] = CODES[tone];
    if (look.colours || NEEDS_NO_COLOUR.has(tone)) tinted = `\x1b[${on}m${tinted}\x1b[${off}m`;
  }
  return tinted;
}

const UNICODE = {
  cursor: "▸",
  caret: "▏",
  ellipsis: "…",
  replayed: "↻",
  good: "✓",
  bad: "✗",
  unsure: "~",
  skipped: "-",
  full: "█",
  empty: "░",
  horizontal: "─",
  vertical: "│",
  topLeft: "┌",
  topRight: "┐",
  bottomLeft: "└",
  bottomRight: "┘",
} as const;

const ASCII: Record<keyof typeof UNICODE, string> = {
  cursor: ">",
  caret: "_",
  ellipsis: "~",
  replayed: "r",
  good: "+",
  bad: "x",
  unsure: "~",
  skipped: "-",
  full: "#",
  empty: ".",
  horizontal: "-",
  vertical: "|",
  topLeft: "+",
  topRight: "+",
  bottomLeft: "+",
  bottomRight: "+",
};

export const signs = (look: Look): Record<keyof typeof UNICODE, string> => (look.unicode ? UNICODE : ASCII);

/** What the environment says of the terminal. */
export function lookOf(environment: NodeJS.ProcessEnv, flags: { color?: boolean } = {}): Look {
  const { NO_COLOR, TERM, LC_ALL, LC_CTYPE, LANG } = environment;
  const locale = LC_ALL || LC_CTYPE || LANG || "";
  return {
    colours: (flags.color ?? true) && (NO_COLOR ?? "") === "" && TERM !== "dumb",
    unicode: process.platform === "win32" || process.platform === "darwin" || /utf-?8/i.test(locale),
  };
}
