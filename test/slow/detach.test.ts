// Detached sandboxes, the commands that manage them, and sandboxes that the real npx starts.

import { execFile, spawn, spawnSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { Agent, createServer } from "node:http";
import { join } from "node:path";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { needs, ON_WINDOWS, UNIX } from "../support/needs.ts";
import { plainUser } from "../support/plain-user.ts";
import { folder, isAlive, launch, NOWHERE, PROGRAM, run, start } from "../support/program.ts";
import { attempted, call, freePort, listen } from "../support/sandbox.ts";

interface Detached {
  cwd: string;
  url: string;
  pid: number;
  log: string;
  controlToken?: string;
}

const startedPids: number[] = [];

afterEach(() => {
  for (const pid of startedPids.splice(0))
    if (spawnSync("ps", ["-p", String(pid)]).status === 0) process.kill(pid, "SIGKILL");
});

/** Starts a detached sandbox, and kills it after the test. */
async function detach(words: string[] = ["--memory"], cwd = folder()): Promise<Detached> {
  const ended = await run(["start", "--detach", "--json", "--port", "0", ...words], {}, cwd);
  expect([ended.code, ended.error, ended.out.length]).toEqual([0, "", 1]);
  const ready = JSON.parse(ended.out[0] ?? "");
  startedPids.push(ready.pid);
  expect(ready).toMatchObject({ event: "ready", baseUrl: `${ready.url}/v1` });
  return { ...ready, cwd };
}

const statesIn = (cwd: string) => readdirSync(join(cwd, ".merchant-sandbox")).filter((name) => name.endsWith(".json"));

describe("start --detach", () => {
  test("returns when the sandbox is ready and prints one line; stop shuts the sandbox down", async () => {
    const cwd = folder();
    const { code, out, error } = await run(["--detach", "--port", "0", "--memory"], {}, cwd);
    expect([code, error, out.length]).toEqual([0, "", 1]);
    const ready =
      /^merchant-sandbox \S+ is ready at (\S+)\/v1 as process (\d+); its log is (\S+)\. Stop it with npx merchant-sandbox stop\.$/;
    const [, url = "", pid = "", log = ""] = ready.exec(out[0] ?? "") ?? [];
    startedPids.push(Number(pid));
    expect((await call(url, "GET", "/v1/payments")).status).toBe(200);
    expect([statSync(log).mode & 0o077, readFileSync(join(cwd, ".merchant-sandbox/.gitignore"), "utf8")]).toEqual([
      0,
      "*\n",
    ]);
    expect(statesIn(cwd).map((name) => statSync(join(cwd, ".merchant-sandbox", name)).mode & 0o077)).toEqual([0]);
    expect(await run(["stop"], {}, cwd)).toMatchObject({ code: 0, out: [`Stopped ${url}.`], error: "" });
    expect([isAlive(Number(pid)), readdirSync(join(cwd, ".merchant-sandbox"))]).toEqual([false, [".gitignore"]]);
    await expect(call(url, "GET", "/v1/payments", { agent: new Agent() })).rejects.toMatchObject({
      code: "ECONNREFUSED",
    });
  });

  test("writes its state and log beside the database", async () => {
    const { url, cwd, log } = await detach(["--db", "data/shop.db"]);
    expect(existsSync(join(cwd, "data/shop.db"))).toBe(true);
    expect(log.startsWith(join(cwd, "data/detached-"))).toBe(true);
    await call(url, "GET", "/v1/payments");
    expect(await run(["status"], NOWHERE, cwd)).toMatchObject({ code: 1 });
    const { out } = await run(["status", "--db", "data/shop.db"], {}, cwd);
    expect(out).toEqual([expect.stringContaining(`kept in ${join(cwd, "data/shop.db")}`)]);
    expect(readFileSync(log, "utf8")).toContain('"path":"/v1/payments"');
    expect((await run(["stop"], { MERCHANT_SANDBOX_DB: "data/shop.db" }, cwd)).code).toBe(0);
  });

  test.skipIf(ON_WINDOWS)(
    `status finds a sandbox that is too busy to answer a probe${needs(!ON_WINDOWS, UNIX)}`,
    async () => {
      const { url, pid, cwd } = await detach();
      process.kill(pid, "SIGSTOP");
      // Longer than the two seconds for which `status` would probe an unknown address.
      setTimeout(() => process.kill(pid, "SIGCONT"), 4_000);
      const { code, out } = await run(["status"], NOWHERE, cwd);
      expect([code, out]).toEqual([0, [expect.stringContaining(`${url} is ready`)]]);
    },
  );

  test.skipIf(ON_WINDOWS)(
    `stop cannot end a sandbox whose folder was deleted, but prints its process id${needs(!ON_WINDOWS, UNIX)}`,
    async () => {
      const { url, pid, cwd } = await detach(["--db", ".merchant-sandbox/sandbox.db"]);
      rmSync(join(cwd, ".merchant-sandbox"), { recursive: true });
      const why = "was deleted or replaced, so nothing is kept. Start the sandbox again.";
      const { out } = await run(["status", "--url", url], {}, cwd);
      expect(out).toEqual([expect.stringMatching(new RegExp(`^No sandbox is ready at ${url}: .* ${why}$`))]);
      const { code, error } = await run(["stop", "--url", url], {}, cwd);
      expect([code, error]).toEqual([1, expect.stringContaining(`Process ${pid} listens at this URL: end it`)]);
    },
  );

  test("names the process that uses the port, and exits with 5", async () => {
    const { url, pid, cwd } = await detach();
    const port = new URL(url).port;
    const taken = await run(["start", "--detach", "--memory", "--port", port], {}, cwd);
    expect([taken.code, taken.out]).toEqual([5, []]);
    expect(taken.error).toMatch(
      new RegExp(`Port ${port} on \\S+ is used by merchant-sandbox \\S+, process ${pid}, in memory\\. `),
    );
    expect(statesIn(cwd)).toHaveLength(1);
    await run(["stop"], {}, cwd);

    const theirs = await listen(createServer());
    const refused = await run(["start", "--detach", "--memory", "--port", String(theirs)], {}, cwd);
    expect([refused.code, refused.error]).toEqual([5, expect.stringContaining(`is used by process ${process.pid} (`)]);
    expect(readdirSync(join(cwd, ".merchant-sandbox"))).toEqual([".gitignore"]);
  });

  test("reports invalid options with the same messages as a start in the foreground, and leaves no files", async () => {
    const cwd = folder();
    const wrong: [words: string[], code: number][] = [
      [["--fixtures", "nowhere"], 6],
      [["--db", "."], 1],
    ];
    for (const [words, code] of wrong) {
      const plain = await run(["--port", "0", ...words], {}, cwd);
      const detached = await run(["--detach", "--port", "0", ...words], {}, cwd);
      expect([words, detached.code, detached.error]).toEqual([words, code, plain.error]);
    }
    expect(statesIn(cwd)).toEqual([]);
    expect(await run(["--detach", "--db", "/dev/null/data.db"])).toMatchObject({
      code: 1,
      error: expect.stringContaining("/dev/null"),
    });
    expect(await run(["--detach", "--ui"])).toMatchObject({
      code: 2,
      error: expect.stringContaining("choose --ui or"),
    });
  });

  test("several sandboxes run side by side; stop asks for one of them, and stop --all shuts down all", async () => {
    const cwd = folder();
    const all = await Promise.all(Array.from({ length: 3 }, () => detach(["--memory"], cwd)));
    expect(new Set(all.map(({ url }) => url)).size).toBe(3);
    const unsure = await run(["stop"], {}, cwd);
    expect([unsure.code, unsure.error]).toEqual([2, expect.stringContaining("Several sandboxes run here")]);
    expect((await run(["status", "--json"], {}, cwd)).out.map((line) => JSON.parse(line).ready)).toEqual(
      all.map(() => true),
    );
    const [one, ...others] = all;
    expect((await run(["stop", "--url", `${one?.url}/v1`], {}, cwd)).out).toEqual([`Stopped ${one?.url}.`]);
    expect((await run(["stop", "--all"], {}, cwd)).out.sort()).toEqual(
      others.map(({ url }) => `Stopped ${url}.`).sort(),
    );
    expect(all.filter(({ pid }) => isAlive(pid))).toEqual([]);
    expect(await run(["stop", "--all"], {}, cwd)).toMatchObject({
      code: 0,
      out: ["No detached sandbox runs in this folder."],
    });

    const { url } = await detach(["--memory"], cwd);
    const foreground = await start(["--memory"], {}, cwd);
    expect(await run(["stop"], {}, cwd)).toMatchObject({ code: 0, out: [`Stopped ${url}.`], error: "" });
    expect(foreground.child.exitCode).toBeNull();
  });

  test("stop removes the state file of a killed sandbox", async () => {
    const { pid, cwd } = await detach();
    process.kill(pid, "SIGKILL");
    while (isAlive(pid)) await new Promise((resolve) => setImmediate(resolve));
    const ended = await run(["stop", "--url", "http://127.0.0.1:1"], {}, cwd);
    expect([ended.code, ended.error]).toEqual([1, expect.stringContaining("No detached sandbox of this folder")]);
    expect(statesIn(cwd)).toEqual([]);
  });
});

test("wait returns when a starting sandbox becomes ready", async () => {
  const free = await start(["--memory"]);
  const { port } = free;
  await free.kill();
  const waiting = launch(["wait", "--url", `http://127.0.0.1:${port}`]);
  const starting = launch(["--port", String(port), "--memory"]);
  expect(await waiting.ended).toMatchObject({ code: 0, out: [`Ready at http://127.0.0.1:${port}.`], error: "" });
  expect((await call(`http://127.0.0.1:${port}`, "GET", "/v1/payments")).status).toBe(200);
  starting.child.kill("SIGTERM");
  await starting.ended;
});

test("status finds a sandbox at MERCHANT_SANDBOX_PORT, whatever its --host, and ignores proxy variables", async () => {
  const proxy = { HTTP_PROXY: "http://127.0.0.1:1", http_proxy: "http://127.0.0.1:1", NODE_USE_ENV_PROXY: "1" };
  for (const words of [[], ["--host", "0.0.0.0", "--allowed-host", "sandbox"]]) {
    const { port } = await start(["--memory", ...words]);
    expect(await run(["status"], { MERCHANT_SANDBOX_PORT: String(port), ...proxy })).toMatchObject({
      code: 0,
      error: "",
    });
  }
});

test("a detached sandbox in memory needs no writable folder except TMPDIR", ({ skip }) => {
  const user = plainUser();
  if (typeof user === "string") return skip(user);
  const cwd = folder();
  chmodSync(cwd, 0o555);
  const runHere = (env: NodeJS.ProcessEnv, ...command: string[]) => {
    const [program, ...words] = user.command(...command);
    const { status, stdout, stderr } = spawnSync(program, words, { cwd, env, encoding: "utf8" });
    return [status, stdout, stderr];
  };
  const start = ["start", "--detach", "--memory", "--port", "0"];
  const says = expect.stringMatching(/^merchant-sandbox: Cannot write in \S+, in .*Set XDG_STATE_HOME to [^\n]+\n$/);
  expect(runHere({ ...process.env, TMPDIR: join(cwd, "none") }, ...start)).toEqual([1, "", says]);
  expect(runHere(process.env, ...start)).toEqual([0, expect.stringContaining("is ready at"), ""]);
  expect(runHere(process.env, "stop")).toEqual([0, expect.any(String), ""]);
  expect(readdirSync(cwd)).toEqual([]);
});

describe("a state file from a checkout", () => {
  test.skipIf(ON_WINDOWS)(
    `is reported by wait as ignored only once, however long wait runs${needs(!ON_WINDOWS, UNIX)}`,
    async () => {
      const cwd = folder();
      mkdirSync(join(cwd, ".merchant-sandbox"));
      writeFileSync(join(cwd, ".merchant-sandbox", "detached-stranger.json"), "{}", { mode: 0o644 });
      attempted("State files of a checkout");
      const { code, error } = await run(["wait", "--within", "500ms", "--url", "http://127.0.0.1:1"], {}, cwd);
      expect([code, error.match(/is ignored/g)?.length]).toEqual([1, 1]);
    },
  );

  test("cannot name a log: the log of a sandbox is always beside its state file", async () => {
    const { cwd } = await detach();
    const [name = ""] = statesIn(cwd);
    const file = join(cwd, ".merchant-sandbox", name);
    writeFileSync(join(cwd, "mine.txt"), "mine");
    attempted("State files of a checkout");
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, "utf8")), log: join(cwd, "mine.txt") }));
    expect((await run(["stop"], {}, cwd)).code).toBe(0);
    expect(existsSync(join(cwd, "mine.txt"))).toBe(true);
  });

  test.skipIf(ON_WINDOWS)(
    `is ignored if others may read or write it, or if it is a link${needs(!ON_WINDOWS, UNIX)}`,
    async () => {
      const { cwd, url } = await detach();
      const [name = ""] = statesIn(cwd);
      const file = join(cwd, ".merchant-sandbox", name);
      for (const mode of [0o644, 0o620, 0o602]) {
        attempted("State files of a checkout");
        chmodSync(file, mode);
        const { error } = await run(["status", "--json"], { MERCHANT_SANDBOX_PORT: "1" }, cwd);
        expect([mode, error]).toEqual([
          mode,
          expect.stringContaining("is ignored: it must be a file that only this user can read and write."),
        ]);
      }
      chmodSync(file, 0o600);
      renameSync(file, join(cwd, "elsewhere.json"));
      attempted("State files of a checkout");
      symlinkSync(join(cwd, "elsewhere.json"), file);
      expect((await run(["status"], { MERCHANT_SANDBOX_PORT: "1" }, cwd)).error).toContain("is ignored");
      rmSync(file);
      renameSync(join(cwd, "elsewhere.json"), file);
      expect((await run(["status"], {}, cwd)).out).toEqual([expect.stringContaining(url)]);
    },
  );
});

