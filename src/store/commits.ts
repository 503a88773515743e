// How what is written gets into the file: calls that wait together in one commit, and only what must last as long as the disk.

import { afterThisTurn } from "../kernel/clock.ts";
import { SandboxError } from "../kernel/errors.ts";
import { once } from "../kernel/once.ts";
import type { Sql } from "./late.ts";
import { isLocked, worded } from "./trouble.ts";

export interface Commits {
  /**
   * Runs `work` in a transaction of its own and resolves once that is on disk. Works that wait together share one commit: one that throws
   * undoes itself and nobody else. A work that is handed in by another shares that one's commit too.
   */
  commit<T>(work: () => T, how?: Commitment): Promise<T>;
  /** The same at once, for what no request waits on. */
  commitNow<T>(work: () => T, how?: Commitment): T;
  /** Runs `work` inside the transaction of the caller so that it can be undone alone. */
  savepoint<T>(work: () => T): T;
  /**
   * Something of which each transaction has its own: made when that first asks for it, and finished just before it is committed. What is undone
   * alone is not undone in it. Ask only inside a transaction.
   */
  perTransaction<T>(make: () => T, finish: (mine: T) => void): () => T;
}

/**
 * - `lasting`: it is on the disk before anybody hears of it.
 * - `repeatable`: that too, and it changes nothing but the file, so it may be undone and done once more for the sake of another.
 * - `light`: no death of this process takes it back, but where the machine itself dies the file may be as it was a moment before. For what would
 *   be done once more, or missed by nobody: the disk need not be waited for.
 */
export type Commitment = "lasting" | "repeatable" | "light";

interface Waiting {
  work: () => unknown;
  how: Commitment;
  resolve: (value: never) => void;
  reject: (reason: unknown) => void;
}

export interface CommitsNeeds {
  hasFile: boolean;
  /** How long another program's lock is waited for, in milliseconds. */
  patience: number;
}

/** The disk takes as long as several calls do: while more of them come in, those that wait for it wait for these, so many turns of the event loop. */
const MOST_TURNS = 2;

export function openCommits(sql: Sql, { hasFile, patience }: CommitsNeeds): Commits {
  const span = openSpan();
  const undo = openUndo(sql, span);
  const wait = openPatience(sql, patience);
  const settle = settler(sql, wait, undo, span);
  // It cannot be said inside a transaction, whose commit will be that of the caller.
  const lightly = <T>(isLight: boolean, work: () => T): T => {
    if (!isLight || !hasFile || sql.inTransaction) return work();
    sql.exec("pragma synchronous = normal");
    try {
      return work();
    } finally {
      sql.exec("pragma synchronous = full");
    }
  };
  let waiting: Waiting[] = [];

  const flush = (areLight: boolean) => {
    const batch = waiting;
    // What comes in while these run is appended to them, and so runs with them; but it may have to last where these need not.
    if (areLight) waiting = [];
    if (sql.open) lightly(areLight, () => settle(batch));
    else for (const { reject } of batch) reject(new SandboxError("The sandbox is closing."));
    if (waiting === batch) waiting = [];
  };
  // A work that is alone is not kept waiting for company.
  const gather = (turns: number, before: number) => {
    const present = waiting.length;
    const areLight = waiting.every(({ how }) => how === "light");
    if (areLight || present === before || turns === MOST_TURNS) flush(areLight);
    else afterThisTurn(() => gather(turns + 1, present));
  };
  return {
    savepoint: undo.savepoint,
    perTransaction: span.perTransaction,
    commitNow: (work, how) => wait.spend(() => lightly(how === "light", () => undo.savepoint(work))),
    commit: (work, how = "lasting") =>
      new Promise((resolve, reject) => {
        if (waiting.push({ work, how, resolve, reject }) === 1) afterThisTurn(() => gather(0, 1));
      }),
  };
}

