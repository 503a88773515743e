// The layout for a screen size: which panes are visible, where, and how many rows each shows.

import { LESSON_PANE } from "./learning.ts";
import { listOf, type Size, type UiState } from "./state.ts";

export interface BoxSize {
  /** Width and height include the border. */
  width: number;
  height: number;
}

export interface PanePlacement extends BoxSize {
  pane: string;
}

interface Placements {
  /** From top to bottom; `right` too. */
  left: readonly PanePlacement[];
  right: readonly PanePlacement[];
}

interface Layout extends Placements {
  shape: "small" | "tabs" | "wide";
  overlay: BoxSize;
}

export const MINIMUM_SIZE: Size = { columns: 60, rows: 15 };
/** The least width that shows several panes at once. */
const WIDE_COLUMNS = 110;
/** The bars for status, tabs, notice and keys. */
const BAR_LINES = 4;
const BORDER_LINES = 2;
const LOWER_SHARE = 0.36;
/** The least width that shows the detail of the selected row beside the lists. */
export const PREVIEW_COLUMNS = 160;
const PREVIEW_SHARE = 0.44;
const SIDE_WIDTH = 45;
export const PREVIEW = "preview";
export const TRENDS_PANE = "trends";
/** The rate, the errors, the percentile and their axis. */
const CHART_LINES = 4;
/** A border and one row. */
const MIN_PANE_LINES = 3;

/** The focused pane is always visible; a narrow screen shows it alone. */
export function layoutOf(state: UiState): Layout {
  const { columns, rows } = state.size;
  const isSmall = columns < MINIMUM_SIZE.columns || rows < MINIMUM_SIZE.rows;
  const isWide = columns >= WIDE_COLUMNS;
  const area = { width: columns, height: rows - BAR_LINES };
  if (isSmall) return { shape: "small", left: [], right: [], overlay: area };
  if (isWide && !state.isPage) return { shape: "wide", overlay: area, ...placePanes(state, area) };
  // Only the page can be wide enough for a preview here. The page places its parts itself, and reads only whether there
  // is a preview.
  const right = columns < PREVIEW_COLUMNS ? [] : [{ pane: PREVIEW, ...area }];
  return { shape: "tabs", left: [{ pane: state.pane, ...area }], right, overlay: area };
}

function placePanes(state: UiState, area: BoxSize): Placements {
  if (state.learning) return placeBesideLesson(state, area);
  const { width, height } = area;
  const hasPreview = state.size.columns >= PREVIEW_COLUMNS;
  // Without a preview, the width of the right side is fixed, so a wider screen leaves the lists room for ids.
  const side = hasPreview ? Math.floor(width * PREVIEW_SHARE) : SIDE_WIDTH;
  const preview = hasPreview ? Math.floor(height / 2) : 0;
  const right = stackPanes(state, height - preview).map((placed) => ({ ...placed, width: side }));
  const isElsewhere = state.pane === "requests" || right.some(({ pane }) => pane === state.pane);
  return {
    left: stackBelowRequests(isElsewhere ? "deliveries" : state.pane, width - side, height),
    right: [...(hasPreview ? [{ pane: PREVIEW, width: side, height: preview }] : []), ...right],
  };
}

function stackBelowRequests(pane: string, width: number, height: number): PanePlacement[] {
  const lower = Math.max(5, Math.floor(height * LOWER_SHARE));
  return [
    { pane: "requests", width, height: height - lower },
    { pane, width, height: lower },
  ];
}

/**
 * The panes on the right. If not all fit, trends are left out first, then verdicts. A left-out pane replaces deliveries
 * when it has the focus.
 */
function stackPanes(state: UiState, height: number): Omit<PanePlacement, "width">[] {
  const rowsOf = (pane: string) => listOf(state, pane).rows.length + BORDER_LINES;
  const trends = height >= CHART_LINES + BORDER_LINES + 4 * MIN_PANE_LINES ? CHART_LINES + BORDER_LINES : 0;
  const limits = Math.min(Math.floor((height - trends) / 3), Math.max(4, rowsOf("limits") + 1));
  const rest = height - trends - limits;
  const verdicts = rest >= 2 * MIN_PANE_LINES ? Math.floor(rest / 2) : 0;
  const placed = [
    { pane: "limits", height: limits },
    { pane: "faults", height: rest - verdicts },
    { pane: "verdicts", height: verdicts },
    { pane: TRENDS_PANE, height: trends },
  ];
  return placed.filter((one) => one.height > 0);
}

/** The lesson takes the whole height of the right side. */
function placeBesideLesson({ pane }: UiState, { width, height }: BoxSize): Placements {
  const side = Math.max(56, Math.floor(width / 2));
  return {
    left: stackBelowRequests(pane === "requests" || pane === LESSON_PANE ? "deliveries" : pane, width - side, height),
    right: [{ pane: LESSON_PANE, width: side, height }],
  };
}

/** The size of the text in a box: inside the border, with a blank cell on each side. */
export const textSize = ({ width, height }: BoxSize): BoxSize => ({ width: width - 4, height: height - BORDER_LINES });

/** The least number of lines inside the border of a list that shows headings above its rows. */
const HEADING_FROM_LINES = 5;

/** The lines for the headings of a list with this height inside its border: 1, or 0 if rows need the line. */
export const headingLines = (height: number): number => (height >= HEADING_FROM_LINES ? 1 : 0);

export function visibleRowCount(state: UiState, pane: string): number {
  const inner = placementOf(state, pane).height - BORDER_LINES;
  return Math.max(1, inner - headingLines(inner));
}

/** The size of a pane; 0 if the pane is not visible. */
export function placementOf(state: UiState, pane: string): PanePlacement {
  const { left, right } = layoutOf(state);
  return [...left, ...right].find((placement) => placement.pane === pane) ?? { pane, width: 0, height: 0 };
}
