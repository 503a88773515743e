// The content of the boxes on the screen: panes with their rows, their text or a hint while they are empty; the
// overlay; the preview.

import type { LiveItem } from "../../src/contracts/live-messages.ts";
import { madeOf } from "../panes/apply-message.ts";
import { type Column, columnWidths, formatRow, headingOf } from "../panes/columns.ts";
import { paragraph } from "../panes/details/detail-lines.ts";
import { paneNamed, visiblePanes } from "../panes/index.ts";
import { digitOf } from "../panes/keys/key-bindings.ts";
import { commandLines } from "../panes/lesson.ts";
import { isDetail, textOf } from "../panes/overlays/detail.ts";
import type { Pane } from "../panes/pane.ts";
import { type BoxSize, headingLines, type PanePlacement, PREVIEW, textSize } from "../state/layout.ts";
import { filteredRows, type List, unseenCount, visibleRows } from "../state/list.ts";
import { isUnsearched } from "../state/log-search.ts";
import { listOf, type UiState } from "../state/state.ts";
import { topOverlay } from "../state/updates.ts";
import { cut, sanitize } from "../text/cells.ts";
import { count, joinNotes } from "../text/format.ts";
import { stripStyles, styled, symbols, type Theme } from "../text/style.ts";

export interface BoxContent {
  title: string;
  /** Shown at the right end of the title line. */
  note: string;
  lines: readonly string[];
  isFocused: boolean;
  /** Whether no border is drawn beside the lines, so that a selection with the mouse contains only the text. */
  isBare?: boolean | undefined;
}

const indented = (lines: readonly string[]) => lines.map((line) => ` ${line}`);

/**
 * The content of a pane or of the preview. Catches errors, so that rows of another version or program do not crash the
 * dashboard.
 */
export function paneContent(state: UiState, { pane: name, ...size }: PanePlacement): BoxContent {
  try {
    return name === PREVIEW ? previewContent(state, textSize(size)) : contentOf(state, paneNamed(name), size);
  } catch (error) {
    const lines = [cut(`${name} cannot be shown: ${sanitize(String(error))}`, textSize(size).width)];
    return { title: name, note: "", lines: indented(lines), isFocused: false };
  }
}

function contentOf(state: UiState, pane: Pane, size: BoxSize): BoxContent {
  const list = listOf(state, pane.name);
  const isFocused = state.pane === pane.name && !topOverlay(state);
  const title = `${digitOf(visiblePanes(state).indexOf(pane))} ${pane.title}`.trim();
  const text =
    pane.textLines &&
    scrolled(
      pane.textLines(state, textSize(size).width),
      state.scrolls[pane.name] ?? (pane.followsEnd ? Infinity : 0),
      textSize(size).height,
    );
  if (text) return { title, note: joinNotes(pane.titleNote(state), text.part), lines: indented(text.lines), isFocused };
  const lines = rowLines(state, pane, list, { width: size.width - 2, height: size.height - 2 }, isFocused);
  return { title, note: listNote(state, pane, list), lines, isFocused };
}

/** The visible part of a text, and its position, such as `1-20 of 50`. */
function scrolled(text: readonly string[], scroll = 0, height: number): { lines: readonly string[]; part: string } {
  const top = Math.max(0, Math.min(scroll, text.length - height));
  const lines = text.slice(top, top + height);
  return { lines, part: text.length > height ? `${top + 1}-${top + lines.length} of ${text.length}` : "" };
}

export function overlayContent(state: UiState, size: BoxSize): BoxContent {
  const { width, height } = textSize(size);
  const overlay = topOverlay(state);
  if (!overlay) return { title: "", note: "", lines: [], isFocused: true };
  const { title, isBare } = overlay;
  const { lines, part } = scrolled(overlay.lines(state, width), overlay.scroll, height);
  return {
    title,
    note: joinNotes(overlay.note?.(state, width) ?? "", part),
    lines: isBare ? lines : indented(lines),
    isFocused: true,
    isBare,
  };
}

/** The start of the detail of the selected row. Enter opens the whole detail. */
function previewContent(state: UiState, { width, height }: BoxSize): BoxContent {
  const overlay = state.preview?.overlay;
  const lines = overlay && isDetail(overlay) ? overlay.content(state, width, true).map(textOf) : [];
  const note = lines.length > height ? `first ${height} of ${lines.length} lines` : "";
  return { title: overlay?.title ?? "Details", note, lines: indented(lines.slice(0, height)), isFocused: false };
}

