// `exec`: the environment, streams and exit code of the command, cleanup of its processes, and the conditions of
// --fail-on.

import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { XMLValidator } from "fast-xml-parser";
import { describe, expect, test } from "vitest";
import { catalogue } from "../../src/areas/index.ts";
import { needs, ON_WINDOWS, UNIX } from "../support/needs.ts";
import { type Ended, folder, isAlive, launch, PROGRAM, run } from "../support/program.ts";

const exec = (words: string[], command: string[], variables?: Record<string, string>, cwd?: string): Promise<Ended> =>
  run(["exec", ...words, "--", ...command], variables, cwd);

/** The command of a program with the helpers `get(path)` and `send(method, path, body)`. */
const node = (source: string) => [process.execPath, "--input-type=module", "-e", `${CLIENT}\n${source}`];

/** Uses no `fetch`. Its first call compiles WebAssembly, which takes twice as long as the start of the process. */
const CLIENT = `
import http from "node:http";
const { MERCHANT_BASE_URL: base, MERCHANT_API_KEY: key } = process.env;
const send = (method, path, body) => new Promise((resolve, reject) => {
  const headers = { authorization: "Bearer " + key, ...(body ? { "content-type": "application/json" } : {}) };
  const call = http.request(base + path, { method, headers }, async (answer) => {
    let text = "";
    for await (const piece of answer.setEncoding("utf8")) text += piece;
    resolve({ status: answer.statusCode, headers: answer.headers, json: () => JSON.parse(text) });
  });
  call.on("error", reject).end(body && JSON.stringify(body));
});
const get = (path) => send("GET", path);`;

/** Three equal requests on one connection, without a pause. */
const impatient = `
  const { Agent, request } = await import("node:http");
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let call = 0; call < 3; call++)
    await new Promise((resolve) => {
      const options = { agent, headers: { authorization: "Bearer " + key } };
      request(base + "/payments", options, (answer) => answer.resume().once("end", resolve)).end();
    });
  agent.destroy();`;

/** The exact output and the exit code of a process. */
function bytesOf(file: string, words: string[], input: Buffer) {
  const { stdout, stderr, status } = spawnSync(file, words, { input, cwd: folder() });
  return { out: stdout.toString("latin1"), error: stderr.toString("latin1"), status };
}

