// What a transaction is made of: what can be undone in it alone, and what it has of its own.

import { once } from "../../kernel/once.ts";
import type { Sql } from "./lazy-statements.ts";
import { withTranslatedErrors } from "./sqlite-errors.ts";

export interface Transactions {
  /** Runs `work` inside the transaction of the caller so that it can be undone alone; outside of any, in one of its own. */
  savepoint<T>(work: () => T): T;
  /**
   * Something of which each transaction has its own: made when that first asks for it, and finished just before it is committed. What is undone
   * alone is not undone in it. Ask only inside a transaction.
   */
  perTransaction<T>(make: () => T, finish: (mine: T) => void): () => T;
  /** Runs all that a transaction consists of. */
  whole<T>(work: () => T): T;
  /**
   * Runs works inside a transaction, none of which can be undone alone: SQLite need not keep what each page was before each. False where one
   * of them failed after it had written something, so that all have to be undone. One that wrote nothing has nothing to undo.
   */
  boldly(works: () => void): boolean;
}

export function openTransactions(sql: Sql): Transactions {
  // better-sqlite3 turns a transaction inside a transaction into a savepoint.
  const transaction = once(() => sql.transaction((work: () => unknown) => work()));
  const { whole, perTransaction } = openSpan();
  const { boldly, orSpoil, isBold } = openBoldness(sql);
  return {
    savepoint(work) {
      if (isBold()) return orSpoil(work);
      return withTranslatedErrors(() => transaction()(sql.inTransaction ? work : () => whole(work)) as ReturnType<typeof work>);
    },
    perTransaction,
    whole,
    boldly,
  };
}

function openBoldness(sql: Sql) {
  const rowsWritten = sql.prepare<[], number>("select total_changes()").pluck();
  let bold = false;
  let spoilt = false;
  return {
    isBold: () => bold,
    orSpoil<T>(work: () => T): T {
      const before = rowsWritten.get();
      try {
        return work();
      } catch (error) {
        if (rowsWritten.get() !== before) spoilt = true;
        throw error;
      }
    },
    boldly(works: () => void): boolean {
      bold = true;
      spoilt = false;
      try {
        works();
      } finally {
        bold = false;
      }
      return !spoilt;
    },
  };
}

function openSpan(): Pick<Transactions, "whole" | "perTransaction"> {
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
