// Replaces the package string-width in the page. The package compiles a pattern of all emoji, which takes a third of
// the start of the page's script, and a browser gives each character its own width anyway.

import { once } from "../../src/kernel/once.ts";

const WIDE =
  /\p{Emoji_Presentation}|\p{RI}\p{RI}|[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303e\uff01-\uff60]/u;
const letters = once(() => new Intl.Segmenter());

/** The cells of a text whose control characters are escaped. */
// biome-ignore lint/style/noDefaultExport: the package has a default export.
export default function stringWidth(text: string): number {
  let cells = 0;
  for (const { segment } of letters().segment(text)) cells += WIDE.test(segment) ? 2 : 1;
  return cells;
}
