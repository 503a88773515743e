// A list of rows with a cursor, a filter, and gaps that are filled with pages of the log. The list follows new rows
// until the cursor moves. Then the list stays at the selected row.

import { readRowFilter } from "../../src/client/row-filter.ts";
import { type Gap, gapRow, type LogPage, mayHide, type Row, refOf, TOP_GAP, withPage } from "./rows.ts";

/** Shows several rows as one. The filter applies to the rows that this function returns. */
export type Fold = (rows: readonly Row[], isFiltered: boolean) => readonly Row[];

export interface List {
  readonly rows: readonly Row[];
  /** The rows and the total at the moment the display was frozen. */
  readonly frozen?: { readonly rows: readonly Row[]; readonly total: number } | undefined;
  /** Set once a poll has read the rows. Before that, an empty list does not mean that there are none. */
  readonly isRead?: true;
  /** The number of rows since the last reset, whether they are in the list or not. */
  readonly total: number;
  /** The newest row of the stream, by its number among all items of its kind; undefined before the first row. */
  readonly newest?: number | undefined;
  /**
   * The id of the gap that is being loaded. Each load creates a new object, so that a late reply to an earlier load is
   * recognised.
   */
  readonly loading?: { readonly gap: string } | undefined;
  /** The selected row, kept even when it has left `rows`. Undefined while the list follows. */
  readonly cursor?: Row | undefined;
  /** The row that the user selected; the cursor returns to it when a filter that hides it is cleared. */
  readonly chosen?: Row | undefined;
  /** The id of the first visible row. */
  readonly top?: string | undefined;
  /**
   * The id of the first visible row when the filter was set. That row becomes the first again when the filter is
   * cleared.
   */
  readonly unfilteredTop?: string | undefined;
  readonly follows: boolean;
  /** The list follows again when the detail of its row is closed. */
  readonly followsLater: boolean;
  /** The total when the list stopped following. */
  readonly pausedAt: number;
  readonly filter: string;
  readonly fold?: Fold | undefined;
  /** Whether the list can follow new rows. If not, a folded list is a summary, which selects no row by itself. */
  readonly canFollow: boolean;
}

/**
 * Adds a gap before the first row for all rows that are missing there: the total, minus the rows and gaps in the list.
 */
export function withTopGap(list: List): List {
  const { rows, total } = list;
  const top = rows[0]?.id === TOP_GAP ? rows[0].gap : undefined;
  const start = rows.findIndex(({ gap }) => !gap);
  let known = 0;
  for (let index = Math.max(0, start); index < rows.length; index++) known += rows[index]?.gap?.missing ?? 1;
  const missing = total - (start === -1 ? 0 : known);
  if (missing <= 0 && start === 0) return list;
  if (top?.missing === missing && start === 1) return list;
  const rest = start === -1 ? [] : rows.slice(start);
  return { ...list, rows: missing > 0 ? [gapRow(TOP_GAP, { ...top, missing }), ...rest] : rest };
}

/** Inserts the rows of a page of the log where they belong, and removes the gaps that the page covers. */
export function addPage(list: List, page: LogPage): List {
  const rows = withPage(list.rows, page);
  return selectFirst(leaveGap(withTopGap({ ...list, rows, loading: undefined }), page.before));
}

/** The most rows of a list, as many as the sandbox's logs keep; older rows are dropped. */
export const MAX_ROWS = 10_000;

export const emptyList = (follows: boolean, fold?: Fold): List => ({
  fold,
  canFollow: follows,
  rows: [],
  total: 0,
  follows,
  followsLater: false,
  pausedAt: 0,
  filter: "",
});

/**
 * Adds rows from the stream, with gaps for rows that were not sent. `nth` is the number of a row among all items of its
 * kind. `clean` is a filter that none of the missing rows matches.
 */
export function append(list: List, added: readonly { row: Row; nth: number }[], total: number, clean?: string): List {
  if (added.length === 0 && total === list.total) return list;
  let { newest } = list;
  const versions = new Map(added.map(({ row }) => [row.id, row]));
  const rows = [...withoutOlderVersions(list.rows, versions)];
  for (const { row, nth } of added) {
    const missing = newest === undefined ? 0 : nth - newest - 1;
    if (missing > 0) rows.push(gapRow(`gap:${nth}`, { missing, clean }));
    if (versions.get(row.id) === row) rows.push(row);
    newest = nth;
  }
  return selectFirst(leaveGap(withTopGap({ ...list, rows: rows.slice(-MAX_ROWS), total, newest })));
}

/**
 * Removes rows that the stream sends again, such as an amended verdict. An amended row moves to the end but keeps its
 * `order`, so the last row may not have the highest `order`.
 */
