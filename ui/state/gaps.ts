// Gaps in a list: rows that the stream left out or that were made before the dashboard connected, and how pages of the log close them.

import type { Gap, List, Row } from "./rows.ts";

/** The rows of a page of the log, in any order, and the query that returned them. */
export interface LogPage {
  rows: readonly Row[];
  hasMore: boolean;
  /** The page has the rows older than this one; undefined for the newest. */
  before: Row | undefined;
  /** The page has only rows that match it; "" for all rows. */
  filter: string;
}

export const TOP_GAP = "gap:top";

const NO_FACTS = { text: "", fields: {} };

export const gapRow = (id: string, gap: Gap): Row => ({ id, value: undefined, filterBy: NO_FACTS, gap });

/** Whether rows that match the filter may be missing there. A row that the log has dropped cannot be looked at. */
export const mayHide = ({ clean, isDropped }: Gap, filter: string): boolean =>
  filter.trim() === "" || (clean !== filter && isDropped !== true);

/** The list with a first row for what is missing before it: what was made, without the rows and gaps that the list has. */
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

/** Inserts the rows of a page where they belong, and closes the gaps that it covers. */
export function mergePage(list: List, page: LogPage): List {
  const known = new Set(list.rows.map(({ id }) => id));
  const fresh = page.rows.filter(({ id }) => !known.has(id)).sort((one, other) => orderOf(one) - orderOf(other));
  const rows = closeGaps(interleave(list.rows, fresh), page);
  return withTopGap({ ...list, rows });
}

const orderOf = (row: Row | undefined) => row?.order ?? 0;

/** Inserts rows by their order: each after the gap that it fills, whose count it lowers. Both lists are ordered. */
function interleave(rows: readonly Row[], fresh: readonly Row[]): Row[] {
  const merged: Row[] = [];
  let next = rows.length - 1;
  for (let index = fresh.length - 1; index >= 0; index--) {
    const inserted = fresh[index] as Row;
    for (let row = rows[next]; row && isAfter(rows, next, inserted); row = rows[--next]) merged.push(row);
    const gap = rows[next]?.gap;
    if (gap) rows = rows.with(next, gapRow(rows[next]?.id ?? "", { ...gap, missing: gap.missing - 1 }));
    merged.push(inserted);
  }
  for (let row = rows[next]; row; row = rows[--next]) merged.push(row);
  return merged.reverse();
}

/** Whether the row at `index` comes after another. A gap does if the row before it does. */
function isAfter(rows: readonly Row[], index: number, other: Row): boolean {
  const row = rows[index];
  const compared = row?.gap ? rows[index - 1] : row;
  return compared !== undefined && orderOf(compared) > orderOf(other);
}

/** A page of all rows removes the gaps that it covers; a page of matches marks them as having no more. */
function closeGaps(rows: readonly Row[], { rows: found, hasMore, before, filter }: LogPage): Row[] {
  const floor = hasMore ? Math.min(...found.map(orderOf)) : Number.NEGATIVE_INFINITY;
  const ceiling = before ? orderOf(before) : Number.POSITIVE_INFINITY;
  const isCovered = (index: number) => {
    const older = rows[index - 1];
    const newer = rows[index + 1];
    return (older ? orderOf(older) : Number.NEGATIVE_INFINITY) >= floor && (newer ? orderOf(newer) : Number.NEGATIVE_INFINITY) <= ceiling;
  };
  return rows.flatMap((row, index) => {
    const { gap } = row;
    if (!gap) return [row];
    if (gap.missing <= 0) return [];
    if (!isCovered(index)) return [row];
    if (filter !== "") return [gapRow(row.id, { ...gap, clean: filter })];
    return row.id === TOP_GAP ? [gapRow(row.id, { ...gap, isDropped: true })] : [];
  });
}