describe("the command of exec", () => {
  test("finds a ready sandbox through environment variables", async () => {
    const { code, out, error } = await exec(
      [],
      node(
        "const answer = await get('/payments?limit=1'); console.log(answer.status, " +
          "(await answer.json()).data.length, process.env.MERCHANT_SANDBOX_URL + '/v1' === base, key)",
      ),
    );
    expect([code, out, error]).toEqual([0, ["200 1 true sk_test_lodge"], ""]);
    const open = await exec(
      ["--host", "0.0.0.0", "--allowed-host", "sandbox.example"],
      node(
        "const token = process.env.MERCHANT_SANDBOX_CONTROL_TOKEN; " +
          "const health = await fetch(process.env.MERCHANT_SANDBOX_URL + '/_sandbox/health', " +
          "{ headers: { authorization: 'Bearer ' + token } }); console.log(health.status, token.length, " +
          "(await get('/payments')).status)",
      ),
    );
    expect([open.code, open.out]).toEqual([0, ["200 48 200"]]);
  });

  test("reads its input and writes its output unchanged; exec only adds a warning that no request arrived", () => {
    const everything = Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 7) % 256));
    const source = "process.stdin.pipe(process.stdout); process.stderr.write(Buffer.from([0, 255, 27, 10, 128]))";
    const plain = bytesOf(process.execPath, ["-e", source], everything);
    const inside = bytesOf(process.execPath, [PROGRAM, "exec", "--", process.execPath, "-e", source], everything);
    expect(inside).toEqual({
      ...plain,
      error: expect.stringContaining(`${plain.error}merchant-sandbox: Warning: No request arrived `),
    });
    expect(inside.out).toHaveLength(4096);
  });

  test("gets its arguments unchanged, even if exec has an option of the same name", async () => {
    const words = ["--port", "7", "--", "--help", "", "a b", "$HOME", "*"];
    const { out } = await exec(
      [],
      [process.execPath, "-e", "console.log(JSON.stringify(process.argv.slice(1)))", "--", ...words],
    );
    expect(JSON.parse(out[0] ?? "")).toEqual(words);
  });

  test.each([
    ["TERM", 143],
    ["KILL", 137],
    ["SEGV", 139],
  ])("that is killed by SIG%s makes exec exit with %i", async (signal, code) => {
    expect(await exec([], ["sh", "-c", `kill -${signal} $$`])).toMatchObject({ code, signal: null });
  });

  test("gets a sandbox with the given options", async () => {
    const cwd = folder();
    writeFileSync(
      join(cwd, "faults.json"),
      JSON.stringify({ faults: [{ action: { type: "status", status: 418 }, trigger: { times: 1 } }] }),
    );
    const words =
      "--seed 9 --clock 2026-01-05T09:00:00Z --rate-limit 9/1m --faults faults.json --db data.db --log logs/a " +
      "--merchant market";
    const { out, error } = await exec(
      words.split(" "),
      node(
        "const one = await get('/payments'); const two = await get('/payments'); console.log(one.status, " +
          "two.status, two.headers['ratelimit-limit'], two.headers.date, key)",
      ),
      {},
      cwd,
    );
    expect([out, error]).toEqual([["418 200 9 Mon, 05 Jan 2026 09:00:00 GMT sk_test_market"], ""]);
    expect(existsSync(join(cwd, "data.db"))).toBe(true);
    expect(readFileSync(join(cwd, "logs/a"), "utf8")).toContain("GET /v1/payments 200");
  });

  test("leaves no files in the working folder or the temporary folder", async () => {
    const [cwd, temporary] = [folder(), folder()];
    expect(await exec([], node("await get('/payments')"), { TMPDIR: temporary }, cwd)).toMatchObject({
      code: 0,
      error: "",
    });
    // Node 22 or newer keeps compiled code in the temporary folder, for every program.
    const left = readdirSync(temporary).filter((name) => name !== "node-compile-cache");
    expect([readdirSync(cwd), left]).toEqual([[], []]);
  });

  test("has a sandbox of its own, even in three concurrent runs", async () => {
    const source =
      "const id = process.env.MERCHANT_SANDBOX_URL; await send('POST', '/hospitality/bookings/bkg_pending/decline', " +
      "{}); const { data } = await (await get('/webhook-deliveries')).json(); console.log(id, (await send('POST', " +
      "'/hospitality/bookings/bkg_pending/decline', {})).status)";
    const all = await Promise.all(Array.from({ length: 3 }, () => exec([], node(source))));
    expect(all.map(({ code, error }) => [code, error])).toEqual(all.map(() => [0, ""]));
    expect(new Set(all.map(({ out }) => out[0]?.split(" ")[0])).size).toBe(3);
    expect(all.every(({ out }) => out[0]?.endsWith(" 409"))).toBe(true);
  });
});