/** Runs works in one transaction and tells each what became of it once that is in the file. */
function settler(sql: Sql, patience: Patience, { savepoint, boldly }: Undo, { whole }: Span): (batch: Waiting[]) => void {
  const begin = sql.prepare("begin immediate");
  const commit = sql.prepare("commit");
  const rollback = sql.prepare("rollback");
  /** Answers how to tell them; undefined where all is undone, and has to be done with more care. */
  const carryOut = (batch: Waiting[], isBold: boolean): (() => void)[] | undefined => {
    const outcomes: (() => void)[] = [];
    const run = ({ work, resolve, reject }: Waiting) => {
      try {
        const value = savepoint(work);
        outcomes.push(() => resolve(value as never));
      } catch (error) {
        // A disk that is full undoes everything at once: what the others did is gone too.
        if (!sql.inTransaction) throw error;
        outcomes.push(() => reject(error));
      }
    };
    const repeatable = new Set(batch.filter(({ how }) => how === "repeatable"));
    patience.spend(() => begin.run());
    patience.renew();
    const stands = whole(() => {
      const all = () => repeatable.forEach(run);
      if (isBold && !boldly(all)) return false;
      if (!isBold) all();
      for (const one of batch) if (!repeatable.has(one)) run(one);
      return true;
    });
    (stands ? commit : rollback).run();
    return stands ? outcomes : undefined;
  };
  return (batch) => {
    let outcomes: (() => void)[] | undefined;
    try {
      outcomes = carryOut(batch, true) ?? carryOut(batch, false);
    } catch (error) {
      if (sql.inTransaction) rollback.run();
      outcomes = batch.map(
        ({ reject }) =>
          () =>
            reject(error),
      );
    }
    for (const speak of outcomes ?? []) speak();
  };
}

interface Undo extends Pick<Commits, "savepoint"> {
  /**
   * Runs works of which none can be undone alone: SQLite need not keep what each page was before each. False where one of them failed after
   * it had written something, so that all have to be undone. One that wrote nothing has nothing to undo.
   */
  boldly(works: () => void): boolean;
}

function openUndo(sql: Sql, { whole }: Span): Undo {
  // better-sqlite3 turns a transaction inside a transaction into a savepoint.
  const transaction = once(() => sql.transaction((work: () => unknown) => work()));
  const rowsWritten = sql.prepare<[], number>("select total_changes()").pluck();
  let isBold = false;
  let isSpoilt = false;
  const orSpoil = <T>(work: () => T): T => {
    const before = rowsWritten.get();
    try {
      return work();
    } catch (error) {
      if (rowsWritten.get() !== before) isSpoilt = true;
      throw error;
    }
  };
  return {
    savepoint(work) {
      if (isBold) return orSpoil(work);
      return worded(() => transaction()(sql.inTransaction ? work : () => whole(work)) as ReturnType<typeof work>);
    },
    boldly(works) {
      isBold = true;
      isSpoilt = false;
      try {
        works();
      } finally {
        isBold = false;
      }
      return !isSpoilt;
    },
  };
}

interface Span extends Pick<Commits, "perTransaction"> {
  /** Runs all that a transaction consists of. */
  whole<T>(work: () => T): T;
}

function openSpan(): Span {
  let finishes: (() => void)[] | undefined;
  return {
    whole(work) {
      finishes = [];
      try {
        const value = work();
        for (const finish of finishes) finish();
        return value;
      } finally {
        finishes = undefined;
      }
    },
    perTransaction<T>(make: () => T, finish: (mine: T) => void) {
      let mine: { value: T; finishes: typeof finishes } | undefined;
      return () => {
        if (mine && mine.finishes === finishes) return mine.value;
        if (!finishes) throw new Error("asked outside a transaction");
        const value = make();
        mine = { value, finishes };
        finishes.push(() => finish(value));
        return value;
      };
    },
  };
}

interface Patience {
  renew(): void;
  spend<T>(work: () => T): T;
}

/** Whoever waited in vain for another program's lock waits no more until somebody could write: else each write would, and nobody be served. */
function openPatience(sql: Sql, longest: number): Patience {
  let patient = true;
  const become = (wanted: boolean) => {
    if (patient === wanted) return;
    patient = wanted;
    sql.exec(`pragma busy_timeout = ${wanted ? longest : 0}`);
  };
  return {
    renew: () => become(true),
    spend(work) {
      try {
        return work();
      } catch (error) {
        if (isLocked(error)) become(false);
        throw error;
      }
    },
  };
}
