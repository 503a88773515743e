// A list of rows with a cursor: follows new rows until the cursor moves, then stays pinned to the selected row.

import { readRowFilter } from "../../src/contracts/row-filter.ts";
import { gapRow, type LogPage, mayHide, mergePage, TOP_GAP, withTopGap } from "./gaps.ts";
import type { List, NumberedRow, Row } from "./rows.ts";

/** Older rows are dropped; the logs of the sandbox keep as many. */
export const MAX_ROWS = 10_000;

export const emptyList = (follows: boolean): List => ({
  rows: [],
  frozen: undefined,
  total: 0,
  newest: undefined,
  loading: undefined,
  cursor: undefined,
  chosen: undefined,
  top: undefined,
  follows,
  followsLater: false,
  pausedAt: 0,
  filter: "",
});

/** Adds rows from the stream, each after a gap if there are others before it. `clean` is a filter that none of those matches. */
export function append(list: List, added: readonly NumberedRow[], total: number, clean?: string): List {
  if (added.length === 0 && total === list.total) return list;
  let { newest } = list;
  const rows = [...withoutOlderVersions(list.rows, added)];
  for (const { row, nth } of added) {
    const missing = newest === undefined ? 0 : nth - newest - 1;
    if (missing > 0) rows.push(gapRow(`gap:${nth}`, { missing, clean }));
    rows.push(row);
    newest = nth;
  }
  return selectFirst(leaveGap(withTopGap({ ...list, rows: rows.slice(-MAX_ROWS), total, newest })));
}

/** The stream sends a verdict again when it was amended. */
function withoutOlderVersions(rows: readonly Row[], added: readonly NumberedRow[]): readonly Row[] {
  const last = rows.findLast(({ gap }) => !gap)?.order;
  const isAgain = last !== undefined && added.some(({ row }) => (row.order ?? Infinity) <= last);
  if (!isAgain) return rows;
  const ids = new Set(added.map(({ row }) => row.id));
  return rows.filter(({ id }) => !ids.has(id));
}

/** Adds a page of the log. */
export const addPage = (list: List, page: LogPage): List =>
  selectFirst(leaveGap({ ...mergePage(list, page), loading: undefined }, page.before));

/** A cursor on a gap that has been closed moves to the row that is there now: to the first one from the gap at the top. */
function leaveGap(list: List, before?: Row): List {
  const { cursor, rows, frozen } = list;
  if (!cursor?.gap || frozen) return list;
  const place = cursor.id === TOP_GAP ? 0 : Math.max(0, indexOf(rows, before?.id) - 1);
  const next = rows.find(({ id }) => id === cursor.id) ?? rows[place];
  return { ...list, cursor: next, chosen: next };
}

/** The gap that is being loaded could not be. */
export const failPage = (list: List, error: string): List => ({
  ...list,
  loading: undefined,
  rows: list.rows.map((row) => (row.gap && row.id === list.loading?.gap ? gapRow(row.id, { ...row.gap, error }) : row)),
});

/** Replaces all rows of a polled list. Unless the pane is focused, a cursor that the user has not placed is dropped. */
export function replace(list: List, rows: readonly Row[], isFocused = true): List {
  const cursor = isFocused || list.chosen || list.frozen ? list.cursor : undefined;
  return refreshCursor({ ...list, rows, total: rows.length, pausedAt: rows.length, cursor });
}

/** Removes rows. `total` is the number of those that remain, listed or not. A cursor on a removed row moves to the next one above. */
export function removeRows(list: List, isRemoved: (row: Row) => boolean, total: number): List {
  const { cursor, frozen, rows } = list;
  const remaining = (some: readonly Row[]) => some.filter((row) => !isRemoved(row));
  const seen = total - remaining(rows.slice(Math.max(0, rows.length - unseenCount(list)))).length;
  const above = remaining(rows.slice(0, Math.max(0, indexOf(rows, cursor?.id)))).findLast(({ gap }) => !gap);
  return selectFirst(
    withTopGap({
      ...list,
      ...(cursor && isRemoved(cursor) && { cursor: above, chosen: above }),
      rows: remaining(rows),
      frozen: frozen && { rows: remaining(frozen.rows), total: seen },
      pausedAt: seen,
      total,
      // The page that is on its way may have removed rows.
      loading: undefined,
    }),
  );
}

/** Updates the selected row to its newest version. A removed row stays selected as it was; a frozen list keeps its rows. */
function refreshCursor(list: List): List {
  if (list.follows || list.frozen) return list;
  const { cursor } = list;
  const newest = cursor && list.rows.find(({ id }) => id === cursor.id);
  return selectFirst({ ...list, cursor: newest ?? cursor });
}

/** A pinned list without a cursor selects its first row. */
const selectFirst = (list: List): List =>
  list.follows || list.cursor ? list : { ...list, cursor: filteredRows(list).find(({ gap }) => !gap) };

/** How many rows arrived since the list was paused or frozen. */
export function unseenCount({ follows, pausedAt, frozen, total }: List): number {
  return total - Math.min(follows ? total : pausedAt, frozen?.total ?? total);
}

const lastMatches = new WeakMap<readonly Row[], { filter: string; rows: readonly Row[] }>();

