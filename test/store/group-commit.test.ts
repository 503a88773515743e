// Group commit: which calls share a transaction, what the failure of one call undoes, and how durable the commit is.

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

/** How SQLite commits at this moment: 2 waits for the disk, 1 does not. */
const synchronous = () => database.sql.prepare<[], number>("pragma synchronous").pluck().get();
const commit = (durability?: Durability) => database.groupCommit(synchronous, durability);

describe("a commit waits for the disk", () => {
  test("unless all of its work is relaxed", async () => {
    expect(await Promise.all([commit("relaxed"), commit("relaxed")])).toEqual([1, 1]);
    expect(await Promise.all([commit("relaxed"), commit(), commit("relaxed")])).toEqual([2, 2, 2]);
    expect(await commit()).toBe(2);
  });

  test("when relaxed work queues durable work", async () => {
    let inner: Promise<unknown> | undefined;
    const outer = await database.groupCommit(() => {
      inner = commit();
      return synchronous();
    }, "relaxed");
    expect([outer, await inner]).toEqual([1, 2]);
  });

  test("after a relaxed transaction, even a failed one", () => {
    expect(database.transaction(synchronous, "relaxed")).toBe(1);
    expect(() =>
      database.transaction(() => {
        throw new Error("planted");
      }, "relaxed"),
    ).toThrow("planted");
    expect([synchronous(), database.transaction(synchronous)]).toEqual([2, 2]);
  });

  test("if durable work contains a relaxed transaction", async () => {
    expect(await database.groupCommit(() => database.transaction(synchronous, "relaxed"))).toBe(2);
  });
});

/** A function that runs work in the group commit, and returns an object that identifies the transaction. */
function transactions() {
  const current = database.perTransaction(
    () => ({}),
    () => {},
  );
  return (durability?: Durability) => database.groupCommit(current, durability);
}

const nextTurn = () => new Promise<void>((resolve) => void setImmediate(resolve));

describe("a commit is shared", () => {
  test("by work that arrives within three turns of the event loop", async () => {
    const join = transactions();
    const arriving = [join(), join()];
    for (let turn = 0; turn < 4; turn++) {
      await nextTurn();
      arriving.push(join());
    }
    const [first, ...others] = await Promise.all(arriving);
    expect(others.map((one) => one === first)).toEqual([true, true, true, false, false]);
  });

  test("only until a turn brings no new work; work that is alone or relaxed does not wait", async () => {
    const join = transactions();
    const alone = join();
    await nextTurn();
    expect(await join()).not.toBe(await alone);
    const two = [join(), join()];
    await nextTurn();
    await nextTurn();
    const [one, other] = await Promise.all(two);
    expect([one === other, (await join()) === one]).toEqual([true, false]);
    const relaxed = [join("relaxed"), join("relaxed")];
    await nextTurn();
    expect(await join("relaxed")).not.toBe(await relaxed[0]);
  });

  test("and runs durable work before relaxed work", async () => {
    const order: string[] = [];
    const note = (durability: Durability) => database.groupCommit(() => order.push(durability), durability);
    await Promise.all([note("relaxed"), note("durable"), note("relaxed"), note("durable")]);
    expect(order).toEqual(["durable", "durable", "relaxed", "relaxed"]);
  });
});

const insert = (name: string) => database.sql.prepare("insert into settings (name, value) values (?, 1)").run(name);
/** The names that a test inserted, without `mark`, which every file has. */
const inserted = () =>
  database.sql.prepare<[], string>("select name from settings where name <> 'mark' order by name").pluck().all();

function fail(): never {
  throw new Error("planted");
}

