// What is written: together, and as lasting as each of it wants.

import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createDice } from "../src/kernel/random.ts";
import type { Commitment } from "../src/store/commits.ts";
import { openCounters } from "../src/store/counters.ts";
import { type Database, openDatabase } from "../src/store/database.ts";
import { folder } from "./program.ts";

let database: Database;
beforeEach(() => {
  database = openDatabase(join(folder(), "sandbox.db"));
});
afterEach(() => database.close());

/** How SQLite commits what is written at this moment: 2 waits for the disk, 1 does not. */
const care = () => database.sql.prepare<[], number>("pragma synchronous").pluck().get();
const commit = (how?: Commitment) => database.commit(care, how);

describe("a commit waits for the disk", () => {
  test("unless all that is in it is light", async () => {
    expect(await Promise.all([commit("light"), commit("light")])).toEqual([1, 1]);
    expect(await Promise.all([commit("light"), commit(), commit("light")])).toEqual([2, 2, 2]);
    expect(await commit()).toBe(2);
  });

  test("when a light work hands in one that has to last", async () => {
    let inner: Promise<unknown> | undefined;
    const outer = await database.commit(() => {
      inner = commit();
      return care();
    }, "light");
    expect([outer, await inner]).toEqual([1, 2]);
  });

  test("at once as well, after a light one that failed too", () => {
    expect(database.commitNow(care, "light")).toBe(1);
    expect(() =>
      database.commitNow(() => {
        throw new Error("planted");
      }, "light"),
    ).toThrow("planted");
    expect([care(), database.commitNow(care)]).toEqual([2, 2]);
  });

  test("in a light work inside one that lasts", async () => {
    expect(await database.commit(() => database.commitNow(care, "light"))).toBe(2);
  });
});

describe("what counts", () => {
  const count = (work: () => void = () => {}) => {
    const next = openCounters(database, createDice(1)).next("mer_lodge", "evt");
    work();
    return next;
  };
  const written = () => database.sql.prepare<[], number>("select value from counters where merchant = 'mer_lodge'").pluck().get();
  const fail = () => {
    throw new Error("planted");
  };

  test("goes on within a commit and after it, and is in the file with it", async () => {
    const { next } = openCounters(database, createDice(1));
    const one = () => next("mer_lodge", "evt");
    expect(await Promise.all([database.commit(one), database.commit(one)])).toEqual([1, 2]);
    expect([written(), database.commitNow(one), written()]).toEqual([2, 3, 3]);
  });

  test("gives no number twice in a commit of which a part is undone, and begins again where all of it is", async () => {
    expect(await Promise.allSettled([database.commit(() => count(fail)), database.commit(() => count())])).toMatchObject([
      { status: "rejected" },
      { value: 1 },
    ]);
    expect(() => database.commitNow(() => count(fail))).toThrow("planted");
    expect([database.commitNow(count), written()]).toEqual([2, 2]);
  });

  test("is refused outside a transaction, where nobody would write it down", () => {
    expect(() => count()).toThrow("outside a transaction");
  });
});
