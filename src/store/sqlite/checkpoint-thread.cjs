// Runs as a thread of its own: copies the write-ahead log into the database file, each time the main thread asks for
// it.

const { workerData } = require("node:worker_threads");
const { file, sqlite, state, states } = workerData;
const Sqlite = require(sqlite);

for (;;) {
  Atomics.wait(state, 0, states.idle);
  if (Atomics.compareExchange(state, 0, states.asked, states.running) !== states.asked) break;
  try {
    checkpoint();
  } catch {
    // Pages that were not copied stay in the log. Once the log is long, SQLite copies them in the main thread.
  }
  Atomics.compareExchange(state, 0, states.running, states.idle);
  Atomics.notify(state, 0);
}

/** Passive: it neither waits for a lock nor keeps the main thread from writing. */
function checkpoint() {
  const sql = new Sqlite(file, { fileMustExist: true });
  try {
    sql.exec("pragma synchronous = full; pragma wal_checkpoint(passive)");
  } finally {
    sql.close();
  }
}
