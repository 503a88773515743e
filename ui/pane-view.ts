// A pane as it is seen: its title with what became of following and filtering, its rows, the cursor, or what to do when it is empty; or its text.

import { plain } from "./details/detail-lines.ts";
import { frame } from "./frame.ts";
import type { Place } from "./layout.ts";
import { panesOf } from "./panes/index.ts";
import type { Pane } from "./panes/pane.ts";
import { freshOf, type List, MOST_ROWS, shownRows, viewOf } from "./state/list.ts";
import { listOf, overlayOf, type State } from "./state/state.ts";
import { fill, harmless, padded } from "./terminal/cells.ts";
import { signs, tint } from "./terminal/style.ts";

export function paneLines(state: State, pane: Pane, { width, height }: Place): string[] {
  const list = listOf(state, pane.name);
  const focused = state.pane === pane.name && !overlayOf(state);
  const room = { width: width - 2, height: height - 2, focused };
  const read = pane.reads && textLines(state, pane, pane.reads(state, width - 4), room);
  return frame(state.look, {
    title: `${panesOf(state).indexOf(pane) + 1} ${pane.title}`,
    mark: read?.mark ?? markOf(state, pane, list),
    lines: read?.lines ?? rowLines(state, pane, list, room),
    width,
    height,
    focused,
  });
}

interface Room {
  width: number;
  height: number;
  focused: boolean;
}

/** As much of a text as there is room for, and which part of it that is. */
function textLines(state: State, pane: Pane, text: readonly string[], { width, height }: Room): { lines: string[]; mark: string } {
  const top = Math.max(0, Math.min(state.scrolls[pane.name] ?? 0, text.length - height));
  const seen = text.slice(top, top + height);
  const part = text.length > height ? `${top + 1}-${top + seen.length} of ${text.length}` : "";
  return { lines: seen.map((line) => ` ${padded(line, width - 2)} `), mark: [pane.mark(state), part].filter(Boolean).join("  ") };
}

function rowLines(state: State, pane: Pane, list: List, { width, height, focused }: Room): string[] {
  const { rows, chosen, gone } = viewOf(list, height);
  if (rows.length === 0) return emptyLines(state, pane, list, width);
  return rows.map((row, index) => {
    const isChosen = index === chosen && (focused || !list.follows);
    const sign = isChosen ? signs(state.look).cursor : " ";
    const text = pane.line(row, state, width - 3);
    const line = ` ${sign}${isChosen && gone ? tint(state.look, text, "dim") : text} `;
    return isChosen && focused ? tint(state.look, line, "inverse") : line;
  });
}

function emptyLines(state: State, pane: Pane, list: List, width: number): string[] {
  const isFiltered = list.rows.length > 0;
  const words = isFiltered ? [`Nothing fits ${list.filter}. Esc drops the filter.`] : pane.empty(state);
  return ["", ...words.flatMap((line) => plain(line, width - 4))].map((line) => `  ${fill(line, width - 4)}  `);
}

/** What is to be known of a list beyond its rows. */
function markOf(state: State, pane: Pane, list: List): string {
  const shown = shownRows(list).length;
  const own = pane.mark(state);
  const filter = list.filter === "" ? "" : `/${harmless(list.filter)}  ${count(shown)} of ${count(list.total)}`;
  const dropped =
    list.filter === "" && list.total > list.rows.length
      ? `last ${count(Math.min(MOST_ROWS, list.rows.length))} of ${count(list.total)}`
      : "";
  return [own, filter, dropped, standing(pane, list)].filter((part) => part !== "").join("  ");
}

function standing({ follows }: Pane, list: List): string {
  const fresh = freshOf(list);
  const news = fresh > 0 ? ` +${count(fresh)} new` : "";
  if (list.frozen) return `FROZEN${news}`;
  if (!follows) return "";
  return list.follows ? "following" : `PAUSED${news}`;
}

const count = (value: number) => value.toLocaleString("en");
