// The columns of rows: their headings and styles, and the widths that fit what the visible rows hold.

import { cut, cutMiddle, fitTo, sanitize, widthOf } from "../text/cells.ts";
import { styled, type TextStyle, type Theme } from "../text/style.ts";

export interface Column {
  text: string;
  /** Shown above the column if the pane is high enough. Default: none. */
  heading?: string;
  /** The least width in cells, so that new rows do not change the column's width. Default: the width of its texts. */
  width?: number;
  /** If not all columns fit, those with the highest rank are left out first. Default: 0. */
  rank?: number;
  /** The cells that this column gets before columns of a higher rank get any. Default: the width of its widest text. */
  claim?: number;
  /** The column takes the remaining width. */
  grows?: true;
  align?: "right";
  /** Where text that is too long is cut; the middle is for ids, which differ at their ends. Default: at the end. */
  truncate?: "middle";
  styles?: readonly TextStyle[];
}

export const headingOf = ({ heading = "", ...column }: Column): Column => ({
  ...column,
  text: heading,
  truncate: undefined,
  styles: ["dim"],
});

/**
 * The width of each column of these rows, in cells; 0 for a column that is left out or empty. In the order of their
 * ranks, columns first get the width that they claim. Then they get what their widest text still needs.
 */
export function columnWidths(rows: readonly (readonly Column[])[], width: number): number[] {
  const [first = []] = rows;
  const needed = first.map(({ width: least = 0, heading = "" }, index) => {
    const texts = rows.map((row) => widthOf(sanitize(row[index]?.text ?? "")));
    const widest = Math.max(least, ...texts);
    return widest === 0 ? 0 : Math.max(widest, heading.length);
  });
  const widths = first.map(() => 0);
  const byRank = first.map((_, index) => index).sort((one, other) => rankOf(first[one]) - rankOf(first[other]));
  let left = width + 1;
  const give = (index: number, cells: number) => {
    const present = widths[index] ?? 0;
    left -= present === 0 ? cells + 1 : cells;
    widths[index] = present + cells;
  };
  for (const index of byRank) {
    const { claim = width, rank = 0, grows } = first[index] ?? {};
    const wanted = Math.min(needed[index] ?? 0, claim);
    const fits = wanted < left || rank === 0 || (grows && left > LEAST_CUT);
    if (wanted > 0 && left > 1 && fits) give(index, Math.min(wanted, left - 1));
  }
  for (const index of byRank) {
    const present = widths[index] ?? 0;
    if (present > 0) give(index, Math.max(0, Math.min(left, (needed[index] ?? 0) - present)));
  }
  const growing = first.findLastIndex(({ grows }, index) => grows && (widths[index] ?? 0) > 0);
  if (growing !== -1) give(growing, Math.max(0, left));
  return widths;
}

/** The least width to which a growing column is cut. With less room, the column is left out. */
const LEAST_CUT = 10;

const rankOf = (column: Column | undefined) => column?.rank ?? 0;

/** A row of exactly `width` cells, its columns separated by a space. */
export function formatRow(columns: readonly Column[], widths: readonly number[], width: number, theme: Theme): string {
  const texts = columns.flatMap(({ text, align, truncate, styles = [] }, index) => {
    const cells = widths[index] ?? 0;
    const shorten = truncate === "middle" ? cutMiddle : cut;
    return cells === 0 ? [] : [styled(theme, fitTo(sanitize(text), cells, align, shorten), ...styles)];
  });
  const used = widths.reduce((sum, cells) => sum + (cells === 0 ? 0 : cells + 1), -1);
  return texts.join(" ") + " ".repeat(Math.max(0, width - used));
}

/** The lines of a table: the headings, then the rows. */
export function formatTable(rows: readonly (readonly Column[])[], width: number, theme: Theme): string[] {
  const widths = columnWidths(rows, width);
  const headings = rows.slice(0, 1).map((row) => row.map(headingOf));
  return [...headings, ...rows].map((row) => formatRow(row, widths, width, theme));
}
