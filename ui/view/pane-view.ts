// Draws a pane: its title with filter and follow state, and its rows, its text, or a hint while it is empty.

import { wrapped } from "../details/detail-lines.ts";
import { visiblePanes } from "../panes/index.ts";
import type { Pane } from "../panes/pane.ts";
import { filteredRows, type List, unseenCount, visibleRows } from "../state/list.ts";
import { listOf, topOverlay, type UiState } from "../state/state.ts";
import { fitTo, padEnd, sanitize } from "../terminal/cells.ts";
import { styled, symbols } from "../terminal/style.ts";
import { borderedBox } from "./bordered-box.ts";
import { count } from "./format.ts";
import type { BoxSize } from "./layout.ts";

export function paneLines(state: UiState, pane: Pane, { width, height }: BoxSize): string[] {
  const list = listOf(state, pane.name);
  const focused = state.pane === pane.name && !topOverlay(state);
  const inner = { width: width - 2, height: height - 2 };
  const text = pane.textLines && textView(state, pane, pane.textLines(state, width - 4), inner);
  return borderedBox(state.theme, {
    title: `${visiblePanes(state).indexOf(pane) + 1} ${pane.title}`,
    note: text?.note ?? listNote(state, pane, list),
    lines: text?.lines ?? rowLines(state, pane, list, inner, focused),
    width,
    height,
    focused,
  });
}

/** The visible part of a text, and a note that says which part it is. */
function textView(state: UiState, pane: Pane, text: readonly string[], { width, height }: BoxSize): { lines: string[]; note: string } {
  const top = Math.max(0, Math.min(state.scrolls[pane.name] ?? 0, text.length - height));
  const visible = text.slice(top, top + height);
  const part = text.length > height ? `${top + 1}-${top + visible.length} of ${text.length}` : "";
  return { lines: visible.map((line) => ` ${padEnd(line, width - 2)} `), note: joinNotes(pane.titleNote(state), part) };
}

function rowLines(state: UiState, pane: Pane, list: List, { width, height }: BoxSize, focused: boolean): string[] {
  const { rows, selected, isGone } = visibleRows(list, height);
  if (rows.length === 0) return emptyLines(state, pane, list, width);
  return rows.map((row, index) => {
    const isSelected = index === selected && (focused || !list.follows);
    const cursor = isSelected ? symbols(state.theme).cursor : " ";
    const text = pane.rowText(row, state, width - 3);
    const line = ` ${cursor}${isSelected && isGone ? styled(state.theme, text, "dim") : text} `;
    return isSelected && focused ? styled(state.theme, line, "inverse") : line;
  });
}

function emptyLines(state: UiState, pane: Pane, list: List, width: number): string[] {
  const isFiltered = list.rows.length > 0;
  const text = isFiltered ? [`No row matches ${list.filter}. Press Esc to clear the filter.`] : pane.emptyText(state);
  return ["", ...text.flatMap((line) => wrapped(line, width - 4))].map((line) => `  ${fitTo(line, width - 4)}  `);
}

/** The note in the title after the pane's own: the filter, dropped rows, and whether the list follows. */
function listNote(state: UiState, pane: Pane, list: List): string {
  const { filter, rows, total } = list;
  const matches = filter === "" ? "" : `/${sanitize(filter)}  ${count(filteredRows(list).length)} of ${count(total)}`;
  const dropped = filter === "" && total > rows.length ? `last ${count(rows.length)} of ${count(total)}` : "";
  return joinNotes(pane.titleNote(state), matches, dropped, followNote(pane, list));
}

const joinNotes = (...notes: string[]) => notes.filter((note) => note !== "").join("  ");

function followNote({ follows }: Pane, list: List): string {
  const unseen = unseenCount(list);
  const news = unseen > 0 ? ` +${count(unseen)} new` : "";
  if (list.frozen) return `FROZEN${news}`;
  if (!follows) return "";
  return list.follows ? "following" : `PAUSED${news}`;
}