function withoutOlderVersions(rows: readonly Row[], added: ReadonlyMap<string, Row>): readonly Row[] {
  let highest = Number.NEGATIVE_INFINITY;
  for (const { order = highest } of rows) if (order > highest) highest = order;
  for (const { order = Infinity } of added.values())
    if (order <= highest) return rows.filter(({ id }) => !added.has(id));
  return rows;
}

/**
 * If the cursor is on a gap that was filled, moves the cursor to the row that took the gap's place. From the gap at the
 * top, the cursor moves to the first row.
 */
function leaveGap(list: List, before?: Row): List {
  const { cursor, frozen } = list;
  if (!cursor?.gap || frozen) return list;
  const rows = filteredRows({ ...list, filter: "" });
  const follower = rows.findLastIndex((row) => refOf(row) === before?.id);
  const place = cursor.id === TOP_GAP ? 0 : Math.max(0, follower - 1);
  const next = rows.find(({ id }) => id === cursor.id) ?? rows[place];
  return { ...list, cursor: next, chosen: next };
}

/** Stores the error on the gap whose page could not be loaded. */
export const failPage = (list: List, error: string): List => ({
  ...list,
  loading: undefined,
  rows: list.rows.map((row) => (row.gap && row.id === list.loading?.gap ? gapRow(row.id, { ...row.gap, error }) : row)),
});

/** Replaces all rows of a polled list. In a pane without the focus, drops a cursor that the user has not placed. */
export function replace(list: List, rows: readonly Row[], isFocused = true): List {
  const cursor = isFocused || list.chosen || list.frozen ? list.cursor : undefined;
  return refreshCursor({ ...list, rows, isRead: true, total: rows.length, pausedAt: rows.length, cursor });
}

/**
 * Removes rows. `total` is the number of rows that remain, listed or not. A cursor on a removed row moves to the next
 * remaining row above.
 */
export function removeRows(list: List, isRemoved: (row: Row) => boolean, total: number): List {
  const { cursor, frozen, rows } = list;
  const remaining = (some: readonly Row[]) => some.filter((row) => !isRemoved(row));
  const seen = total - remaining(rows.slice(Math.max(0, rows.length - unseenCount(list)))).length;
  const shown = filteredRows({ ...list, frozen: undefined, filter: "" });
  const above = remaining(shown.slice(0, Math.max(0, indexOf(shown, cursor?.id)))).findLast(({ gap }) => !gap);
  return selectFirst(
    withTopGap({
      ...list,
      ...(cursor && isRemoved(cursor) && { cursor: above, chosen: above }),
      rows: remaining(rows),
      frozen: frozen && { rows: remaining(frozen.rows), total: seen },
      pausedAt: seen,
      total,
      // The page that is being loaded may contain removed rows.
      loading: undefined,
    }),
  );
}

/**
 * Updates the selected row to its newest version. A removed row stays selected unchanged, and a frozen list keeps its
 * rows.
 */
function refreshCursor(list: List): List {
  if (list.follows || list.frozen) return list;
  const { cursor } = list;
  const newest = cursor && list.rows.find(({ id }) => id === cursor.id);
  return selectFirst({ ...list, cursor: newest ?? cursor });
}

/** A list that does not follow selects its first row if it has no cursor. */
const selectFirst = (list: List): List =>
  list.follows || list.cursor || isSummary(list)
    ? list
    : { ...list, cursor: filteredRows(list).find(({ gap }) => !gap) };

const isSummary = ({ fold, canFollow }: List) => fold !== undefined && !canFollow;

/** How many rows arrived since the list was paused or frozen. */
export function unseenCount(list: List): number {
  const { follows, pausedAt, frozen, total } = list;
  return total - Math.min(follows || isSummary(list) ? total : pausedAt, frozen?.total ?? total);
}

const lastMatches = new WeakMap<readonly Row[], { filter: string; rows: readonly Row[] }>();

/**
 * The rows that the filter matches. A filter hides gaps, except gaps that could not be loaded, so that Enter can try
 * again.
 */
export function filteredRows(list: List): readonly Row[] {
  const rows = list.frozen?.rows ?? list.rows;
  const { filter, fold } = list;
  const isFiltered = filter.trim() !== "";
  if (!isFiltered && !fold) return rows;
  const cached = lastMatches.get(rows);
  if (cached?.filter === filter) return cached.rows;
  const folded = fold?.(rows, isFiltered) ?? rows;
  const test = rowTest(filter);
  const isFailed = (gap: Gap) => gap.error !== undefined && mayHide(gap, filter);
  const shown = isFiltered ? folded.filter((row) => (row.gap ? isFailed(row.gap) : test(row))) : folded;
  lastMatches.set(rows, { filter, rows: shown });
  return shown;
}

