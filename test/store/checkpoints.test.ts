// Checkpoints under load: a thread copies the write-ahead log into the file, and closing the database waits for it.

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openDatabase } from "../../src/store/sqlite/database.ts";
import { folder } from "../support/program.ts";

/** Fewer pages than those after which SQLite itself copies the log. */
const COMMITS = 300;

function openFile() {
  const path = join(folder(), "sandbox.db");
  const database = openDatabase(path);
  const set = database.sql.prepare("insert or replace into settings (name, value) values (?, ?)");
  const write = (from: number, to: number) => {
    for (let number = from; number < to; number++) database.transaction(() => set.run(`name ${number}`, "x".repeat(100)), "relaxed");
  };
  return { path, database, write };
}

test("a thread copies the write-ahead log into the file, while the database is open", async () => {
  const { path, database, write } = openFile();
  const before = statSync(path).size;
  write(0, COMMITS);
  // Waits for the thread, which works on its own.
  await expect.poll(() => statSync(path).size, { timeout: 30_000 }).toBeGreaterThan(before);
  database.close();
});

test("a database that is closed under load leaves one file with all rows, and no log", () => {
  const { path, database, write } = openFile();
  for (let round = 0; round < 10; round++) write(round * COMMITS, (round + 1) * COMMITS);
  database.close();
  expect(existsSync(`${path}-wal`)).toBe(false);
  const again = openDatabase(path);
  expect(again.sql.prepare("select count(*) from settings where name like 'name %'").pluck().get()).toBe(10 * COMMITS);
  again.close();
});