export function filteredRows(list: List): readonly Row[] {
  const rows = list.frozen?.rows ?? list.rows;
  const { filter } = list;
  if (filter.trim() === "") return rows;
  const cached = lastMatches.get(rows);
  if (cached?.filter === filter) return cached.rows;
  const test = rowTest(filter);
  const matches = rows.filter((row) => (row.gap ? mayHide(row.gap, filter) : test(row)));
  lastMatches.set(rows, { filter, rows: matches });
  return matches;
}

const tested = new WeakMap<Row, { filter: string; matches: boolean }>();

/** Tests rows against a filter. The result for each row is cached, because the next list has most rows again. */
function rowTest(filter: string): (row: Row) => boolean {
  const test = readRowFilter(filter);
  return (row) => {
    const known = tested.get(row);
    if (known?.filter === filter) return known.matches;
    const matches = test(row.filterBy);
    tested.set(row, { filter, matches });
    return matches;
  };
}

export interface VisibleRows {
  rows: readonly Row[];
  /** The index of the selected row among `rows`; -1 without one. */
  selected: number;
  /** The selected row has left the list and is shown from the cursor's copy. */
  isGone: boolean;
}

/** The rows to show in `height` lines. */
export function visibleRows(list: List, height: number): VisibleRows {
  const rows = filteredRows(list);
  if (list.follows || (!list.cursor && rows.length === 0)) {
    const newest = rows.slice(-height);
    return { rows: newest, selected: newest.length - 1, isGone: false };
  }
  const index = indexOf(rows, list.cursor?.id);
  if (index === -1 && list.cursor) return { rows: [list.cursor, ...rows.slice(0, height - 1)], selected: 0, isGone: true };
  const top = topIndex(rows, list.top, Math.max(0, index), height);
  return { rows: rows.slice(top, top + height), selected: Math.max(0, index) - top, isGone: false };
}

/** Whether the selected row has left the list. */
export const isCursorGone = (list: List) => list.cursor !== undefined && indexOf(filteredRows(list), list.cursor.id) === -1;

/** The row that a key acts on. */
export const selectedRow = (list: List): Row | undefined =>
  list.cursor ?? (list.follows ? filteredRows(list).at(-1) : filteredRows(list)[0]);

/** A number of rows, or an end of the list. */
export type CursorMove = number | "first" | "last";

export function moveCursor(list: List, by: CursorMove, height: number): List {
  const rows = filteredRows(list);
  const selected = selectedRow(list);
  if (!selected) return list;
  // A row that has left the list is shown above the first row, and the cursor moves from there.
  const from = indexOf(rows, selected.id);
  const to = by === "first" ? 0 : by === "last" ? rows.length - 1 : from + by;
  return select(list, from === -1 && to < 0 ? selected : (rows[clamp(to, rows.length)] ?? selected), height);
}

/** Selects a row, and scrolls only as far as needed. */
export function select(list: List, row: Row, height: number): List {
  const rows = filteredRows(list);
  const before = selectedRow(list) ?? row;
  const edge = topIndex(rows, list.follows ? rows.at(-height)?.id : list.top, Math.max(0, indexOf(rows, before.id)), height);
  const top = rows[topIndex(rows, rows[edge]?.id, Math.max(0, indexOf(rows, row.id)), height)]?.id;
  const pausedAt = list.follows ? (list.frozen?.total ?? list.total) : list.pausedAt;
  return { ...list, cursor: row, chosen: row, top, follows: false, followsLater: false, pausedAt };
}

/** The list follows again once the detail of its selected row is closed. */
export const followLater = (list: List): List => ({ ...list, followsLater: true });
export const stayPinned = (list: List): List => ({ ...list, followsLater: false });

export const follow = (list: List): List => ({
  ...list,
  follows: true,
  followsLater: false,
  cursor: undefined,
  chosen: undefined,
  top: undefined,
});

export const freeze = (list: List): List => ({ ...list, frozen: { rows: list.rows, total: list.total } });
export const unfreeze = (list: List): List => refreshCursor({ ...list, frozen: undefined });

/** Sets the filter. The chosen row stays selected if it matches; otherwise the nearest match above it is, or else the first match. */
export function withFilter(list: List, filter: string): List {
  const next = { ...list, filter };
  const chosen = list.chosen ?? list.cursor;
  if (list.follows || !chosen) return selectFirst(next);
  const test = filter.trim() === "" ? () => true : rowTest(filter);
  const matches = (row: Row) => !row.gap && test(row);
  if (matches(chosen)) return refreshCursor({ ...next, cursor: chosen, chosen });
  const all = list.frozen?.rows ?? list.rows;
  const above = all.slice(0, Math.max(0, indexOf(all, chosen.id)));
  return { ...next, chosen, cursor: above.findLast(matches) ?? filteredRows(next)[0] };
}

const indexOf = (rows: readonly Row[], id: string | undefined) => (id === undefined ? -1 : rows.findLastIndex((row) => row.id === id));

const clamp = (index: number, length: number) => Math.max(0, Math.min(length - 1, index));

/** The index of the first visible row: that of `top`, moved only as far as needed to show `index`. */
function topIndex(rows: readonly Row[], top: string | undefined, index: number, height: number): number {
  const current = Math.max(0, indexOf(rows, top));
  return Math.max(0, Math.min(current, index), index - height + 1);
}
