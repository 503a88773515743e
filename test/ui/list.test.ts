// The lists of the dashboard: what a cursor stands on, what is seen, and what is counted, whatever comes, goes, and is filtered meanwhile.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  append,
  choose,
  chosenRow,
  emptyList,
  filtered,
  follow,
  freeze,
  freshOf,
  isGone,
  type List,
  MOST_ROWS,
  type Move,
  move,
  type Row,
  replace,
  shownRows,
  thaw,
  viewOf,
} from "../../ui/state/list.ts";

const KINDS = ["red", "green", "blue"];

const row = (number: number, kind = KINDS[number % KINDS.length] ?? ""): Row => ({
  id: `row_${number}`,
  value: number,
  facts: { text: `${kind} ${number}`, fields: { kind } },
});

const rows = (from: number, count: number) => Array.from({ length: count }, (_, index) => row(from + index));
const ids = (list: readonly Row[]) => list.map(({ id }) => id);
const filled = (count: number) => append(emptyList(true), rows(0, count));

describe("a list that follows", () => {
  test("shows the newest rows, and the last of them is the one that keys act on", () => {
    const list = append(filled(20), rows(20, 3));
    expect(ids(viewOf(list, 4).rows)).toEqual(["row_19", "row_20", "row_21", "row_22"]);
    expect([viewOf(list, 4).chosen, chosenRow(list)?.id, freshOf(list)]).toEqual([3, "row_22", 0]);
  });

  test("is pinned by the first move, on the row that is seen, without moving the view", () => {
    const list = move(filled(20), -1, 5);
    expect(list.follows).toBe(false);
    expect(viewOf(list, 5)).toEqual({ rows: rows(15, 5), chosen: 3, gone: false });
  });

  test("stays where it is while rows come, counts them, and goes on by f", () => {
    const pinned = append(append(move(filled(20), -2, 5), rows(20, 7)), rows(27, 1), 4);
    expect(viewOf(pinned, 5)).toEqual({ rows: rows(15, 5), chosen: 2, gone: false });
    expect([freshOf(pinned), pinned.total]).toEqual([12, 32]);
    const following = follow(pinned);
    expect(ids(viewOf(following, 2).rows)).toEqual(["row_26", "row_27"]);
    expect([freshOf(following), chosenRow(following)?.id]).toEqual([0, "row_27"]);
  });
});

describe("a row that has left the list", () => {
  const evicted = append(move(filled(10), "first", 5), rows(10, MOST_ROWS));

  test("is shown from a copy, above those that are left", () => {
    expect(evicted.rows).toHaveLength(MOST_ROWS);
    expect(isGone(evicted)).toBe(true);
    expect(viewOf(evicted, 3)).toEqual({ rows: [row(0), row(10), row(11)], chosen: 0, gone: true });
    expect(chosenRow(evicted)).toEqual(row(0));
  });

  test("has the oldest row below it, and nothing above", () => {
    expect(chosenRow(move(evicted, 1, 3))?.id).toBe("row_10");
    expect(chosenRow(move(evicted, 2, 3))?.id).toBe("row_11");
    expect(chosenRow(move(evicted, -1, 3))?.id).toBe("row_0");
    expect(chosenRow(move(evicted, "last", 3))?.id).toBe(`row_${MOST_ROWS + 9}`);
  });

  test("stays chosen in a list of how things stand, as it was last seen", () => {
    const list = replace(move(replace(emptyList(false), rows(0, 4)), 2, 4), [row(0), row(3)]);
    expect([chosenRow(list)?.id, isGone(list)]).toEqual(["row_2", true]);
    expect(chosenRow(move(list, 1, 4))?.id).toBe("row_0");
  });
});

