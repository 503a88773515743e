// What is written: together, and as lasting as each of it wants.

import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createRandom } from "../../src/kernel/random.ts";
import { openCounters } from "../../src/store/records/id-counters.ts";
import { type Database, openDatabase } from "../../src/store/sqlite/database.ts";
import type { Durability } from "../../src/store/sqlite/group-commit.ts";
import { folder } from "../support/program.ts";

let database: Database;
beforeEach(() => {
  database = openDatabase(join(folder(), "sandbox.db"));
});
afterEach(() => database.close());

/** How SQLite commits what is written at this moment: 2 waits for the disk, 1 does not. */
const care = () => database.sql.prepare<[], number>("pragma synchronous").pluck().get();
const commit = (how?: Durability) => database.commit(care, how);

describe("a commit waits for the disk", () => {
  test("unless all that is in it is light", async () => {
    expect(await Promise.all([commit("relaxed"), commit("relaxed")])).toEqual([1, 1]);
    expect(await Promise.all([commit("relaxed"), commit(), commit("relaxed")])).toEqual([2, 2, 2]);
    expect(await commit()).toBe(2);
  });

  test("when a light work hands in one that has to last", async () => {
    let inner: Promise<unknown> | undefined;
    const outer = await database.commit(() => {
      inner = commit();
      return care();
    }, "relaxed");
    expect([outer, await inner]).toEqual([1, 2]);
  });

  test("at once as well, after a light one that failed too", () => {
    expect(database.commitNow(care, "relaxed")).toBe(1);
    expect(() =>
      database.commitNow(() => {
        throw new Error("planted");
      }, "relaxed"),
    ).toThrow("planted");
    expect([care(), database.commitNow(care)]).toEqual([2, 2]);
  });

  test("in a light work inside one that lasts", async () => {
    expect(await database.commit(() => database.commitNow(care, "relaxed"))).toBe(2);
  });
});

/** Who runs in the same transaction as whom: each gives the transaction that it found itself in. */
function transactions() {
  const ours = database.perTransaction(
    () => ({}),
    () => {},
  );
  return (how?: Durability) => database.commit(ours, how);
}

const nextTurn = () => new Promise<void>((resolve) => void setImmediate(resolve));

describe("a commit is shared", () => {
  test("by works that come while others come, for three turns of the event loop", async () => {
    const join = transactions();
    const coming = [join(), join()];
    for (let turn = 0; turn < 4; turn++) {
      await nextTurn();
      coming.push(join());
    }
    const [first, ...others] = await Promise.all(coming);
    expect(others.map((one) => one === first)).toEqual([true, true, true, false, false]);
  });

  test("but nobody waits for company: not one that is alone, nor those that nothing follows, nor what need not last", async () => {
    const join = transactions();
    const alone = join();
    await nextTurn();
    expect(await join()).not.toBe(await alone);
    const two = [join(), join()];
    await nextTurn();
    await nextTurn();
    const [one, other] = await Promise.all(two);
    expect([one === other, (await join()) === one]).toEqual([true, false]);
    const light = [join("relaxed"), join("relaxed")];
    await nextTurn();
    expect(await join("relaxed")).not.toBe(await light[0]);
  });
});

