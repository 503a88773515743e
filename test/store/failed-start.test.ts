// A failed start leaves no open port, no open file, and no database that it created.

import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { createSandbox } from "../../src/index.ts";
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

/** Runs SQL on the database of a sandbox that is closed. */
function change(sql: string): void {
  const database = new Sqlite(file);
  database.exec(`pragma ignore_check_constraints = on; ${sql}`);
  database.close();
}

/** A server that was closed counts until the end of that turn of the event loop, which comes after its immediates. */
async function openServers(): Promise<number> {
  for (let turn = 0; turn < 2; turn++) await nextTurn();
  return process.getActiveResourcesInfo().filter((kind) => kind === "TCPServerWrap").length;
}

test("a start on a port in use removes the database that it created", async () => {
  await failToStart();
  expect(readdirSync(home)).toEqual([]);
});

test("a start on a port in use leaves a database that was there before", async () => {
  const first = await onFile(0);
  const { id } = await first.records.create({ kind: "payment", status: "succeeded", amount: 1_250 });
  await first.close();
  await failToStart();
  const again = await onFile(0);
  onTestFinished(() => again.close());
  expect(await again.records.list({ kind: "payment", limit: 1 })).toMatchObject({ data: [{ id }] });
});

test("a start that fails once it listens closes its port and its file", async () => {
  const servers = await openServers();
  const first = await onFile(0);
  await first.endpoints.register({ url: `${other.url}/webhooks`, merchant: "mer_lodge" });
  await first.events.trigger({ type: "payment.succeeded", merchant: "mer_lodge" });
  await first.close();
  change("update deliveries set state = 'sending', decided = '{'");
  await expect(onFile(0)).rejects.toThrow("JSON");
  expect(await openServers()).toBe(servers);
  change("update deliveries set state = 'cancelled', decided = null");
  await (await onFile(0)).close();
});

test("a start with a bad file of faults closes its file", async () => {
  const faults = join(home, "faults.json");
  writeFileSync(faults, '[{ "type": "none" }]');
  await expect(createSandbox({ db: file, memory: false, faults })).rejects.toThrow("faults.json");
  expect(readdirSync(home)).toEqual(["faults.json"]);
});
