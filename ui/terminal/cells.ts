// Text measured in terminal cells: made harmless, cut and filled to an exact width.

import stringWidth from "string-width";
import { escapeControlCharacters } from "../../src/kernel/escape-control.ts";

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const PLAIN = /^[\x20-\x7e]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the tints of a line begin with one.
const ASCII = /^[\x00-\x7f]*$/;

/** So many texts were measured lately; most of them are measured again with the next frame. */
const MOST_MEASURED = 2_000;
const measured = new Map<string, number>();

export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  const known = measured.get(text);
  if (known !== undefined) return known;
  const width = stringWidth(text);
  if (measured.size >= MOST_MEASURED) measured.clear();
  // Long texts are seldom the same twice, and would be kept for nothing.
  if (text.length <= 200) measured.set(text, width);
  return width;
}

/** Half characters, breaks between lines and paragraphs, what no font agrees upon, and what nobody sees: shown by their numbers. */
const ODD = /[\p{Cs}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}]/gu;
/** Whether a sign is a picture or a letter is the terminal's choice: asked to choose, terminals differ in how wide it is. */
const CHOICES = /[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]/gu;

/** What would join the character after it, and so the one that we put there. */
const JOINS_NEXT = /[\u0d4e\u{111c2}\u{111c3}\u{113d1}\u{1193f}\u{11941}\u{11a3a}\u{11a84}-\u{11a89}\u{11d46}\u{11f02}]/gu;
/** What would join the character before it: at the beginning that is one of ours. */
const JOINS_BEFORE = /^[\p{M}\p{Grapheme_Extend}\p{Emoji_Modifier}\u0e33\u0eb3]/u;

const numbered = (odd: string) => `\\u${(odd.codePointAt(0) ?? 0).toString(16)}`;

/** Text of others on one line: control characters and direction marks are shown, never obeyed, and nothing reaches beyond its own cells. */
export function harmless(text: string): string {
  if (PLAIN.test(text)) return text;
  const shown = escapeControlCharacters(text.normalize("NFC").replace(CHOICES, ""));
  return shown.replace(ODD, numbered).replace(JOINS_NEXT, numbered).replace(JOINS_BEFORE, numbered);
}

/** At most so many cells; what is cut off shows as an ellipsis. */
export function cut(text: string, width: number, ellipsis = "…"): string {
  if (widthOf(text) <= width) return text;
  if (width <= 0) return "";
  if (PLAIN.test(text)) return text.slice(0, width - 1) + ellipsis;
  let kept = "";
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
    const cells = stringWidth(segment);
    if (used + cells > width - 1) break;
    kept += segment;
    used += cells;
  }
  return kept + ellipsis;
}

/** At most so many cells; what does not fit is left out of the middle, so that both ends stay, and more of the second. */
export function cutMiddle(text: string, width: number, ellipsis = "…"): string {
  if (widthOf(text) <= width) return text;
  const head = Math.floor((width - 1) / 3);
  if (head < 2) return cut(text, width, ellipsis);
  if (PLAIN.test(text)) return text.slice(0, head) + ellipsis + text.slice(text.length - (width - 1 - head));
  const pieces = Array.from(graphemes.segment(text), ({ segment }) => segment);
  const first = fitting(pieces, head);
  const last = fitting(pieces.reverse(), width - 1 - widthOf(first.join("")));
  return first.join("") + ellipsis + last.reverse().join("");
}

/** The first of some pieces, as many as have room. */
function fitting(pieces: readonly string[], width: number): string[] {
  let used = 0;
  const end = pieces.findIndex((piece) => {
    used += stringWidth(piece);
    return used > width;
  });
  return pieces.slice(0, end === -1 ? pieces.length : end);
}

/** Exactly so many cells. */
export function fill(text: string, width: number, align: "left" | "right" = "left", shorten = cut): string {
  const shown = shorten(text, width);
  const space = " ".repeat(Math.max(0, width - widthOf(shown)));
  return align === "left" ? shown + space : space + shown;
}

/** The same width for a terminal that has ASCII only. */
export function plainLetters(line: string): string {
  if (ASCII.test(line)) return line;
  const letters = Array.from(graphemes.segment(line), ({ segment }) =>
    ASCII.test(segment) ? segment : segment === "…" ? "~" : "?".repeat(stringWidth(segment)),
  );
  return letters.join("");
}

/** A line that may be tinted, filled up to so many cells; one that is wider is left as it is. */
export const padded = (line: string, width: number) => line + " ".repeat(Math.max(0, width - stringWidth(line)));

/** Breaks one line of text into lines of at most so many cells. */
export function wrap(text: string, width: number): string[] {
  if (widthOf(text) <= width) return [text];
  const lines: string[] = [];
  if (PLAIN.test(text)) {
    for (let start = 0; start < text.length; start += width) lines.push(text.slice(start, start + width));
    return lines;
  }
  let line = "";
  let used = 0;
  for (const piece of piecesOf(text, width)) {
    const cells = stringWidth(piece);
    if (used + cells > width && line !== "") {
      lines.push(line);
      line = "";
      used = 0;
    }
    line += piece;
    used += cells;
  }
  return [...lines, line];
}

/** Letters with all that belongs to them; one that is wider than a whole line comes apart. */
const piecesOf = (text: string, width: number): string[] =>
  Array.from(graphemes.segment(text), ({ segment }) => segment).flatMap((letter) => (stringWidth(letter) > width ? [...letter] : [letter]));
