// Commands find the sandbox of their folder, and a start reads the options in merchant-sandbox.json.

import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { folder, NOWHERE, PROGRAM, run, runCommand, start } from "../support/program.ts";
import { attempted, call, freePort } from "../support/sandbox.ts";

const config = (cwd: string, value: unknown) =>
  writeFileSync(join(cwd, "merchant-sandbox.json"), typeof value === "string" ? value : JSON.stringify(value, null, 2));

describe("a command finds the sandbox", () => {
  test("that runs in the foreground in its folder, but no sandbox of another folder", async () => {
    const [here, there] = [folder(), folder()];
    const [one, other] = [await start([], {}, here), await start([], {}, there)];
    for (const [cwd, { url }] of [
      [here, one],
      [there, other],
    ] as const) {
      expect(await run(["status"], NOWHERE, cwd)).toMatchObject({
        code: 0,
        out: [expect.stringContaining(`${url} is ready`)],
        error: "",
      });
      expect((await run(["env", "--format", "json"], NOWHERE, cwd)).out.join()).toContain(`"${url}/v1"`);
    }
    await run(["fault", "add", "503", "payments.list"], NOWHERE, here);
    expect((await call(one.url, "GET", "/v1/payments")).status).toBe(503);
    expect((await call(other.url, "GET", "/v1/payments")).status).toBe(200);
    const stranger = await run(["clock"], NOWHERE, folder());
    expect([stranger.code, stranger.error]).toEqual([
      1,
      expect.stringContaining("No sandbox answers at http://127.0.0.1:1 "),
    ]);
    expect((await run(["clock", "--db", join(here, ".merchant-sandbox/sandbox.db")], NOWHERE, folder())).code).toBe(0);
    const absent = await run(["reset", "--db", "other.db"], { MERCHANT_SANDBOX_PORT: String(one.port) }, here);
    expect([absent.code, absent.error]).toEqual([
      1,
      expect.stringMatching(/No running sandbox keeps its data in \/\S+\/other\.db\. Start one with/),
    ]);
    const { error } = await run(["stop"], NOWHERE, here);
    expect(error).toContain("A sandbox that was started without --detach is stopped in its own terminal.");
  });

  test("of its folder rather than the sandbox at the default port, and prints the URLs of both", async () => {
    const [cwd, port] = [folder(), await freePort()];
    const variables = { MERCHANT_SANDBOX_PORT: String(port) };
    const { url } = await start([], {}, cwd);
    expect((await run(["clock"], variables, cwd)).error).toBe("");
    const usual = await start(["--memory", "--port", String(port)]);
    const { code, error } = await run(["reset"], variables, cwd);
    expect([code, error]).toEqual([
      0,
      `merchant-sandbox: Using ${url}, the sandbox of this folder. ` +
        `Another one runs at ${usual.url}: choose it with --url ${usual.url}.\n`,
    ]);
    expect((await run(["clock", "--url", usual.url], variables, cwd)).error).toBe("");
  });

  test("that keeps everything in memory, and whose state file is removed when it ends", async () => {
    const cwd = folder();
    const { url, child, ended } = await start(["--memory"], {}, cwd);
    expect(await run(["status"], NOWHERE, cwd)).toMatchObject({
      code: 0,
      out: [expect.stringContaining(`${url} is ready`)],
      error: "",
    });
    expect((await run(["stop"], NOWHERE, cwd)).error).toContain(`No detached sandbox of this folder runs at ${url}.`);
    child.kill("SIGTERM");
    await ended;
    expect(existsSync(join(cwd, ".merchant-sandbox"))).toBe(false);
    const killed = await start(["--memory"], {}, cwd);
    await killed.kill();
    expect((await run(["clock"], NOWHERE, cwd)).error).toContain("No sandbox answers at http://127.0.0.1:1 ");
    expect(readdirSync(join(cwd, ".merchant-sandbox"))).toEqual([".gitignore"]);
  });

  test("that has the folder's database open, or else the latest sandbox, and names the others", async () => {
    const cwd = folder();
    const first = await start(["--memory"], {}, cwd);
    const last = await start(["--memory"], {}, cwd);
    const said = (url: string, ...others: string[]) =>
      `merchant-sandbox: Using ${url}. Also in this folder: ${others.join(", ")}. ` +
      "Choose another one with --url <url>.\n";
    expect(await run(["clock"], NOWHERE, cwd)).toMatchObject({ code: 0, error: said(last.url, first.url) });
    const owner = await start([], {}, cwd);
    expect(await run(["clock"], NOWHERE, cwd)).toMatchObject({ code: 0, error: said(owner.url, last.url, first.url) });
    expect(await run(["clock", "--url", first.url], NOWHERE, cwd)).toMatchObject({ code: 0, error: "" });
    expect((await run(["stop"], NOWHERE, cwd)).error).toContain("Several sandboxes run here");
  });

  test("but neither through a copied database nor through one that other users can read", async () => {
    const [cwd, copied] = [folder(), folder()];
    await start([], {}, cwd);
    attempted("State files of a checkout");
    cpSync(join(cwd, ".merchant-sandbox"), join(copied, ".merchant-sandbox"), { recursive: true });
    expect((await run(["reset"], NOWHERE, copied)).error).toContain("No sandbox answers at http://127.0.0.1:1 ");
    attempted("State files of a checkout");
    chmodSync(join(cwd, ".merchant-sandbox/sandbox.db"), 0o644);
    expect((await run(["reset"], NOWHERE, cwd)).error).toContain("No sandbox answers at http://127.0.0.1:1 ");
  });

  test("or reports that none is running, and adds no file", async () => {
    const cwd = folder();
    const { child, ended } = await start([], {}, cwd);
    child.kill("SIGTERM");
    await ended;
    const before = readdirSync(join(cwd, ".merchant-sandbox"));
    expect((await run(["status"], NOWHERE, cwd)).code).toBe(1);
    expect(readdirSync(join(cwd, ".merchant-sandbox"))).toEqual(before);
  });
});

