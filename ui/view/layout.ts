// The layout for a screen size: which panes are visible, where, and how many rows each shows.

import { BOARD_PANE, LESSON_PANE } from "../state/learning.ts";
import { listOf, type Size, type UiState } from "../state/state.ts";

export interface BoxSize {
  /** Both include the border. */
  width: number;
  height: number;
}

export interface PanePlacement extends BoxSize {
  pane: string;
}

interface Placements {
  /** Stacked. */
  left: readonly PanePlacement[];
  /** Stacked, to the right of those. */
  right: readonly PanePlacement[];
  /** Across the whole width. */
  below: PanePlacement | undefined;
}

export interface Layout extends Placements {
  shape: "small" | "tabs" | "wide";
  overlay: BoxSize;
}

export const MINIMUM_SIZE: Size = { columns: 60, rows: 15 };
/** From here on, several panes are visible at once. */
const WIDE_COLUMNS = 110;
/** Status, notice and keys. */
const BAR_LINES = 3;
const BORDER_LINES = 2;
const LOWER_SHARE = 0.36;
/** The panes above; every other pane takes the place below when it has the focus. */
const UPPER_PANES: readonly string[] = ["requests", "limits", "faults"];

/** The focused pane is always visible; a narrow screen shows it alone. */
export function layoutOf(state: UiState): Layout {
  const { columns, rows } = state.size;
  const isSmall = columns < MINIMUM_SIZE.columns || rows < MINIMUM_SIZE.rows;
  const isWide = columns >= WIDE_COLUMNS;
  const tabLines = isWide ? 0 : 1;
  const area = { width: columns, height: rows - BAR_LINES - tabLines };
  if (isSmall) return { shape: "small", left: [], right: [], below: undefined, overlay: area };
  if (isWide) return { shape: "wide", overlay: area, ...placePanes(state, area) };
  return { shape: "tabs", left: [{ pane: state.pane, ...area }], right: [], below: undefined, overlay: area };
}

function placePanes(state: UiState, area: BoxSize): Placements {
  if (state.learning?.kind === "learner") return placeBesideLesson(state, area);
  const isWorkshop = state.learning?.kind === "workshop";
  const { width, height } = area;
  const lower = Math.max(5, Math.floor(height * (isWorkshop ? 0.6 : LOWER_SHARE)));
  const lowerPane = isWorkshop ? BOARD_PANE : "deliveries";
  const upper = height - lower;
  const side = Math.max(46, Math.floor(width * 0.38));
  // As high as its rows need, and at most half.
  const limits = Math.min(Math.floor(upper / 2), Math.max(4, listOf(state, "limits").rows.length + BORDER_LINES));
  return {
    left: [{ pane: "requests", width: width - side, height: upper }],
    right: [
      { pane: "limits", width: side, height: limits },
      { pane: "faults", width: side, height: upper - limits },
    ],
    below: { pane: UPPER_PANES.includes(state.pane) ? lowerPane : state.pane, width, height: lower },
  };
}

/** The lesson takes the whole height of the right side. */
function placeBesideLesson({ pane }: UiState, { width, height }: BoxSize): Placements {
  const side = Math.max(56, Math.floor(width / 2));
  const lower = Math.max(5, Math.floor(height * LOWER_SHARE));
  return {
    left: [
      { pane: "requests", width: width - side, height: height - lower },
      { pane: pane === "requests" || pane === LESSON_PANE ? "deliveries" : pane, width: width - side, height: lower },
    ],
    right: [{ pane: LESSON_PANE, width: side, height }],
    below: undefined,
  };
}

export const visibleRowCount = (state: UiState, pane: string): number => Math.max(1, placementOf(state, pane).height - BORDER_LINES);

/** The position and size of a pane; the size is 0 if the pane is not visible. */
export function placementOf(state: UiState, pane: string): PanePlacement {
  const { left, right, below } = layoutOf(state);
  return [...left, ...right, below].find((placement) => placement?.pane === pane) ?? { pane, width: 0, height: 0 };
}