describe("a list of how things stand", () => {
  test("has its first row chosen from the beginning, and takes in what became of the chosen one", () => {
    const list = replace(emptyList(false), rows(0, 3));
    expect(chosenRow(list)?.id).toBe("row_0");
    const changed = replace(list, [row(5), { ...row(0), value: "changed" }]);
    expect(chosenRow(changed)?.value).toBe("changed");
    expect(freshOf(changed)).toBe(0);
  });

  test("keeps the row of a frozen picture, and takes in what became of it when that goes on", () => {
    const frozen = freeze(replace(emptyList(false), rows(0, 3)));
    const later = replace(frozen, [{ ...row(0), value: "later" }]);
    expect([chosenRow(later)?.value, viewOf(later, 5).rows.length]).toEqual([0, 3]);
    expect([chosenRow(thaw(later))?.value, viewOf(thaw(later), 5).rows.length]).toEqual(["later", 1]);
  });
});

describe("a filter", () => {
  test("keeps the chosen row where it passes", () => {
    const list = filtered(move(filled(30), -3, 5), "kind:red");
    expect(chosenRow(move(filled(30), -2, 5))?.facts.fields.kind).toBe("red");
    expect(chosenRow(filtered(move(filled(30), -2, 5), "kind:red"))?.id).toBe("row_27");
    expect(chosenRow(list)?.id).toBe("row_24");
    expect(shownRows(list)).toHaveLength(10);
  });

  test("gives the chosen row back when it goes, however it was written meanwhile", () => {
    const chosen = move(filled(30), -3, 5);
    const written = ["n", "no", "none", "non", "", "kind:red", "kind:"].reduce(filtered, chosen);
    expect(chosenRow(filtered(chosen, "none"))).toBeUndefined();
    expect(chosenRow(filtered(written, ""))?.id).toBe("row_26");
  });

  test("that lets nothing through has the first row that comes chosen, and no later one", () => {
    const list = filtered(move(filled(5), -1, 5), "late");
    const late = (number: number) => ({ ...row(number), facts: { text: "late", fields: {} } });
    const came = append(append(list, [late(50)]), [late(51)]);
    expect([chosenRow(came)?.id, viewOf(came, 5).chosen]).toEqual(["row_50", 0]);
  });
});

describe("a frozen picture", () => {
  test("shows what there was, moves its cursor, and counts from the moment at which it froze", () => {
    const frozen = append(freeze(filled(10)), rows(10, 5), 2);
    expect(viewOf(frozen, 3).rows).toEqual(rows(7, 3));
    expect(freshOf(frozen)).toBe(7);
    const moved = move(frozen, -1, 3);
    expect([chosenRow(moved)?.id, freshOf(moved)]).toEqual(["row_8", 7]);
    expect(freshOf(thaw(moved))).toBe(7);
    expect(freshOf(follow(moved))).toBe(7);
    expect(freshOf(thaw(follow(moved)))).toBe(0);
  });
});

type Deed =
  | { kind: "come"; rows: number; unsent: number }
  | { kind: "move"; by: Move }
  | { kind: "filter"; text: string }
  | { kind: "pick"; index: number }
  | { kind: "follow" | "freeze" | "thaw" };

const deed: fc.Arbitrary<Deed> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("come" as const), rows: fc.nat(40), unsent: fc.nat(9) }) },
  fc.record({ kind: fc.constant("come" as const), rows: fc.constantFrom(MOST_ROWS - 3, MOST_ROWS + 3), unsent: fc.constant(0) }),
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("move" as const),
      by: fc.oneof(fc.integer({ min: -30, max: 30 }), fc.constantFrom("first" as const, "last" as const)),
    }),
  },
  fc.record({ kind: fc.constant("filter" as const), text: fc.constantFrom("", "red", "kind:blue", "!kind:green", "nowhere", "1", "!") }),
  fc.record({ kind: fc.constant("pick" as const), index: fc.nat(50) }),
  fc.record({ kind: fc.constantFrom("follow" as const, "freeze" as const, "thaw" as const) }),
);

/** What was counted by hand while the same was done. */
interface Model {
  came: number;
  pausedAt: number | undefined;
  frozenAt: number | undefined;
}

