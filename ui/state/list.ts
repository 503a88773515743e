// A list of rows under a cursor: it follows what is new until the cursor moves, and stays where it is from then on.

import { type FilterFacts, readRowFilter } from "../../src/kernel/row-filter.ts";

export interface Row {
  readonly id: string;
  readonly value: unknown;
  readonly facts: FilterFacts;
}

export interface List {
  readonly rows: readonly Row[];
  /** What is shown instead while the picture is frozen. */
  readonly frozen: readonly Row[] | undefined;
  /** How many rows there were in all; those that are not among `rows` were dropped. */
  readonly total: number;
  /** The chosen row; it stays when the list has moved on. None while the list follows. */
  readonly cursor: Row | undefined;
  /** The row at the upper edge. */
  readonly top: string | undefined;
  readonly follows: boolean;
  /** How many rows came since it stopped following. */
  readonly fresh: number;
  readonly filter: string;
}

/** What is kept of each list. */
export const MOST_ROWS = 4_096;

export const emptyList = (follows: boolean): List => ({
  rows: [],
  frozen: undefined,
  total: 0,
  cursor: undefined,
  top: undefined,
  follows,
  fresh: 0,
  filter: "",
});

/** Rows that happened, and how many more did that nobody sent. */
export function append(list: List, rows: readonly Row[], unsent = 0): List {
  if (rows.length === 0 && unsent === 0) return list;
  const came = rows.length + unsent;
  const kept = [...list.rows, ...rows].slice(-MOST_ROWS);
  return { ...list, rows: kept, total: list.total + came, fresh: list.follows && !list.frozen ? 0 : list.fresh + came };
}

/** All rows anew: of a list that shows how things stand, not what happened. */
export function replace(list: List, rows: readonly Row[]): List {
  const cursor = list.cursor && rows.find(({ id }) => id === list.cursor?.id);
  return { ...list, rows, total: rows.length, cursor: cursor ?? (list.follows ? list.cursor : rows[0]) };
}

const matches = new WeakMap<readonly Row[], { filter: string; rows: readonly Row[] }>();

/** The rows that the filter lets through. */
export function shownRows(list: List): readonly Row[] {
  const rows = list.frozen ?? list.rows;
  if (list.filter.trim() === "") return rows;
  const known = matches.get(rows);
  if (known?.filter === list.filter) return known.rows;
  const passes = passerOf(list.filter);
  const found = rows.filter(passes);
  matches.set(rows, { filter: list.filter, rows: found });
  return found;
}

let passer: { filter: string; passes: (row: Row) => boolean } | undefined;

/** The newest filter's verdict on each row is remembered, as most rows are asked about again with the next frame. */
function passerOf(filter: string): (row: Row) => boolean {
  if (passer?.filter === filter) return passer.passes;
  const test = readRowFilter(filter);
  const verdicts = new WeakMap<Row, boolean>();
  const passes = (row: Row) => {
    const known = verdicts.get(row) ?? test(row.facts);
    verdicts.set(row, known);
    return known;
  };
  passer = { filter, passes };
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

/** The row that a key acts on. */
export const chosenRow = (list: List): Row | undefined => list.cursor ?? (list.follows ? shownRows(list).at(-1) : shownRows(list)[0]);

/** How far the cursor goes: a number of rows, or to an end. */
export type Move = number | "first" | "last";

export function move(list: List, by: Move, height: number): List {
  const rows = shownRows(list);
  const chosen = chosenRow(list);
  if (!chosen) return list;
  const from = Math.max(0, indexOf(rows, chosen.id));
  const to = by === "first" ? 0 : by === "last" ? rows.length - 1 : clamp(from + by, rows.length);
  const before = topOf(rows, list.follows ? rows.at(-height)?.id : list.top, from, height);
  const top = rows[topOf(rows, rows[before]?.id, to, height)]?.id;
  return { ...list, cursor: rows[to] ?? chosen, top, follows: false, fresh: list.follows ? 0 : list.fresh };
}

export const follow = (list: List): List => ({ ...list, follows: true, cursor: undefined, top: undefined, fresh: 0 });

export const freeze = (list: List): List => ({ ...list, frozen: list.rows });
export const thaw = (list: List): List => ({ ...list, frozen: undefined, fresh: list.follows ? 0 : list.fresh });

/** A new filter keeps the chosen row where it still passes. */
export function filtered(list: List, filter: string): List {
  const next = { ...list, filter };
  const stays = list.cursor && shownRows(next).includes(list.cursor);
  return stays ? next : { ...next, cursor: list.follows ? undefined : shownRows(next)[0], top: undefined };
}

const indexOf = (rows: readonly Row[], id: string | undefined) => (id === undefined ? -1 : rows.findLastIndex((row) => row.id === id));

const clamp = (index: number, length: number) => Math.max(0, Math.min(length - 1, index));

/** The upper edge: where it was, moved only as far as the chosen row wants. */
function topOf(rows: readonly Row[], top: string | undefined, index: number, height: number): number {
  const known = Math.max(0, indexOf(rows, top));
  return Math.max(0, Math.min(known, index), index - height + 1);
}
