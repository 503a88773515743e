// A cloned folder with hostile files. Until the user confirms, no command deletes a file, applies a journal, waits for
// a pipe or posts to a program of this machine.

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { createSandbox } from "../../src/sandbox/create.ts";
import { isHosted } from "../support/hosted-commands.ts";
import { everyCommandLine, hotJournal, otherDatabase, postingDatabase, repository } from "../support/hostile-folder.ts";
import { needs, ON_WINDOWS, UNIX } from "../support/needs.ts";
import { ANY_PORT, type Ended, folder, launch, NOWHERE, run, runShared, start } from "../support/program.ts";
import { attempted, call, control } from "../support/sandbox.ts";
import { receive } from "../support/webhooks.ts";

const DATABASE = ".merchant-sandbox/sandbox.db";
/** Milliseconds after which a command that has not ended counts as hanging. */
const LONGEST = 60_000;
/**
 * Milliseconds that a command runs after its first line. `attach` waits for a sandbox, so its time counts from its
 * start.
 */
const WATCHED = 500;

interface Tried {
  out: string[];
  error: string;
}

/** Fails if a command does not end. */
async function endOf(words: readonly string[], ended: Promise<Ended>): Promise<Ended> {
  const late = pause(LONGEST, undefined, { ref: false });
  const first = await Promise.race([ended, late]);
  if (first === undefined) throw new Error(`${words.join(" ")} hangs`);
  return first;
}

/** Runs a command. A command that opens the folder's database exits by itself, because it refuses the database. */
async function tryRefused(words: readonly string[], cwd: string): Promise<Tried> {
  if (!OPENS.includes(words[0] ?? "")) return tryOut(words, cwd);
  return endOf(words, runShared([...words], environmentOf(words), cwd));
}

/** Runs a command until it ends, or for a while after its first line. Calls `ready` with the URL of its sandbox. */
async function tryOut(words: readonly string[], cwd: string, ready = async (_: string) => {}): Promise<Tried> {
  const environment = environmentOf(words);
  if (isHosted(words, {}) && !words.includes("--detach")) return endOf(words, runShared([...words], environment, cwd));
  const program = launch([...words], environment, cwd);
  program.child.stdin?.end();
  const said = program
    .line(() => true)
    .then(
      async (line) => {
        const url = / at (http:\/\/[^/\s]+)\/v1/.exec(line)?.[1];
        if (url !== undefined) await ready(url);
        await pause(WATCHED);
        program.child.kill("SIGTERM");
      },
      () => {},
    );
  if (words[0] === "attach") void pause(WATCHED, undefined, { ref: false }).then(() => program.child.kill("SIGTERM"));
  const ended = await endOf(words, program.ended);
  await said;
  if (words.includes("--detach")) await run(["stop", "--all"], NOWHERE, cwd);
  return ended;
}

/** Commands that open the database of the folder. */
const OPENS = ["start", "exec", "dev", "learn", "doctor"];
const environmentOf = ([command = ""]: readonly string[]) => (OPENS.includes(command) ? ANY_PORT : NOWHERE);

/** Tries every command line in a separate clone, two at a time. */
async function eachCommand(
  clone: () => string,
  check: (words: string[], cwd: string) => Promise<void>,
  isTried = (_: string[]) => true,
): Promise<void> {
  const lines = (await everyCommandLine(DATABASE)).filter(isTried);
  const next = async (): Promise<void> => {
    const words = lines.shift();
    if (!words) return;
    await check(words, clone());
    return next();
  };
  await Promise.all([next(), next()]);
}

const opensDatabase = (words: string[]) => words.includes("--db");

