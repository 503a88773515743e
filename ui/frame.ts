// A frame with a title around lines, drawn to an exact size: panes and what lies over them look alike.

import { cut, widthOf } from "./terminal/cells.ts";
import { type Look, signs, tint } from "./terminal/style.ts";

export interface Framed {
  title: string;
  /** To the right of the title. */
  mark: string;
  lines: readonly string[];
  width: number;
  height: number;
  /** Whether it has the keys. */
  focused: boolean;
}

/** Exactly `height` lines of `width` cells; each of `lines` is as wide as the frame leaves room for. */
export function frame(look: Look, { title, mark, lines, width, height, focused }: Framed): string[] {
  const { horizontal, vertical, topLeft, topRight, bottomLeft, bottomRight } = signs(look);
  const inner = width - 2;
  const right = mark === "" ? "" : ` ${cut(mark, Math.max(0, inner - 12))} `;
  const left = cut(` ${focused ? `${signs(look).cursor} ` : ""}${title} `, Math.max(0, inner - widthOf(right) - 2));
  const rule = horizontal.repeat(Math.max(0, inner - widthOf(left) - widthOf(right) - 2));
  const edge = (text: string) => tint(look, text, ...(focused ? (["bold"] as const) : (["dim"] as const)));
  const top = edge(topLeft + horizontal) + tint(look, left, "bold") + edge(rule) + right + edge(horizontal + topRight);
  const side = edge(vertical);
  const body = Array.from({ length: height - 2 }, (_, row) => side + (lines[row] ?? " ".repeat(inner)) + side);
  return [top, ...body, edge(bottomLeft + horizontal.repeat(inner) + bottomRight)];
}
