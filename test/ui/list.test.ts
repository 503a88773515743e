// Lists: the cursor, the visible rows and the counts after rows are added, dropped and filtered.

import { describe, expect, test } from "vitest";
import {
  addPage,
  append,
  emptyList,
  failPage,
  filteredRows,
  freeze,
  isCursorGone,
  MAX_ROWS,
  moveCursor,
  replace,
  selectedRow,
  unfreeze,
  unseenCount,
  visibleRows,
  withFilter,
} from "../../ui/state/list.ts";
import { isUnsearched, unsearchedGap } from "../../ui/state/log-search.ts";
import { gapRow, TOP_GAP } from "../../ui/state/rows.ts";
import { ids, row, rows, withRows } from "../support/list-rows.ts";

const gap = (missing: number, id = TOP_GAP) => gapRow(id, { missing });
const filled = (count: number) => withRows(emptyList(true), rows(0, count));

describe("a row that has left the list", () => {
  const evicted = withRows(moveCursor(filled(10), "first", 5), rows(10, MAX_ROWS));

  test("is shown above the remaining rows", () => {
    expect(isCursorGone(evicted)).toBe(true);
    expect(visibleRows(evicted, 3)).toEqual({ rows: [row(0), gap(10), row(10)], selected: 0, isGone: true });
    expect(selectedRow(evicted)).toEqual(row(0));
  });

  test("has the gap of the dropped rows below it, then the oldest row, and no row above it", () => {
    expect(selectedRow(moveCursor(evicted, 1, 3))).toEqual(gap(10));
    expect(selectedRow(moveCursor(evicted, 2, 3))?.id).toBe("row_10");
    expect(selectedRow(moveCursor(evicted, -1, 3))?.id).toBe("row_0");
    expect(selectedRow(moveCursor(evicted, "last", 3))?.id).toBe(`row_${MAX_ROWS + 9}`);
  });

  test("stays selected in a polled list, as it was last seen", () => {
    const list = replace(moveCursor(replace(emptyList(false), rows(0, 4)), 2, 4), [row(0), row(3)]);
    expect([selectedRow(list)?.id, isCursorGone(list)]).toEqual(["row_2", true]);
    expect(selectedRow(moveCursor(list, 1, 4))?.id).toBe("row_0");
  });
});

describe("a polled list", () => {
  test("selects its first row, and updates the selected row", () => {
    const list = replace(emptyList(false), rows(0, 3));
    expect(selectedRow(list)?.id).toBe("row_0");
    const changed = replace(list, [row(5), { ...row(0), value: "changed" }]);
    expect(selectedRow(changed)?.value).toBe("changed");
    expect(unseenCount(changed)).toBe(0);
  });

  test("keeps its rows as they were while it is frozen, and updates them afterwards", () => {
    const frozen = freeze(replace(emptyList(false), rows(0, 3)));
    const later = replace(frozen, [{ ...row(0), value: "later" }]);
    expect([selectedRow(later)?.value, visibleRows(later, 5).rows.length]).toEqual([0, 3]);
    expect([selectedRow(unfreeze(later))?.value, visibleRows(unfreeze(later), 5).rows.length]).toEqual(["later", 1]);
  });
});

