// Checkpoints under load: a thread copies the write-ahead log into the database file, so that no request waits for it.
//
// Trick. Reason: SQLite itself copies the log at the commit that makes it 1,000 pages long, and waits for the disk
// twice. Meanwhile the process serves no request. Figure: the stall is 10 to 20 ms. Without the thread, the longest
// stall of a GET at 4 connections is 1.4 times as long. Acknowledged writes are already in the log, so it does not
// matter which thread copies it, or when.

import { createRequire } from "node:module";
import { join } from "node:path";
import { realNow } from "../../kernel/clock.ts";
import thread from "./checkpoint-thread.cjs?raw";
import type { Sql } from "./lazy-statements.ts";

export type Checkpoints = ReturnType<typeof openCheckpoints>;

/**
 * The commits between two checkpoints: about a thousand pages. More checkpoints would keep durable commits waiting for
 * the disk.
 */
const COMMITS = 128;
/**
 * Real milliseconds. The thread needs about 8 MB, so it starts only when `COMMITS` commits take less time than this.
 */
const LOAD = 2_000;
/**
 * The length of the log, in pages, at which SQLite copies it in the main thread: without the thread (SQLite's default),
 * and with it.
 */
const PAGES = { alone: 1_000, withThread: 4_000 };
/** Real milliseconds. */
const CLOSE_TIMEOUT = 5_000;
const states = { idle: 0, asked: 1, running: 2, closed: 3 };

export function openCheckpoints(sql: Sql, file: string) {
  const state = new Int32Array(new SharedArrayBuffer(4));
  let commits = 0;
  let since = realNow();
  let hasThread = false;
  const copyAfter = (pages: number) => void (sql.open && sql.exec(`pragma wal_autocheckpoint = ${pages}`));
  const start = () => {
    hasThread = true;
    try {
      startThread({ file, state, states }, () => copyAfter(PAGES.alone));
      copyAfter(PAGES.withThread);
    } catch {
      // Threads may be forbidden. Then SQLite copies the log in the main thread.
    }
  };
  return {
    /** Call after each commit, outside a transaction. */
    committed() {
      if (++commits < COMMITS) return;
      const now = realNow();
      if (!hasThread && now - since < LOAD) start();
      commits = 0;
      since = now;
      if (hasThread && Atomics.compareExchange(state, 0, states.idle, states.asked) === states.idle)
        Atomics.notify(state, 0);
    },
    /** Waits for a running checkpoint, because only the connection that is closed last removes the log. */
    close() {
      if (Atomics.compareExchange(state, 0, states.asked, states.closed) === states.asked) return;
      Atomics.wait(state, 0, states.running, CLOSE_TIMEOUT);
      Atomics.store(state, 0, states.closed);
      Atomics.notify(state, 0);
    },
  };
}

/** Starts the thread, which does not keep the process alive. */
function startThread(workerData: object, failed: () => void): void {
  const { Worker } = process.getBuiltinModule("node:worker_threads");
  const sqlite = createRequire(join(import.meta.dirname, "package.json")).resolve("better-sqlite3");
  const worker = new Worker(thread, { eval: true, workerData: { ...workerData, sqlite }, execArgv: [], env: {} });
  worker.on("error", failed);
  worker.unref();
}
