// The columns of a row: their headings, widths and styles, and a row drawn to an exact width.

import { cut, cutMiddle, fitTo, sanitize } from "../text/cells.ts";
import { styled, type TextStyle, type Theme } from "../text/style.ts";

/** The ids of rows are shown from this width on. */
export const IDS_FROM = 84;

export interface Column {
  text: string;
  /** Shown above the column if the pane is high enough. Default: none. */
  heading?: string;
  /** In terminal cells. Default: an equal share of the remaining width. */
  width?: number;
  align?: "right";
  /** Where text that is too long is cut. Default: at the end. */
  truncate?: "middle";
  styles?: readonly TextStyle[];
  /** The column is left out of rows narrower than this. */
  hideBelow?: number;
}

/** The width of a column that cuts none of these texts, such as long numbers. */
export const widest = (least: number, texts: readonly string[]) =>
  Math.max(least, ...texts.map(({ length }) => length));

export const headingOf = ({ heading = "", ...column }: Column): Column => ({
  ...column,
  text: heading,
  truncate: undefined,
  styles: ["dim"],
});

/**
 * The columns that a row of this width shows, each with its number of cells. Those without a width share what is left.
 */
export function shownColumns(columns: readonly Column[], width: number): (Column & { cells: number })[] {
  const shown = columns.filter(({ hideBelow = 0 }) => width >= hideBelow);
  const fixed = shown.reduce((sum, column) => sum + (column.width ?? 0), 0) + Math.max(0, shown.length - 1);
  const flexible = shown.filter((column) => column.width === undefined);
  const left = Math.max(0, width - fixed);
  const share = Math.floor(left / Math.max(1, flexible.length));
  // The first flexible column takes the remainder of the division.
  const first = left - share * Math.max(0, flexible.length - 1);
  return shown.map((column) => ({ ...column, cells: column.width ?? (column === flexible[0] ? first : share) }));
}

/** A row of exactly `width` cells, its columns separated by a space. */
export function formatRow(columns: readonly Column[], width: number, theme: Theme): string {
  const shown = shownColumns(columns, width);
  const texts = shown.map(({ text, cells, align, truncate, styles = [] }) =>
    styled(theme, fitTo(sanitize(text), cells, align, truncate === "middle" ? cutMiddle : cut), ...styles),
  );
  const used = shown.reduce((sum, { cells }) => sum + cells + 1, -1);
  return texts.join(" ") + " ".repeat(Math.max(0, width - used));
}
