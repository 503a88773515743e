// Properties of a dashboard list after any sequence of actions: the cursor, the visible rows and the counts.

import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type CursorMove,
  emptyList,
  filteredRows,
  follow,
  freeze,
  isCursorGone,
  type List,
  MAX_ROWS,
  moveCursor,
  select,
  selectedRow,
  unfreeze,
  unseenCount,
  visibleRows,
  withFilter,
} from "../../ui/state/list.ts";
import { inputs } from "../support/fuzzing.ts";
import { ids, rows, withRows } from "../support/list-rows.ts";

type Action =
  | { kind: "come"; rows: number; unsent: number }
  | { kind: "move"; by: CursorMove }
  | { kind: "filter"; text: string }
  | { kind: "pick"; index: number }
  | { kind: "follow" | "freeze" | "thaw" };

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("come" as const), rows: fc.nat(40), unsent: fc.nat(9) }) },
  fc.record({
    kind: fc.constant("come" as const),
    rows: fc.constantFrom(MAX_ROWS - 3, MAX_ROWS + 3),
    unsent: fc.constant(0),
  }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("move" as const),
      by: fc.oneof(fc.integer({ min: -30, max: 30 }), fc.constantFrom("first" as const, "last" as const)),
    }),
  },
  fc.record({
    kind: fc.constant("filter" as const),
    text: fc.constantFrom("", "red", "kind:blue", "!kind:green", "nowhere", "1", "!"),
  }),
  fc.record({ kind: fc.constant("pick" as const), index: fc.nat(50) }),
  fc.record({ kind: fc.constantFrom("follow" as const, "freeze" as const, "thaw" as const) }),
);

/** Counts that the test keeps while it performs the actions. */
interface Model {
  came: number;
  pausedAt: number | undefined;
  frozenAt: number | undefined;
}

function applied(list: List, step: Action, model: Model, height: number): List {
  if (step.kind === "come") {
    const next = withRows(list, rows(model.came, step.rows), step.unsent);
    model.came += step.rows + step.unsent;
    return next;
  }
  if (step.kind === "filter") return withFilter(list, step.text);
  if (step.kind === "freeze") {
    model.frozenAt ??= model.came;
    return list.frozen ? list : freeze(list);
  }
  if (step.kind === "thaw") {
    model.frozenAt = undefined;
    return unfreeze(list);
  }
  if (step.kind === "follow") {
    model.pausedAt = undefined;
    return follow(list);
  }
  const shown = filteredRows(list);
  const picked = step.kind === "pick" ? shown[step.index % Math.max(1, shown.length)] : undefined;
  let next = list;
  if (step.kind === "move") next = moveCursor(list, step.by, height);
  else if (picked) next = select(list, picked, height);
  if (!next.follows) model.pausedAt ??= model.frozenAt ?? model.came;
  return next;
}

const history = fc.record({ height: fc.integer({ min: 1, max: 12 }), actions: fc.array(action, { maxLength: 25 }) });

/** Performs a sequence of actions. Calls `holds` with the list before and after each action. */
function perform(
  { height, actions }: { height: number; actions: Action[] },
  holds: (before: List, after: List, step: Action, model: Model, height: number) => void,
): void {
  const model: Model = { came: 0, pausedAt: undefined, frozenAt: undefined };
  let list = emptyList(true);
  for (const step of actions) {
    const next = applied(list, step, model, height);
    holds(list, next, step, model, height);
    list = next;
  }
}

/** The properties that must hold after each action, by name. */
const properties: Record<string, Parameters<typeof perform>[1]> = {
  "the selected row of a pinned list never changes by itself": (before, after, step) => {
    const byItself = step.kind === "come" || step.kind === "freeze" || step.kind === "thaw";
    if (!byItself || before.follows || !selectedRow(before) || selectedRow(before)?.gap) return;
    expect(selectedRow(after)).toBe(selectedRow(before));
  },
  "a pinned or frozen list never scrolls by itself": (before, after, step, _, height) => {
    if (step.kind !== "come" || (before.follows && !before.frozen)) return;
    const [seen, now] = [visibleRows(before, height), visibleRows(after, height)];
    if (seen.isGone || now.isGone || seen.selected < 0) return;
    const kept = new Set(filteredRows(after));
    const lost = filteredRows(before).length > 0 && !seen.rows.every((one) => kept.has(one));
    if (lost) return;
    expect(ids(now.rows).slice(0, seen.rows.length)).toEqual(ids(seen.rows));
    expect(now.selected).toBe(seen.selected);
  },
  "the selected row is always visible, and keys act on it": (_, list, __, ___, height) => {
    const view = visibleRows(list, height);
    expect(view.rows.length).toBeLessThanOrEqual(height);
    expect(view.isGone).toBe(isCursorGone(list));
    expect(view.rows[view.selected]).toBe(selectedRow(list));
    if (list.follows) expect(view.selected).toBe(view.rows.length - 1);
  },
  "a list that follows shows its newest rows, in order and matching the filter": (_, list, __, ___, height) => {
    const view = visibleRows(list, height);
    if (list.follows) expect(view.rows).toEqual(filteredRows(list).slice(-height));
    const rowsShown = view.rows.filter(({ gap }) => !gap);
    const numbers = rowsShown.map(({ value }) => value as number);
    expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
    if (list.filter === "kind:blue" && !view.isGone)
      expect(rowsShown.every(({ filterBy }) => filterBy.fields.kind === "blue")).toBe(true);
  },
  "all rows are counted, and those that came after a pause or freeze count as unseen": (
    _,
    list,
    __,
    { came, pausedAt, frozenAt },
  ) => {
    expect(list.total).toBe(came);
    expect(list.rows.filter(({ gap }) => !gap).length).toBeLessThanOrEqual(MAX_ROWS);
    expect(unseenCount(list)).toBe(came - Math.min(pausedAt ?? came, frozenAt ?? came));
  },
};

/** A regression test: after a filter, the next match once scrolled a pinned list. */
const FILTERED: Action[] = [
  { kind: "come", rows: 15, unsent: 0 },
  { kind: "move", by: -11 },
  { kind: "filter", text: "red" },
  { kind: "come", rows: 1, unsent: 0 },
];

test.each(Object.entries(properties))("with any sequence of keys and rows, %s", (_, holds) => {
  fc.assert(
    fc.property(history, (given) => perform(given, holds)),
    { numRuns: inputs(30), examples: [[{ height: 5, actions: FILTERED }]] },
  );
});
