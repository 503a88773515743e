// Snapshots: saved and restored, in memory and in a file, while running and with --snapshot.

import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import Sqlite from "better-sqlite3";
import { describe, expect, test } from "vitest";
import { folder } from "../support/program.ts";
import { type Answer, attempted, type Bench, open, shareForBlock } from "../support/sandbox.ts";
import { advance, deliver, log, openRegistered, receive, register, settle, trigger } from "../support/webhooks.ts";

const save = (bench: Bench, name: string) => bench.control("PUT", `/snapshots/${name}`);
const restore = (bench: Bench, name: string) => bench.control("POST", `/snapshots/${name}/restore`);
const ask = (bench: Bench, method: string, path: string) => bench.call(method, `/_sandbox${path}`, { key: null });
const refused = (answer: Answer) => [answer.status, answer.body.code];
const decline = (bench: Bench, key: string) =>
  bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { headers: { "idempotency-key": key } });

const places = [
  ["in memory", () => ({})],
  ["in a file", () => ({ memory: false, db: join(folder(), "world", "data.db") })],
] as const;

describe.each(places)("%s", (_, options) => {
  test("a snapshot is saved, listed, restored repeatedly, and deleted", async () => {
    const bench = await open({ ...options(), rateLimit: "100/1h" });
    expect(await bench.control("GET", "/snapshots")).toEqual({ object: "list", data: [] });
    const seeded = await bench.call("GET", "/v1/payments");
    const { replaced, ...saved } = await save(bench, "seeded");
    expect(replaced).toBe(false);
    expect(saved).toEqual({
      name: "seeded",
      file: expect.stringMatching(/seeded\.snapshot\.db$/),
      bytes: statSync(saved.file).size,
    });
    expect(statSync(saved.file).mode & 0o777).toBe(0o600);

    const { apiKey } = await bench.control("POST", "/merchants", {});
    const done = await decline(bench, "one");
    const { body: endpoint } = await bench.call("POST", "/v1/webhooks", {
      body: { url: "http://localhost:3000/hooks", events: ["a.b"] },
    });
    await save(bench, "later");
    const { replaced: isReplaced, ...later } = await save(bench, "later");
    expect(isReplaced).toBe(true);
    expect(await bench.control("GET", "/snapshots")).toEqual({ object: "list", data: [later, saved] });

    for (let round = 0; round < 2; round++) {
      expect(await restore(bench, "seeded")).toEqual({ restored: "seeded" });
      expect((await bench.call("GET", "/v1/payments")).text).toBe(seeded.text);
      expect((await bench.call("GET", "/v1/payments")).headers["ratelimit-remaining"]).toBe("98");
      expect((await bench.call("GET", "/v1/webhooks")).body.data).toEqual([]);
      expect((await bench.call("GET", "/v1/merchants/me", { key: apiKey })).status).toBe(401);
      expect((await bench.control("GET", "/events")).data).toEqual([]);

      await restore(bench, "later");
      expect((await bench.call("GET", "/v1/merchants/me", { key: apiKey })).status).toBe(200);
      expect((await bench.call("GET", "/v1/webhooks")).body.data).toMatchObject([{ id: endpoint.id }]);
      const again = await decline(bench, "one");
      expect([again.text, again.headers["idempotent-replayed"]]).toEqual([done.text, "true"]);
      expect((await decline(bench, "two")).status).toBe(409);
    }

    expect(await bench.control("DELETE", "/snapshots/seeded")).toEqual({ removed: "seeded" });
    expect(await bench.control("GET", "/snapshots")).toEqual({ object: "list", data: [later] });
    expect(existsSync(saved.file)).toBe(false);
    for (const [method, path] of [
      ["DELETE", "/snapshots/seeded"],
      ["POST", "/snapshots/seeded/restore"],
    ] as const)
      expect(refused(await ask(bench, method, path))).toEqual([404, "resource_not_found"]);
  });

  test("after a restore, the same calls create the same records with the same ids again", async () => {
    const bench = await open(options());
    await save(bench, "start");
    const make = async () => {
      const rule = await bench.call("POST", "/v1/hospitality/pricing-rules", {
        body: { name: "x", adjustmentType: "fixed", adjustmentValue: 1 },
      });
      return [rule.text, (await bench.control("GET", "/events")).data[0].id];
    };
    const first = await make();
    const second = await make();
    expect(second[0]).not.toBe(first[0]);
    await restore(bench, "start");
    expect([await make(), await make()]).toEqual([first, second]);
  });

  test("a restore keeps the request log, and no new request gets a number that the snapshot contains", async () => {
    const bench = await open(options());
    await decline(bench, "one");
    await save(bench, "declined");
    await bench.control("POST", "/reset", {});
    expect((await bench.call("GET", "/v1/payments")).headers["x-sandbox-request-id"]).toBe("req_lodge_1");
    await restore(bench, "declined");
    const [event] = (await bench.control("GET", "/events")).data;
    const next = await bench.call("GET", "/v1/payments");
    expect([event.type, event.request, next.headers["x-sandbox-request-id"]]).toEqual([
      "booking.declined",
      "req_lodge_1",
      "req_lodge_2",
    ]);
    expect(await bench.events(next)).toEqual([]);
    const ids = (await bench.control("GET", "/requests")).data.map(({ id }: { id: string }) => id);
    expect(ids).toEqual(["req_lodge_2", "req_lodge_1"]);
  });

  test("pending deliveries are sent after a restore, and interrupted ones are retried", async () => {
    const { bench, receiver, id } = await openRegistered(options(), ["a.b"]);
    receiver.script(500);
    const waiting = await deliver(bench, "a.b", { n: 1 });
    let release = () => {};
    receiver.script((_, outgoing) => {
      release = () => void outgoing.writeHead(200).end();
    });
    const flying = await trigger(bench, "a.b", { n: 2 });
    await receiver.arrived(2);
    await save(bench, "busy");
    release();
    await advance(bench, "1h");
    expect(receiver.arrivals).toHaveLength(3);
    await bench.call("DELETE", `/v1/webhooks/${id}`);
    await bench.control("PUT", "/clock", { mode: "frozen", now: "2026-01-05T12:00:00Z" });

    await restore(bench, "busy");
    await settle(bench);
    expect(receiver.arrivals.slice(3).map(({ event }) => event.id)).toEqual([flying]);
    await advance(bench, "1s");
    expect(receiver.arrivals.slice(4).map(({ event }) => event.id)).toEqual([waiting]);
    expect(receiver.arrivals[4]?.body).toEqual(receiver.arrivals[0]?.body);
    const told = (await log(bench)).map(({ eventId, attempt, status }) => [
      eventId === flying ? "flying" : "waiting",
      attempt,
      status,
    ]);
    expect(told.sort()).toEqual([
      ["flying", 1, "aborted"],
      ["flying", 2, "succeeded"],
      ["waiting", 1, "failed"],
      ["waiting", 2, "succeeded"],
    ]);
  });

  test("saving replaces a snapshot of the same name; a damaged snapshot is rejected and changes nothing", async () => {
    const bench = await open(options());
    const { file } = await save(bench, "mine");
    await decline(bench, "one");
    await save(bench, "mine");
    await bench.control("POST", "/reset", {});
    await restore(bench, "mine");
    expect((await decline(bench, "two")).status).toBe(409);
    writeFileSync(file, "This file is no snapshot any more, only a text that is long enough to examine. ".repeat(20));
    const answer = await ask(bench, "POST", "/snapshots/mine/restore");
    expect(refused(answer)).toEqual([400, "validation_failed"]);
    expect(answer.body.message).toContain("is not a usable SQLite file");
    expect((await decline(bench, "three")).status).toBe(409);
  });
});

