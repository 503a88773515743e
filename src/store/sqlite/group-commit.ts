// How what is written gets into the file: calls that wait together in one commit, and only what must last as long as the disk.

import { afterThisTurn } from "../../kernel/clock.ts";
import { SandboxError } from "../../kernel/errors.ts";
import type { Sql } from "./lazy-statements.ts";
import { type LockTimeout, openLockTimeout } from "./lock-timeout.ts";
import { openTransactions, type Transactions } from "./transactions.ts";

export interface Commits extends Pick<Transactions, "savepoint" | "perTransaction"> {
  /**
   * Runs `work` in a transaction of its own and resolves once that is on disk. Works that wait together share one commit: one that throws
   * undoes itself and nobody else. A work that is handed in by another shares that one's commit too.
   */
  commit<T>(work: () => T, how?: Durability): Promise<T>;
  /** The same at once, for what no request waits on. */
  commitNow<T>(work: () => T, how?: Durability): T;
}

/**
 * - `durable`: it is on the disk before anybody hears of it.
 * - `repeatable`: that too, and it changes nothing but the file, so it may be undone and done once more for the sake of another.
 * - `relaxed`: no death of this process takes it back, but where the machine itself dies the file may be as it was a moment before. For what would
 *   be done once more, or missed by nobody: the disk need not be waited for.
 */
export type Durability = "durable" | "repeatable" | "relaxed";

interface Waiting {
  work: () => unknown;
  how: Durability;
  resolve: (value: never) => void;
  reject: (reason: unknown) => void;
}

export interface CommitsOptions {
  hasFile: boolean;
  /** How long another program's lock is waited for, in milliseconds. */
  patience: number;
}

/** The disk takes as long as several calls do: while more of them come in, those that wait for it wait for these, so many turns of the event loop. */
const MOST_TURNS = 2;

export function openCommits(sql: Sql, { hasFile, patience }: CommitsOptions): Commits {
  const transactions = openTransactions(sql);
  const { savepoint, perTransaction } = transactions;
  const wait = openLockTimeout(sql, patience);
  const settle = settler(sql, wait, transactions);
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
    const areLight = waiting.every(({ how }) => how === "relaxed");
    if (areLight || present === before || turns === MOST_TURNS) flush(areLight);
    else afterThisTurn(() => gather(turns + 1, present));
  };
  return {
    savepoint,
    perTransaction,
    commitNow: (work, how) => wait.spend(() => lightly(how === "relaxed", () => savepoint(work))),
    commit: (work, how = "durable") =>
      new Promise((resolve, reject) => {
        if (waiting.push({ work, how, resolve, reject }) === 1) afterThisTurn(() => gather(0, 1));
      }),
  };
}

/** Runs works in one transaction and tells each what became of it once that is in the file. */
function settler(sql: Sql, patience: LockTimeout, { savepoint, boldly, whole }: Transactions): (batch: Waiting[]) => void {
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
      // These first: what is run but once must not be undone with them.
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
      for (const { reject } of batch) reject(error);
    }
    for (const speak of outcomes ?? []) speak();
  };
}
