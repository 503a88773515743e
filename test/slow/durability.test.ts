// Database files: what survives a restart, who may open a file, and which files are rejected.

import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, onTestFinished, test } from "vitest";
import { createSandbox } from "../../src/sandbox/create.ts";
import type { GivenOptions } from "../../src/sandbox/options.ts";
import { openDatabase } from "../../src/store/sqlite/database.ts";
import { needs, ON_WINDOWS, UNIX } from "../support/needs.ts";
import { plainUser } from "../support/plain-user.ts";
import { databaseLeftBehind, folder, launchCommand, PROGRAM, run, start } from "../support/program.ts";
import { attempted, call, control, open, RULES } from "../support/sandbox.ts";
import { log, receive, register, trigger } from "../support/webhooks.ts";

const FULL_DISK = needs(existsSync("/dev/full"), "/dev/full, as on Linux");

/** Milliseconds that a write waits for the lock of another program. */
const LOCK_TIMEOUT = 500;

const RULE = { name: "x", adjustmentType: "fixed", adjustmentValue: 1 };

describe("a sandbox that is started again", () => {
  test.each(["a crash", "a close"])("keeps the mode and the time of its clock after %s", async (end) => {
    let db = join(folder(), "sandbox.db");
    /** Starts a sandbox on the file, makes the call, and ends the sandbox. Returns the reply. */
    const clockAfter = async (method: string, path: string, body?: object, clock?: string) => {
      const sandbox = await createSandbox({ memory: false, db, trust: true, ...(clock && { clock }) });
      const reply = await control(sandbox.url, method, path, body);
      if (end === "a crash") db = databaseLeftBehind(dirname(db));
      await sandbox.close();
      return reply;
    };
    await clockAfter("PUT", "/clock", { mode: "frozen", now: "2031-02-03T04:05:06Z" });
    const advanced = await clockAfter("POST", "/clock/advance", { by: "36h" });
    expect(await clockAfter("GET", "/clock")).toMatchObject({ mode: "frozen", now: advanced.now });
    await clockAfter("PUT", "/clock", { mode: "offset", now: "2040-01-01T00:00:00Z" });
    expect((await clockAfter("GET", "/clock")).now).toMatch(/^2040-01-01T0/);
    await clockAfter("POST", "/reset", {});
    expect((await clockAfter("GET", "/clock")).mode).toBe("real");
    expect(await clockAfter("GET", "/clock", undefined, "2026-01-05T12:00:00Z")).toMatchObject({
      mode: "frozen",
      now: expect.stringMatching(/^2026-01-05T12/),
    });
  });

  test("keeps its records, keys, sessions, idempotent responses, request log and counters", async () => {
    const db = join(folder(), "data.db");
    const options = { memory: false, db, clock: "2026-01-05T12:00:00Z" };
    const post = (url: string, key: string) =>
      call(url, "POST", RULES, { body: RULE, headers: { "idempotency-key": key } });
    const first = await createSandbox(options);
    const made = await post(first.url, "one");
    const { body: merchant } = await call(first.url, "POST", "/v1/merchants", {
      body: { name: "New", email: "new@new.example" },
    });
    const login = { email: "ola@lodge.example", password: "lodge-password" };
    const { body: session } = await call(first.url, "POST", "/v1/merchants/login", { body: login });
    await call(first.url, "POST", "/v1/hospitality/bookings/bkg_pending/decline");
    await first.close();
    const isStored = (text: string) =>
      readdirSync(dirname(db)).some((name) => readFileSync(join(dirname(db), name)).includes(text));
    expect([merchant.apiKey, session.accessToken].map(isStored)).toEqual([true, false]);
    attempted("Secrets in logs and reports");

    const second = await createSandbox(options);
    expect((await second.merchants.list()).data).toHaveLength(5);
    expect(await post(second.url, "one")).toMatchObject({
      text: made.text,
      headers: { "idempotent-replayed": "true" },
    });
    expect((await post(second.url, "two")).body.id).not.toBe(made.body.id);
    expect((await call(second.url, "GET", "/v1/merchants/me", { key: merchant.apiKey })).body.id).toBe(merchant.id);
    expect((await call(second.url, "GET", "/v1/merchants/me", { key: session.accessToken })).body.id).toBe("mer_lodge");
    expect((await call(second.url, "POST", "/v1/hospitality/bookings/bkg_pending/decline")).status).toBe(409);
    const requestLog = await control(second.url, "GET", "/requests?limit=100");
    const ids = (requestLog.data as { id: string }[]).map(({ id }) => id);
    expect(ids).toHaveLength(9);
    const ofLodge = ids.filter((id) => id.startsWith("req_lodge_"));
    expect(ofLodge).toEqual(Array.from({ length: 8 }, (_, index) => `req_lodge_${8 - index}`));
    await second.close();
  });
});

