// Lists: the cursor, the visible rows and the counts after rows are added, dropped and filtered.

import { describe, expect, test } from "vitest";
import {
  append,
  emptyList,
  filteredRows,
  follow,
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
import { ids, row, rows } from "../support/list-rows.ts";

const filled = (count: number) => append(emptyList(true), rows(0, count));

describe("a list that follows", () => {
  test("shows the newest rows, and selects the last one", () => {
    const list = append(filled(20), rows(20, 3));
    expect(ids(visibleRows(list, 4).rows)).toEqual(["row_19", "row_20", "row_21", "row_22"]);
    expect([visibleRows(list, 4).selected, selectedRow(list)?.id, unseenCount(list)]).toEqual([3, "row_22", 0]);
  });

  test("is pinned by the first cursor move, without scrolling", () => {
    const list = moveCursor(filled(20), -1, 5);
    expect(list.follows).toBe(false);
    expect(visibleRows(list, 5)).toEqual({ rows: rows(15, 5), selected: 3, isGone: false });
  });

  test("stays in place once pinned, counts new rows, and follows again", () => {
    const pinned = append(append(moveCursor(filled(20), -2, 5), rows(20, 7)), rows(27, 1), 4);
    expect(visibleRows(pinned, 5)).toEqual({ rows: rows(15, 5), selected: 2, isGone: false });
    expect([unseenCount(pinned), pinned.total]).toEqual([12, 32]);
    const following = follow(pinned);
    expect(ids(visibleRows(following, 2).rows)).toEqual(["row_26", "row_27"]);
    expect([unseenCount(following), selectedRow(following)?.id]).toEqual([0, "row_27"]);
  });
});

describe("a row that has left the list", () => {
  const evicted = append(moveCursor(filled(10), "first", 5), rows(10, MAX_ROWS));

  test("is shown above the remaining rows", () => {
    expect(evicted.rows).toHaveLength(MAX_ROWS);
    expect(isCursorGone(evicted)).toBe(true);
    expect(visibleRows(evicted, 3)).toEqual({ rows: [row(0), row(10), row(11)], selected: 0, isGone: true });
    expect(selectedRow(evicted)).toEqual(row(0));
  });

  test("has the oldest row below it, and nothing above it", () => {
    expect(selectedRow(moveCursor(evicted, 1, 3))?.id).toBe("row_10");
    expect(selectedRow(moveCursor(evicted, 2, 3))?.id).toBe("row_11");
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
  test("selects its first row, and updates the selected one", () => {
    const list = replace(emptyList(false), rows(0, 3));
    expect(selectedRow(list)?.id).toBe("row_0");
    const changed = replace(list, [row(5), { ...row(0), value: "changed" }]);
    expect(selectedRow(changed)?.value).toBe("changed");
    expect(unseenCount(changed)).toBe(0);
  });

  test("keeps the row as it was while frozen, and updates it afterwards", () => {
    const frozen = freeze(replace(emptyList(false), rows(0, 3)));
    const later = replace(frozen, [{ ...row(0), value: "later" }]);
    expect([selectedRow(later)?.value, visibleRows(later, 5).rows.length]).toEqual([0, 3]);
    expect([selectedRow(unfreeze(later))?.value, visibleRows(unfreeze(later), 5).rows.length]).toEqual(["later", 1]);
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

  test("without matches selects the first match that arrives", () => {
    const list = withFilter(moveCursor(filled(5), -1, 5), "late");
    const late = (number: number) => ({ ...row(number), filterBy: { text: "late", fields: {} } });
    const came = append(append(list, [late(50)]), [late(51)]);
    expect([selectedRow(came)?.id, visibleRows(came, 5).selected]).toEqual(["row_50", 0]);
  });
});

describe("a frozen list", () => {
  test("shows the rows from when it was frozen, moves its cursor, and counts new rows", () => {
    const frozen = append(freeze(filled(10)), rows(10, 5), 2);
    expect(visibleRows(frozen, 3).rows).toEqual(rows(7, 3));
    expect(unseenCount(frozen)).toBe(7);
    const moved = moveCursor(frozen, -1, 3);
    expect([selectedRow(moved)?.id, unseenCount(moved)]).toEqual(["row_8", 7]);
    expect(unseenCount(unfreeze(moved))).toBe(7);
    expect(unseenCount(follow(moved))).toBe(7);
    expect(unseenCount(unfreeze(follow(moved)))).toBe(0);
  });
});
