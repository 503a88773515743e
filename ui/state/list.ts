// A list of rows under a cursor: it follows what is new until the cursor moves, and stays where it is from then on.

import { type FilterFacts, readRowFilter } from "../../src/contracts/row-filter.ts";

export interface Row {
  readonly id: string;
  readonly value: unknown;
  readonly facts: FilterFacts;
}

export interface List {
  readonly rows: readonly Row[];
  /** What is shown instead while the picture is frozen, and how many rows there had been by then. */
  readonly frozen: { readonly rows: readonly Row[]; readonly total: number } | undefined;
  /** How many rows there were in all; those that are not among `rows` were dropped. */
  readonly total: number;
  /** The chosen row; it stays when the list has moved on. None while the list follows. */
  readonly cursor: Row | undefined;
  /** The row that somebody chose: a filter that hides it gives it back when it goes. */
  readonly home: Row | undefined;
  /** The row at the upper edge. */
  readonly top: string | undefined;
  readonly follows: boolean;
  /** How many rows there had been when it stopped following. */
  readonly pausedAt: number;
  readonly filter: string;
}

/** What is kept of each list. */
export const MOST_ROWS = 4_096;

export const emptyList = (follows: boolean): List => ({
  rows: [],
  frozen: undefined,
  total: 0,
  cursor: undefined,
  home: undefined,
  top: undefined,
  follows,
  pausedAt: 0,
  filter: "",
});

/** Rows that happened, and how many more did that nobody sent. */
export function append(list: List, rows: readonly Row[], unsent = 0): List {
  if (rows.length === 0 && unsent === 0) return list;
  return pinned({ ...list, rows: [...list.rows, ...rows].slice(-MOST_ROWS), total: list.total + rows.length + unsent });
}

/** All rows anew: of a list that shows how things stand, not what happened. A row that nobody chose, where nobody is, is not held. */
export function replace(list: List, rows: readonly Row[], isHeld = true): List {
  const cursor = isHeld || list.home || list.frozen ? list.cursor : undefined;
  return renewed({ ...list, rows, total: rows.length, pausedAt: rows.length, cursor });
}

/** The chosen row as it stands now; one that is no longer there stays chosen as it was. A frozen picture's row stays that picture's. */
function renewed(list: List): List {
  if (list.follows || list.frozen) return list;
  const { cursor } = list;
  const now = cursor && list.rows.find(({ id }) => id === cursor.id);
  return pinned({ ...list, cursor: now ?? cursor });
}

/** Where nothing was there to choose, the first row that comes is chosen, and stays so. */
const pinned = (list: List): List => (list.follows || list.cursor ? list : { ...list, cursor: shownRows(list)[0] });

/** How many rows came since the picture stopped moving. */
export function freshOf({ follows, pausedAt, frozen, total }: List): number {
  return total - Math.min(follows ? total : pausedAt, frozen?.total ?? total);
}

const matches = new WeakMap<readonly Row[], { filter: string; rows: readonly Row[] }>();

/** The rows that the filter lets through. */
export function shownRows(list: List): readonly Row[] {
  const rows = list.frozen?.rows ?? list.rows;
  if (list.filter.trim() === "") return rows;
  const known = matches.get(rows);
  if (known?.filter === list.filter) return known.rows;
  const found = rows.filter(passerOf(list.filter));
  matches.set(rows, { filter: list.filter, rows: found });
  return found;
}

type Passer = (row: Row) => boolean;

/** One for each pane that has a filter, and no more. */
const MOST_PASSERS = 8;
const passers = new Map<string, Passer>();

/** A filter's verdict on each row is remembered, as most rows are asked about again with the next frame. */
function passerOf(filter: string): Passer {
  const known = passers.get(filter);
  if (known) return known;
  const test = readRowFilter(filter);
  const verdicts = new WeakMap<Row, boolean>();
  const passes = (row: Row) => {
    const verdict = verdicts.get(row) ?? test(row.facts);
    verdicts.set(row, verdict);
    return verdict;
  };
  passers.set(filter, passes);
  if (passers.size > MOST_PASSERS) passers.delete(passers.keys().next().value as string);
  return passes;
}