describe("a file that a committed journal names as its super-journal is not deleted", () => {
  test.each(["-lock", ""])("by any command if the journal is beside sandbox.db%s", async (suffix) => {
    const victim = join(folder(), "precious");
    writeFileSync(victim, "precious");
    const service = await receive();
    const { database } = await postingDatabase(service.url);
    const clone = repository({
      [DATABASE]: readFileSync(database),
      [DATABASE + suffix]: otherDatabase(),
      [`${DATABASE}${suffix}-journal`]: hotJournal(victim),
    });
    const check = async (words: string[], cwd: string) => {
      attempted("Journals and logs in a checkout");
      if (!opensDatabase(words)) attempted("Webhooks that a checkout sends");
      const { error } = await tryRefused(words, cwd);
      expect([words.join(" "), existsSync(victim), service.arrivals.length]).toEqual([words.join(" "), true, 0]);
      if (opensDatabase(words) && words[0] !== "doctor")
        expect(error).toMatch(/sandbox\.db(-lock|-journal) (is|was) not/);
    };
    await eachCommand(clone, check, suffix === "" ? opensDatabase : undefined);
  });

  test("if merchant-sandbox.json names the database", async () => {
    const victim = join(folder(), "precious");
    writeFileSync(victim, "precious");
    const clone = repository({
      "merchant-sandbox.json": '{ "db": "data/shop.db", "port": 0 }',
      "data/shop.db-lock": otherDatabase(),
      "data/shop.db-lock-journal": hotJournal(victim),
    });
    for (const words of [["start"], ["start", "--detach"], ["exec", "--", "true"], ["learn"]]) {
      attempted("Journals and logs in a checkout");
      const { error } = await tryRefused(words, clone());
      expect([words, error, existsSync(victim)]).toEqual([words, expect.stringContaining("shop.db-lock is not"), true]);
    }
  });

  test("if the journal is beside a snapshot, or beside an unfinished snapshot", async () => {
    const victim = join(folder(), "precious");
    writeFileSync(victim, "precious");
    const at = (name: string) => `.merchant-sandbox/snapshots/${name}.snapshot.db`;
    const cwd = repository({
      [at("old")]: otherDatabase(),
      [`${at("old")}-journal`]: hotJournal(victim),
      [`${at("new")}-unfinished`]: otherDatabase(),
      [`${at("new")}-unfinished-journal`]: hotJournal(victim),
    })();
    const { url } = await start([], {}, cwd);
    attempted("Journals and logs in a checkout", 3);
    const restored = await call(url, "POST", "/_sandbox/snapshots/old/restore", { key: null });
    expect(restored).toMatchObject({ status: 400, body: { message: expect.stringMatching(/-journal beside it/) } });
    await control(url, "PUT", "/snapshots/new");
    const { error } = await run(["--port", "0", "--memory", "--snapshot", at("old")], {}, cwd);
    expect(error).toMatch(/old\.snapshot\.db-journal beside it, which was not left by a sandbox; remove that/);
    expect(existsSync(victim)).toBe(true);
  });
});