function done(list: List, step: Deed, model: Model, height: number): List {
  if (step.kind === "come") {
    const next = append(list, rows(model.came, step.rows), step.unsent);
    model.came += step.rows + step.unsent;
    return next;
  }
  if (step.kind === "filter") return filtered(list, step.text);
  if (step.kind === "freeze") {
    model.frozenAt ??= model.came;
    return list.frozen ? list : freeze(list);
  }
  if (step.kind === "thaw") {
    model.frozenAt = undefined;
    return thaw(list);
  }
  if (step.kind === "follow") {
    model.pausedAt = undefined;
    return follow(list);
  }
  const shown = shownRows(list);
  const picked = step.kind === "pick" ? shown[step.index % Math.max(1, shown.length)] : undefined;
  const next = step.kind === "move" ? move(list, step.by, height) : picked ? choose(list, picked, height) : list;
  if (!next.follows) model.pausedAt ??= model.frozenAt ?? model.came;
  return next;
}

const history = fc.record({ height: fc.integer({ min: 1, max: 12 }), deeds: fc.array(deed, { maxLength: 25 }) });

/** Plays a history; `look` is shown the list before and after each deed. */
function play(
  { height, deeds }: { height: number; deeds: Deed[] },
  look: (before: List, after: List, step: Deed, model: Model) => void,
): void {
  const model: Model = { came: 0, pausedAt: undefined, frozenAt: undefined };
  let list = emptyList(true);
  for (const step of deeds) {
    const next = done(list, step, model, height);
    look(list, next, step, model);
    list = next;
  }
}

describe("whatever happens", () => {
  test("the chosen row of a pinned list never changes by itself", () => {
    fc.assert(
      fc.property(history, (given) =>
        play(given, (before, after, step) => {
          const byItself = step.kind === "come" || step.kind === "freeze" || step.kind === "thaw";
          if (!byItself || before.follows || !chosenRow(before)) return;
          expect(chosenRow(after)).toBe(chosenRow(before));
        }),
      ),
      { numRuns: 300 },
    );
  });

  test("the view of a pinned list never jumps: rows that are still there stay on their lines", () => {
    fc.assert(
      fc.property(history, (given) =>
        play(given, (before, after, step) => {
          if (step.kind !== "come" || before.follows) return;
          const [seen, now] = [viewOf(before, given.height), viewOf(after, given.height)];
          if (seen.gone || now.gone || seen.chosen < 0) return;
          const kept = new Set(shownRows(after));
          const lost = shownRows(before).length > 0 && !seen.rows.every((one) => kept.has(one));
          if (lost) return;
          expect(ids(now.rows).slice(0, seen.rows.length)).toEqual(ids(seen.rows));
          expect(now.chosen).toBe(seen.chosen);
        }),
      ),
      { numRuns: 300 },
    );
  });

  test("the chosen row is always seen, and it is the one that keys act on", () => {
    fc.assert(
      fc.property(history, (given) =>
        play(given, (_, list) => {
          const view = viewOf(list, given.height);
          expect(view.rows.length).toBeLessThanOrEqual(given.height);
          expect(view.gone).toBe(isGone(list));
          expect(view.rows[view.chosen]).toBe(chosenRow(list));
        }),
      ),
      { numRuns: 300 },
    );
  });

  test("a list that follows shows its newest rows, and those that are shown are in order and fit the filter", () => {
    fc.assert(
      fc.property(history, (given) =>
        play(given, (_, list) => {
          const view = viewOf(list, given.height);
          const shown = shownRows(list);
          if (list.follows) expect(view.rows).toEqual(shown.slice(-given.height));
          const numbers = view.rows.map(({ value }) => value as number);
          expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
          if (list.filter === "kind:blue" && !view.gone) expect(view.rows.every(({ facts }) => facts.fields.kind === "blue")).toBe(true);
        }),
      ),
      { numRuns: 300 },
    );
  });

  test("every row is counted, and so is what came since the picture stopped", () => {
    fc.assert(
      fc.property(history, (given) =>
        play(given, (_, list, __, { came, pausedAt, frozenAt }) => {
          expect(list.total).toBe(came);
          expect(list.rows.length).toBeLessThanOrEqual(MOST_ROWS);
          expect(freshOf(list)).toBe(came - Math.min(pausedAt ?? came, frozenAt ?? came));
        }),
      ),
      { numRuns: 300 },
    );
  });
});