describe("a detached sandbox", () => {
  const isLinux = process.platform === "linux";
  const onLinux = test.skipIf(!isLinux);

  onLinux(`leaves no process and no state file if its state cannot be written${needs(isLinux, "Linux")}`, () => {
    const cwd = folder();
    // Limits files to 1,024 bytes to simulate a nearly full disk. A long token makes the state file exceed the limit.
    // The log stays below it.
    const words = [PROGRAM, "start", "--detach", "--memory", "--port", "0", "--control-token", "x".repeat(300)];
    const { status, stderr } = spawnSync("bash", ["-c", 'ulimit -f 1; exec "$0" "$@"', process.execPath, ...words], {
      cwd,
      encoding: "utf8",
    });
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/Cannot write in \S+: EFBIG.* The sandbox was stopped again\.\n$/),
    ]);
    expect(readdirSync(join(cwd, ".merchant-sandbox"))).toEqual([".gitignore"]);
    const { stdout } = spawnSync("sh", ["-c", "readlink /proc/[0-9]*/cwd"], { encoding: "utf8" });
    expect(stdout.split("\n").filter((place) => place.startsWith(cwd))).toEqual([]);
  });

  onLinux(`has no control token among the arguments of its process${needs(isLinux, "Linux")}`, async () => {
    const { pid, url } = await detach(["--memory", "--control-token", "hidden-token"]);
    attempted("Control tokens in process lists");
    expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).not.toContain("hidden-token");
    expect((await call(url, "GET", "/_sandbox/health", { key: null })).status).toBe(403);
    expect((await call(url, "GET", "/_sandbox/health", { key: "hidden-token" })).status).toBe(200);
  });

  test("truncates its log to the newest lines", async () => {
    const { url, log } = await detach();
    appendFileSync(log, `${"x".repeat(99)}\n`.repeat(200_000));
    await vi.waitUntil(() => statSync(log).size < 2_000_000, { timeout: 60_000 });
    await call(url, "GET", "/v1/payments");
    await vi.waitUntil(() => readFileSync(log, "utf8").includes("/v1/payments"), { timeout: 10_000 });
    expect(readFileSync(log, "utf8").split("\n")[0]).toMatch(/^Older lines were removed at \d{8} bytes\.$/);
  });
});

