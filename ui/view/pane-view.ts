// Draws a pane: its title with filter and follow state, and its rows, its text, or a hint while it is empty.

import { wrapped } from "../details/detail-lines.ts";
import { visiblePanes } from "../panes/index.ts";
import type { Pane } from "../panes/pane.ts";
import { filteredRows, unseenCount, visibleRows } from "../state/list.ts";
import type { List } from "../state/rows.ts";
import { listOf, topOverlay, type UiState } from "../state/state.ts";
import { fitTo, padEnd, sanitize } from "../terminal/cells.ts";
import { stripStyles, styled, symbols } from "../terminal/style.ts";
import { borderedBox } from "./bordered-box.ts";
import { count } from "./format.ts";
import { type BoxSize, headingLines } from "./layout.ts";

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
  const headings = headingLines(height);
  const { rows, selected, isGone } = visibleRows(list, height - headings);
  if (rows.length === 0) return emptyLines(state, pane, list, width);
  const example = rows.find(({ gap }) => !gap);
  const heading = `  ${example ? pane.headingText(example, state, width - 3) : " ".repeat(width - 3)} `;
  const lines = rows.map((row, index) => {
    const isSelected = index === selected && (focused || !list.follows);
    const cursor = isSelected ? symbols(state.theme).cursor : " ";
    const text = pane.rowText(row, state, width - 3);
    const line = ` ${cursor}${(isSelected && isGone) || isStale(state) ? styled(state.theme, text, "dim") : text} `;
    // In one tone: inverse colours would give each cell another background.
    return isSelected && focused ? styled(state.theme, stripStyles(line), "inverse") : line;
  });
  return headings > 0 ? [heading, ...lines] : lines;
}

function emptyLines(state: UiState, pane: Pane, list: List, width: number): string[] {
  const isFiltered = list.rows.length > 0;
  const text = isFiltered
    ? [`No row${amongKept(state, pane, list)} matches ${list.filter}. Press Esc to clear the filter.`]
    : emptyText(state, pane);
  return ["", ...text.flatMap((line) => wrapped(line, width - 4))].map((line) => `  ${fitTo(line, width - 4)}  `);
}

/** A dashboard that never reached the sandbox says why, instead of how to make the first row. */
export function emptyText(state: UiState, pane: Pane): string[] {
  const { connection, run, target } = state;
  if (run !== undefined || connection.phase === "live" || connection.phase === "connecting") return pane.emptyText(state);
  return [`No sandbox answers at ${target.url}: ${connection.reason}.`, "", "Check the address, or start a sandbox there."];
}

export const isStale = ({ connection, run }: UiState) => connection.phase !== "live" && run !== undefined;

/** How many rows the log has dropped since the last reset. */
function droppedCount({ sandbox }: UiState, { stream }: Pane): number {
  if (!sandbox) return 0;
  const { made, kept } = sandbox;
  if (stream?.kind === "request") return Math.max(0, made.requests - kept.requests);
  return stream?.kind === "attempt" ? Math.max(0, made.attempts - kept.attempts) : 0;
}

/** ` of the 10,000 kept`, if the log has dropped others. */
function amongKept(state: UiState, pane: Pane, { total }: List): string {
  const dropped = droppedCount(state, pane);
  return dropped === 0 ? "" : ` of the ${count(total - dropped)} kept`;
}

/** The note in the title after the pane's own: the filter, the counts, and whether the list follows. A page shows the filter in its input instead. */
export function listNote(state: UiState, pane: Pane, list: List, names: "filter" | "counts" = "filter"): string {
  const { filter, total } = list;
  const dropped = droppedCount(state, pane);
  const all = dropped === 0 ? count(total) : `${count(total)}, ${count(total - dropped)} kept`;
  const name = names === "filter" ? `/${sanitize(filter)}  ` : "";
  const matches = filter === "" ? "" : `${name}${matchCount(list)} of ${all}`;
  const made = filter === "" && pane.stream && total > 0 ? all : "";
  return joinNotes(pane.titleNote(state), matches, made, isStale(state) ? "stale" : "", followNote(pane, list));
}

/** `41`, or `41+` while rows have not been looked at. */
function matchCount(list: List): string {
  const rows = filteredRows(list);
  const gaps = rows.filter(({ gap }) => gap).length;
  return `${count(rows.length - gaps)}${gaps > 0 ? "+" : ""}`;
}

const joinNotes = (...notes: string[]) => notes.filter((note) => note !== "").join("  ");

function followNote({ follows }: Pane, list: List): string {
  const unseen = unseenCount(list);
  const news = unseen > 0 ? ` +${count(unseen)} new` : "";
  if (list.frozen) return `FROZEN${news}`;
  if (!follows) return "";
  return list.follows ? "following" : `PAUSED${news}`;
}
