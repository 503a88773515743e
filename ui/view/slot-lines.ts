// The text of each slot, as lines of exactly its size.

import { isDetail } from "../overlays/detail.ts";
import { textOf } from "../overlays/detail-view.ts";
import { paneNamed } from "../panes/index.ts";
import { topOverlay, type UiState } from "../state/state.ts";
import { fitTo, padEnd, sanitize } from "../terminal/cells.ts";
import { keyBar, noticeBar, statusBar, tabBar } from "./bars.ts";
import { borderedBox } from "./bordered-box.ts";
import { type BoxSize, MINIMUM_SIZE } from "./layout.ts";
import { paneLines } from "./pane-view.ts";

const slots: Record<string, (state: UiState, size: BoxSize) => string[]> = {
  status: (state) => [statusBar(state)],
  tabs: (state) => [tabBar(state)],
  notice: (state) => [noticeBar(state)],
  keys: (state) => [keyBar(state)],
  overlay: overlayLines,
  preview: previewLines,
  small: ({ size: { columns, rows } }) => [
    fitTo(`${columns}x${rows} is too small: resize to ${MINIMUM_SIZE.columns}x${MINIMUM_SIZE.rows} or larger, or press q to quit`, columns),
  ],
};

/** The lines of a slot. A name that is not in `slots` is the name of a pane. Rows of another version, or of another program, must not end the dashboard. */
export function slotLines(name: string, state: UiState, size: BoxSize): string[] {
  try {
    return slots[name]?.(state, size) ?? paneLines(state, paneNamed(name), size);
  } catch (error) {
    const lines = [`${name} cannot be shown: ${sanitize(String(error))}`];
    return Array.from({ length: size.height }, (_, index) => fitTo(lines[index] ?? "", size.width));
  }
}

function overlayLines(state: UiState, { width, height }: BoxSize): string[] {
  const overlay = topOverlay(state);
  if (!overlay) return [];
  const lines = overlay.lines(state, width - 4);
  const top = Math.max(0, Math.min(overlay.scroll, lines.length - (height - 2)));
  const shown = lines.slice(top, top + height - 2);
  const part = lines.length > height - 2 ? `${top + 1}-${top + shown.length} of ${lines.length}` : "";
  const note = [overlay.note?.(state, width - 4) ?? "", part].filter(Boolean).join("  ");
  const box = { title: overlay.title, note, width, height, focused: true };
  if (!overlay.isBare) return borderedBox(state.theme, { ...box, lines: shown.map((line) => ` ${padEnd(line, width - 4)} `) });
  const [first = "", ...rest] = borderedBox(state.theme, { ...box, lines: [] });
  // Not padded: a shell continues a line only if nothing follows the backslash.
  return [first, ...Array.from({ length: height - 2 }, (_, row) => shown[row] ?? ""), rest.at(-1) ?? ""];
}

/** The detail of the selected row, from its start: Enter opens it to be scrolled and followed. */
function previewLines(state: UiState, { width, height }: BoxSize): string[] {
  const overlay = state.preview?.overlay;
  const content = overlay && isDetail(overlay) ? overlay.content(state, width - 4, true) : [];
  const lines = content.slice(0, height - 2).map((line) => ` ${padEnd(textOf(line), width - 4)} `);
  const note = content.length > height - 2 ? `first ${height - 2} of ${content.length} lines` : "";
  return borderedBox(state.theme, { title: overlay?.title ?? "Details", note, lines, width, height, focused: false });
}
