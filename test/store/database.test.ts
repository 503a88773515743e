// The database file: a failed start removes a file that it created, and a thread copies the write-ahead log into the
// file under load.

import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { createSandbox } from "../../src/index.ts";
import { openDatabase } from "../../src/store/sqlite/database.ts";
import { folder } from "../support/program.ts";
import { type Bench, open } from "../support/sandbox.ts";

let home: string;
let file: string;
let other: Bench;
beforeEach(async () => {
  home = folder();
  file = join(home, "sandbox.db");
  other = await open();
});

const onFile = (port: number) => createSandbox({ db: file, memory: false, port });
const failToStart = () => expect(onFile(other.port)).rejects.toThrow(`Port ${other.port} on `);

/** Runs SQL on the database of a closed sandbox. */
function change(sql: string): void {
  const database = new Sqlite(file);
  database.exec(`pragma ignore_check_constraints = on; ${sql}`);
  database.close();
}

/** Counts the open servers after two turns of the event loop, because a closed server counts until a turn ends. */
async function openServers(): Promise<number> {
  for (let turn = 0; turn < 2; turn++) await nextTurn();
  return process.getActiveResourcesInfo().filter((kind) => kind === "TCPServerWrap").length;
}

test("a start on a port in use removes the database that it created", async () => {
  await failToStart();
  expect(readdirSync(home)).toEqual([]);
});

test("a start on a port in use does not change an existing database", async () => {
  const first = await onFile(0);
  const { id } = await first.records.make({ kind: "payment", status: "succeeded", amount: 1_250 });
  await first.close();
  await failToStart();
  const again = await onFile(0);
  onTestFinished(() => again.close());
  expect(await again.records.list({ kind: "payment", limit: 1 })).toMatchObject({ data: [{ id }] });
});

test("a start that refuses its file leaves no port open, and the file can be repaired", async () => {
  const servers = await openServers();
  const first = await onFile(0);
  await first.endpoints.register({ url: `${other.url}/webhooks`, merchant: "mer_lodge" });
  await first.events.trigger({ type: "payment.succeeded", merchant: "mer_lodge" });
  await first.close();
  change("update deliveries set state = 'sending', decided = '{'");
  await expect(onFile(0)).rejects.toThrow(/holds a row of deliveries .* in the column decided/);
  expect(await openServers()).toBe(servers);
  change("update deliveries set state = 'cancelled', decided = null");
  await (await onFile(0)).close();
});

test("a start with an invalid faults file removes the database that it created", async () => {
  const faults = join(home, "faults.json");
  writeFileSync(faults, '[{ "type": "none" }]');
  await expect(createSandbox({ db: file, memory: false, faults })).rejects.toThrow("faults.json");
  expect(readdirSync(home)).toEqual(["faults.json"]);
});

/** After so few commits, SQLite does not copy the log by itself. */
const COMMITS = 300;

function openFile() {
  const path = join(folder(), "sandbox.db");
  const database = openDatabase(path);
  const set = database.sql.prepare("insert or replace into settings (name, value) values (?, ?)");
  const write = (from: number, to: number) => {
    for (let number = from; number < to; number++)
      database.transaction(() => set.run(`name ${number}`, "x".repeat(100)), "relaxed");
  };
  return { path, database, write };
}

test("a thread copies the write-ahead log into the file while the database is open", async () => {
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
