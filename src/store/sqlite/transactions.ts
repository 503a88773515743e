// Transactions, nested parts that can be rolled back alone, and values that live as long as a transaction.

import type { Sql } from "./lazy-statements.ts";
import { openRedoLog } from "./redo-log.ts";

export type Transactions = ReturnType<typeof openTransactions>;

export function openTransactions(sql: Sql) {
  const begin = sql.prepare("begin");
  const beginWriting = sql.prepare("begin immediate");
  const commit = sql.prepare("commit");
  const rollback = sql.prepare("rollback");
  const redoLog = openRedoLog(sql);
  const { perTransaction, finished } = openTransactionValues();
  const whole = <T>(first: typeof begin, work: () => T): T =>
    redoLog.record(() => {
      first.run();
      try {
        const value = finished(work);
        commit.run();
        return value;
      } catch (error) {
        if (sql.inTransaction) rollback.run();
        throw error;
      }
    });
  return {
    /** Runs `work` in a transaction. Inside another one, it joins that one; if it throws, only its own writes are rolled back. */
    transaction: <T>(work: () => T): T => (sql.inTransaction ? redoLog.part(work) : whole(begin, work)),
    /** Runs `work` in a transaction that takes the write lock first, so that another program's lock is reported before `work` runs. */
    writeTransaction: <T>(work: () => T): T => whole(beginWriting, work),
    /**
     * A value for each transaction: `make` creates it at its first use, `finish` runs just before the commit. Rolling back a part does not
     * change the value. Throws outside a transaction.
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