test("snapshots beside a file remain after the sandbox closes; a sandbox in memory deletes its snapshots", async () => {
  const db = join(folder(), "data.db");
  const first = await open({ memory: false, db });
  const { file } = await save(first, "kept");
  await first.close();
  const second = await open({ memory: false, db });
  expect((await second.control("GET", "/snapshots")).data).toMatchObject([{ name: "kept", file }]);
  const inMemory = await open();
  const fleeting = await save(inMemory, "gone");
  await inMemory.close();
  expect([existsSync(file), existsSync(dirname(fleeting.file))]).toEqual([true, false]);
});

describe("--snapshot", () => {
  /** A snapshot in which a booking was declined. */
  async function declined(): Promise<string> {
    const bench = await open();
    await decline(bench, "one");
    const { file } = await save(bench, "declined");
    const kept = join(folder(), "declined.db");
    copyFileSync(file, kept);
    return kept;
  }

  test("starts from a file without changing the file", async () => {
    const snapshot = await declined();
    const bytes = readFileSync(snapshot);
    const db = join(folder(), "data.db");
    for (const options of [{}, { memory: false, db }, { memory: false, db }]) {
      const bench = await open({ ...options, snapshot });
      expect((await decline(bench, "one")).headers["idempotent-replayed"]).toBe("true");
      expect((await decline(bench, "two")).status).toBe(409);
      const [event] = (await bench.control("GET", "/events")).data;
      expect([event.type, event.request]).toEqual(["booking.declined", "req_lodge_1"]);
      await bench.close();
    }
    expect(readFileSync(snapshot).equals(bytes)).toBe(true);
    expect([existsSync(`${snapshot}-wal`), existsSync(`${snapshot}-shm`)]).toEqual([false, false]);
  });

  test("replaces the content of the database, and holds pending deliveries until they are released", async () => {
    const receiver = await receive();
    receiver.script(500);
    const before = await open();
    await register(before, receiver.url);
    const event = await deliver(before);
    const snapshot = join(folder(), "owing.db");
    copyFileSync((await save(before, "owing")).file, snapshot);
    await before.close();

    const db = join(folder(), "data.db");
    const other = await open({ memory: false, db });
    await other.control("POST", "/merchants", {});
    await other.close();
    const after = await open({ memory: false, db, snapshot, life: "off" });
    expect((await after.control("GET", "")).merchants).toHaveLength(4);
    attempted("A snapshot that makes the sandbox call programs of this machine");
    await advance(after, "24h");
    expect(receiver.arrivals.map(({ event: { id } }) => id)).toEqual([event]);
    expect(await after.control("GET", "")).toMatchObject({ pendingDeliveries: 1, heldDeliveries: 1 });
    expect(await after.control("POST", "/deliveries/release")).toEqual({ released: 1 });
    await receiver.arrived(2);
    expect(receiver.arrivals.map(({ event: { id } }) => id)).toEqual([event, event]);
  });

  test("rejects a file that is not a usable snapshot, and changes neither this file nor the database", async () => {
    const cwd = folder();
    const db = join(cwd, "data.db");
    const bench = await open({ memory: false, db });
    await decline(bench, "one");
    await bench.close();
    const text = join(cwd, "notes.txt");
    writeFileSync(text, "Not a database at all. ".repeat(100));
    const foreign = join(cwd, "foreign.db");
    new Sqlite(foreign).exec("create table mine (x)").close();
    const older = join(cwd, "older.db");
    copyFileSync(db, older);
    new Sqlite(older).exec("pragma user_version = 999").close();
    mkdirSync(join(cwd, "directory"));
    const wrong: [string, RegExp][] = [
      [join(cwd, "nothing.db"), /nothing\.db does not exist\. Save one with npx merchant-sandbox/],
      [text, /notes\.txt is not a usable SQLite file: .* Save one/],
      [join(cwd, "directory"), /directory is not a usable SQLite file: .* Save one/],
      [foreign, /foreign\.db is a SQLite database of another program\. Save one/],
      [older, /older\.db was written by another version of merchant-sandbox .*\. Save one/],
    ];
    for (const [snapshot, says] of wrong) {
      const before = existsSync(snapshot) && statSync(snapshot).isFile() ? readFileSync(snapshot) : undefined;
      await expect(open({ memory: false, db, snapshot })).rejects.toThrow(says);
      await expect(open({ memory: false, db, snapshot })).rejects.toMatchObject({ exitCode: 2 });
      if (before) expect([snapshot, readFileSync(snapshot).equals(before)]).toEqual([snapshot, true]);
    }
    const again = await open({ memory: false, db });
    expect((await decline(again, "one")).headers["idempotent-replayed"]).toBe("true");
  });
});

