// What was answered is on disk: the program is killed in the middle of its work, many times, and owes nobody anything after it.

import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, readFileSync, statSync, writeFileSync, writeSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSandbox } from "../src/sandbox.ts";
import { folder, run, type Started, start } from "./program.ts";
import { type Answer, call, control } from "./support.ts";

const ROUNDS = 6;
const WRITERS = 8;

/** One write: what was sent, and what came back if anything did. */
interface Write {
  key: string;
  path: string;
  body: Record<string, unknown>;
  answer: Answer | undefined;
}

const paths: [path: string, body: (name: string) => Record<string, unknown>][] = [
  ["/v1/hospitality/pricing-rules", (name) => ({ name, adjustmentType: "fixed", adjustmentValue: 1 })],
  ["/v1/retail/products/prod_honey/variants", (name) => ({ sku: name, options: { lot: name }, price: 100 })],
  ["/v1/employees/payroll", payroll],
  ["/v1/merchants", (name) => ({ name, email: `${name}@crash.example` })],
];

function payroll() {
  return { periodStart: "2026-01-01", periodEnd: "2026-01-31", payDate: "2026-01-31", items: [{ employeeId: "emp", grossAmount: 1 }] };
}

const send = (url: string, { path, key, body }: Write) => call(url, "POST", path, { body, headers: { "idempotency-key": key } });

/** Several clients that write without a pause until the sandbox is gone. */
async function writeUntilGone(url: string, round: number): Promise<Write[]> {
  const writes: Write[] = [];
  const client = async (number: number) => {
    for (let count = 0; ; count++) {
      const key = `r${round}-c${number}-${count}`;
      const [path, body] = paths[(number + count) % paths.length] as (typeof paths)[number];
      const write: Write = { key, path, body: { ...body(key), metadata: { key } }, answer: undefined };
      writes.push(write);
      try {
        write.answer = await send(url, write);
      } catch {
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, number) => client(number)));
  return writes;
}