describe("the database file", () => {
  test("and every file beside it are readable by the owner only", async () => {
    const cwd = folder();
    const sandbox = await createSandbox({ memory: false, db: join(cwd, "deep/er/data.db") });
    for (const name of ["data.db", "data.db-wal", "data.db-lock"])
      expect([name, statSync(join(cwd, "deep/er", name)).mode & 0o777]).toEqual([name, 0o600]);
    await sandbox.close();
    expect(existsSync(join(cwd, "deep/er/data.db-wal"))).toBe(false);
  });

  test("belongs to one process at a time; after a crash, new requests get new numbers", async () => {
    const cwd = folder();
    const numbers: number[] = [];
    for (const isFirst of [true, false]) {
      const program = await start(["--db", "data.db"], {}, cwd);
      const answers = await Promise.all(Array.from({ length: 5 }, () => call(program.url, "GET", "/v1/merchants/me")));
      numbers.push(
        ...answers.map(({ headers }) => Number(String(headers["x-sandbox-request-id"]).slice("req_lodge_".length))),
      );
      if (isFirst) {
        const second = await run(["--port", "0", "--db", "data.db"], {}, cwd);
        expect(second).toMatchObject({ code: 1, out: [] });
        expect(second.error).toMatch(
          /^merchant-sandbox: \S+data\.db is in use by process \d+ at http:\/\/127\.0\.0\.1:\d+\. .* attach .*--db.*\n$/,
        );
        expect(second.error).toContain(`process ${program.child.pid} at ${program.url}`);
        await expect(createSandbox({ memory: false, db: join(cwd, "data.db") })).rejects.toThrow(program.url);
      }
      await program.kill();
    }
    // The request log may lack the last requests, but their numbers are not used again.
    expect(new Set(numbers).size).toBe(10);
    expect([...numbers].sort((one, other) => one - other).slice(0, 5)).toEqual([1, 2, 3, 4, 5]);
  });

  /** Opens a sandbox on a file that another program also has open. */
  async function contested(options: GivenOptions = {}) {
    const db = join(folder(), "data.db");
    const bench = await open({ memory: false, db, clock: "real", ...options });
    const other = new Sqlite(db);
    onTestFinished(() => void other.close());
    /** Waits until this part of the sandbox reports a defect, and clears the list of defects. */
    const defect = async (where: string) => {
      await expect.poll(() => bench.defects.map((found) => found.where)).toContain(where);
      return String(bench.defects.splice(0)[0]?.error);
    };
    return { bench, other, defect };
  }

  test("can be read while another program has it locked, and a write fails as a whole", async () => {
    const { bench, other } = await contested();
    const write = () => bench.call("POST", RULES, { body: RULE });
    const me = async () => (await bench.call("GET", "/v1/merchants/me")).status;
    const written = () => other.prepare("select count(*) from pricing_rules where name = 'x'").pluck().get();
    other.exec("begin immediate");
    expect(await me()).toBe(200);
    expect(await write()).toMatchObject({ status: 500, body: { code: "internal_error" } });
    expect(String(bench.defects.splice(0)[0]?.error)).toContain("Another program keeps the SQLite file locked.");
    expect([await me(), written()]).toEqual([200, 0]);
    other.exec("rollback");
    expect([(await write()).status, written()]).toEqual([200, 1]);
    await bench.close();
    expect(other.prepare("select status from request_log order by sequence").pluck().all()).toEqual([
      200, 500, 200, 200,
    ]);
  });

  test("that stays locked delays only one write; later writes fail at once until one succeeds", async () => {
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

  test("that is locked while the clock advances keeps no failed write, and stored replies still expire", async () => {
    const { bench, other } = await contested({ rateLimit: "none" });
    const write = () => bench.call("POST", RULES, { body: RULE, headers: { "idempotency-key": "one" } });
    const made = await write();
    other.exec("begin immediate");
    const { status, body } = await bench.call("POST", "/_sandbox/clock/advance", { key: null, body: { by: "25h" } });
    expect([status, body.message]).toEqual([
      503,
      expect.stringMatching(/^The clock is at \S+, but a restart would not know it: Another program keeps the SQLite/),
    ]);
    expect((await bench.call("GET", "/v1/merchants/me")).status).toBe(200);
    expect((await write()).body.message).toMatch(
      /^Another program keeps the SQLite file locked\. .* Nothing of this request was kept\.$/,
    );
    other.exec("rollback");
    expect((await write()).body.id).not.toBe(made.body.id);
    bench.defects.length = 0;
  });

  test("that is locked for a while loses no delivery, and later records the receivers' responses", async () => {
    const { bench, other, defect } = await contested({ retrySchedule: "20ms" });
    const receiver = await receive();
    await register(bench, receiver.url);
    receiver.script((_, outgoing) => {
      other.exec("begin immediate");
      outgoing.writeHead(500).end();
    });
    await trigger(bench);
    await defect("webhooks");
    other.exec("rollback");
    await receiver.arrived(2);
    expect(await bench.control("POST", "/drain", { within: "30s" })).toMatchObject({ settled: true, pending: 0 });
    expect((await log(bench)).map(({ status }) => status)).toEqual(["failed", "succeeded"]);
    bench.defects.length = 0;
  });

  test("that rejects an update of one endpoint's deliveries changes no concurrency limit", async () => {
    const { bench, other, defect } = await contested();
    const receiver = await receive();
    receiver.always("hang");
    await register(bench, `${receiver.url}/one`);
    const { id } = await register(bench, `${receiver.url}/two`);
    other.exec(`create trigger refuse before update on deliveries when new.state = 'sending' and old.endpoint = '${id}'
      begin select raise(abort, 'no room'); end`);
    for (let times = 0; times < 3; times++) await trigger(bench);
    await defect("webhooks");
    other.exec("drop trigger refuse");
    await receiver.arrived(2);
    await trigger(bench);
    expect(await bench.control("POST", "/drain", { within: "1s" })).toMatchObject({ settled: false, inFlight: 2 });
    expect(receiver.arrivals.map(({ url }) => url).sort()).toEqual(["/hooks/one", "/hooks/two"]);
    bench.defects.length = 0;
  });

  test.skipIf(!existsSync("/dev/full"))(
    `that is locked does not end a sandbox that cannot write its error log${FULL_DISK}`,
    async () => {
      const cwd = folder();
      const words = [process.execPath, PROGRAM, "start", "--port", "0", "--db", "data.db"];
      const program = launchCommand("sh", ["-c", 'exec "$0" "$@" 2>/dev/full', ...words], {}, cwd);
      const url = / at (\S+)\/v1 /.exec(await program.line((line) => line.includes(" is ready at ")))?.[1] ?? "";
      const other = new Sqlite(join(cwd, "data.db"));
      other.exec("begin immediate");
      const { status } = await call(url, "POST", "/v1/hospitality/bookings/bkg_pending/decline");
      other.close();
      expect([status, (await call(url, "GET", "/v1/merchants/me")).status]).toEqual([500, 200]);
    },
  );

  /** The file of a closed sandbox, after a change to its database. */
  async function ours(change: (sql: Sqlite.Database) => void = () => {}): Promise<string> {
    const db = join(folder(), "data.db");
    await (await createSandbox({ memory: false, db })).close();
    const sql = new Sqlite(db);
    change(sql);
    sql.close();
    return db;
  }

  /** A copy of the database of another program, with or without its log. */
  function foreign(...suffixes: string[]): string {
    const [db, copy] = [join(folder(), "notes.db"), join(folder(), "notes.db")];
    const sql = new Sqlite(db);
    if (suffixes.length > 0) sql.pragma("journal_mode = wal");
    sql.exec("create table notes (text text); insert into notes values ('mine')");
    for (const suffix of ["", ...suffixes]) copyFileSync(db + suffix, copy + suffix);
    sql.close();
    return copy;
  }

  const overwrite = async (bytesOf: (bytes: Buffer) => string | Buffer) => {
    const db = await ours();
    writeFileSync(db, bytesOf(readFileSync(db)));
    return db;
  };

  const unusable: [what: string, make: () => string | Promise<string>, says: RegExp][] = [
    [
      "of another version of the program",
      () => ours((sql) => sql.pragma("user_version = 999")),
      /another version .*schema 999/,
    ],
    ["of another program", () => foreign(), /another program/],
    ["of another program that crashed and left a write-ahead log", () => foreign("-wal"), /was not left by a sandbox/],
    ["that is not a database", () => overwrite(() => "Dear reader,\n".repeat(1_000)), /not a usable SQLite file/],
    ["that was cut short", () => overwrite((bytes) => bytes.subarray(0, 20_000)), /not a usable SQLite file/],
    [
      "with an overwritten page",
      async () => {
        let page = 0;
        const db = await ours((sql) => {
          page = sql
            .prepare("select rootpage from sqlite_master where name = 'documents_newest'")
            .pluck()
            .get() as number;
        });
        const bytes = readFileSync(db);
        writeFileSync(db, bytes.fill(0xa5, (page - 1) * 4_096 + 2, (page - 1) * 4_096 + 66));
        return db;
      },
      /not a usable SQLite file/,
    ],
    [
      "without its write-ahead log",
      async () => {
        const db = join(folder(), "data.db");
        const copy = join(folder(), "data.db");
        const sql = new Sqlite(db);
        sql.exec("pragma journal_mode = wal; create table documents (body text)");
        // Before SQLite's first checkpoint, only the log contains the tables.
        copyFileSync(db, copy);
        sql.close();
        return copy;
      },
      /is empty without its write-ahead log, data\.db-wal: copy both files/,
    ],
    [
      "with a trigger that this version does not create",
      () => ours((sql) => sql.exec("create trigger spy after insert on documents begin delete from keys; end")),
      /has another trigger spy than this version/,
    ],
  ];

  test.each(unusable)("%s is rejected in one sentence and not changed", async (_, make, says) => {
    const file = await make();
    attempted("Changed snapshots and database files", 2);
    const look = () => [readFileSync(file, "hex"), statSync(file).mode, existsSync(`${file}-lock`)];
    const before = look();
    const refusal = await createSandbox({ memory: false, db: file }).catch(({ message }: Error) => message);
    expect(refusal).toMatch(says);
    expect(refusal).toMatch(/^[^\n]*--db[^\n]*$/);
    expect(look()).toEqual(before);
  });

  test("cannot be opened by a second sandbox under another path", async () => {
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

  test("that is deleted or replaced makes the running sandbox not ready, and gets no more writes", async () => {
    for (const isReplaced of [false, true]) {
      const db = join(folder(), "data.db");
      const sandbox = await createSandbox({ memory: false, db });
      const defects: string[] = [];
      sandbox.onDefect(({ error }) => defects.push((error as Error).message));
      expect((await call(sandbox.url, "GET", "/_sandbox/health", { key: null })).status).toBe(200);
      rmSync(dirname(db), { recursive: true });
      if (isReplaced) mkdirSync(dirname(db));
      if (isReplaced) writeFileSync(db, "");
      const missing = { status: 503, body: { code: "database_missing", message: expect.stringContaining(db) } };
      attempted("Changed snapshots and database files");
      expect(await call(sandbox.url, "GET", "/_sandbox/health", { key: null })).toMatchObject(missing);
      expect(await call(sandbox.url, "POST", "/v1/hospitality/bookings/bkg_pending/decline")).toMatchObject(missing);
      expect(defects).toContainEqual(expect.stringContaining(`${db} was deleted or replaced`));
      await sandbox.close();
    }
  });

  test.skipIf(ON_WINDOWS)(
    `and the files beside it are not opened through symbolic links in a checkout${needs(!ON_WINDOWS, UNIX)}`,
    async () => {
      for (const link of ["", ".gitignore", "sandbox.db", "snapshots", "snapshots/kept.snapshot.db"]) {
        const [cwd, home] = [folder(), folder()];
        const [own, target] = [join(cwd, ".merchant-sandbox"), join(home, "target")];
        mkdirSync(link.includes("/") ? join(own, "snapshots") : own, { recursive: true });
        if (link === "") rmSync(own, { recursive: true });
        symlinkSync(target, join(own, link));
        attempted("Links in a checkout that lead elsewhere");
        const opened = createSandbox({ memory: false, db: join(own, "sandbox.db") });
        if (["", "sandbox.db"].includes(link))
          await expect(opened).rejects.toThrow(/is a symbolic link, which the sandbox does not follow/);
        else {
          const sandbox = await opened;
          const answers = [];
          for (const [method, path] of [
            ["GET", "/snapshots"],
            ["POST", "/snapshots/kept/restore"],
            ["DELETE", "/snapshots/kept"],
            ["PUT", "/snapshots/kept"],
          ] as const)
            answers.push((await call(sandbox.url, method, `/_sandbox${path}`, { key: null })).status);
          expect([link, answers]).toEqual([link, link === "snapshots" ? [200, 409, 409, 409] : [200, 404, 404, 200]]);
          await sandbox.close();
        }
        expect([link, readdirSync(home)]).toEqual([link, []]);
      }
    },
  );

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
    const look = () =>
      readdirSync(own).map((name) => [
        name,
        statSync(join(own, name)).mode & 0o777,
        readFileSync(join(own, name), "hex"),
      ]);
    rmSync(`${db}-lock`);
    chmodSync(db, 0o444);
    const before = look();
    expect(startIt()).toEqual([
      1,
      expect.stringMatching(/^merchant-sandbox: Cannot write \S+: it is read-only .*--db <file>.*--memory\.\n$/),
    ]);
    expect(look().filter(([name]) => !String(name).endsWith("-lock"))).toEqual(before);
    chmodSync(db, 0o000);
    expect(startIt()[1]).toMatch(/: Cannot read \S+: this user may not read it\. Let it be .*\(chmod u\+rw\), or /);
    chmodSync(db, 0o600);
    for (const neighbours of [() => {}, () => rmSync(`${db}-lock`, { force: true })]) {
      neighbours();
      const kept = look();
      chmodSync(own, 0o555);
      expect(startIt()).toEqual([
        1,
        expect.stringMatching(/^merchant-sandbox: Cannot write in \S+: .*--db <file>.*--memory\.\n$/),
      ]);
      chmodSync(own, 0o700);
      expect(look()).toEqual(kept);
    }
  });

  test("of another user is rejected without the advice to change its mode", async ({ skip }) => {
    const user = plainUser();
    if (typeof user === "string") return skip(user);
    if (process.getuid?.() !== 0) return skip("only root can give a file to another user");
    const db = await ours();
    user.own(dirname(db));
    rmSync(`${db}-lock`);
    for (const [mode, problem] of [
      [0o600, "read \\S+: this user may not read it"],
      [0o644, "write \\S+: it is read-only for this user"],
    ] as const) {
      chmodSync(db, mode);
      const [command, ...words] = user.command("start", "--port", "0", "--db", db);
      const { stderr } = spawnSync(command, words, { encoding: "utf8", cwd: "/" });
      expect(stderr).toMatch(
        new RegExp(`^merchant-sandbox: Cannot ${problem}\\. Run as its owner, or choose another `),
      );
    }
  });

  test.skipIf(ON_WINDOWS)(
    `whose lock is a symbolic link is rejected, and the link's target is not changed${needs(!ON_WINDOWS, UNIX)}`,
    async () => {
      const [cwd, home] = [folder(), folder()];
      const [db, profile] = [join(cwd, "data.db"), join(home, ".profile")];
      symlinkSync(profile, `${db}-lock`);
      for (const isThere of [false, true]) {
        attempted("Links in a checkout that lead elsewhere");
        if (isThere) writeFileSync(profile, "", { mode: 0o755 });
        await expect(createSandbox({ memory: false, db })).rejects.toThrow(
          /data\.db-lock is not a regular file; remove it/,
        );
        expect([existsSync(profile), existsSync(db)]).toEqual([isThere, false]);
      }
      expect(statSync(profile).mode & 0o100).toBe(0o100);
    },
  );

  test("at an impossible path is rejected in one sentence, and the program exits with code 1", async () => {
    const cwd = folder();
    writeFileSync(join(cwd, "file"), "");
    mkdirSync(join(cwd, "folder"));
    await expect(createSandbox({ memory: false, db: join(cwd, "folder") })).rejects.toThrow(
      /^Cannot [^\n]+--memory[^\n]*$/,
    );
    const { code, error } = await run(["--port", "0", "--db", "file/data.db"], {}, cwd);
    expect([code, error]).toEqual([1, expect.stringMatching(/^merchant-sandbox: Cannot [^\n]+--memory[^\n]*\n$/)]);
  });
});
