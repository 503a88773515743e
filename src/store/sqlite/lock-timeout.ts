// How long a write waits for another program's lock on the file. The process serves no request while it waits.

import type { Sql } from "./lazy-statements.ts";
import { isLocked } from "./sqlite-errors.ts";

/** After one lock timeout, fail fast until a write succeeds; otherwise every write would block the process for that long. */
export function openLockTimeout(sql: Sql, milliseconds: number) {
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
    /** To be called after a write that succeeded: the next one waits for the lock again. */
    reset: () => setWaits(true),
  };
}
