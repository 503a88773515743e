// Database files: what survives a restart, who may open a file, and which files are rejected.

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { createSandbox } from "../../src/sandbox/create.ts";
import { openDatabase } from "../../src/store/sqlite/database.ts";
import { attempted } from "../support/attacks.ts";
import { plainUser } from "../support/plain-user.ts";
import { folder, launchCommand, PROGRAM, run, start } from "../support/program.ts";
import { call, control } from "../support/sandbox.ts";
import { receive } from "../support/webhooks.ts";

/** Milliseconds that a write waits for the lock of another program. */
const LOCK_TIMEOUT = 500;

describe("after a restart", () => {
  test("a sandbox has its records, keys, sessions, idempotent responses, request log and counters", async () => {
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
    expect((await second.merchants.list()).data).toHaveLength(5);
    expect(await post(second.url, "one")).toMatchObject({ text: made.text, headers: { "idempotent-replayed": "true" } });
    expect((await post(second.url, "two")).body.id).not.toBe(made.body.id);
    expect((await call(second.url, "GET", "/v1/merchants/me", { key: merchant.apiKey })).body.id).toBe(merchant.id);
    expect((await call(second.url, "GET", "/v1/merchants/me", { key: session.accessToken })).body.id).toBe("mer_lodge");
    expect((await call(second.url, "POST", "/v1/hospitality/bookings/bkg_pending/decline")).status).toBe(409);
    const requestLog = await control(second.url, "GET", "/requests?limit=100");
    const ids = (requestLog.data as { id: string }[]).map(({ id }) => id);
    expect(ids).toEqual(Array.from({ length: 9 }, (_, index) => `req_${9 - index}`));
    await second.close();
  });
});

describe("after a crash", () => {
  test("no request gets the number of an earlier one, even of one missing from the request log", async () => {
    const cwd = folder();
    const numbers: number[] = [];
    for (let round = 0; round < 2; round++) {
      const program = await start(["--db", "data.db"], {}, cwd);
      const answers = await Promise.all(Array.from({ length: 5 }, () => call(program.url, "GET", "/v1/merchants/me")));
      await program.kill();
      numbers.push(...answers.map(({ headers }) => Number(String(headers["x-sandbox-request-id"]).slice("req_".length))));
    }
    expect(new Set(numbers).size).toBe(10);
    expect([...numbers].sort((one, other) => one - other).slice(0, 5)).toEqual([1, 2, 3, 4, 5]);
  });
});