describe("a gap", () => {
  const numbered = (numbers: readonly number[]) => numbers.map((number) => ({ row: row(number), nth: number + 1 }));
  /** Rows 0 to 2 and 8 to 9 of ten: a digest left out five. */
  const list = append(append(emptyList(true), numbered([0, 1, 2]), 3), numbered([8, 9]), 10);
  const page = { hasMore: true, before: row(8), filter: "" };

  test("stands for the rows that a digest left out", () => {
    expect(list.rows).toEqual([row(0), row(1), row(2), gap(5, "gap:9"), row(8), row(9)]);
  });

  test("shrinks with each page of the log, and disappears with the page that reaches the row before the gap", () => {
    const half = addPage(list, { ...page, rows: [row(7), row(6)] });
    expect(half.rows).toEqual([row(0), row(1), row(2), gap(3, "gap:9"), ...rows(6, 4)]);
    const whole = addPage(half, { ...page, before: row(6), rows: [row(5), row(4), row(3), row(2)] });
    expect(whole.rows).toEqual(rows(0, 10));
  });

  test("at the top counts the rows before the first row, including those that the log has dropped", () => {
    const late = append(emptyList(true), numbered([800]), 801);
    expect(late.rows).toEqual([gap(800), row(800)]);
    const first = addPage(late, { ...page, before: row(800), rows: rows(700, 100) });
    expect(first.rows.slice(0, 2)).toEqual([gap(700), row(700)]);
    const last = addPage(first, { ...page, before: row(700), rows: rows(600, 100), hasMore: false });
    expect(last.rows[0]).toEqual(gapRow(TOP_GAP, { missing: 600, isDropped: true }));
  });

  test("that was filled leaves the cursor on a row that was loaded", () => {
    const chosen = moveCursor(list, -2, 6);
    expect(selectedRow(chosen)?.id).toBe("gap:9");
    const closed = addPage(chosen, { ...page, rows: rows(2, 6) });
    expect([selectedRow(closed)?.id, isCursorGone(closed)]).toEqual(["row_7", false]);
    const top = moveCursor(append(emptyList(true), numbered([5]), 6), "first", 6);
    expect(selectedRow(addPage(top, { ...page, before: row(5), rows: rows(0, 5), hasMore: false }))?.id).toBe("row_0");
  });

  test("that a page filled does not duplicate rows that the stream sends later", () => {
    const early = addPage(append(emptyList(true), [], 3), {
      ...page,
      before: undefined,
      rows: rows(0, 3),
      hasMore: false,
    });
    expect(
      append(early, numbered([1, 2]), 3)
        .rows.map(({ id }) => id)
        .toSorted(),
    ).toEqual(["row_0", "row_1", "row_2"]);
  });

  test("is hidden by a filter, and counts as unsearched until a page of the log or the stream has every match", () => {
    const filtered = withFilter(list, "kind:blue");
    expect([ids(filteredRows(filtered)), isUnsearched(filtered)]).toEqual([["row_2", "row_8"], true]);
    expect(unsearchedGap(filtered, 5, false)?.id).toBe("gap:9");
    const searched = addPage(filtered, { ...page, rows: [row(5)], filter: "kind:blue", hasMore: false });
    expect([ids(filteredRows(searched)), isUnsearched(searched)]).toEqual([["row_2", "row_5", "row_8"], false]);
    expect(unsearchedGap(searched, 5, false)).toBeUndefined();
    expect(unsearchedGap(withFilter(searched, "kind:red"), 5, false)?.gap?.missing).toBeGreaterThan(0);
    const vouched = append(withFilter(emptyList(true), "kind:blue"), numbered([0, 8]), 9, "kind:blue");
    expect([ids(filteredRows(vouched)), isUnsearched(vouched)]).toEqual([["row_8"], false]);
  });

  test("that could not be searched is shown in spite of the filter, so that Enter can try again", () => {
    const loading = { ...withFilter(list, "kind:blue"), loading: { gap: "gap:9" } };
    const failed = failPage(loading, "no answer");
    expect(ids(filteredRows(failed))).toEqual(["row_2", "gap:9", "row_8"]);
    expect(unsearchedGap(failed, 5, false)).toBeUndefined();
    const again = addPage(failed, { ...page, rows: [], filter: "kind:blue", hasMore: false });
    expect(ids(filteredRows(again))).toEqual(["row_2", "row_8"]);
    expect(unsearchedGap(withFilter(again, "kind:red"), 5, false)?.id).toBe("gap:9");
  });

  test("is searched no further than the screen needs, from the newest row back", () => {
    const every = [0, 1, 2, 30, 31, 32, 60, 61, 62];
    const flooded = withFilter(append(emptyList(true), numbered(every), 63), "!none");
    expect(ids(filteredRows(flooded))).toEqual(every.map((number) => `row_${number}`));
    expect([2, 3, 4, 7].map((height) => unsearchedGap(flooded, height, false)?.id)).toEqual([
      undefined,
      undefined,
      "gap:61",
      "gap:61",
    ]);
    const middle = moveCursor(moveCursor(flooded, -7, 2), 1, 2);
    expect([2, 3].map((height) => unsearchedGap(middle, height, false)?.id)).toEqual([undefined, "gap:31"]);
  });

  test("that a search splits at a match keeps the number of missing rows on each side", () => {
    const blue = { ...page, rows: [row(5)], filter: "kind:blue", hasMore: false };
    const found = withFilter(addPage(withFilter(list, "kind:blue"), blue), "");
    const missing = found.rows.map(({ id, gap: one }) => (one ? one.missing : id));
    expect(missing).toEqual(["row_0", "row_1", "row_2", 2, "row_5", 2, "row_8", "row_9"]);
    const loaded = addPage(found, { ...page, rows: [row(7), row(6), row(5), row(4), row(3), row(2)] });
    expect(loaded.rows).toEqual(rows(0, 10));
  });
});

