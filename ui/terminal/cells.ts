// Text measured in terminal cells: made harmless, cut and filled to an exact width.

import stringWidth from "string-width";
import { visible } from "../../src/kernel/visible.ts";

const graphemes = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const PLAIN = /^[\x20-\x7e]*$/;

export const widthOf = (text: string) => (PLAIN.test(text) ? text.length : stringWidth(text));

/** Text of others on one line: control characters and direction marks are shown, never obeyed. */
export const harmless = (text: string) => (PLAIN.test(text) ? text : visible(text.normalize("NFC")));

/** At most so many cells; what is cut off shows as an ellipsis. */
export function cut(text: string, width: number, ellipsis = "…"): string {
  if (widthOf(text) <= width) return text;
  if (width <= 0) return "";
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

/** Exactly so many cells. */
export function fill(text: string, width: number, align: "left" | "right" = "left"): string {
  const shown = cut(text, width);
  const space = " ".repeat(Math.max(0, width - widthOf(shown)));
  return align === "left" ? shown + space : space + shown;
}

/** A line that may be tinted, filled up to so many cells; one that is wider is left as it is. */
export const padded = (line: string, width: number) => line + " ".repeat(Math.max(0, width - stringWidth(line)));

/** Breaks one line of text into lines of at most so many cells. */
export function wrap(text: string, width: number): string[] {
  if (widthOf(text) <= width) return [text];
  const lines: string[] = [];
  let line = "";
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
    const cells = stringWidth(segment);
    if (used + cells > width && line !== "") {
      lines.push(line);
      line = "";
      used = 0;
    }
    line += segment;
    used += cells;
  }
  return [...lines, line];
}