describe("a work that fails", () => {
  const note = (text: string) => database.sql.prepare("insert into settings (name, value) values (?, 1)").run(text);
  const noted = () => database.sql.prepare<[], string>("select name from settings order by name").pluck().all();
  /** How often each work was run. */
  const runs = new Map<string, number>();
  beforeEach(() => runs.clear());

  interface Work {
    how: Durability;
    fails: "never" | "before it writes" | "after it wrote";
    inner: "none" | "stands" | "is undone" | "is undone, and nothing came of it";
  }

  const carryOut = (name: string, { fails, inner }: Work) => {
    runs.set(name, (runs.get(name) ?? 0) + 1);
    if (fails === "before it writes") throw new Error(name);
    note(name);
    try {
      if (inner !== "none")
        database.savepoint(() => {
          if (inner !== "is undone, and nothing came of it") note(`${name} inner`);
          if (inner !== "stands") throw new Error("inner");
        });
    } catch {
      // As a 409 that is remembered.
    }
    if (fails === "after it wrote") throw new Error(name);
    return name;
  };

  const works = fc.array(
    fc.record<Work>({
      how: fc.constantFrom("repeatable", "repeatable", "durable", "relaxed"),
      fails: fc.constantFrom("never", "never", "before it writes", "after it wrote"),
      inner: fc.constantFrom("none", "none", "stands", "is undone", "is undone, and nothing came of it"),
    }),
    { minLength: 1, maxLength: 8 },
  );

  test("undoes itself and nobody else, whatever it is in company with", async () => {
    await fc.assert(
      fc.asyncProperty(works, async (all) => {
        database.sql.exec("delete from settings");
        runs.clear();
        const names = all.map((_, place) => `work ${place}`);
        const outcomes = await Promise.allSettled(
          all.map((work, place) => database.commit(() => carryOut(`work ${place}`, work), work.how)),
        );
        expect(outcomes.map(({ status }) => status)).toEqual(all.map(({ fails }) => (fails === "never" ? "fulfilled" : "rejected")));
        const standing = all.flatMap(({ fails, inner }, place) => {
          if (fails !== "never") return [];
          return inner === "stands" ? [`work ${place}`, `work ${place} inner`] : [`work ${place}`];
        });
        expect(noted()).toEqual(standing.sort());
        // Only what says that it may be run again is.
        const again = names.filter((name) => runs.get(name) !== 1);
        expect(again.filter((name) => all[names.indexOf(name)]?.how !== "repeatable")).toEqual([]);
        expect(again.every((name) => runs.get(name) === 2)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });

  test("makes others run again only where it wrote something", async () => {
    const stands: Work = { how: "repeatable", fails: "never", inner: "none" };
    const inCompanyOf = async (work: Work) => {
      runs.clear();
      await Promise.allSettled([
        database.commit(() => carryOut("one", stands), "repeatable"),
        database.commit(() => carryOut("other", work), work.how),
      ]);
      database.sql.exec("delete from settings");
      return runs.get("one");
    };
    expect(await inCompanyOf({ ...stands, fails: "before it writes" })).toBe(1);
    expect(await inCompanyOf({ ...stands, inner: "is undone, and nothing came of it" })).toBe(1);
    expect(await inCompanyOf({ ...stands, how: "durable", fails: "after it wrote" })).toBe(1);
    expect(await inCompanyOf({ ...stands, fails: "after it wrote" })).toBe(2);
    expect(await inCompanyOf({ ...stands, inner: "is undone" })).toBe(2);
  });
});

describe("what counts", () => {
  const count = (work: () => void = () => {}) => {
    const next = openCounters(database, createRandom(1)).next("mer_lodge", "evt");
    work();
    return next;
  };
  const written = () => database.sql.prepare<[], number>("select value from counters where merchant = 'mer_lodge'").pluck().get();
  const fail = () => {
    throw new Error("planted");
  };

  test("goes on within a commit and after it, and is in the file with it", async () => {
    const { next } = openCounters(database, createRandom(1));
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

  test("gives the same numbers where works are run again", async () => {
    const { next } = openCounters(database, createRandom(1));
    const one = () => next("mer_lodge", "evt");
    const spoil = () => {
      one();
      database.sql.exec("insert into settings (name, value) values ('spoilt', 1)");
      throw new Error("planted");
    };
    const outcomes = await Promise.allSettled([one, spoil, one].map((work) => database.commit(work, "repeatable")));
    expect(outcomes).toMatchObject([{ value: 1 }, { status: "rejected" }, { value: 3 }]);
    expect(written()).toBe(3);
  });

  test("is refused outside a transaction, where nobody would write it down", () => {
    expect(() => count()).toThrow("outside a transaction");
  });
});