describe.skipIf(ON_WINDOWS)(`signals and surviving processes${needs(!ON_WINDOWS, UNIX)}`, () => {
  const waiting = (onSignal: string) =>
    `for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => { ${onSignal} }); ` +
    'setInterval(() => {}, 1000); console.log("ready " + process.pid);';

  test.each(["SIGINT", "SIGHUP"] as const)("%s is forwarded once", async (signal) => {
    const counted = `process.exitCode = (process.exitCode ?? 40) + 1; get("/payments").then(() => process.exit())`;
    // Starts exec in a separate session, as a CI system does. Otherwise the terminal would also signal the command.
    const child = spawn(process.execPath, [PROGRAM, "exec", "--", ...node(waiting(counted))], {
      detached: true,
      cwd: folder(),
    });
    await new Promise((resolve) => child.stdout.once("data", resolve));
    child.kill(signal);
    expect(await new Promise((resolve) => child.once("close", resolve))).toBe(41);
  });

  const hasScript = spawnSync("script", ["--version"]).status === 0;
  test.skipIf(!hasScript)(
    `Ctrl-C in a terminal reaches the command once${needs(hasScript, "script of util-linux")}`,
    async () => {
      const file = join(folder(), "counting.mjs");
      const counted = `count++; get("/payments").then(() => get("/payments")).then(() => process.exit(40 + count))`;
      writeFileSync(file, `${CLIENT}\nlet count = 0; ${waiting(counted)}`);
      // The shell's own `exec` replaces the shell. Otherwise the shell would also receive the key and exit.
      const words = [
        "exec",
        ...[process.execPath, PROGRAM, "exec", "--", process.execPath, file].map((word) => `"${word}"`),
      ];
      const line = words.join(" ");
      const terminal = spawn("script", ["-qec", line, "/dev/null"], { cwd: folder() });
      await new Promise((resolve) => terminal.stdout.once("data", resolve));
      terminal.stdin.write("\u0003");
      expect(await new Promise((resolve) => terminal.once("close", resolve))).toBe(41);
    },
  );

  test("a second signal kills a command that ignores the first", async () => {
    const program = launch(["exec", "--", ...node(waiting('console.log("no")'))]);
    await program.line((line) => line.startsWith("ready"));
    program.child.kill("SIGTERM");
    await program.line((line) => line === "no");
    program.child.kill("SIGTERM");
    expect(await program.ended).toMatchObject({ code: 137, signal: null });
  });

  /** Starts two background processes that ignore signals, one of them in its own session, and prints their ids. */
  const family = (then: string) => `
    const { spawn } = await import("node:child_process");
    const deaf = "for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => {}); " +
      "setInterval(() => {}, 1000); process.send('deaf')";
    for (const detached of [false, true]) {
      const child = spawn(process.execPath, ["-e", deaf], { detached, stdio: ["ignore", "inherit", "inherit", "ipc"] });
      await new Promise((resolve) => child.once("message", resolve));
      console.log("left", child.pid);
      child.disconnect();
      child.unref();
    }
    ${then}`;
  const left = (out: string[]) =>
    out.filter((line) => line.startsWith("left")).map((line) => Number(line.split(" ")[1]));

  test("the command and its processes end when exec is killed with SIGKILL", async () => {
    const program = launch([
      "exec",
      "--",
      ...node(family("console.log('url', base, process.pid); setInterval(() => {}, 1000);")),
    ]);
    const [, url = "", pid = ""] = (await program.line((line) => line.startsWith("url"))).split(" ");
    program.child.kill("SIGKILL");
    // Each process holds the output open, so the output closes when the last process is gone.
    expect((await program.ended).signal).toBe("SIGKILL");
    expect([...left(program.out), Number(pid)].filter(isAlive)).toEqual([]);
    const refused = await new Promise((resolve) =>
      connect(Number(new URL(url).port), "127.0.0.1").once("error", resolve),
    );
    expect(refused).toMatchObject({ code: "ECONNREFUSED" });
  });

  test("a nested exec ends its own processes, and the outer exec ends the other processes", async () => {
    const inner = [process.execPath, PROGRAM, "exec", "--", ...node(family("process.exit(5)"))];
    const source = `${family("")}
      const { spawnSync } = await import("node:child_process");
      const [file, ...words] = ${JSON.stringify(inner)};
      process.exit(spawnSync(file, words, { stdio: "inherit" }).status);`;
    const { code, out } = await exec([], node(source));
    expect([code, left(out).length, left(out).filter(isAlive)]).toEqual([5, 4, []]);
  });
});