const root = join(import.meta.dirname, "../..");

/** A folder with the package installed. */
function installed(): string {
  const cwd = folder();
  mkdirSync(join(cwd, "node_modules/.bin"), { recursive: true });
  symlinkSync(root, join(cwd, "node_modules/merchant-sandbox"));
  symlinkSync(PROGRAM, join(cwd, "node_modules/.bin/merchant-sandbox"));
  return cwd;
}

const pidAt = async (url: string): Promise<number | undefined> =>
  fetch(`${url}/_sandbox`).then(
    async (reply) => ((await reply.json()) as { pid: number }).pid,
    () => undefined,
  );

/** Polls, because a sandbox under npx does not tell the test when it is ready or has ended. */
const SOON = { timeout: 30_000, interval: 50 };

test("SIGTERM to npx ends the sandbox", async () => {
  const port = await freePort();
  const npx = spawn("npx", ["merchant-sandbox", "--memory", "--port", String(port)], {
    cwd: installed(),
    stdio: "ignore",
  });
  const pid = await vi.waitUntil(() => pidAt(`http://127.0.0.1:${port}`), SOON);
  onTestFinished(() => void (isAlive(pid) && process.kill(pid, "SIGKILL")));
  npx.kill("SIGTERM");
  await vi.waitUntil(() => !isAlive(pid), SOON);
});

