// Where things stand on a screen of a given size: which panes are seen, how large, and how many rows each shows.

import { LESSON } from "./state/learning.ts";
import { listOf, type Size, type State } from "./state/state.ts";

export interface Place {
  pane: string;
  /** With its border. */
  width: number;
  height: number;
}

export interface Layout {
  shape: "small" | "tabs" | "wide";
  /** One above the other. */
  left: readonly Place[];
  /** To the right of those, one above the other too. */
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
const SHARE_BELOW = 0.36;
/** What has its place above; every other pane shares the one below with deliveries, or with the board of a room. */
const ABOVE: readonly string[] = ["requests", "limits", "faults"];

/** The pane with the keys is always seen: where there is room for one only, it is that one. */
export function layoutOf(state: State): Layout {
  const { columns, rows } = state.size;
  const isSmall = columns < LEAST.columns || rows < LEAST.rows;
  const isWide = columns >= WIDE;
  // The tabs take a line of their own.
  const height = rows - FIXED - (isWide ? 0 : 1);
  const room = { width: columns, height };
  if (isSmall) return { shape: "small", left: [], right: [], below: undefined, overlay: room };
  if (isWide) return { shape: "wide", overlay: room, ...placed(state, room) };
  return { shape: "tabs", left: [{ pane: state.pane, ...room }], right: [], below: undefined, overlay: room };
}

interface Room {
  width: number;
  height: number;
}

type Places = Pick<Layout, "left" | "right" | "below">;

function placed(state: State, { width, height }: Room): Places {
  if (state.course?.kind === "own") return besideLesson(state, { width, height });
  const share = state.course?.kind === "room" ? 0.6 : SHARE_BELOW;
  const lower = Math.max(5, Math.floor(height * share));
  const home = state.course?.kind === "room" ? "board" : "deliveries";
  const upper = height - lower;
  const side = Math.max(46, Math.floor(width * 0.38));
  // As high as its rows want, and never more than half.
  const windows = Math.min(Math.floor(upper / 2), Math.max(4, listOf(state, "limits").rows.length + BORDER));
  return {
    left: [{ pane: "requests", width: width - side, height: upper }],
    right: [
      { pane: "limits", width: side, height: windows },
      { pane: "faults", width: side, height: upper - windows },
    ],
    below: { pane: ABOVE.includes(state.pane) ? home : state.pane, width, height: lower },
  };
}

/** What is read has the whole height, beside what comes of it. */
function besideLesson({ pane }: State, { width, height }: Room): Places {
  const side = Math.max(56, Math.floor(width / 2));
  const lower = Math.max(5, Math.floor(height * SHARE_BELOW));
  return {
    left: [
      { pane: "requests", width: width - side, height: height - lower },
      { pane: pane === "requests" || pane === LESSON ? "deliveries" : pane, width: width - side, height: lower },
    ],
    right: [{ pane: LESSON, width: side, height }],
    below: undefined,
  };
}

/** How many rows of a pane are seen. */
export const rowsOf = (state: State, pane: string): number => Math.max(1, placeOf(state, pane).height - BORDER);

/** Where a pane is seen; without a size where it is not. */
export function placeOf(state: State, pane: string): Place {
  const { left, right, below } = layoutOf(state);
  return [...left, ...right, below].find((one) => one?.pane === pane) ?? { pane, width: 0, height: 0 };
}
