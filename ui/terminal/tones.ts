// Colours of text: asks the terminal for its background and colours, and chooses those with enough contrast.

export const HUES = ["red", "green", "yellow", "blue", "magenta", "cyan"] as const;
export type Hue = (typeof HUES)[number];

/** For each hue, the parameters of the escape sequence that colours text. */
export type Tones = Readonly<Partial<Record<Hue, string>>>;

/** Colours such as `ff8800`, by name, as the terminal has reported them. */
export type ReportedColours = Readonly<Partial<Record<Hue | "background", string>>>;

/** The least contrast of readable text, by WCAG 2. */
const MIN_CONTRAST = 4.5;

/** For each hue, colours of the 256 whose values terminals agree on: darker ones for light backgrounds, lighter ones for dark backgrounds. */
const FIXED_COLOURS: Record<Hue, readonly number[]> = {
  red: [124, 88, 203, 210],
  green: [28, 22, 114, 120],
  yellow: [94, 58, 179, 222],
  blue: [25, 18, 75, 111],
  magenta: [127, 90, 176, 219],
  cyan: [30, 23, 80, 123],
};

/** Asks for the background, and for the colours 1 to 6 of the palette. A terminal that does not know the questions ignores them. */
export const COLOUR_QUERY = ["11;?", ...HUES.map((_, index) => `4;${index + 1};?`)].map((question) => `\x1b]${question}\x1b\\`).join("");

/** `11;rgb:ffff/ffff/ffff` or `4;1;rgb:cd/00/00`; some terminals add a fourth part, for transparency. */
const REPORT = /^(?:(11)|4;([1-6]));rgba?:([\da-f]{2,4})\/([\da-f]{2,4})\/([\da-f]{2,4})/i;

/** The colours after one more report of the terminal. */
export function withReport(colours: ReportedColours, report: string): ReportedColours {
  const [, background, index, ...parts] = REPORT.exec(report) ?? [];
  const name = background ? "background" : HUES[Number(index) - 1];
  if (name === undefined) return colours;
  return { ...colours, [name]: parts.map((part) => part.slice(0, 2)).join("") };
}

/** A tone for each hue: the palette's own colour if it is readable on the background, otherwise a fixed one. None until the background is known. */
export function tonesOn({ background, ...palette }: ReportedColours): Tones {
  if (background === undefined) return {};
  const isReadable = (colour: string | undefined) => colour !== undefined && contrast(colour, background) >= MIN_CONTRAST;
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
