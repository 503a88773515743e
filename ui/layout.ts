// Where things stand on a screen of a given size: which panes are seen, how large, and how many rows each shows.

import type { Size } from "./state/state.ts";

export interface Place {
  pane: string;
  /** With its border. */
  width: number;
  height: number;
}

export interface Layout {
  shape: "small" | "tabs" | "wide";
  /** Beside one another above. */
  left: Place | undefined;
  /** One above the other, to the right of the first. */
  right: readonly Place[];
  below: Place | undefined;
  /** What an overlay may take. */
  overlay: { width: number; height: number };
}

export const LEAST: Size = { columns: 60, rows: 15 };
const WIDE = 110;
/** The lines that are always there: status, what is said last, keys. */
const FIXED = 3;

/** `focus` is the pane with the keys: where there is room for one only, it is that one. */
export function layoutOf({ columns, rows }: Size, focus: string): Layout {
  const height = rows - FIXED;
  const overlay = { width: columns, height };
  if (columns < LEAST.columns || rows < LEAST.rows) return { shape: "small", left: undefined, right: [], below: undefined, overlay };
  if (columns < WIDE) {
    // The tabs take a line of their own.
    const left = { pane: focus, width: columns, height: height - 1 };
    return { shape: "tabs", left, right: [], below: undefined, overlay };
  }
  const lower = Math.max(5, Math.floor(height * 0.36));
  const upper = height - lower;
  const side = Math.max(44, Math.floor(columns * 0.38));
  const limits = Math.max(4, Math.floor(upper / 2));
  return {
    shape: "wide",
    left: { pane: "requests", width: columns - side, height: upper },
    right: [
      { pane: "limits", width: side, height: limits },
      { pane: "faults", width: side, height: upper - limits },
    ],
    below: { pane: focus === "verdicts" ? "verdicts" : "deliveries", width: columns, height: lower },
    overlay,
  };
}

/** How many rows of a pane are seen. */
export function rowsOf(size: Size, pane: string): number {
  const { left, right, below } = layoutOf(size, pane);
  const place = [left, ...right, below].find((one) => one?.pane === pane);
  return Math.max(1, (place?.height ?? 3) - 2);
}