describe("a filter", () => {
  test("keeps the selected row if it matches", () => {
    const list = withFilter(moveCursor(filled(30), -3, 5), "kind:red");
    expect(selectedRow(moveCursor(filled(30), -2, 5))?.filterBy.fields.kind).toBe("red");
    expect(selectedRow(withFilter(moveCursor(filled(30), -2, 5), "kind:red"))?.id).toBe("row_27");
    expect(selectedRow(list)?.id).toBe("row_24");
    expect(filteredRows(list)).toHaveLength(10);
  });

  test("returns to the selected row when it is cleared", () => {
    const chosen = moveCursor(filled(30), -3, 5);
    const written = ["n", "no", "none", "non", "", "kind:red", "kind:"].reduce(withFilter, chosen);
    expect(selectedRow(withFilter(chosen, "none"))).toBeUndefined();
    expect(selectedRow(withFilter(written, ""))?.id).toBe("row_26");
  });

  test("that is cleared leaves no empty lines below the rows", () => {
    const list = withRows(emptyList(true), [
      ...rows(0, 6),
      ...[6, 7, 8, 9, 10, 11, 12].map((number) => row(number, "cut")),
    ]);
    const opened = moveCursor(moveCursor(withFilter(list, "kind:cut"), 0, 13), -2, 13);
    expect(visibleRows(withFilter(opened, ""), 13)).toEqual({ rows: list.rows, selected: 10, isGone: false });
    expect(visibleRows(withRows(withFilter(opened, ""), rows(13, 3)), 13).rows).toEqual(list.rows);
    const pinned = moveCursor(moveCursor(list, 0, 5), -6, 5);
    const scrolled = moveCursor(withFilter(pinned, "kind:cut"), 0, 5);
    expect(ids(visibleRows(withFilter(scrolled, ""), 5).rows)).toEqual(ids(visibleRows(pinned, 5).rows));
  });

  test("without matches selects the first match that arrives", () => {
    const list = withFilter(moveCursor(filled(5), -1, 5), "late");
    const late = (number: number) => ({ ...row(number), filterBy: { text: "late", fields: {} } });
    const came = withRows(withRows(list, [late(50)]), [late(51)]);
    expect([selectedRow(came)?.id, visibleRows(came, 5).selected]).toEqual(["row_50", 0]);
  });
});

test("a list shows more rows when the screen grows", () => {
  const atEnd = moveCursor(filled(13), 0, 5);
  expect(visibleRows(atEnd, 10)).toEqual({ rows: rows(3, 10), selected: 9, isGone: false });
});
