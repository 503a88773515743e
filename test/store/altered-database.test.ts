// A database that another program has changed. If a row breaks a rule, the file is refused in one sentence with the
// table, the row and the column; otherwise it is accepted.

import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { createSandbox } from "../../src/index.ts";
import { folder } from "../support/program.ts";
import { attempted, NOON, open } from "../support/sandbox.ts";
import { receive } from "../support/webhooks.ts";

/** A database with rows in every table, as a closed sandbox left it. */
async function filled(): Promise<string> {
  const db = join(folder(), "data.db");
  const bench = await open({ memory: false, db });
  const receiver = await receive();
  await bench.call("POST", "/v1/webhooks", { body: { url: receiver.url, events: ["*"] } });
  await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { headers: { "idempotency-key": "once" } });
  await bench.control("POST", "/drain", {});
  await bench.close();
  return db;
}

/** Changes a database with its constraints switched off, so a change may break them. */
const alter = (db: string, change: string) =>
  new Sqlite(db).exec(`pragma ignore_check_constraints = on; pragma foreign_keys = off; ${change}`).close();

const ofPayment = "where sequence = (select max(sequence) from documents where kind = 'payment')";
const ofEndpoint = "where kind = 'webhook_endpoint'";
const inTable = (table: string, column: string) =>
  new RegExp(`data\\.db holds a row of ${table} \\([a-z]+ [^)]+\\) that is invalid in the column ${column}: [^\\n]+$`);

