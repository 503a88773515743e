// A box with a border and a title, drawn to an exact size. Panes and overlays use it.

import { cut, widthOf } from "../terminal/cells.ts";
import { styled, symbols, type Theme } from "../terminal/style.ts";

export interface BoxContent {
  title: string;
  /** At the right end of the title line. */
  note: string;
  lines: readonly string[];
  width: number;
  height: number;
  /** A focused box has a bold border and a cursor before its title. */
  focused: boolean;
}

/** Exactly `height` lines of `width` cells; each content line must be `width - 2` cells wide. */
export function borderedBox(theme: Theme, { title, note, lines, width, height, focused }: BoxContent): string[] {
  const { horizontal, vertical, topLeft, topRight, bottomLeft, bottomRight, cursor } = symbols(theme);
  const inner = width - 2;
  const right = note === "" ? "" : ` ${cut(note, Math.max(0, inner - 12))} `;
  const left = cut(` ${focused ? `${cursor} ` : ""}${title} `, Math.max(0, inner - widthOf(right) - 2));
  const rule = horizontal.repeat(Math.max(0, inner - widthOf(left) - widthOf(right) - 2));
  const border = (text: string) => styled(theme, text, focused ? "bold" : "dim");
  const top = border(topLeft + horizontal) + styled(theme, left, "bold") + border(rule) + right + border(horizontal + topRight);
  const side = border(vertical);
  const body = Array.from({ length: height - 2 }, (_, row) => side + (lines[row] ?? " ".repeat(inner)) + side);
  return [top, ...body, border(bottomLeft + horizontal.repeat(inner) + bottomRight)];
}
