// Ids made from the seed.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRandom, sortKeyIn, sortKeyOf } from "../../src/kernel/random.ts";

describe("ids of a kind", () => {
  const counts = fc.integer({ min: 0, max: 62 ** 4 - 1 });

  test("sort in the order of creation, and records that belong together share a sort key", () => {
    const random = createRandom(1);
    const idOf = (count: number) => random.sortableId(sortKeyOf(count), "evt", "mer_lodge", count);
    fc.assert(
      fc.property(counts, counts, (one, other) => {
        expect(idOf(one)).toMatch(/^evt_[0-9A-Za-z]{16}$/);
        expect(idOf(one) < idOf(other)).toBe(one < other);
        expect(sortKeyIn(idOf(one))).toBe(sortKeyOf(one));
      }),
    );
  });

  test("start again after the last sort key", () => {
    expect(sortKeyOf(62 ** 4 + 1)).toBe(sortKeyOf(1));
  });
});