const refused: [change: string, says: RegExp][] = [
  ["update keys set key = 'sk_live_x' where sequence = 1", inTable("keys", "key")],
  [`update documents set body = json_set(body, '$.name', 'sk_live_x') ${ofPayment}`, inTable("documents", "body")],
  [`update documents set body = json_remove(body, '$.secret') ${ofEndpoint}`, inTable("documents", "body")],
  [`update documents set body = json_set(body, '$.url', 5) ${ofEndpoint}`, inTable("documents", "body")],
  [`update documents set body = json_set(body, '$.amount', 'much') ${ofPayment}`, inTable("documents", "body")],
  [`update documents set body = '{' ${ofPayment}`, inTable("documents", "body")],
  [`update documents set kind = 'spell' ${ofPayment}`, inTable("documents", "kind")],
  [`update documents set created = -1 ${ofPayment}`, inTable("documents", "created")],
  ["update counters set value = -1", inTable("counters", "value")],
  ["update replies set status = 9", inTable("replies", "status")],
  ["update events set body = '[]'", inTable("events", "body")],
  ["update events set trace = '{}'", /column trace: this is false: trace glob '00-\[0-9a-f\]\{32\}-\[0-9a-f\]\{16\}-/],
  ["update deliveries set state = 'lost'", inTable("deliveries", "state")],
  ["update deliveries set event = 999", inTable("deliveries", "event")],
  ["update deliveries set decided = '[{}]'", inTable("deliveries", "decided")],
  ["update attempts set status = 'lost'", inTable("attempts", "status")],
  ["update attempts set requestHeaders = '{\"a\": 1}'", inTable("attempts", "requestHeaders")],
  ["update subscriptions set endpoint = 'we_gone'", inTable("subscriptions", "endpoint")],
  ["update request_log set requestHeaders = 'none'", inTable("request_log", "requestHeaders")],
  ["update request_log set stages = 'soon'", inTable("request_log", "stages")],
];

test.each(refused)("after `%s`, the database is refused, and its files stay the same", async (change, says) => {
  const db = await filled();
  alter(db, change);
  const look = () => readdirSync(dirname(db)).map((name) => [name, readFileSync(join(dirname(db), name), "hex")]);
  const found = look();
  attempted("Changed snapshots and database files");
  await expect(createSandbox({ memory: false, db, clock: NOON })).rejects.toThrow(says);
  expect(look()).toEqual(found);
});

/** Changes a table, but not one of its indexes, as a damaged page would. The index leaves the schema meanwhile. */
function alterBesideIndex(db: string, index: string, change: string): void {
  const schema = new Sqlite(db).unsafeMode();
  const entry = schema.prepare("select * from sqlite_master where name = ?").get(index);
  schema.exec(`pragma writable_schema = on; delete from sqlite_master where name = '${index}'`).close();
  const data = new Sqlite(db).unsafeMode();
  data.exec(change);
  data.pragma("writable_schema = on");
  data.prepare("insert into sqlite_master values (@type, @name, @tbl_name, @rootpage, @sql)").run(entry);
  data.close();
}

test("a database whose index differs from its table is refused", async () => {
  const db = await filled();
  const ofOne = "where document = (select max(document) from uniques)";
  alterBesideIndex(db, "uniques_of", `update uniques set value = value || 'x' ${ofOne}`);
  attempted("Changed snapshots and database files");
  await expect(createSandbox({ memory: false, db, clock: NOON })).rejects.toThrow(
    /data\.db is not a usable SQLite file: .*uniques_of/,
  );
});

test("new ids do not repeat existing ids after another program lowered the counters", async () => {
  const db = await filled();
  const create = async () => {
    const bench = await open({ memory: false, db });
    const body = { name: "x", adjustmentType: "fixed", adjustmentValue: 1 };
    const { status, body: made } = await bench.call("POST", "/v1/hospitality/pricing-rules", { body });
    await bench.close();
    return [status, made.id];
  };
  const [, first] = await create();
  alter(db, "update counters set value = 0; update sqlite_sequence set seq = 0");
  attempted("Changed snapshots and database files");
  const [status, id] = await create();
  expect(status).toBe(200);
  expect(id).not.toBe(first);
});

test("a change that breaks no rule is accepted, and no endpoint's deliveries are held", async () => {
  const db = await filled();
  alter(db, `update documents set body = json_set(body, '$.amount', 4711) where id = 'pay_succeeded'`);
  const bench = await open({ memory: false, db });
  expect((await bench.overview()).heldEndpoints).toEqual([]);
  expect((await bench.call("GET", "/v1/payments")).text).toContain('"amount":4711');
});

test("a database with another schema version is refused and not changed, and no file is left beside it", async () => {
  for (const version of [21, 999]) {
    const db = await filled();
    alter(db, `pragma user_version = ${version}`);
    rmSync(`${db}-session`);
    rmSync(`${db}-lock`);
    const before = readFileSync(db);
    attempted("Changed snapshots and database files");
    await expect(createSandbox({ memory: false, db })).rejects.toThrow(
      `another version of merchant-sandbox (schema ${version},`,
    );
    expect([readdirSync(dirname(db)), readFileSync(db).equals(before)]).toEqual([["data.db"], true]);
  }
});

test("a database of an older build, which has no setting `mark`, is opened, but its deliveries are held", async () => {
  const db = await filled();
  alter(
    db,
    "delete from settings where name = 'mark'; " +
      "insert into settings values ('owner', 'process 1 at http://127.0.0.1:1')",
  );
  rmSync(`${db}-session`);
  const bench = await open({ memory: false, db });
  expect((await bench.overview()).heldEndpoints).toHaveLength(1);
  expect((await bench.call("GET", "/v1/payments")).status).toBe(200);
});

/** A journal without a write: no magic number, a random number, and the sizes. */
const idleJournal = () => Buffer.concat([Buffer.alloc(8), Buffer.from("0000000022a6f85f0000000000000200", "hex")], 512);

test.each(["", "d9d505f920a163d7"])(
  "a journal of the lock file with the magic number %j is refused, even with --trust",
  async (magic) => {
    const db = await filled();
    const journal = idleJournal();
    Buffer.from(magic, "hex").copy(journal);
    writeFileSync(`${db}-lock-journal`, journal);
    const look = () => readdirSync(dirname(db)).map((name) => [name, readFileSync(join(dirname(db), name), "hex")]);
    const found = look();
    for (const trust of [false, true]) {
      attempted("Changed snapshots and database files");
      await expect(createSandbox({ memory: false, db, trust })).rejects.toThrow(
        /data\.db-lock-journal was not left by a sandbox; remove it/,
      );
    }
    expect(look()).toEqual(found);
  },
);

test("a database whose content is still in its write-ahead log is refused without that log", async () => {
  const db = join(folder(), "data.db");
  const sql = new Sqlite(db);
  sql.exec("pragma journal_mode = wal; create table t (x)");
  const bare = join(folder(), "data.db");
  writeFileSync(bare, readFileSync(db));
  sql.close();
  attempted("Changed snapshots and database files");
  await expect(createSandbox({ memory: false, db: bare })).rejects.toThrow(
    "is empty without its write-ahead log, data.db-wal: copy both files, or save a snapshot",
  );
  expect(readdirSync(dirname(bare))).toEqual(["data.db"]);
});