// exec-matrix.test.ts tests exec with other bugs. test/cli/fail-on.test.ts tests each condition of --fail-on.
describe("--fail-on", () => {
  test("verdicts makes exec exit with 3 after a wrong retry, even if the first body was left unread", async () => {
    const unread = (path: string, body: object | undefined, keys: readonly string[]) =>
      node(`
        for (const name of ${JSON.stringify(keys)})
          await fetch(base + "${path}", {
            method: ${body ? '"POST"' : '"GET"'}, ${body ? `body: '${JSON.stringify(body)}',` : ""}
            headers: { authorization: "Bearer " + key, "content-type": "application/json", "idempotency-key": name },
          }).catch(() => {});`);
    const order = { name: "Low", adjustmentType: "fixed", adjustmentValue: 5 };
    const underLoss = ["--scenario", "lost-response", "--fail-on", "verdicts"];
    // A new rate-limit window may begin during the six calls. Even then, one of the two windows gets three calls.
    const [fresh, same, early] = await Promise.all([
      exec(underLoss, unread("/hospitality/pricing-rules", order, ["a", "b", "c", "d"])),
      exec(underLoss, unread("/hospitality/pricing-rules", order, ["a", "a"])),
      exec(["--rate-limit", "1/5s", "--fail-on", "verdicts"], unread("/payments", undefined, Array(6).fill("a"))),
    ]);
    expect([fresh.code, fresh.error]).toEqual([3, expect.stringContaining("effect.single ")]);
    expect([same.code, same.error]).toEqual([0, ""]);
    expect([early.code, early.error]).toEqual([3, expect.stringContaining("retry_after.honoured ")]);
  });
});

test("exec says that retries were not tested if no call met the scenario", async () => {
  const { code, error } = await exec(
    ["--scenario", "lost-response", "--fail-on", "verdicts"],
    node("await get('/payments?limit=1')"),
  );
  expect([code, error]).toEqual([0, expect.stringContaining("were not tested: no call met lost-response.")]);
});

