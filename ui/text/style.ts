// Text styles, in colours that are readable on the terminal's background. Colour is never the only signal.

export const HUES = ["red", "green", "yellow", "blue", "magenta", "cyan"] as const;
export type Hue = (typeof HUES)[number];

/** The codes that turn each style on and off. */
export const STYLE_CODES = {
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

/**
 * `failure` is bold, and also red if red is readable. `failureBand` adds a red background to that. Without colours,
 * marks and words still show the failure.
 */
export type TextStyle = keyof typeof STYLE_CODES | "failure" | "failureBand";

export interface Theme {
  colours: boolean;
  unicode: boolean;
  /** The colours with enough contrast for text. Default: none, because the background is unknown. */
  tones?: Tones;
}

const COLOURLESS: ReadonlySet<TextStyle> = new Set(["bold", "dim", "inverse"]);
const COLOURED: ReadonlySet<TextStyle> = new Set(HUES);
/** Text with words needs a readable colour; bars and marks are visible in any colour. */
const WORD = /[\p{L}\p{N}]/u;

/** Applies styles; without colours, only bold, dim and inverse. */
export function styled(theme: Theme, text: string, ...styles: readonly TextStyle[]): string {
  let result = text;
  for (const style of styles) {
    if (style === "failure" || style === "failureBand") {
      result = failureText(theme, result, style === "failureBand");
      continue;
    }
    if (!theme.colours && !COLOURLESS.has(style)) continue;
    const [on, off] = STYLE_CODES[style];
    const code = COLOURED.has(style) ? (theme.tones?.[style as Hue] ?? (WORD.test(text) ? undefined : on)) : on;
    if (code !== undefined) result = `\x1b[${code}m${result}\x1b[${off}m`;
  }
  return result;
}

/** A mark is red on any background; words are red only where red is known to be readable. */
function failureText(theme: Theme, text: string, isBand: boolean): string {
  if (isBand && theme.colours && theme.tones?.red) return styled(theme, text, "red", "bold", "inverse");
  const { bad } = symbols(theme);
  const mark = text.startsWith(bad) ? bad : "";
  return (mark && styled(theme, mark, "red", "bold")) + styled(theme, text.slice(mark.length), "red", "bold");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: styles begin with an escape character.
const STYLES = /\x1b\[[\d;]+m/g;

export const stripStyles = (text: string) => text.replace(STYLES, "");

/** Each symbol, and its form in a terminal without UTF-8. */
const SYMBOLS = {
  cursor: ["▸", ">"],
  link: ["›", "*"],
  caret: ["▏", "_"],
  replayed: ["↻", "r"],
  good: ["✓", "+"],
  bad: ["✗", "x"],
  unsure: ["~", "~"],
  skipped: ["-", "-"],
  full: ["█", "#"],
  empty: ["░", "."],
  /** From lowest to highest. */
  levels: ["▁▂▃▄▅▆▇█", "_.-=+*%#"],
  horizontal: ["─", "-"],
  vertical: ["│", "|"],
  topLeft: ["┌", "+"],
  topRight: ["┐", "+"],
  bottomLeft: ["└", "+"],
  bottomRight: ["┘", "+"],
} as const;

const formsAt = (index: 0 | 1) =>
  Object.fromEntries(Object.entries(SYMBOLS).map(([name, forms]) => [name, forms[index]])) as Record<
    keyof typeof SYMBOLS,
    string
  >;
const [UNICODE, ASCII] = [formsAt(0), formsAt(1)];

export const symbols = (theme: Theme) => (theme.unicode ? UNICODE : ASCII);

/** The colours of the Linux console, which does not respond to queries. */
const CONSOLE = { background: "000000", green: "00aa00", cyan: "00aaaa" };

export function detectTheme(environment: NodeJS.ProcessEnv, flags: { color?: boolean } = {}): Theme {
  const { NO_COLOR, TERM, LC_ALL, LC_CTYPE, LANG } = environment;
  const locale = LC_ALL || LC_CTYPE || LANG || "";
  return {
    colours: (flags.color ?? true) && (NO_COLOR ?? "") === "" && TERM !== "dumb",
    // The font of the Linux console lacks most of the symbols.
    ...(TERM === "linux" && { tones: tonesOn(CONSOLE) }),
    unicode:
      TERM !== "linux" && (process.platform === "win32" || process.platform === "darwin" || /utf-?8/i.test(locale)),
  };
}

/** For each hue, the parameters of the escape sequence that colours text. */
export type Tones = Readonly<Partial<Record<Hue, string>>>;

/** Colours such as `ff8800`, by name, as the terminal has reported them. */
export type ReportedColours = Readonly<Partial<Record<Hue | "background", string>>>;

/** The least contrast of readable text, by WCAG 2. */
const MIN_CONTRAST = 4.5;

/**
 * Numbers in the 256-colour palette, which has the same values in every terminal: for each hue, darker colours for
 * light backgrounds and lighter ones for dark backgrounds.
 */
const FIXED_COLOURS: Record<Hue, readonly number[]> = {
  red: [124, 88, 203, 210],
  green: [28, 22, 114, 120],
  yellow: [94, 58, 179, 222],
  blue: [25, 18, 75, 111],
  magenta: [127, 90, 176, 219],
  cyan: [30, 23, 80, 123],
};

/**
 * Queries the background and the colours 1 to 6 of the palette. A terminal that does not know these queries ignores
 * them.
 */
export const COLOUR_QUERY = ["11;?", ...HUES.map((_, index) => `4;${index + 1};?`)]
  .map((question) => `\x1b]${question}\x1b\\`)
  .join("");

/** Matches `11;rgb:ffff/ffff/ffff` or `4;1;rgb:cd/00/00`. Some terminals add a fourth part, for transparency. */
const REPORT = /^(?:(11)|4;([1-6]));rgba?:([\da-f]{2,4})\/([\da-f]{2,4})\/([\da-f]{2,4})/i;

/** Adds the colour in one report of the terminal. */
export function withReport(colours: ReportedColours, report: string): ReportedColours {
  const [, background, index, ...parts] = REPORT.exec(report) ?? [];
  const name = background ? "background" : HUES[Number(index) - 1];
  if (name === undefined) return colours;
  return { ...colours, [name]: parts.map((part) => part.slice(0, 2)).join("") };
}

/**
 * A tone for each hue: the palette's own colour if it is readable on the background, otherwise a fixed one. None until
 * the background is known.
 */
export function tonesOn({ background, ...palette }: ReportedColours): Tones {
  if (background === undefined) return {};
  const isReadable = (colour: string | undefined) =>
    colour !== undefined && contrast(colour, background) >= MIN_CONTRAST;
  const tones = HUES.flatMap((hue, index): [Hue, string][] => {
    if (isReadable(palette[hue])) return [[hue, String(31 + index)]];
    const fixed = FIXED_COLOURS[hue].find((number) => isReadable(fixedColour(number)));
    return fixed === undefined ? [] : [[hue, `38;5;${fixed}`]];
  });
  return Object.fromEntries(tones);
}

const LEVELS = ["00", "5f", "87", "af", "d7", "ff"];

/** One of the colours 16 to 231, a cube of six levels of red, green and blue. */
export const fixedColour = (number: number): string =>
  [36, 6, 1].map((step) => LEVELS[Math.floor((number - 16) / step) % 6] ?? "").join("");

/** The contrast ratio of WCAG 2, from 1 to 21, of two colours such as `ff8800`. */
export function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