describe("merchant-sandbox.json", () => {
  const home = process.cwd();
  afterEach(() => process.chdir(home));

  test("sets options, faults and endpoints; variables override the file, and flags override both", async () => {
    const cwd = folder();
    const endpoint = { url: "http://localhost:3999/hooks", events: ["payout.*"], merchant: "market" };
    config(cwd, {
      $schema: "./node_modules/merchant-sandbox/types/config.schema.json",
      memory: true,
      seed: 7,
      rateLimit: ["9/1m", "payments.list=5/1m"],
      faults: [{ match: { operation: "payouts.list" }, action: { type: "status", status: 503 } }],
      scenario: "lost-response",
      endpoints: [endpoint],
    });
    const { url, out } = await start([], {}, cwd);
    expect(JSON.parse(out[0] ?? "")).toMatchObject({
      database: null,
      endpoints: [{ url: endpoint.url, merchant: "mer_market", secret: expect.stringMatching(/^whsec_/) }],
    });
    const limit = async (path: string, at = url) => (await call(at, "GET", path)).headers["ratelimit-limit"];
    expect([await limit("/v1/merchants/me"), await limit("/v1/payments")]).toEqual(["9", "5"]);
    expect((await call(url, "GET", "/v1/payouts")).status).toBe(503);
    const { data } = (await call(url, "GET", "/v1/webhooks", { key: "sk_test_market" })).body as {
      data: { events: string[] }[];
    };
    expect(data[0]?.events).toContain("payout.paid");
    expect((await call(url, "GET", "/_sandbox/requests", { key: null })).body).toMatchObject({
      data: expect.not.arrayContaining([{ method: "POST" }]),
    });
    const variables = { MERCHANT_SANDBOX_RATE_LIMIT: "8/1m" };
    expect(await limit("/v1/merchants/me", (await start([], variables, cwd)).url)).toBe("8");
    expect(await limit("/v1/merchants/me", (await start(["--rate-limit", "7/1m"], variables, cwd)).url)).toBe("7");
  });

  test.each([
    [
      { port: 4800, rateLimits: "1/1s" },
      "merchant-sandbox.json:3 /rateLimits: There is no option rateLimits. Did you mean rateLimit?",
    ],
    [{ port: "4800" }, "merchant-sandbox.json:2 /port: port must be an integer"],
    [{ rateLimit: "10" }, "merchant-sandbox.json:2 /rateLimit: rateLimit takes requests per duration"],
    [
      { memory: true, port: 0, faults: [{ action: { type: "statu", status: 503 } }] },
      'merchant-sandbox.json:7 /faults/0/action/type: There is no action "statu". Did you mean status?',
    ],
    [
      {
        memory: true,
        port: 0,
        faults: [{ match: { operation: "payment.list" }, action: { type: "status", status: 503 } }],
      },
      '/faults/0/match/operation: There is no operation "payment.list". Did you mean payments.list?',
    ],
    [{ faults: "missing.json" }, "merchant-sandbox.json:2 /faults: Cannot read missing.json: there is no such file."],
    [
      { memory: true, port: 0, endpoints: [{ url: "http://localhost:3000/", merchant: "lodg" }] },
      "merchant-sandbox.json:7 /endpoints/0/merchant: The endpoint http://localhost:3000/ cannot be registered: " +
        "There is no merchant lodg. Did you mean mer_lodge?",
    ],
    ...(
      [
        "allowedHost",
        "allowedOrigin",
        "allowWebhookHost",
        "allowLoopbackWebhooks",
        "webhookInsecureTls",
        "controlToken",
      ] as const
    ).map((name): [object, string] => [
      { [name]: "x" },
      `merchant-sandbox.json:2 /${name}: This file may not set ${name}, because it comes with`,
    ]),
    [
      { host: "0.0.0.0" },
      "/host: This file may not open the sandbox to the network, because it comes with the folder. Use --host",
    ],
    ...["db", "fixtures", "lessons", "snapshot", "faults", "scenario"].map((name, index): [object, string] => [
      { [name]: ["../x.json", "/etc/passwd", "link/x"][index % 3] },
      `/${name}: This file may only name files in its own folder; received`,
    ]),
    [
      { memory: true, assumptions: { "bookings.decline.statu": 202 } },
      "merchant-sandbox.json:4 /assumptions/bookings.decline.statu: There is no assumption bookings.decline.statu. Did",
    ],
    [
      { memory: true, assumptions: { "bookings.decline.status": 500 } },
      "merchant-sandbox.json:4 /assumptions/bookings.decline.status: bookings.decline.status must be at most 299;",
    ],
    ["[".repeat(100_000), "merchant-sandbox.json:1: nests deeper than 32 levels."],
    [{ scenario: "sk_live_x" }, "merchant-sandbox.json:2: holds a live key."],
    [{ endpoints: [{ uri: "x" }] }, "merchant-sandbox.json:3 /endpoints/0"],
    [[], "merchant-sandbox.json must be a JSON object"],
    ['{"port": 4800,\n}', "merchant-sandbox.json:2: is not JSON"],
    [
      { memory: true, port: 0, endpoints: [{ url: "http://localhost:3000/", events: ["paymet.*"] }] },
      "Did you mean payment.*?",
    ],
  ])("%j is rejected with exit code 2", async (value, says) => {
    const cwd = folder();
    config(cwd, value);
    symlinkSync("/etc", join(cwd, "link"));
    process.chdir(cwd);
    attempted("Configuration in a stranger's folder");
    const { code, out, error } = await runCommand(undefined, "start");
    expect([code, out, error]).toEqual([2, [], expect.stringContaining(says)]);
    expect(existsSync(join(cwd, ".merchant-sandbox"))).toBe(false);
  });

  test("is printed at the start, with the options that it sets", async () => {
    const cwd = folder();
    config(cwd, { memory: true, clock: "2026-01-05" });
    expect((await run(["exec", "--port", "0", "--", process.execPath, "-e", "0"], {}, cwd)).error).toContain(
      `Options of ${join(cwd, "merchant-sandbox.json")}: memory, clock.`,
    );
  });

  test.each(["/dev/zero", "./pipe"])("cannot be %s, and neither can the files that its options name", async (path) => {
    const cwd = folder();
    execFileSync("mkfifo", [join(cwd, "pipe")]);
    for (const flag of ["--faults", "--scenario", "--snapshot"]) {
      attempted("Configuration in a stranger's folder");
      const { code, error } = await run(["start", "--memory", "--port", "0", flag, path], {}, cwd);
      expect([flag, code, error]).toEqual([
        flag,
        expect.toSatisfy((one) => [2, 6].includes(one)),
        expect.stringMatching(/not a regular file[^\n]*\n$/),
      ]);
    }
    symlinkSync(resolve(cwd, path), join(cwd, "merchant-sandbox.json"));
    expect((await run(["start"], {}, cwd)).error).toContain(
      "Cannot read merchant-sandbox.json: it is not a regular file.",
    );
  });

  test("does not keep --faults from reading a pipe that the shell opened", () => {
    const command = `echo '[{"action":{"type":"none"}}]' | "$0" exec --memory --port 0 --faults /dev/stdin -- true`;
    const { status, stderr } = spawnSync("sh", ["-c", command, PROGRAM], { cwd: folder(), encoding: "utf8" });
    expect([status, stderr]).toEqual([
      6,
      expect.stringContaining('/dev/stdin:1 /0/action/type: There is no action "none".'),
    ]);
  });

  test("is not read by a command in a subfolder", async () => {
    const cwd = folder();
    config(cwd, "{");
    mkdirSync(join(cwd, "below"));
    expect((await run(["doctor", "--port", "0"], {}, join(cwd, "below"))).error).toBe("");
  });
});
