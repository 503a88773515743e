// Rolls back the last part of a transaction without a savepoint: rolls back all of it and executes again the writes
// before that part.
//
// Trick. Reason: calls that arrive together share a transaction, and each must be able to fail alone. With a savepoint
// for each, SQLite copies every page that a call changes. A call that fails after it wrote something is rare, so the
// writes are kept instead, as functions that execute them again. Figure: with savepoints, a durable POST at 32
// connections costs 1.25 times the CPU time. Only SQL runs twice, never the code that issued it.

import { SandboxError } from "../../kernel/errors.ts";
import type { Sql } from "./lazy-statements.ts";
import { withTranslatedErrors } from "./sqlite-errors.ts";

type Write = () => void;

export function openRedoLog(sql: Sql) {
  const executeAgain = openExecuteAgain(sql);
  const begin = sql.prepare("savepoint part");
  const release = sql.prepare("release part");
  const rollback = sql.prepare("rollback to part");
  let writes: Write[] = [];
  let hasFailed = false;
  const withoutSavepoint = <T>(work: () => T): T => {
    const before = writes.length;
    try {
      return work();
    } catch (error) {
      if (writes.length > before && sql.inTransaction) {
        hasFailed = true;
        writes.length = before;
        executeAgain(writes);
      }
      throw error;
    }
  };
  const withSavepoint = <T>(work: () => T): T => {
    const before = writes.length;
    begin.run();
    try {
      const value = work();
      release.run();
      return value;
    } catch (error) {
      if (sql.inTransaction) {
        rollback.run();
        release.run();
        writes.length = before;
      }
      throw error;
    }
  };
  return {
    /** Runs `work`, which is a whole transaction from begin to commit, and records its writes. */
    record<T>(work: () => T): T {
      writes = [];
      hasFailed = false;
      sql.onWrite = (write) => writes.push(write);
      try {
        return work();
      } finally {
        sql.onWrite = undefined;
        writes = [];
      }
    },
    /** Runs `work` inside the recorded transaction; if it throws, only its own writes are rolled back. */
    // After one failure, more are likely. A savepoint then costs less than executing all writes again each time.
    part: <T>(work: () => T): T => (hasFailed ? withSavepoint(work) : withoutSavepoint(work)),
  };
}

/** Replaces the transaction by one that contains these writes. */
function openExecuteAgain(sql: Sql): (writes: readonly Write[]) => void {
  const begin = sql.prepare("begin immediate");
  const rollback = sql.prepare("rollback");
  // Changes whenever another connection has written to the file.
  const dataVersion = sql.prepare<[], number>("pragma data_version").pluck();
  return (writes) => {
    const version = dataVersion.get();
    rollback.run();
    begin.run();
    try {
      if (dataVersion.get() !== version)
        throw new SandboxError(
          "Another program wrote to the SQLite file while a call was rolled back. Send the call again.",
        );
      for (const write of writes) withTranslatedErrors(write);
    } catch (error) {
      if (sql.inTransaction) rollback.run();
      throw error;
    }
  };
}