function rowLines(state: UiState, pane: Pane, list: List, { width, height }: BoxSize, isFocused: boolean): string[] {
  const headings = headingLines(height);
  const { rows, selected, isGone } = visibleRows(list, height - headings);
  if (rows.length === 0) return emptyLines(state, pane, list, width);
  const room = width - 3;
  const columns = rows.map((row) => (row.gap ? [] : pane.columns(row, state, room)));
  const filled = columns.filter(({ length }) => length > 0);
  const widths = columnWidths(filled, room);
  const drawn = (cells: readonly Column[]) => formatRow(cells, widths, room, state.theme);
  const heading = filled.length === 0 ? "" : `  ${drawn((filled[0] ?? []).map(headingOf))}`;
  const lines = rows.map((row, index) => {
    const isSelected = index === selected && (isFocused || !list.follows);
    const cursor = isSelected ? symbols(state.theme).cursor : " ";
    const text = row.gap ? pane.gapText(row, state, room) : drawn(columns[index] ?? []);
    const line = ` ${cursor}${(isSelected && isGone) || isStale(state) ? styled(state.theme, text, "dim") : text} `;
    // Strips the styles, because inverse colours would give the cells different backgrounds.
    return isSelected && isFocused ? inverted(state.theme, stripStyles(line)) : line;
  });
  return headings > 0 ? [heading, ...lines] : lines;
}

/** Inverts all cells but bars: a full bar would look empty. */
const inverted = (theme: Theme, line: string): string =>
  line
    .split(/([█░]+)/)
    .map((part, index) => (index % 2 === 0 && part !== "" ? styled(theme, part, "inverse") : part))
    .join("");

function emptyLines(state: UiState, pane: Pane, list: List, width: number): string[] {
  const text = emptyText(state, pane, list);
  return [
    "",
    ...text.flatMap((line) =>
      isLiteral(line) ? commandLines(state.theme, line, "", width - 2) : paragraph(state.theme, width - 2, line),
    ),
  ];
}

/** Whether a line is a command or a URL that the user may copy, rather than prose. */
export const isLiteral = (line: string): boolean => /^(curl|npx|http)/.test(line);

/**
 * The text of a pane without rows, once they are read. If the dashboard never reached the sandbox, it says why.
 */
export function emptyText(state: UiState, pane: Pane, list: List): string[] {
  const { connection, run, target } = state;
  if (list.rows.length > 0 && connection.phase === "live" && !list.frozen && isUnsearched(list))
    return [`Searching the log for ${sanitize(list.filter)} …`, "", "Press Esc to clear the filter."];
  if (list.rows.length > 0)
    return [`No row${amongKept(state, pane, list)} matches ${sanitize(list.filter)}. Press Esc to clear the filter.`];
  if (run !== undefined || connection.phase === "live" || connection.phase === "connecting")
    return pane.poll && !list.isRead ? ["Loading …"] : pane.emptyText(state);
  return [
    `No sandbox answers at ${target.url}: ${connection.reason}.`,
    "",
    "Check the address, or start a sandbox there.",
  ];
}

export const isStale = ({ connection, run }: UiState) => connection.phase !== "live" && run !== undefined;

/** How many rows the log has dropped since the last reset. */
function droppedCount({ sandbox }: UiState, { stream }: Pane): number {
  if (!sandbox || !stream) return 0;
  const { requests: request, attempts: attempt, verdicts: verdict } = sandbox.kept;
  const kept: Partial<Record<LiveItem["kind"], number>> = { request, attempt, verdict };
  return Math.max(0, madeOf(sandbox.made, stream.kind) - (kept[stream.kind] ?? 0));
}

/** The number of kept rows, such as ` of the 10,000 kept`, if the log has dropped others. */
function amongKept(state: UiState, pane: Pane, { total }: List): string {
  const dropped = droppedCount(state, pane);
  return dropped === 0 ? "" : ` of the ${count(total - dropped)} kept`;
}

/**
 * The note beside the title: the pane's own note, the filter, the counts, and whether the list follows. A page passes
 * `counts` as `names`, because its input shows the filter.
 */
export function listNote(state: UiState, pane: Pane, list: List, names: "filter" | "counts" = "filter"): string {
  const { filter, total } = list;
  const dropped = droppedCount(state, pane);
  const all = dropped === 0 ? count(total) : `${count(total - dropped)} kept`;
  const name = names === "filter" ? `/${sanitize(filter)}  ` : "";
  const matches = filter === "" ? "" : `${name}${matchCount(list)} of ${all}`;
  const made =
    filter === "" && pane.stream && total > 0
      ? count(total) +
        (pane.counts ? ` ${pane.counts}${total === 1 ? "" : "s"}` : "") +
        (dropped === 0 ? "" : `, ${all}`)
      : "";
  return joinNotes(pane.titleNote(state), matches, made, isStale(state) ? "stale" : "", followNote(pane, list));
}

/** The number of matches: `41`, or `41+` while some rows have not been tested. */
function matchCount(list: List): string {
  const matches = filteredRows(list).filter(({ gap }) => !gap);
  return `${count(matches.length)}${isUnsearched(list) ? "+" : ""}`;
}

function followNote({ follows }: Pane, list: List): string {
  const unseen = unseenCount(list);
  const news = unseen > 0 ? `, ${count(unseen)} new` : "";
  if (list.frozen) return `FROZEN${news}`;
  if (!follows) return "";
  return list.follows ? "following" : `NOT FOLLOWING${news}`;
}
