// Transactions, and the group commit: calls that arrive together share one transaction and one wait for the disk.
// Trick. Reason: a wait for the disk costs as much as several calls. Figure: without it, a durable POST at 32
// connections costs 6 times the CPU time; without the two turns of waiting for more calls, 1.5 times.

import { afterThisTurn } from "../../kernel/clock.ts";
import { SandboxError } from "../../kernel/errors.ts";
import type { Checkpoints } from "./checkpoints.ts";
import type { Sql } from "./lazy-statements.ts";
import { isLocked } from "./sqlite-errors.ts";

export interface Commits extends Pick<Transactions, "perTransaction"> {
  /**
   * Runs `work` in the next shared transaction, and resolves with its result after the commit. Each function runs once;
   * if it throws, only its own writes are rolled back. A function that another one queues joins the same transaction.
   */
  groupCommit<T>(work: () => T, durability?: Durability): Promise<T>;
  /**
   * Runs `work` at once in a transaction, or in the present one if there is one. If `work` throws, only its own writes
   * are rolled back.
   */
  transaction<T>(work: () => T, durability?: Durability): T;
}

/**
 * - `durable`: on the disk when the commit ends (default).
 * - `relaxed`: the commit does not wait for the disk. It survives a crash of this process, but a crash of the machine
 *   may lose it. For the request log, and for writes that are repeated after a crash, such as those of deliveries.
 */
export type Durability = "durable" | "relaxed";

interface QueuedWork {
  work: () => unknown;
  durability: Durability;
  resolve: (value: never) => void;
  reject: (reason: unknown) => void;
}

export interface CommitsOptions {
  /** Undefined for a database in memory. */
  checkpoints: Pick<Checkpoints, "committed"> | undefined;
  /** Milliseconds to wait for another program's lock. */
  lockTimeout: number;
  /** Throws if writes would be lost. Called before each transaction. */
  requireInPlace?(): void;
}

/** Event-loop turns to wait for more calls; one wait for the disk costs as much as several calls. */
const MAX_TURNS = 2;

export function openCommits(
  sql: Sql,
  { checkpoints, lockTimeout, requireInPlace = () => {} }: CommitsOptions,
): Commits {
  const { transaction, writeTransaction, perTransaction } = openTransactions(sql);
  const lock = openLockTimeout(sql, lockTimeout);
  const withDurability = <T>(durability: Durability, work: () => T): T => {
    // SQLite rejects the pragma inside a transaction, so a nested part has the durability of the whole.
    if (!checkpoints || sql.inTransaction) return work();
    if (durability === "relaxed") sql.exec("pragma synchronous = normal");
    try {
      const value = work();
      checkpoints.committed();
      return value;
    } finally {
      if (durability === "relaxed") sql.exec("pragma synchronous = full");
    }
  };
  /** Each returned function settles the promise of one queued function. */
  const runTogether = (batch: QueuedWork[]): (() => void)[] => {
    try {
      requireInPlace();
      return lock.guard(() =>
        writeTransaction(() => {
          lock.reset();
          const reports: (() => void)[] = [];
          for (const queued of batch) reports.push(runOne(queued));
          return reports;
        }),
      );
    } catch (error) {
      return batch.map(({ reject }) => reject.bind(undefined, error));
    }
  };
  const runOne = ({ work, resolve, reject }: QueuedWork): (() => void) => {
    try {
      const value = transaction(work);
      return () => resolve(value as never);
    } catch (error) {
      // A full disk makes SQLite roll back the whole transaction.
      if (!sql.inTransaction) throw error;
      return () => reject(error);
    }
  };
  return {
    perTransaction,
    transaction(work, durability = "durable") {
      if (!sql.inTransaction) requireInPlace();
      return lock.guard(() => withDurability(durability, () => transaction(work)));
    },
    groupCommit: openQueue((batch, durability) => {
      if (!sql.open) for (const { reject } of batch) reject(new SandboxError("The sandbox is closing."));
      else for (const report of withDurability(durability, () => runTogether(batch))) report();
    }),
  };
}

