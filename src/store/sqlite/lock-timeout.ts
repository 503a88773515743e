// How long another program's lock on the file is waited for: nobody is served meanwhile.

import type { Sql } from "./lazy-statements.ts";
import { isLocked } from "./sqlite-errors.ts";

export interface LockTimeout {
  renew(): void;
  spend<T>(work: () => T): T;
}

/** Whoever waited in vain for another program's lock waits no more until somebody could write: else each write would, and nobody be served. */
export function openLockTimeout(sql: Sql, longest: number): LockTimeout {
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