describe("a database is refused in one sentence that names the file", () => {
  let own: Buffer;
  let log: Buffer;
  beforeAll(async () => {
    const db = join(folder(), "own.db");
    const sandbox = await createSandbox({ memory: false, db });
    // The log of a new database is empty, so this creates a record.
    await sandbox.records.make({ kind: "payment", status: "succeeded", amount: 1_250 });
    log = readFileSync(`${db}-wal`);
    await sandbox.close();
    own = readFileSync(db);
  });

  const look = (cwd: string) =>
    readdirSync(join(cwd, ".merchant-sandbox")).map((name) => [
      name,
      readFileSync(join(cwd, ".merchant-sandbox", name), "hex"),
    ]);

  test.each(["-wal", "-shm", "-journal"])("if a committed %s is beside it", async (suffix) => {
    const clone = repository({ [DATABASE]: own, [DATABASE + suffix]: suffix === "-wal" ? log : "x".repeat(512) });
    for (const words of [["start"], ["exec", "--db", DATABASE, "--", "true"], ["learn", "--db", DATABASE]]) {
      attempted("Journals and logs in a checkout");
      const cwd = clone();
      const before = look(cwd);
      const { code, error } = await runShared([words[0] ?? "", "--port", "0", ...words.slice(1)], NOWHERE, cwd);
      expect([code, error]).toEqual([
        1,
        expect.stringMatching(new RegExp(`^merchant-sandbox: \\S+${DATABASE}${suffix} was not left by [^\\n]+\\n$`)),
      ]);
      expect(look(cwd).filter(([name]) => name !== ".gitignore")).toEqual(before);
    }
  });

  test("unless --trust is given, which also reads the log", async () => {
    const db = join(folder(), "own.db");
    const sandbox = await createSandbox({ memory: false, db });
    const { id } = await sandbox.records.make({ kind: "payment", status: "succeeded", amount: 1_250 });
    const copy = join(folder(), "own.db");
    for (const suffix of ["", "-wal"]) cpSync(db + suffix, copy + suffix);
    await sandbox.close();
    await expect(createSandbox({ memory: false, db: copy })).rejects.toThrow(
      /own\.db-wal was not left by a sandbox of this user, .* add --trust to start with what it holds, or remove it/,
    );
    const trusted = await createSandbox({ memory: false, db: copy, trust: true });
    expect(await trusted.records.list({ kind: "payment", limit: 1 })).toMatchObject({ data: [{ id }] });
    await trusted.close();
    // The trusted start has marked this file as the user's, so a start without trust opens it.
    await (await createSandbox({ memory: false, db: copy })).close();
  });

  test.skipIf(ON_WINDOWS).each(["", "-wal", "-shm", "-journal", "-lock", "-session"])(
    `if sandbox.db%s is a pipe or a folder, and no command hangs${needs(!ON_WINDOWS, UNIX)}`,
    async (suffix) => {
      for (const make of [(path: string) => execFileSync("mkfifo", [path]), (path: string) => mkdirSync(path)]) {
        const cwd = folder();
        mkdirSync(join(cwd, ".merchant-sandbox"));
        if (suffix !== "") writeFileSync(join(cwd, DATABASE), own);
        make(join(cwd, DATABASE + suffix));
        for (const words of [
          ["start", "--port", "0"],
          ["exec", "--db", DATABASE, "--", "true"],
        ]) {
          attempted("Pipes, devices and folders in a checkout");
          const { code, error } = await endOf(words, runShared(words, environmentOf(words), cwd));
          expect([words, code, error]).toEqual([words, 1, expect.stringMatching(/^[^\n]*sandbox\.db[^\n]*\n$/)]);
        }
        for (const words of [["doctor", "--port", "0"], ["status"], ["snapshot"], ["stop"]]) {
          attempted("Pipes, devices and folders in a checkout");
          expect((await endOf(words, run(words, NOWHERE, cwd))).error).not.toContain("internal error");
        }
      }
    },
  );

  test("if it has a second name (a hard link), under which SQLite would keep a second log", async () => {
    const [cwd, other] = [folder(), folder()];
    const sandbox = await createSandbox({ memory: false, db: join(cwd, "one.db") });
    linkSync(join(cwd, "one.db"), join(other, "two.db"));
    await expect(createSandbox({ memory: false, db: join(other, "two.db") })).rejects.toThrow(
      /two\.db has a second name \(a hard link\)/,
    );
    await sandbox.close();
    await expect(createSandbox({ memory: false, db: join(cwd, "one.db") })).rejects.toThrow(/has a second name/);
    rmSync(join(other, "two.db"));
    await (await createSandbox({ memory: false, db: join(cwd, "one.db") })).close();
    expect(readdirSync(other)).toEqual([]);
  });
});