/** Queues functions while more arrive, and then passes them to `flush`. */
function openQueue(flush: (batch: QueuedWork[], durability: Durability) => void): Commits["groupCommit"] {
  let queue: QueuedWork[] = [];
  const isRelaxed = ({ durability }: QueuedWork) => durability === "relaxed";
  const flushAll = (durability: Durability) => {
    const batch = queue;
    // Durable work runs first, so that the dispatcher's relaxed work, which reads due deliveries, finds the deliveries
    // that the durable work wrote.
    batch.sort((one, other) => Number(isRelaxed(one)) - Number(isRelaxed(other)));
    // Work that is queued while a durable batch runs joins that batch. Work never joins a relaxed batch, because the
    // work may be durable.
    if (durability === "relaxed") queue = [];
    flush(batch, durability);
    if (queue === batch) queue = [];
  };
  const gather = (turns: number, before: number) => {
    const present = queue.length;
    if (queue.every(isRelaxed)) flushAll("relaxed");
    // Work that arrives alone does not wait for more.
    else if (present === before || turns === MAX_TURNS) flushAll("durable");
    else afterThisTurn(() => gather(turns + 1, present));
  };
  return (work, durability = "durable") =>
    new Promise((resolve, reject) => {
      if (queue.push({ work, durability, resolve, reject }) === 1) afterThisTurn(() => gather(0, 1));
    });
}

/**
 * After one lock timeout, fail fast until a write succeeds; otherwise every write would block the process until the
 * timeout.
 */
function openLockTimeout(sql: Sql, milliseconds: number) {
  let waits = true;
  const setWaits = (wanted: boolean) => {
    if (waits === wanted) return;
    waits = wanted;
    sql.exec(`pragma busy_timeout = ${wanted ? milliseconds : 0}`);
  };
  return {
    /** Runs `work`. After it fails with a lock timeout, later writes fail at once. */
    guard<T>(work: () => T): T {
      try {
        return work();
      } catch (error) {
        if (isLocked(error)) setWaits(false);
        throw error;
      }
    },
    /** Call after a write that succeeded: the next one waits for the lock again. */
    reset: () => setWaits(true),
  };
}

/** Runs `work` inside a transaction, under a savepoint; if it throws, only its own writes are rolled back. */
function openParts(sql: Sql) {
  const begin = sql.prepare("savepoint part");
  const release = sql.prepare("release part");
  const rollback = sql.prepare("rollback to part");
  return <T>(work: () => T): T => {
    begin.run();
    try {
      const value = work();
      release.run();
      return value;
    } catch (error) {
      if (sql.inTransaction) {
        rollback.run();
        release.run();
      }
      throw error;
    }
  };
}

type Transactions = ReturnType<typeof openTransactions>;

/** Transactions, nested parts that can be rolled back alone, and values that live as long as a transaction. */
export function openTransactions(sql: Sql) {
  const begin = sql.prepare("begin");
  const beginWriting = sql.prepare("begin immediate");
  const commit = sql.prepare("commit");
  const rollback = sql.prepare("rollback");
  const part = openParts(sql);
  const { perTransaction, finished } = openTransactionValues();
  const whole = <T>(first: typeof begin, work: () => T): T => {
    first.run();
    try {
      const value = finished(work);
      commit.run();
      return value;
    } catch (error) {
      if (sql.inTransaction) rollback.run();
      throw error;
    }
  };
  return {
    /**
     * Runs `work` in a transaction, or in the present one if there is one. If `work` throws, only its own writes are
     * rolled back.
     */
    transaction: <T>(work: () => T): T => (sql.inTransaction ? part(work) : whole(begin, work)),
    /**
     * Runs `work` in a transaction that takes the write lock first, so that another program's lock is reported before
     * `work` runs.
     */
    writeTransaction: <T>(work: () => T): T => whole(beginWriting, work),
    /**
     * A value for each transaction: `make` creates it at its first use, `finish` runs just before the commit. Rolling
     * back a part does not change the value. Throws outside a transaction.
     */
    perTransaction,
  };
}

function openTransactionValues() {
  let finishes: (() => void)[] | undefined;
  return {
    /** Runs the whole transaction, and then finishes its values. */
    finished<T>(work: () => T): T {
      finishes = [];
      try {
        const value = work();
        for (const finish of finishes) finish();
        return value;
      } finally {
        finishes = undefined;
      }
    },
    perTransaction<T>(make: () => T, finish: (value: T) => void): () => T {
      let present: { value: T; transaction: typeof finishes } | undefined;
      return () => {
        if (!finishes) throw new Error("called outside a transaction");
        if (present?.transaction === finishes) return present.value;
        const value = make();
        present = { value, transaction: finishes };
        finishes.push(() => finish(value));
        return value;
      };
    },
  };
}
