// Text measured in terminal cells: sanitized, cut, fitted and wrapped to an exact width.

import stringWidth from "string-width";
import { once } from "../../src/kernel/once.ts";
import { escapeControlCharacters } from "../../src/kernel/text.ts";
import { stripStyles } from "./style.ts";

/** Created on first use, which takes some milliseconds. */
const graphemes = once(() => new Intl.Segmenter(undefined, { granularity: "grapheme" }));
/**
 * Matches characters of one cell each: ASCII and the dashboard's own symbols. A frame of these does not need
 * string-width, whose emoji patterns are slow to compile.
 */
const PLAIN = /^[\x20-\x7e·…─│▁-█░✓✗›]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: styles begin with an escape character.
const ASCII = /^[\x00-\x7f]*$/;

export function widthOf(text: string): number {
  const shown = stripStyles(text);
  return PLAIN.test(shown) ? shown.length : stringWidth(text);
}

/** Characters shown as escapes: surrogate halves, line separators, private-use, unassigned and invisible characters. */
const UNPRINTABLE = /[\p{Cs}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Default_Ignorable_Code_Point}]/gu;
/** Variation selectors are removed, because terminals disagree on the width of a character with one. */
const VARIATION_SELECTORS = /[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}]/gu;

/** Characters that combine with the next one, which may be part of the dashboard. */
const JOINS_NEXT =
  /[\u0d4e\u{111c2}\u{111c3}\u{113d1}\u{1193f}\u{11941}\u{11a3a}\u{11a84}-\u{11a89}\u{11d46}\u{11f02}]/gu;
/** Combining characters at the start of a text or after a space, where they could combine with the dashboard's own. */
const JOINS_BEFORE = /(?<=^|\s)[\p{M}\p{Grapheme_Extend}\p{Emoji_Modifier}\u0e33\u0eb3]/gu;

const escaped = (character: string) => `\\u${(character.codePointAt(0) ?? 0).toString(16)}`;

/**
 * Makes untrusted text safe to print on one line: escapes control characters, and characters that would affect other
 * cells.
 */
export function sanitize(text: string): string {
  if (PLAIN.test(text)) return text;
  const shown = escapeControlCharacters(text.normalize("NFC").replace(VARIATION_SELECTORS, ""));
  return shown.replace(UNPRINTABLE, escaped).replace(JOINS_NEXT, escaped).replace(JOINS_BEFORE, escaped);
}

export const sanitizeLines = (text: string): string => text.split("\n").map(sanitize).join("\n");

const ELLIPSIS = "…";

export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  if (width <= 0) return "";
  if (PLAIN.test(text)) return text.slice(0, width - 1) + ELLIPSIS;
  return prefixWithin(piecesOf(text), width - 1).join("") + ELLIPSIS;
}

/** Cuts text in the middle: a third of the width shows its start, the rest its end. */
export function cutMiddle(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  const head = Math.floor((width - 1) / 3);
  if (head < 2) return cut(text, width);
  if (PLAIN.test(text)) return text.slice(0, head) + ELLIPSIS + text.slice(text.length - (width - 1 - head));
  const pieces = piecesOf(text);
  const first = prefixWithin(pieces, head);
  const last = prefixWithin(pieces.reverse(), width - 1 - widthOf(first.join("")));
  return first.join("") + ELLIPSIS + last.reverse().join("");
}

const piecesOf = (text: string): string[] => Array.from(graphemes().segment(text), ({ segment }) => segment);

/** The cells of one piece. Most are ASCII, which needs no pattern of wide characters. */
const cellsOf = (piece: string) => (PLAIN.test(piece) ? piece.length : stringWidth(piece));

function prefixWithin(pieces: readonly string[], width: number): string[] {
  let used = 0;
  const end = pieces.findIndex((piece) => {
    used += cellsOf(piece);
    return used > width;
  });
  return pieces.slice(0, end === -1 ? pieces.length : end);
}

/** Cuts or pads text to exactly `width` cells. */
export function fitTo(text: string, width: number, align: "left" | "right" = "left", shorten = cut): string {
  const shown = shorten(text, width);
  const space = " ".repeat(Math.max(0, width - widthOf(shown)));
  return align === "left" ? shown + space : space + shown;
}

/** Replaces other characters than ASCII, for a terminal without UTF-8. The width stays the same. */
export function toAscii(line: string): string {
  if (ASCII.test(line)) return line;
  const asciiOf = (piece: string) => {
    if (ASCII.test(piece)) return piece;
    return piece === "…" ? "~" : "?".repeat(stringWidth(piece));
  };
  return piecesOf(line).map(asciiOf).join("");
}

export function wrap(text: string, width: number): string[] {
  if (widthOf(text) <= width) return [text];
  const lines: string[] = [];
  if (PLAIN.test(text)) {
    for (let start = 0; start < text.length; start += width) lines.push(text.slice(start, start + width));
    return lines;
  }
  let line = "";
  let used = 0;
  // A grapheme that is wider than a whole line is split into its characters.
  for (const piece of piecesOf(text).flatMap((letter) => (cellsOf(letter) > width ? [...letter] : [letter]))) {
    const cells = cellsOf(piece);
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

/** Fills lines with words separated by spaces. A word that is wider than a line is wrapped at any character. */
export function fillLines(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf(last) + 1 + widthOf(word) <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.flatMap((line) => wrap(line, width));
}