describe("killed while it writes", () => {
  let receiver: Server;
  const told = new Map<string, number>();

  async function listen(): Promise<string> {
    receiver = createServer((incoming, outgoing) => {
      const id = String(incoming.headers["x-webhook-id"]);
      told.set(id, (told.get(id) ?? 0) + 1);
      incoming.resume().on("end", () => outgoing.end());
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  }

  test("it keeps every answered effect, repeats its answers, tells its receivers and reuses no id", async () => {
    const cwd = folder();
    const url = await listen();
    const moments = fc.sample(fc.integer({ min: 30, max: 400 }), { seed: 11, numRuns: ROUNDS });
    const writes: Write[] = [];
    const requests: string[] = [];

    for (const [round, moment] of moments.entries()) {
      const program = await start(["--db", "data.db", "--rate-limit", "none", "--retry-schedule", "10ms,10ms,10ms"], {}, cwd);
      if (round === 0) await call(program.url, "POST", "/v1/webhooks", { body: { url, events: ["*"] } });
      const begun = performance.now();
      const enough = () => performance.now() - begun > moment;
      const writing = writeUntilGone(program.url, round);
      await program.line((line) => line.includes('"event":"request"') && enough());
      await program.kill();
      writes.push(...(await writing));
      requests.push(...program.out.filter((line) => line.includes('"event":"request"')).map((line) => JSON.parse(line).id));
    }

    const program = await start(["--db", "data.db", "--rate-limit", "none", "--retry-schedule", "10ms,10ms,10ms"], {}, cwd);
    const answered = writes.filter(({ answer }) => answer !== undefined);
    expect(answered.length).toBeGreaterThan(ROUNDS * WRITERS);
    for (const write of answered) {
      expect(write.answer?.status, write.answer?.text).toBe(200);
      const again = await send(program.url, write);
      expect([again.text, again.headers["idempotent-replayed"]]).toEqual([write.answer?.text, "true"]);
    }
    for (const write of writes.filter(({ answer }) => answer === undefined)) write.answer = await send(program.url, write);
    for (const { answer } of writes) expect(answer?.status, answer?.text).toBe(200);
    expect((await control(program.url, "POST", "/drain", { within: "30s" })).settled).toBe(true);
    await stop(program);

    const ids = writes.map(({ answer }) => answer?.body.id as string);
    expect(new Set(ids).size).toBe(ids.length);
    expect(new Set(requests).size).toBe(requests.length);
    await expectKept(join(cwd, "data.db"), writes);
    receiver.close();
  });

  /** Each write is one record and one event, whose receiver was told; no file of SQLite's is left half done. */
  async function expectKept(file: string, writes: Write[]) {
    const sql = new Sqlite(file, { readonly: true });
    expect(sql.pragma("integrity_check", { simple: true })).toBe("ok");
    const records = sql.prepare(
      "select body ->> '$.metadata.key' as key, count(*) as count from documents where key is not null group by key",
    );
    const counts = new Map((records.all() as { key: string; count: number }[]).map(({ key, count }) => [key, count]));
    expect(counts.size).toBe(writes.length);
    for (const { key } of writes) expect([key, counts.get(key)]).toEqual([key, 1]);
    const events = sql.prepare("select id, body ->> '$.data.metadata.key' as key from events").all() as { id: string; key: string }[];
    expect(new Set(events.map(({ key }) => key)).size).toBe(writes.length);
    expect(events).toHaveLength(writes.length);
    for (const { id } of events) expect(told.get(id) ?? 0).toBeGreaterThan(0);
    sql.close();
  }
});

async function stop(program: Started) {
  program.child.kill("SIGTERM");
  expect(await program.ended).toMatchObject({ code: 0, error: "" });
}

describe("started again", () => {
  test("a sandbox goes on where it stopped: records, clock aside, keys, sessions, remembered answers, journal and counters", async () => {
    const db = join(folder(), "data.db");
    const options = { memory: false, db, clock: "2026-01-05T12:00:00Z" };
    const rule = { name: "x", adjustmentType: "fixed", adjustmentValue: 1 };
    const post = (url: string, key: string) =>
      call(url, "POST", "/v1/hospitality/pricing-rules", { body: rule, headers: { "idempotency-key": key } });
    const first = await createSandbox(options);
    const made = await post(first.url, "one");
    const { body: merchant } = await call(first.url, "POST", "/v1/merchants", { body: { name: "New", email: "new@new.example" } });
    const login = { email: "ola@lodge.example", password: "lodge-password" };
    const { body: session } = await call(first.url, "POST", "/v1/merchants/login", { body: login });
    await call(first.url, "POST", "/v1/hospitality/bookings/bkg_pending/decline");
    await first.close();

    const second = await createSandbox(options);
    expect(second.merchants()).toHaveLength(5);
    expect(await post(second.url, "one")).toMatchObject({ text: made.text, headers: { "idempotent-replayed": "true" } });
    expect((await post(second.url, "two")).body.id).not.toBe(made.body.id);
    expect((await call(second.url, "GET", "/v1/merchants/me", { key: merchant.apiKey })).body.id).toBe(merchant.id);
    expect((await call(second.url, "GET", "/v1/merchants/me", { key: session.accessToken })).body.id).toBe("mer_lodge");
    expect((await call(second.url, "POST", "/v1/hospitality/bookings/bkg_pending/decline")).status).toBe(409);
    const journal = await control(second.url, "GET", "/requests?limit=100");
    const ids = (journal.data as { id: string }[]).map(({ id }) => id);
    expect(ids).toEqual(Array.from({ length: 9 }, (_, index) => `req_${9 - index}`));
    await second.close();
  });
});

describe("the file", () => {
  test("is its owner's alone to read, and so is every file beside it", async () => {
    const cwd = folder();
    const sandbox = await createSandbox({ memory: false, db: join(cwd, "deep/er/data.db") });
    for (const name of ["data.db", "data.db-wal", "data.db-lock"])
      expect([name, statSync(join(cwd, "deep/er", name)).mode & 0o777]).toEqual([name, 0o600]);
    await sandbox.close();
    expect(existsSync(join(cwd, "deep/er/data.db-wal"))).toBe(false);
  });

  test("belongs to one process at a time, and the second is told whose it is", async () => {
    const cwd = folder();
    const program = await start(["--db", "data.db"], {}, cwd);
    const second = await run(["--port", "0", "--db", "data.db"], {}, cwd);
    expect(second).toMatchObject({ code: 1, out: [] });
    expect(second.error).toMatch(/^merchant-sandbox: \S+data\.db is in use by process \d+ at http:\/\/127\.0\.0\.1:\d+\. .*--db.*\n$/);
    expect(second.error).toContain(`process ${program.child.pid} at ${program.url}`);
    await expect(createSandbox({ memory: false, db: join(cwd, "data.db") })).rejects.toThrow(program.url);
    await program.kill();
    const third = await start(["--db", "data.db"], {}, cwd);
    expect((await call(third.url, "GET", "/v1/merchants/me")).status).toBe(200);
  });

  test("belongs to one sandbox at a time within a process too", async () => {
    const db = join(folder(), "data.db");
    const sandbox = await createSandbox({ memory: false, db });
    await expect(createSandbox({ memory: false, db })).rejects.toThrow(/is in use by process/);
    await sandbox.close();
    await (await createSandbox({ memory: false, db })).close();
  });

  /** A file of ours as a closed sandbox leaves it. */
  async function ours(): Promise<string> {
    const db = join(folder(), "data.db");
    await (await createSandbox({ memory: false, db })).close();
    return db;
  }

  const spoilt: [what: string, make: () => Promise<string>, says: RegExp][] = [
    [
      "of another version of the program",
      async () => {
        const db = await ours();
        const sql = new Sqlite(db);
        sql.pragma("user_version = 999");
        sql.close();
        return db;
      },
      /another version .*schema 999/,
    ],
    [
      "of another program",
      async () => {
        const db = join(folder(), "notes.db");
        const sql = new Sqlite(db);
        sql.exec("create table notes (text text); insert into notes values ('mine')");
        sql.close();
        return db;
      },
      /another program/,
    ],
    [
      "of another program, in WAL mode",
      async () => {
        const db = join(folder(), "notes.db");
        const sql = new Sqlite(db);
        sql.pragma("journal_mode = wal");
        sql.exec("create table notes (text text)");
        sql.close();
        return db;
      },
      /another program/,
    ],
    [
      "that is no database",
      async () => {
        const file = join(folder(), "letter.txt");
        writeFileSync(file, "Dear reader,\n".repeat(1_000));
        return file;
      },
      /not a usable SQLite file/,
    ],
    [
      "that was cut short",
      async () => {
        const db = await ours();
        writeFileSync(db, readFileSync(db).subarray(0, 20_000));
        return db;
      },
      /not a usable SQLite file/,
    ],
    [
      "one of whose pages was overwritten",
      async () => {
        const db = await ours();
        const sql = new Sqlite(db, { readonly: true });
        const page = sql.prepare("select rootpage from sqlite_master where name = 'documents_newest'").pluck().get() as number;
        sql.close();
        const handle = openSync(db, "r+");
        writeSync(handle, Buffer.alloc(64, 0xa5), 0, 64, (page - 1) * 4_096 + 2);
        closeSync(handle);
        return db;
      },
      /not a usable SQLite file/,
    ],
    [
      "of another program that crashed, its log still to be played back",
      async () => {
        const db = join(folder(), "notes.db");
        const sql = new Sqlite(db);
        sql.pragma("journal_mode = wal");
        sql.exec("create table notes (text text)");
        const copy = join(folder(), "notes.db");
        for (const suffix of ["", "-wal"]) copyFileSync(db + suffix, copy + suffix);
        sql.close();
        return copy;
      },
      /another program/,
    ],
    [
      "whose pages were overwritten",
      async () => {
        const db = await ours();
        const handle = openSync(db, "r+");
        const { size } = statSync(db);
        for (let at = 8_192; at < size; at += 4_096) writeSync(handle, Buffer.alloc(600, 0xa5), 0, 600, at);
        closeSync(handle);
        return db;
      },
      /not a usable SQLite file/,
    ],
  ];

  test.each(spoilt)("%s is refused in one sentence, and left as it is", async (_, make, says) => {
    const file = await make();
    const before = { bytes: readFileSync(file), mode: statSync(file).mode };
    copyFileSync(file, `${file}.copy`);
    await expect(createSandbox({ memory: false, db: file })).rejects.toThrow(says);
    const after = { bytes: readFileSync(file), mode: statSync(file).mode };
    expect(after.mode).toBe(before.mode);
    expect(after.bytes.equals(before.bytes)).toBe(true);
    const { code, error } = await run(["--port", "0", "--db", file]);
    expect(code).toBe(1);
    expect(error).toMatch(/^merchant-sandbox: [^\n]+\n$/);
    expect(error).toMatch(says);
    expect(error).toContain("--db");
    expect(readFileSync(file).equals(before.bytes)).toBe(true);
  });

  test("that cannot be there is refused in one sentence", async () => {
    const cwd = folder();
    writeFileSync(join(cwd, "file"), "");
    mkdirSync(join(cwd, "folder"));
    for (const db of ["file/data.db", "folder"]) {
      const { code, error } = await run(["--port", "0", "--db", db], {}, cwd);
      expect([db, code]).toEqual([db, 1]);
      expect(error).toMatch(/^merchant-sandbox: Cannot [^\n]+--memory[^\n]*\n$/);
    }
  });
});