test("new ids and keys do not repeat those of a snapshot, even if another program lowered its counters", async () => {
  const bench = await open();
  const create = () =>
    bench.call("POST", "/v1/hospitality/pricing-rules", {
      body: { name: "x", adjustmentType: "fixed", adjustmentValue: 1 },
    });
  const add = () => bench.control("POST", "/merchants", {});
  const login = { email: "ola@lodge.example", password: "lodge-password" };
  const keys = async () => [
    (await bench.call("POST", "/v1/merchants", { body: { name: "New", email: `${Math.random()}@new.example` } })).body
      .apiKey,
    (await bench.call("POST", "/v1/merchants/login", { body: login })).body.accessToken,
  ];
  await create();
  await add();
  const used = await keys();
  const { file } = await save(bench, "low");
  const next = [(await create()).body.id, (await add()).id];
  new Sqlite(file).exec("update counters set value = 0").close();
  await restore(bench, "low");
  expect([(await create()).body.id, (await add()).id]).toEqual(next);
  const made = await keys();
  expect(new Set([...used, ...made]).size).toBe(4);
  for (const key of made) expect((await bench.call("GET", "/v1/merchants/me", { key })).status).toBe(200);
  attempted("Changed snapshots and database files");
});

describe("a snapshot changed by another program", () => {
  const changes: [what: string, sql: string, says: RegExp][] = [
    [
      "a trigger",
      "create trigger t after insert on main.keys begin delete from documents; end",
      /has another trigger t/,
    ],
    [
      "a live key in JSON escapes",
      "update events set body = replace(body, '\"amount\"', '\"sk\\u005flive_4eC39HqLyjWDarjt\"')",
      /a row of events .* it holds a live key/,
    ],
    [
      "a live key in base64",
      "update events set body = replace(body, '\"amount\"', '\"c2tfbGl2ZV80ZUMzOUhxTHlqV0Rhcmp0\"')",
      /a row of events .* it holds a live key/,
    ],
    ["a table without its checks", "alter table deliveries add column extra text", /has another table deliveries/],
    ["an e-mail address in capital letters", "update logins set email = upper(email)", /logins .*lower/],
    ["an id counter beyond its maximum", "update counters set value = 9e18", /counters .*value/],
    ["a record that is not JSON", "update documents set body = '{' where kind = 'payment'", /documents .*json_valid/],
    [
      "a record whose amount is text",
      "update documents set body = json_set(body, '$.amount', 'much') where kind = 'payment'",
      /kind "payment", id "pay_/,
    ],
    ["a record of an unknown kind", "update documents set kind = 'yacht' where kind = 'payment'", /yacht/],
    ["an invalid request id", "update events set request = 'req_lodge'", /events .*request/],
    ["a request number beyond the maximum", "update request_numbers set made = 9e15", /request_numbers .*made/],
    ["a delivery that is due in the year 300,000", "update deliveries set due = 9e15", /deliveries .*due/],
    ["an invalid fault", "update deliveries set decided = '[1]'", /deliveries .*decided/],
    [
      "an unknown reason of a failed attempt",
      "update attempts set errorCode = 'tired'",
      /attempts .*id "whd_.*errorCode must be one of/,
    ],
    ["an attempt without an id", "update attempts set id = ''", /attempts .*id "".*column id/],
    ["an attempt whose fault names no rules", "update attempts set fault = '{}'", /attempts .*fault/],
    ["an event without an id", "update events set id = ''", /events .*id/],
    ["a subscription of a missing endpoint", "update subscriptions set endpoint = ''", /subscriptions .*endpoint/],
    ["a learner of a missing merchant", "update learners set merchant = 'mer_none'", /learners .*merchant/],
    [
      "a record whose sequence is beyond the exact integers of JavaScript",
      "update documents set sequence = 9007199254740992 " +
        "where sequence = (select max(sequence) from documents where kind = 'payment')",
      /documents .*sequence/,
    ],
    ["a learner at step -1", "update learners set step = -1", /learners .*step/],
    ["a learner whose mark is not an object", "update learners set mark = 'true'", /learners .*mark/],
    ["a learner whose mark lacks the counts", "update learners set lesson = 'paging', mark = '{}'", /learners .*mark/],
    ["a unique value of a missing document", "update uniques set document = 99999", /uniques .*document/],
    [
      "an endpoint without a secret",
      "update documents set body = json_remove(body, '$.secret') where kind = 'webhook_endpoint'",
      /secret/,
    ],
    ["a delivery of another merchant's event", "update deliveries set merchant = 'mer_stage'", /deliveries .*merchant/],
    ["an attempt that is not counted", "update deliveries set attempts = 0", /attempts .*attempt/],
    [
      "a live key",
      "update events set body = json_set(body, '$.note', 'SK_LIVE_x')",
      /events .*column body: it holds a live key/,
    ],
    ["a sequence that is text", "update sqlite_sequence set seq = 'many'", /sqlite_sequence .*seq/],
  ];

  // A rejected file changes nothing, so all tests share one sandbox, which saves a new file for each test.
  const shared = shareForBlock({}, async (bench) => {
    await register(bench, "http://127.0.0.1:2/closed", ["payment.succeeded"]);
    await deliver(bench, "payment.succeeded");
    await bench.control("POST", "/learners", { name: "Ada" });
  });

  test.each(changes)("with %s is rejected with one line, and changes nothing", async (_, change, says) => {
    const bench = shared();
    const { file } = await save(bench, "shared");
    new Sqlite(file).unsafeMode().exec(`pragma ignore_check_constraints = on; ${change}`).close();
    const before = (await bench.call("GET", "/v1/payments")).text;
    const answer = await ask(bench, "POST", "/snapshots/shared/restore");
    attempted("Changed snapshots and database files", 2);
    expect(refused(answer)).toEqual([400, "validation_failed"]);
    expect(answer.body.message).toMatch(says);
    expect(answer.body.message).not.toContain("\n");
    expect((await bench.call("GET", "/v1/payments")).text).toBe(before);
    await expect(open({ snapshot: file })).rejects.toThrow(says);
  });
});
