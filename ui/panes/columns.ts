// The columns of a row: their headings, widths and styles, and a row drawn to an exact width.

import { cut, cutMiddle, fitTo, sanitize } from "../view/cells.ts";
import { styled, type TextStyle, type Theme } from "../view/style.ts";

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

/** The heading of a column, as a column. */
export const headingOf = ({ heading = "", ...column }: Column): Column => ({
  ...column,
  text: heading,
  truncate: undefined,
  styles: ["dim"],
});

export const shownColumns = (columns: readonly Column[], width: number) => columns.filter(({ hideBelow = 0 }) => width >= hideBelow);

/** A row of exactly `width` cells, its columns separated by a space. */
export function formatRow(columns: readonly Column[], width: number, theme: Theme): string {
  const shown = shownColumns(columns, width);
  const fixed = shown.reduce((sum, column) => sum + (column.width ?? 0), 0) + Math.max(0, shown.length - 1);
  const flexible = shown.filter((column) => column.width === undefined).length;
  const left = Math.max(0, width - fixed);
  const share = Math.floor(left / Math.max(1, flexible));
  // The first flexible column takes the remainder of the division.
  let flexibleWidth = left - share * Math.max(0, flexible - 1);
  const cells = shown.map((column) => {
    const space = column.width ?? flexibleWidth;
    if (column.width === undefined) flexibleWidth = share;
    const text = fitTo(sanitize(column.text), space, column.align ?? "left", column.truncate === "middle" ? cutMiddle : cut);
    return styled(theme, text, ...(column.styles ?? []));
  });
  return flexible === 0 ? cells.join(" ") + " ".repeat(left) : cells.join(" ");
}
