// What stands in each slot of the screen, as lines of exactly its size.

import { keyBar, saidLine, statusLine, tabLine } from "./chrome.ts";
import { frame } from "./frame.ts";
import { LEAST } from "./layout.ts";
import { paneLines } from "./pane-view.ts";
import { paneNamed } from "./panes/index.ts";
import { overlayOf, type State } from "./state/state.ts";
import { fill, padded } from "./terminal/cells.ts";

export interface Room {
  width: number;
  height: number;
}

const own: Record<string, (state: State, room: Room) => string[]> = {
  status: (state) => [statusLine(state)],
  tabs: (state) => [tabLine(state)],
  said: (state) => [saidLine(state)],
  keys: (state) => [keyBar(state)],
  overlay: overlayLines,
  small: ({ size: { columns, rows } }) => [
    fill(`${columns}x${rows} is too small; ${LEAST.columns}x${LEAST.rows} is needed. q quits.`, columns),
  ],
};

/** Every other slot is a pane's. */
export const slotLines = (name: string, state: State, room: Room): string[] =>
  own[name]?.(state, room) ?? paneLines(state, paneNamed(name), { pane: name, ...room });

/** What lies over the panes takes their whole room. */
function overlayLines(state: State, { width, height }: Room): string[] {
  const overlay = overlayOf(state);
  if (!overlay) return [];
  const lines = overlay.lines(state, width - 4);
  const top = Math.max(0, Math.min(overlay.scroll, lines.length - (height - 2)));
  const seen = lines.slice(top, top + height - 2).map((line) => ` ${padded(line, width - 4)} `);
  const mark = lines.length > height - 2 ? `${top + 1}-${top + seen.length} of ${lines.length}` : "";
  return frame(state.look, { title: overlay.title, mark, lines: seen, width, height, focused: true });
}
