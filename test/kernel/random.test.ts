// Ids that follow from the seed.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDice, placeIn, placeOf } from "../../src/kernel/random.ts";

describe("ids of a kind", () => {
  const counts = fc.integer({ min: 0, max: 62 ** 4 - 1 });

  test("sort as they were made, and what belongs to one stands beside it", () => {
    const dice = createDice(1);
    const idOf = (count: number) => dice.idAt(placeOf(count), "evt", "mer_lodge", count);
    fc.assert(
      fc.property(counts, counts, (one, other) => {
        expect(idOf(one)).toMatch(/^evt_[0-9A-Za-z]{16}$/);
        expect(idOf(one) < idOf(other)).toBe(one < other);
        expect(placeIn(idOf(one))).toBe(placeOf(one));
      }),
    );
  });

  test("go on after the last place", () => {
    expect(placeOf(62 ** 4 + 1)).toBe(placeOf(1));
  });
});