describe("nothing that a stranger stored is posted to a program of this machine", () => {
  /** Sends a test event to each endpoint, and waits until no delivery is due. */
  async function causeEvent(url: string): Promise<void> {
    await call(url, "POST", "/v1/webhook-events/test", { body: { type: "payment.succeeded" } });
    await control(url, "POST", "/drain", { within: "1s" });
  }

  // The other commands are tested above, in a clone with such a database.
  test("by any command that opens the database of a clone", async () => {
    const service = await receive();
    const { database } = await postingDatabase(service.url);
    const clone = repository({ [DATABASE]: readFileSync(database) });
    const check = async (words: string[], cwd: string) => {
      attempted("Webhooks that a checkout sends");
      await tryOut(words, cwd, causeEvent);
      expect([words.join(" "), service.arrivals.length]).toEqual([words.join(" "), 0]);
    };
    await eachCommand(clone, check, opensDatabase);
  });

  test("until the user runs `replay waiting`; the next start then sends events itself", async () => {
    const service = await receive();
    const { database } = await postingDatabase(service.url);
    const cwd = repository({ [DATABASE]: readFileSync(database) })();
    for (let starts = 0; starts < 2; starts++) {
      attempted("Webhooks that a checkout sends");
      const program = launch(["start", "--life", "off", "--port", "0"], NOWHERE, cwd);
      const says = await program.line((line) => line.startsWith("Not written by"));
      expect(says).toMatch(
        new RegExp(
          `nothing is sent to ${service.url} until you run npx merchant-sandbox replay waiting, or start with --trust`,
        ),
      );
      program.child.kill("SIGTERM");
      await program.ended;
    }
    const first = await start(["--life", "off"], NOWHERE, cwd);
    await causeEvent(first.url);
    expect(service.arrivals).toEqual([]);
    expect((await run(["wait", "--settled"], NOWHERE, cwd)).out).toEqual([
      `Settled at ${first.url}; 2 deliveries held (to send: npx merchant-sandbox replay waiting).`,
    ]);
    const { out } = await run(["replay", "waiting"], NOWHERE, cwd);
    expect(out).toEqual(["Delivering 2 held deliveries."]);
    await service.arrived(2);
    await first.kill();
    const second = await start(["--life", "off"], NOWHERE, cwd);
    await causeEvent(second.url);
    await service.arrived(3);
  });

  test("unless --trust, MERCHANT_SANDBOX_TRUST or exec in CI trusts the database", async () => {
    const service = await receive();
    const { database } = await postingDatabase(service.url);
    const clone = repository({ [DATABASE]: readFileSync(database) });
    const waiting =
      "require('node:http').request(process.env.MERCHANT_SANDBOX_URL + '/_sandbox/drain', { method: 'POST', " +
      "headers: { 'content-type': 'application/json' } }, (answer) => answer.pipe(process.stdout)).end('{}')";
    const exec = ["exec", "--life", "off", "--db", DATABASE, "--", process.execPath, "-e", waiting];
    await run(["exec", "--trust", ...exec.slice(1)], ANY_PORT, clone());
    expect(service.arrivals.length).toBe(1);
    await run(exec, { ...ANY_PORT, MERCHANT_SANDBOX_TRUST: "yes" }, clone());
    expect(service.arrivals.length).toBe(2);
    await run(exec, { ...ANY_PORT, CI: "true" }, clone());
    expect(service.arrivals.length).toBe(3);
    const { error } = await run(exec, ANY_PORT, clone());
    expect([service.arrivals.length, error]).toEqual([3, expect.stringContaining("start with --trust")]);
  });

  test("by an endpoint of its merchant-sandbox.json, and the start says so", async () => {
    const service = await receive();
    const cwd = repository({ "merchant-sandbox.json": JSON.stringify({ endpoints: [{ url: service.url }] }) })();
    attempted("Webhooks that a checkout sends");
    const program = launch(["start", "--memory", "--port", "0", "--no-ui"], NOWHERE, cwd);
    const says = await program.line((line) => line.includes(` to ${service.url} as `));
    expect(says).toMatch(/^Not yet delivering \* of mer_lodge to /);
    await program.line((line) => line.startsWith(`Not written by a sandbox of this user, so nothing is sent to`));
    program.child.kill("SIGTERM");
    await program.ended;
    expect(service.arrivals).toEqual([]);
  });

  test("by a snapshot of a clone, loaded at the start or later, unlike a snapshot of this user", async () => {
    const service = await receive();
    const { snapshot } = await postingDatabase(service.url);
    const at = ".merchant-sandbox/snapshots/theirs.snapshot.db";
    const cwd = repository({ [at]: readFileSync(snapshot) })();
    attempted("Webhooks that a checkout sends", 3);
    const early = await start(["--memory", "--snapshot", at], NOWHERE, cwd);
    await causeEvent(early.url);
    await early.kill();
    const { url, kill } = await start([], NOWHERE, cwd);
    const loaded = await run(["snapshot", "restore", "theirs"], NOWHERE, cwd);
    expect(loaded.out.join()).toContain(
      `nothing is sent to ${service.url} until you run npx merchant-sandbox replay waiting`,
    );
    await causeEvent(url);
    await run(["snapshot", "save", "copied"], NOWHERE, cwd);
    await kill();
    // Neither a restart nor a snapshot makes the data count as the user's.
    const again = await start([], NOWHERE, cwd);
    await causeEvent(again.url);
    await run(["snapshot", "restore", "copied"], NOWHERE, cwd);
    await causeEvent(again.url);
    expect(service.arrivals).toEqual([]);
    await run(["reset"], NOWHERE, cwd);
    await control(again.url, "PUT", "/endpoints", { url: service.url, merchant: "mer_lodge" });
    await run(["snapshot", "save", "mine"], NOWHERE, cwd);
    await run(["snapshot", "restore", "mine"], NOWHERE, cwd);
    await causeEvent(again.url);
    await service.arrived(1);
  });

  test("if a stranger's database is copied over a database of this user", async () => {
    const service = await receive();
    const { database } = await postingDatabase(service.url);
    const db = join(folder(), "data.db");
    await (await createSandbox({ memory: false, db })).close();
    attempted("Webhooks that a checkout sends");
    writeFileSync(db, readFileSync(database));
    const sandbox = await createSandbox({ memory: false, db });
    await causeEvent(sandbox.url);
    expect([service.arrivals, (await sandbox.overview()).heldEndpoints]).toEqual([[], [service.url]]);
    await sandbox.close();
  });

  test("through the endpoints of merchant-sandbox.json, until the user confirms them once", async () => {
    const service = await receive();
    const config = (url: string) => JSON.stringify({ memory: true, endpoints: [{ url }] });
    const cwd = repository({ "merchant-sandbox.json": config(service.url) })();
    for (const words of [[], ["--memory", "--seed", "2"]]) {
      attempted("Webhooks that a checkout sends");
      const { url, out, kill } = await start(words, NOWHERE, cwd);
      await causeEvent(url);
      await control(url, "POST", "/reset");
      await causeEvent(url);
      expect([service.arrivals, JSON.parse(out[0] ?? "").heldEndpoints]).toEqual([[], [service.url]]);
      await kill();
    }
    const trusting = await start(["--trust"], NOWHERE, cwd);
    await causeEvent(trusting.url);
    await service.arrived(1);
    await trusting.kill();
    const later = await start([], NOWHERE, cwd);
    await causeEvent(later.url);
    await service.arrived(2);
    await later.kill();
    // If a pull changes the endpoint's URL, the user must confirm again.
    const other = await receive();
    writeFileSync(join(cwd, "merchant-sandbox.json"), config(other.url));
    attempted("Webhooks that a checkout sends");
    const pulled = await start([], NOWHERE, cwd);
    await causeEvent(pulled.url);
    expect(other.arrivals).toEqual([]);
    await run(["replay", "waiting", "--url", pulled.url], NOWHERE, cwd);
    await other.arrived(1);
    await pulled.kill();
    const last = await start([], NOWHERE, cwd);
    await causeEvent(last.url);
    await other.arrived(2);
  });
});

test("if a folder or file blocks the path of a snapshot, no call gets a 5xx or leaves an unfinished file", async () => {
  const cwd = folder();
  const { url, kill } = await start([], NOWHERE, cwd);
  const snapshots = join(cwd, ".merchant-sandbox/snapshots");
  mkdirSync(join(snapshots, "one.snapshot.db"), { recursive: true });
  mkdirSync(join(snapshots, "two.snapshot.db-unfinished"));
  for (const [method, path] of [
    ["PUT", "/snapshots/one"],
    ["POST", "/snapshots/one/restore"],
    ["DELETE", "/snapshots/one"],
    ["PUT", "/snapshots/two"],
  ] as const) {
    attempted("Pipes, devices and folders in a checkout");
    expect((await call(url, method, `/_sandbox${path}`, { key: null })).status).toBeLessThan(500);
  }
  expect(readdirSync(snapshots)).toEqual(["one.snapshot.db", "two.snapshot.db-unfinished"]);
  rmSync(snapshots, { recursive: true });
  writeFileSync(snapshots, "");
  attempted("Pipes, devices and folders in a checkout");
  expect((await call(url, "PUT", "/_sandbox/snapshots/one", { key: null })).status).toBe(409);
  await kill();
});