export interface View {
  rows: readonly Row[];
  /** The index of the chosen one among them; -1 where nothing is. */
  chosen: number;
  /** Whether the chosen row has left the list, and is shown from a copy. */
  gone: boolean;
}

/** What of a list is seen through so many lines. */
export function viewOf(list: List, height: number): View {
  const rows = shownRows(list);
  if (list.follows || (!list.cursor && rows.length === 0)) {
    const seen = rows.slice(-height);
    return { rows: seen, chosen: seen.length - 1, gone: false };
  }
  const index = indexOf(rows, list.cursor?.id);
  if (index === -1 && list.cursor) return { rows: [list.cursor, ...rows.slice(0, height - 1)], chosen: 0, gone: true };
  const top = topOf(rows, list.top, Math.max(0, index), height);
  return { rows: rows.slice(top, top + height), chosen: Math.max(0, index) - top, gone: false };
}

/** Whether the chosen row is shown from a copy. */
export const isGone = (list: List) => list.cursor !== undefined && indexOf(shownRows(list), list.cursor.id) === -1;

/** The row that a key acts on. */
export const chosenRow = (list: List): Row | undefined => list.cursor ?? (list.follows ? shownRows(list).at(-1) : shownRows(list)[0]);

/** How far the cursor goes: a number of rows, or to an end. */
export type Move = number | "first" | "last";

export function move(list: List, by: Move, height: number): List {
  const rows = shownRows(list);
  const chosen = chosenRow(list);
  if (!chosen) return list;
  // A row that has left the list stands above the first one, for the eye as for the keys.
  const from = indexOf(rows, chosen.id);
  const to = by === "first" ? 0 : by === "last" ? rows.length - 1 : from + by;
  return choose(list, from === -1 && to < 0 ? chosen : (rows[clamp(to, rows.length)] ?? chosen), height);
}

/** Puts the cursor on a row, and lets the view follow only as far as it must. */
export function choose(list: List, row: Row, height: number): List {
  const rows = shownRows(list);
  const before = chosenRow(list) ?? row;
  const edge = topOf(rows, list.follows ? rows.at(-height)?.id : list.top, Math.max(0, indexOf(rows, before.id)), height);
  const top = rows[topOf(rows, rows[edge]?.id, Math.max(0, indexOf(rows, row.id)), height)]?.id;
  const pausedAt = list.follows ? (list.frozen?.total ?? list.total) : list.pausedAt;
  return { ...list, cursor: row, home: row, top, follows: false, pausedAt };
}

export const follow = (list: List): List => ({ ...list, follows: true, cursor: undefined, home: undefined, top: undefined });

export const freeze = (list: List): List => ({ ...list, frozen: { rows: list.rows, total: list.total } });
export const thaw = (list: List): List => renewed({ ...list, frozen: undefined });

/** A new filter keeps the row that was chosen where it passes; else the nearest that does is chosen, above rather than below. */
export function filtered(list: List, filter: string): List {
  const next = { ...list, filter };
  const home = list.home ?? list.cursor;
  if (list.follows || !home) return pinned(next);
  const passes = filter.trim() === "" ? () => true : passerOf(filter);
  if (passes(home)) return renewed({ ...next, cursor: home, home });
  const all = list.frozen?.rows ?? list.rows;
  const above = all.slice(0, Math.max(0, indexOf(all, home.id)));
  return { ...next, home, cursor: above.findLast(passes) ?? shownRows(next)[0] };
}

const indexOf = (rows: readonly Row[], id: string | undefined) => (id === undefined ? -1 : rows.findLastIndex((row) => row.id === id));

const clamp = (index: number, length: number) => Math.max(0, Math.min(length - 1, index));

/** The upper edge: where it was, moved only as far as the chosen row wants. */
function topOf(rows: readonly Row[], top: string | undefined, index: number, height: number): number {
  const known = Math.max(0, indexOf(rows, top));
  return Math.max(0, Math.min(known, index), index - height + 1);
}