describe("a sandbox that the command creates", () => {
  const own = (source: string) =>
    node(`
      const { createSandbox } = (await import("node:module")).createRequire(${JSON.stringify(PROGRAM)})("./index.cjs");
      const sandbox = await createSandbox({ rateLimit: "1/1h", clock: "2026-01-05T09:00:00Z" });
      ${source}
      await sandbox.close();`);
  const used = 'await fetch(sandbox.baseUrl + "/payments");';

  test("adds its verdicts to the run, even if the sandbox is reset, and is named in the report", async () => {
    const cwd = folder();
    const words = ["--fail-on", "verdicts", "--report", "json=r.json,markdown=r.md"];
    const { code, error } = await exec(
      words,
      own(`{ const base = sandbox.baseUrl; ${impatient} } await sandbox.reset();`),
      {},
      cwd,
    );
    const port = /In a test's own sandbox, http:\/\/127\.0\.0\.1:(\d+), mer_lodge: /.exec(error)?.[1];
    expect([code, error]).toEqual([
      3,
      expect.stringMatching(
        new RegExp(`^merchant-sandbox: retry_after\\.honoured .*: .*${port}/req_lodge_2 on connection`, "m"),
      ),
    ]);
    const report = JSON.parse(readFileSync(join(cwd, "r.json"), "utf8"));
    expect(report).toMatchObject({
      added: [{ sandbox: `http://127.0.0.1:${port}`, requests: 3 }],
      totals: { requests: 0 },
    });
    expect(report.verdicts[0]).toMatchObject({
      verdict: "fail",
      merchant: null,
      calls: [{ request: `${port}/req_lodge_2` }, {}],
    });
    expect(readFileSync(join(cwd, "r.md"), "utf8")).toContain(
      "| Sandboxes of tests | 1 with 3 requests, of which only the verdicts are included |",
    );
  });

  test("is checked if an app serves it, and is named by the app's address", async () => {
    const mounted = (end: string) =>
      node(`
        const { createRequire } = await import("node:module");
        const { createSandbox } = createRequire(${JSON.stringify(PROGRAM)})("./index.cjs");
        const sandbox = await createSandbox({ listen: false, rateLimit: "1/1h", clock: "2026-01-05T09:00:00Z" });
        const server = (await import("node:http")).createServer((request, response) => {
          request.originalUrl = request.url;
          request.url = request.url.slice("/pay".length);
          sandbox.middleware(request, response);
        });
        await new Promise((resolve) => server.listen(0, "localhost", resolve));
        { const base = "http://localhost:" + server.address().port + "/pay/v1"; ${impatient} }
        ${end}
        server.close();
        server.closeAllConnections();`);
    const closed = await exec(["--fail-on", "verdicts"], mounted("await sandbox.close();"));
    expect([closed.code, closed.error]).toEqual([
      3,
      expect.stringMatching(/In a test's own sandbox, http:\/\/localhost:\d+\/pay, mer_lodge: /),
    ]);
    const left = await exec(["--fail-on", "verdicts"], mounted("process.exit();"));
    expect([left.code, left.error]).toEqual([
      4,
      expect.stringMatching(/Tests left their own sandboxes open, .*: http:\/\/localhost:\d+\/pay/),
    ]);
  });

  test("adds its requests to the run, and is reported if it is still open when the command ends", async () => {
    expect(await exec(["--fail-on", "verdicts"], own(used))).toMatchObject({ code: 0, error: "" });
    const left = await exec(["--fail-on", "verdicts"], own(`${used} process.exit();`));
    expect([left.code, left.error]).toEqual([
      4,
      expect.stringContaining("Tests left their own sandboxes open, so these were not checked: http"),
    ]);
  });
});

describe("exec", () => {
  test("writes reports in every format, even after a failed command", async () => {
    const cwd = folder();
    const report = "junit=out/a,b.xml,html=report.html,markdown=report.md,json=report.json,har=report.har";
    expect((await exec(["--report", report], node("await get('/payments'); process.exit(2)"), {}, cwd)).code).toBe(2);
    const text = (name: string) => readFileSync(join(cwd, name), "utf8");
    expect(XMLValidator.validate(text("out/a,b.xml"))).toBe(true);
    expect(text("report.html")).toContain("<!doctype html>");
    expect(text("report.md")).toContain(`| Operations called | 1 of ${catalogue.length} |`);
    expect(JSON.parse(text("report.json")).totals.requests).toBe(1);
    expect(JSON.parse(text("report.har")).log.entries).toHaveLength(1);
    expect(text("out/a,b.xml")).toContain('<failure message="The command exited with 2." type="problem"/>');
    for (const name of ["report.html", "report.md", "report.json", "report.har"])
      expect(text(name)).toContain("The command exited with 2.");
  });

  test.each([
    [0, 1],
    [8, 8],
    [255, 255],
  ])(
    "writes the failure of one report into the other reports, and changes exit code %i to %i",
    async (given, expected) => {
      const cwd = folder();
      const { code, error } = await exec(
        ["--report", "junit=r.xml,json=/dev/null/r.json"],
        ["sh", "-c", `exit ${given}`],
        {},
        cwd,
      );
      expect(code).toBe(expected);
      for (const text of [error, readFileSync(join(cwd, "r.xml"), "utf8")])
        expect(text).toContain("Cannot write the report /dev/null/r.json");
    },
  );

  test("writes reports only of its own run, even if --db contains earlier runs or is reset", async () => {
    const cwd = folder();
    const file = "sandbox.db";
    const decline = "await send('POST', '/hospitality/bookings/bkg_pending/decline', {});";
    const url = "http://127.0.0.1:9/hooks";
    const subscribe = `await send('POST', '/webhooks', { url: '${url}', events: ['*'] });`;
    await exec(
      ["--db", file],
      node(`await get('/payments'); ${subscribe} ${decline} await get('/payments');`),
      {},
      cwd,
    );
    const reset = (query: string) =>
      `await fetch(process.env.MERCHANT_SANDBOX_URL + '/_sandbox/reset', { method: 'POST',
        headers: { 'content-type': 'application/json' }, body: '${query}' });`;
    const words = ["--db", file, "--life", "off", "--fail-on", "uncovered=payouts.list,customers.get"];
    for (const [program, called, listed] of [
      ["await get('/payouts');", ["payouts.list"], 1],
      [
        `await get('/payouts'); ${reset('{"merchant":"mer_lodge"}')} await get('/payments');`,
        ["payouts.list", "payments.list"],
        1,
      ],
      [`${reset("{}")} await get('/payouts'); await get('/payments');`, ["payouts.list", "payments.list"], 2],
    ] as const) {
      const { code, error } = await exec([...words, "--report", "json=run.json,har=run.har"], node(program), {}, cwd);
      expect([code, error]).toEqual([3, expect.stringMatching(/^merchant-sandbox: customers\.get was never called\n/)]);
      const report = JSON.parse(readFileSync(join(cwd, "run.json"), "utf8"));
      const covered = report.coverage.filter(({ calls }: { calls: number }) => calls > 0);
      expect(covered.map(({ operation }: { operation: string }) => operation).sort()).toEqual([...called].sort());
      expect([report.requests.length, report.totals.requests, report.totals.events.emitted]).toEqual([
        listed,
        listed,
        0,
      ]);
      expect([report.deliveries, report.unchecked, report.totals.notAccepted]).toEqual([[], [], 0]);
      expect(JSON.parse(readFileSync(join(cwd, "run.har"), "utf8")).log.entries).toHaveLength(listed);
    }
  });

  test("writes a log after a failure, and prints the path of the log", async () => {
    const temporary = folder();
    const { error } = await exec([], node("await get('/payments'); process.exit(6)"), { TMPDIR: temporary });
    const [, path = ""] = /^merchant-sandbox: Exit code 6\. The log of the sandbox is (.*)\.\n$/.exec(error) ?? [];
    expect(path.startsWith(temporary)).toBe(true);
    expect(readFileSync(path, "utf8")).toMatch(
      /^merchant-sandbox \S+ is ready at .*\n\S+ GET \/v1\/payments 200 .* req_lodge_1\n$/,
    );
    expect(statSync(path).mode & 0o077).toBe(0);
  });

  const hasFullDisk = existsSync("/dev/full");
  test.skipIf(!hasFullDisk)(
    `writes a partial log to a full disk, and keeps the exit code${needs(hasFullDisk, "/dev/full, as on Linux")}`,
    async () => {
      const { code, error } = await exec(["--log", "/dev/full"], node("await get('/payments'); process.exit(6)"));
      expect([code, error]).toEqual([
        6,
        expect.stringMatching(/^merchant-sandbox: The log \/dev\/full is incomplete: ENOSPC.*\n$/),
      ]);
      expect(await exec(["--report", "json=/dev/full"], ["true"])).toMatchObject({
        code: 1,
        error: expect.stringContaining("ENOSPC"),
      });
    },
  );

  test("runs the command without a temporary folder", async () => {
    const { code, out } = await exec([], node("console.log((await get('/payments')).status)"), { TMPDIR: "/dev/null" });
    expect([code, out]).toEqual([0, ["200"]]);
  });
});

describe("exec does not run the command", () => {
  test.each([
    [["--db", "/dev/null/data.db"], 1, "Cannot make the folder /dev/null"],
    [["--log", "/dev/null/log"], 1, "Cannot write the log /dev/null/log"],
    [["--merchant", "nobody"], 2, "There is no merchant nobody. There are mer_lodge"],
  ])("with the options %j", async (words, code, says) => {
    const cwd = folder();
    const ended = await exec(words, ["touch", "ran"], {}, cwd);
    expect([ended.code, ended.out, existsSync(join(cwd, "ran"))], ended.error).toEqual([code, [], false]);
    expect(ended.error).toMatch(/^merchant-sandbox: [^\n]+\n$/);
    expect(ended.error).toContain(says);
  });

  test("if the command does not exist", async () => {
    const { code, error } = await exec([], ["merchant-nothing"]);
    expect([code, error]).toEqual([
      2,
      expect.stringMatching(/^merchant-sandbox: Command not found: "merchant-nothing"\./),
    ]);
  });
});