describe("the file", () => {
  test("and every file beside it are readable by the owner only", async () => {
    const cwd = folder();
    const sandbox = await createSandbox({ memory: false, db: join(cwd, "deep/er/data.db") });
    for (const name of ["data.db", "data.db-wal", "data.db-lock"])
      expect([name, statSync(join(cwd, "deep/er", name)).mode & 0o777]).toEqual([name, 0o600]);
    await sandbox.close();
    expect(existsSync(join(cwd, "deep/er/data.db-wal"))).toBe(false);
  });

  test("belongs to one process at a time, and the second names the first in its error", async () => {
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

  test("may be read and briefly locked by other programs: a write fails as a whole, and everything else works", async () => {
    const cwd = folder();
    const program = await start(["--db", "data.db"], {}, cwd);
    const other = new Sqlite(join(cwd, "data.db"));
    const write = () =>
      call(program.url, "POST", "/v1/hospitality/pricing-rules", { body: { name: "x", adjustmentType: "fixed", adjustmentValue: 1 } });
    const me = async () => (await call(program.url, "GET", "/v1/merchants/me")).status;
    other.exec("begin immediate");
    expect(await me()).toBe(200);
    expect(await write()).toMatchObject({ status: 500, body: { code: "internal_error" } });
    expect(await program.line((line) => line.includes('"defect"'))).toContain("Another program keeps the SQLite file locked.");
    expect(await me()).toBe(200);
    expect(other.prepare("select count(*) from pricing_rules where name = 'x'").pluck().get()).toBe(0);
    other.exec("rollback");
    expect((await write()).status).toBe(200);
    expect(other.prepare("select count(*) from pricing_rules where name = 'x'").pluck().get()).toBe(1);
    other.close();
    program.child.kill("SIGTERM");
    expect(await program.ended).toMatchObject({ code: 0, error: "" });
    const requestLog = new Sqlite(join(cwd, "data.db"), { readonly: true });
    expect(requestLog.prepare("select status from request_log order by sequence").pluck().all()).toEqual([200, 500, 200, 200]);
    requestLog.close();
  });

  test("that stays locked delays one write: later ones fail immediately until one succeeds", async () => {
    const db = join(folder(), "data.db");
    const database = openDatabase(db);
    const other = new Sqlite(db);
    const timeout = () => database.sql.prepare("pragma busy_timeout").pluck().get();
    const refused = () => expect(database.groupCommit(() => {})).rejects.toThrow(/keeps the SQLite file locked/);
    other.exec("begin immediate");
    expect(timeout()).toBe(LOCK_TIMEOUT);
    for (const _ of [1, 2, 3]) {
      await refused();
      expect(timeout()).toBe(0);
    }
    other.exec("rollback");
    await database.groupCommit(() => {});
    expect(timeout()).toBe(LOCK_TIMEOUT);
    other.close();
    database.close();
  });

  test("survives deliveries and expiries that fall due while it is locked", async () => {
    const cwd = folder();
    const program = await start(["--db", "data.db", "--rate-limit", "none"], {}, cwd);
    const rule = { body: { name: "x", adjustmentType: "fixed", adjustmentValue: 1 }, headers: { "idempotency-key": "one" } };
    const write = () => call(program.url, "POST", "/v1/hospitality/pricing-rules", rule);
    const made = await write();
    const other = new Sqlite(join(cwd, "data.db"));
    other.exec("begin immediate");
    expect(await control(program.url, "POST", "/clock/advance", { by: "25h" })).toMatchObject({ mode: "offset", forgotten: 0 });
    expect((await call(program.url, "GET", "/v1/merchants/me")).status).toBe(200);
    expect((await write()).body.message).toMatch(/^Another program keeps the SQLite file locked\. .* Nothing of this request was kept\.$/);
    other.exec("rollback");
    expect((await write()).body.id).not.toBe(made.body.id);
    other.close();
    program.child.kill("SIGTERM");
    expect(await program.ended).toMatchObject({ code: 0, error: "" });
  });

  test("that is locked for a while loses no delivery: responses of receivers are recorded later", async () => {
    const cwd = folder();
    const program = await start(["--db", "data.db", "--retry-schedule", "20ms"], {}, cwd);
    const receiver = await receive();
    await call(program.url, "POST", "/v1/webhooks", { body: { url: receiver.url, events: ["*"] } });
    const other = new Sqlite(join(cwd, "data.db"));
    receiver.script((_, outgoing) => {
      other.exec("begin immediate");
      outgoing.writeHead(500).end();
    });
    await call(program.url, "POST", "/v1/webhook-events/test", { body: { type: "payment.succeeded" } });
    await program.line((line) => line.includes('"defect","where":"webhooks"'));
    other.exec("rollback");
    other.close();
    await receiver.arrived(2);
    expect(await control(program.url, "POST", "/drain", { within: "30s" })).toMatchObject({ settled: true, pending: 0 });
    const { data } = await control(program.url, "GET", "/deliveries");
    expect((data as { status: string }[]).map(({ status }) => status)).toEqual(["succeeded", "failed"]);
  });

  test("that accepts some due deliveries and not others leaves each endpoint its concurrency limit", async () => {
    const cwd = folder();
    const program = await start(["--db", "data.db"], {}, cwd);
    const receiver = await receive();
    receiver.always("hang");
    const addresses = [`${receiver.url}/one`, `${receiver.url}/two`];
    const endpoints: { id: string }[] = [];
    for (const url of addresses) endpoints.push((await call(program.url, "POST", "/v1/webhooks", { body: { url, events: ["*"] } })).body);
    const other = new Sqlite(join(cwd, "data.db"));
    other.exec(`create trigger refuse before update on deliveries when new.state = 'sending' and old.endpoint = '${endpoints[1]?.id}'
      begin select raise(abort, 'no room'); end`);
    const tell = () => call(program.url, "POST", "/v1/webhook-events/test", { body: { type: "payment.succeeded" } });
    for (let times = 0; times < 3; times++) await tell();
    await program.line((line) => line.includes('"defect","where":"webhooks"'));
    other.exec("drop trigger refuse");
    other.close();
    await receiver.arrived(2);
    await tell();
    expect(await control(program.url, "POST", "/drain", { within: "1s" })).toMatchObject({ settled: false, inFlight: 2 });
    expect(receiver.arrivals.map(({ url }) => url).sort()).toEqual(["/hooks/one", "/hooks/two"]);
  });

  test.skipIf(!existsSync("/dev/full"))("survives a disk too full for its own error log", async () => {
    const cwd = folder();
    const words = [process.execPath, PROGRAM, "start", "--port", "0", "--db", "data.db"];
    const program = launchCommand("sh", ["-c", 'exec "$0" "$@" 2>/dev/full', ...words], {}, cwd);
    const url = / at (\S+)\/v1 /.exec(await program.line((line) => line.includes(" is ready at ")))?.[1] ?? "";
    const other = new Sqlite(join(cwd, "data.db"));
    other.exec("begin immediate");
    const { status } = await call(url, "POST", "/v1/hospitality/bookings/bkg_pending/decline");
    other.close();
    expect([status, (await call(url, "GET", "/v1/merchants/me")).status]).toEqual([500, 200]);
  });

  /** A file as a closed sandbox leaves it. */
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
      "without its write-ahead log",
      async () => {
        const db = join(folder(), "data.db");
        const sandbox = await createSandbox({ memory: false, db });
        const copy = join(folder(), "data.db");
        // Only the header page is in the file itself before SQLite's first checkpoint.
        writeFileSync(copy, readFileSync(db).subarray(0, 4_096));
        await sandbox.close();
        return copy;
      },
      /is empty without its write-ahead log, data\.db-wal: copy both files/,
    ],
    [
      "with a table that this version does not create",
      async () => {
        const db = await ours();
        const sql = new Sqlite(db);
        sql.exec("create trigger spy after insert on documents begin delete from keys; end");
        sql.close();
        return db;
      },
      /has another trigger spy than this version/,
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

  test.each(spoilt)("%s is rejected in one sentence and not changed", async (_, make, says) => {
    const file = await make();
    attempted("Changed snapshots and database files", 2);
    const before = { bytes: readFileSync(file), mode: statSync(file).mode };
    const hadLock = existsSync(`${file}-lock`);
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
    expect(existsSync(`${file}-lock`)).toBe(hadLock);
  });

  test("that has another path is the same file: the second sandbox is rejected", async () => {
    const cwd = folder();
    const db = join(cwd, "data.db");
    symlinkSync(db, join(cwd, "link.db"));
    mkdirSync(join(cwd, "inner"));
    symlinkSync(cwd, join(cwd, "inner", "outer"));
    for (const first of [db, join(cwd, "link.db")]) {
      const sandbox = await createSandbox({ memory: false, db: first });
      for (const second of [db, join(cwd, "link.db"), join(cwd, "inner", "outer", "data.db")])
        await expect(createSandbox({ memory: false, db: second })).rejects.toThrow(/is in use by process/);
      await sandbox.close();
    }
  });

  test("that is deleted while the sandbox runs makes it not ready", async () => {
    const db = join(folder(), "data.db");
    const sandbox = await createSandbox({ memory: false, db });
    expect((await call(sandbox.url, "GET", "/_sandbox/health", { key: null })).status).toBe(200);
    rmSync(dirname(db), { recursive: true });
    expect(await call(sandbox.url, "GET", "/_sandbox/health", { key: null })).toMatchObject({
      status: 503,
      body: { code: "database_missing", message: expect.stringContaining(db) },
    });
    await sandbox.close();
  });

  test("that is read-only, or in a read-only folder, is rejected in one sentence and not changed", async ({ skip }) => {
    const user = plainUser();
    if (typeof user === "string") return skip(user);
    const db = await ours();
    const own = dirname(db);
    user.own(own, db);
    const startIt = () => {
      const [command, ...words] = user.command("start", "--port", "0", "--db", db);
      const { status, stderr } = spawnSync(command, words, { encoding: "utf8", cwd: "/" });
      return [status, stderr];
    };
    const look = () => readdirSync(own).map((name) => [name, statSync(join(own, name)).mode & 0o777, readFileSync(join(own, name), "hex")]);
    rmSync(`${db}-lock`);
    chmodSync(db, 0o444);
    const before = look();
    expect(startIt()).toEqual([
      1,
      expect.stringMatching(/^merchant-sandbox: Cannot write \S+: it is read-only .*--db <file>.*--memory\.\n$/),
    ]);
    expect(look().filter(([name]) => !String(name).endsWith("-lock"))).toEqual(before);
    chmodSync(db, 0o600);
    for (const neighbours of [() => {}, () => rmSync(`${db}-lock`, { force: true })]) {
      neighbours();
      const kept = look();
      chmodSync(own, 0o555);
      expect(startIt()).toEqual([1, expect.stringMatching(/^merchant-sandbox: Cannot write in \S+: .*--db <file>.*--memory\.\n$/)]);
      chmodSync(own, 0o700);
      expect(look()).toEqual(kept);
    }
  });

  test.skipIf(process.platform === "win32")("whose lock is a symbolic link is rejected, and the link's target stays as it is", async () => {
    const [cwd, home] = [folder(), folder()];
    const [db, profile] = [join(cwd, "data.db"), join(home, ".profile")];
    symlinkSync(profile, `${db}-lock`);
    for (const isThere of [false, true]) {
      attempted("A lock file that leads elsewhere");
      if (isThere) writeFileSync(profile, "", { mode: 0o755 });
      await expect(createSandbox({ memory: false, db })).rejects.toThrow(/data\.db-lock is not a plain file; remove it/);
      expect([existsSync(profile), existsSync(db)]).toEqual([isThere, false]);
    }
    expect(statSync(profile).mode & 0o100).toBe(0o100);
  });

  test("at an impossible path is rejected in one sentence", async () => {
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