const tested = new WeakMap<Row, { filter: string; matches: boolean }>();

/**
 * Tests rows against a filter. The result for each row is cached, because the next list contains most of the same rows.
 */
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

/** The rows to show in `height` lines, and the index of the selected row (-1: no row is selected). */
export function visibleRows(list: List, height: number) {
  const rows = filteredRows(list);
  if (list.follows || (!list.cursor && rows.length === 0)) {
    const newest = rows.slice(-height);
    return { rows: newest, selected: newest.length - 1, isGone: false };
  }
  const index = indexOf(rows, list.cursor?.id);
  // The selected row has left the list, and is shown from the cursor's copy.
  if (index === -1 && list.cursor)
    return { rows: [list.cursor, ...rows.slice(0, height - 1)], selected: 0, isGone: true };
  const top = topIndex(rows, list.top, Math.max(0, index), height);
  return { rows: rows.slice(top, top + height), selected: Math.max(0, index) - top, isGone: false };
}

export const isCursorGone = (list: List) =>
  list.cursor !== undefined && indexOf(filteredRows(list), list.cursor.id) === -1;

export function selectedRow(list: List): Row | undefined {
  const { cursor, fold, follows } = list;
  // Each new row of a group replaces the folded row, so find the current one by its id.
  if (cursor) return (fold && filteredRows(list).find(({ id }) => id === cursor.id)) ?? cursor;
  return follows ? filteredRows(list).at(-1) : filteredRows(list)[0];
}

export type CursorMove = number | "first" | "last";

export function moveCursor(list: List, by: CursorMove, height: number): List {
  const rows = filteredRows(list);
  const selected = selectedRow(list);
  if (!selected) return list;
  // A row that has left the list is shown above the first row, and the cursor moves from there.
  const from = indexOf(rows, selected.id);
  const last = rows.length - 1;
  const to = typeof by === "number" ? from + by : { first: 0, last }[by];
  const row = rows[Math.max(0, Math.min(last, to))] ?? selected;
  return select(list, from === -1 && to < 0 ? selected : row, height);
}

export function select(list: List, row: Row, height: number): List {
  const rows = filteredRows(list);
  const before = selectedRow(list) ?? row;
  const edge = topIndex(
    rows,
    list.follows ? rows.at(-height)?.id : list.top,
    Math.max(0, indexOf(rows, before.id)),
    height,
  );
  const top = rows[topIndex(rows, rows[edge]?.id, Math.max(0, indexOf(rows, row.id)), height)]?.id;
  const pausedAt = list.follows ? (list.frozen?.total ?? list.total) : list.pausedAt;
  return { ...list, cursor: row, chosen: row, top, follows: false, followsLater: false, pausedAt };
}

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

/**
 * Sets the filter. The chosen row stays selected if it matches; otherwise selects the nearest match above it, or else
 * the first match.
 */
export function withFilter(list: List, filter: string): List {
  const next = { ...list, filter, ...topsUnder(list, filter) };
  if (isSummary(list)) return { ...next, cursor: undefined, chosen: undefined, top: undefined };
  const chosen = list.chosen ?? list.cursor;
  if (list.follows || !chosen) return selectFirst(next);
  const test = filter.trim() === "" ? () => true : rowTest(filter);
  const matches = (row: Row) => !row.gap && test(row);
  if (matches(chosen)) return refreshCursor({ ...next, cursor: chosen, chosen });
  const all = filteredRows({ ...list, filter: "" });
  const above = all.slice(0, Math.max(0, indexOf(all, chosen.id)));
  return { ...next, chosen, cursor: above.findLast(matches) ?? filteredRows(next)[0] };
}

/** The first visible rows after the filter is set. */
function topsUnder(list: List, filter: string): Pick<List, "top" | "unfilteredTop"> {
  const [wasFiltered, isFiltered] = [list.filter, filter].map((one) => one.trim() !== "");
  if (!isFiltered) return wasFiltered ? { top: list.unfilteredTop } : {};
  // Among the matches, a row that was the first may be one of the last. A new match would then scroll the list.
  return { top: undefined, ...(!wasFiltered && { unfilteredTop: list.top }) };
}

const indexOf = (rows: readonly Row[], id: string | undefined) =>
  id === undefined ? -1 : rows.findLastIndex((row) => row.id === id);

/**
 * The index of the first visible row: the index of `top`, moved only as far as needed to show `index` and to leave no
 * line empty.
 */
function topIndex(rows: readonly Row[], top: string | undefined, index: number, height: number): number {
  const current = Math.max(0, indexOf(rows, top));
  return Math.max(0, Math.min(current, index, rows.length - height), index - height + 1);
}
