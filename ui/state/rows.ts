// The rows of a list, and the gaps between them, which are filled with pages of the log.

import type { FilterFacts } from "../../src/client/row-filter.ts";

export interface Row {
  readonly id: string;
  /** The row of the log that a folded row shows, which links and addresses name. Default: `id`. */
  readonly ref?: string;
  readonly value: unknown;
  readonly filterBy: FilterFacts;
  /** Its position in the log; rows of a polled list have none. */
  readonly order?: number;
  readonly gap?: Gap;
  /** The row stands for all rows that match this filter. Enter applies the filter. */
  readonly unfolds?: string;
}

export interface Gap {
  readonly missing: number;
  /** A filter that none of the missing rows matches. */
  readonly clean?: string | undefined;
  readonly isDropped?: boolean;
  readonly error?: string;
}

/** The rows of a page of the log, in any order, and the query that returned them. */
export interface LogPage {
  rows: readonly Row[];
  hasMore: boolean;
  /** The page has the rows older than this one; undefined for the newest. */
  before: Row | undefined;
  /** The page has only rows that match this filter; "" for all rows. */
  filter: string;
}

export const TOP_GAP = "gap:top";

export const gapRow = (id: string, gap: Gap): Row => ({
  id,
  value: undefined,
  filterBy: { text: "", fields: {} },
  gap,
});

/**
 * Whether a gap may hide rows that match the filter. Rows that the log has dropped do not count, because they cannot be
 * tested.
 */
export const mayHide = ({ clean, isDropped }: Gap, filter: string): boolean =>
  filter.trim() === "" || (clean !== filter && isDropped !== true);

/** The id by which the log, links and addresses know a row. */
export const refOf = ({ ref, id }: Row): string => ref ?? id;

/** Inserts the new rows of a page where they belong, and removes the gaps that the page covers. */
export function withPage(rows: readonly Row[], page: LogPage): Row[] {
  const known = new Set(rows.map(({ id }) => id));
  const fresh = page.rows.filter(({ id }) => !known.has(id)).sort((one, other) => orderOf(one) - orderOf(other));
  return closeGaps(interleave(rows, fresh, page.filter !== ""), page);
}

const orderOf = (row: Row | undefined) => row?.order ?? 0;

/**
 * Inserts rows by their order, each after the gap that it fills, and lowers the count of that gap. A gap has the same
 * order as the row before it. `isSparse`: other rows may be missing between the inserted rows.
 */
function interleave(rows: readonly Row[], fresh: readonly Row[], isSparse: boolean): Row[] {
  const orders = new Map(fresh.map((row) => [row, orderOf(row)]));
  let order = Number.NEGATIVE_INFINITY;
  for (const row of rows) {
    if (!row.gap) order = orderOf(row);
    orders.set(row, order);
  }
  const merged = [...rows, ...fresh].sort((one, other) => (orders.get(one) ?? 0) - (orders.get(other) ?? 0));
  const inserted = new Set(fresh);
  return merged.flatMap((row, index) => {
    if (inserted.has(row)) return [];
    const next = merged.findIndex((one, place) => place > index && !inserted.has(one));
    const end = next === -1 ? merged.length : next;
    const filling = merged.slice(index + 1, end);
    if (!row.gap || filling.length === 0) return [row, ...filling];
    return isSparse ? splitGap(row, filling, merged[end]) : [shrunk(row, filling.length), ...filling];
  });
}

const shrunk = (row: Row, by: number) => gapRow(row.id, { ...row.gap, missing: (row.gap?.missing ?? 0) - by });

/**
 * Splits a gap at the matches of a filter that were found in it: each match comes after a smaller gap. The positions in
 * the log say how many rows lie between two matches. All other rows are missing before the first match.
 */
function splitGap(row: Row, found: readonly Row[], follower: Row | undefined): Row[] {
  let rest = (row.gap?.missing ?? 0) - found.length;
  let newer = follower;
  const parts: Row[] = [];
  for (const one of found.toReversed()) {
    const missing = newer ? Math.max(0, Math.min(rest, orderOf(newer) - orderOf(one) - 1)) : 0;
    if (missing > 0) parts.unshift(gapRow(`gap:after ${one.id}`, { ...row.gap, missing }));
    parts.unshift(one);
    rest -= missing;
    newer = one;
  }
  return [gapRow(row.id, { ...row.gap, missing: rest }), ...parts];
}

/** Removes the gaps that a page of all rows covers. If the page has only matches, marks the gaps as searched. */
function closeGaps(rows: readonly Row[], { rows: found, hasMore, before, filter }: LogPage): Row[] {
  const floor = hasMore ? Math.min(...found.map(orderOf)) : Number.NEGATIVE_INFINITY;
  const ceiling = before ? orderOf(before) : Number.POSITIVE_INFINITY;
  const isCovered = (index: number) => {
    const older = rows[index - 1];
    const newer = rows[index + 1];
    return (
      (older ? orderOf(older) : Number.NEGATIVE_INFINITY) >= floor &&
      (newer ? orderOf(newer) : Number.NEGATIVE_INFINITY) <= ceiling
    );
  };
  return rows.flatMap((row, index) => {
    const { gap } = row;
    if (!gap) return [row];
    if (gap.missing <= 0) return [];
    if (!isCovered(index)) return [row];
    const { error: _, ...loaded } = gap;
    if (filter !== "") return [gapRow(row.id, { ...loaded, clean: filter })];
    return row.id === TOP_GAP ? [gapRow(row.id, { ...loaded, isDropped: true })] : [];
  });
}