describe("work that fails", () => {
  interface Work {
    durability: Durability;
    fails: "never" | "before it writes" | "after it wrote";
    part: "none" | "succeeds" | "fails" | "fails before it writes";
  }

  const carryOut = (name: string, { fails, part }: Work) => {
    if (fails === "before it writes") throw new Error(name);
    insert(name);
    try {
      if (part !== "none")
        database.transaction(() => {
          if (part !== "fails before it writes") insert(`${name} part`);
          if (part !== "succeeds") fail();
        });
    } catch {
      // Work may continue after a part of it failed: a 409 is stored for its Idempotency-Key.
    }
    if (fails === "after it wrote") throw new Error(name);
    return name;
  };

  const works = fc.array(
    fc.record<Work>({
      durability: fc.constantFrom("durable", "relaxed"),
      fails: fc.constantFrom("never", "never", "before it writes", "after it wrote"),
      part: fc.constantFrom("none", "none", "succeeds", "fails", "fails before it writes"),
    }),
    { minLength: 1, maxLength: 8 },
  );

  test("is rolled back without the other work, and all work runs once", async () => {
    await fc.assert(
      fc.asyncProperty(works, async (all) => {
        database.sql.exec("delete from settings");
        const runs: string[] = [];
        const outcomes = await Promise.allSettled(
          all.map((work, index) =>
            database.groupCommit(() => {
              runs.push(`work ${index}`);
              return carryOut(`work ${index}`, work);
            }, work.durability),
          ),
        );
        expect(outcomes.map(({ status }) => status)).toEqual(
          all.map(({ fails }) => (fails === "never" ? "fulfilled" : "rejected")),
        );
        const kept = all.flatMap(({ fails, part }, index) => {
          if (fails !== "never") return [];
          return part === "succeeds" ? [`work ${index}`, `work ${index} part`] : [`work ${index}`];
        });
        expect(inserted()).toEqual(kept.sort());
        expect(runs.sort()).toEqual(all.map((_, index) => `work ${index}`));
      }),
      { numRuns: 150 },
    );
  });

  test("does not undo the writes of earlier work, made by any kind of statement", async () => {
    const { sql } = database;
    const learner =
      "insert into learners (merchant, name, step, hints, began, mark) " +
      "values (?, ?, 1, 0, 0, 'null') returning sequence";
    const add = (name: string) => sql.prepare<string[], number>(learner).pluck().get(name, name);
    const ids = await Promise.allSettled([
      database.groupCommit(() => sql.exec("create temp table notes (text)")),
      database.groupCommit(() => add("one")),
      database.groupCommit(() => sql.prepare("insert into notes select name from learners").run().changes),
      database.groupCommit(() => {
        add("two");
        fail();
      }),
      database.groupCommit(() => add("three")),
    ]);
    expect(ids.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "fulfilled", "rejected", "fulfilled"]);
    expect(sql.prepare("select sequence, name from learners").all()).toEqual([
      { sequence: 1, name: "one" },
      { sequence: 2, name: "three" },
    ]);
    expect(sql.prepare("select text from notes").pluck().all()).toEqual(["one"]);
  });

  test("does not repeat the writes of earlier work, however much work fails", async () => {
    let executions = 0;
    database.sql.function("executed", { deterministic: false }, () => ++executions);
    const write = () => database.sql.prepare("insert into settings (name, value) values ('kept', executed())").run();
    const outcomes = await Promise.allSettled([
      database.groupCommit(write),
      ...Array.from({ length: 20 }, (_, index) =>
        database.groupCommit(() => {
          insert(`failing ${index}`);
          fail();
        }),
      ),
    ]);
    expect(outcomes.filter(({ status }) => status === "rejected")).toHaveLength(20);
    expect([inserted(), executions]).toEqual([["kept"], 1]);
  });
});

describe("a counter", () => {
  const count = (work: () => void = () => {}) => {
    const next = openCounters(database, createRandom(1)).next("mer_lodge", "evt");
    work();
    return next;
  };
  const written = () =>
    database.sql.prepare<[], number>("select value from counters where merchant = 'mer_lodge'").pluck().get();

  test("continues within a commit and after it, and is stored by each commit", async () => {
    const { next } = openCounters(database, createRandom(1));
    const one = () => next("mer_lodge", "evt");
    expect(await Promise.all([database.groupCommit(one), database.groupCommit(one)])).toEqual([1, 2]);
    expect([written(), database.transaction(one), written()]).toEqual([2, 3, 3]);
  });

  test("that is opened anew does not count a number whose work or transaction was rolled back", async () => {
    expect(
      await Promise.allSettled([database.groupCommit(() => count(fail)), database.groupCommit(() => count())]),
    ).toMatchObject([{ status: "rejected" }, { value: 1 }]);
    expect(() => database.transaction(() => count(fail))).toThrow("planted");
    expect([database.transaction(count), written()]).toEqual([2, 2]);
  });

  test("that all work shares does not reuse the number of work that failed", async () => {
    const { next } = openCounters(database, createRandom(1));
    const one = () => next("mer_lodge", "evt");
    const failing = () => {
      one();
      insert("failing");
      fail();
    };
    const outcomes = await Promise.allSettled([one, failing, one].map((work) => database.groupCommit(work)));
    expect(outcomes).toMatchObject([{ value: 1 }, { status: "rejected" }, { value: 3 }]);
    expect(written()).toBe(3);
  });

  test("throws outside a transaction, because its value would not be stored", () => {
    expect(() => count()).toThrow("outside a transaction");
  });
});
