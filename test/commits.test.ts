// What is written: together, and as lasting as each of it wants.

import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Commitment } from "../src/store/commits.ts";
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