test("a sandbox that npx started with --detach stays until it is stopped", async () => {
  const cwd = installed();
  const npx = (...words: string[]) =>
    new Promise<string>((resolve, reject) =>
      execFile("npx", ["merchant-sandbox", ...words], { cwd }, (error, out) => (error ? reject(error) : resolve(out))),
    );
  const { url, pid } = JSON.parse(await npx("start", "--detach", "--memory", "--port", "0", "--json")) as {
    url: string;
    pid: number;
  };
  onTestFinished(() => void (isAlive(pid) && process.kill(pid, "SIGKILL")));
  // Waits longer than the interval at which a sandbox checks whether its parent process still runs.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(await pidAt(url)).toBe(pid);
  await npx("stop");
  expect(isAlive(pid)).toBe(false);
});

test("status and stop find a sandbox of this folder that was started with another --db", async () => {
  const cwd = folder();
  const started = await run(["start", "--detach", "--db", "other.db", "--port", "0"], {}, cwd);
  expect(started.code, started.error).toBe(0);
  const stop = /Stop it with npx merchant-sandbox (stop --db other\.db)\.$/.exec(started.out[0] ?? "")?.[1] ?? "";
  const { code, out } = await run(["status"], {}, cwd);
  expect([code, out]).toEqual([0, [expect.stringContaining(`kept in ${join(cwd, "other.db")}`)]]);
  expect(await run(stop.split(" "), {}, cwd)).toMatchObject({ code: 0, out: [expect.stringMatching(/^Stopped /)] });
});
