// Where things stand on a screen of a given size: which panes are seen, how large, and how many rows each shows.

import { listOf, type Size, type State } from "./state/state.ts";

export interface Place {
  pane: string;
  /** With its border. */
  width: number;
  height: number;
}

export interface Layout {
  shape: "small" | "tabs" | "wide";
  left: Place | undefined;
  /** One above the other, to the right of the first. */
  right: readonly Place[];
  below: Place | undefined;
  /** What lies over the panes may take. */
  overlay: { width: number; height: number };
}

export const LEAST: Size = { columns: 60, rows: 15 };
const WIDE = 110;
/** The lines that are always there: status, what is said last, keys. */
const FIXED = 3;
const BORDER = 2;
/** What has its place above; every other pane shares the one below with deliveries. */
const ABOVE: readonly string[] = ["requests", "limits", "faults"];

/** The pane with the keys is always seen: where there is room for one only, it is that one. */
export function layoutOf(state: State): Layout {
  const { columns, rows } = state.size;
  const isSmall = columns < LEAST.columns || rows < LEAST.rows;
  const isWide = columns >= WIDE;
  // The tabs take a line of their own.
  const height = rows - FIXED - (isWide ? 0 : 1);
  const room = { width: columns, height };
  if (isSmall) return { shape: "small", left: undefined, right: [], below: undefined, overlay: room };
  if (isWide) return { shape: "wide", overlay: room, ...placed(state, room) };
  return { shape: "tabs", left: { pane: state.pane, ...room }, right: [], below: undefined, overlay: room };
}

function placed(state: State, { width, height }: { width: number; height: number }): Pick<Layout, "left" | "right" | "below"> {
  const lower = Math.max(5, Math.floor(height * 0.36));
  const upper = height - lower;
  const side = Math.max(48, Math.floor(width * 0.42));
  // As high as its rows want, and never more than half.
  const windows = Math.min(Math.floor(upper / 2), Math.max(4, listOf(state, "limits").rows.length + BORDER));
  return {
    left: { pane: "requests", width: width - side, height: upper },
    right: [
      { pane: "limits", width: side, height: windows },
      { pane: "faults", width: side, height: upper - windows },
    ],
    below: { pane: ABOVE.includes(state.pane) ? "deliveries" : state.pane, width, height: lower },
  };
}

/** How many rows of a pane are seen. */
export function rowsOf(state: State, pane: string): number {
  const { left, right, below } = layoutOf(state);
  const place = [left, ...right, below].find((one) => one?.pane === pane);
  return Math.max(1, (place?.height ?? 0) - BORDER);
}
