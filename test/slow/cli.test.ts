// The command line as users run it: output, options, errors in one sentence, and shutdown.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { commands, otherNames } from "../../src/cli/commands/index.ts";
import { actions } from "../../src/faults/rule-schema.ts";
import { SandboxError } from "../../src/kernel/errors.ts";
import { kebab } from "../../src/kernel/text.ts";
import { completeOptions, flagOf, type GivenOptions, optionDefinitions } from "../../src/sandbox/options.ts";
import { version } from "../../src/sandbox/package-files.ts";
import { folder, launch, run, runCommand, start } from "../support/program.ts";
import { call, RULES } from "../support/sandbox.ts";

const rule = { name: "x", adjustmentType: "fixed", adjustmentValue: 1 };

/** Expects an exit code, no standard output, and one line without a stack on standard error. */
async function expectRefused(
  words: string[],
  code: number,
  says: RegExp | string,
  variables: Record<string, string> = {},
) {
  const ended = await run(words, variables);
  expect([words, ended.code, ended.out], ended.error).toEqual([words, code, []]);
  expect(ended.error).toMatch(/^merchant-sandbox: [^\n]+\.\n$/);
  expect(ended.error).toMatch(says);
}

describe("the program prints", () => {
  test("its version", async () => {
    expect(await run(["--version"])).toMatchObject({ code: 0, out: [version()], error: "" });
  });

  test("its help on one screen, every command with help --all, and every option with start --help", async () => {
    const { code, out, error } = await run(["--help"]);
    expect([code, error]).toEqual([0, ""]);
    expect(out.length, "The help has at most 48 lines: move a command out of its group.").toBeLessThanOrEqual(48);
    const every = await run(["help", "--all"]);
    for (const name of Object.keys(commands)) {
      expect(out.join("\n")).toContain(name);
      expect(every.out.filter((line) => line.startsWith(`  ${name} `))).toHaveLength(1);
    }
    const { out: options } = await run(["start", "--help"]);
    for (const option of Object.keys(optionDefinitions)) expect(options.join("\n")).toContain(`  ${flagOf(option)}`);
    // If a line is too long, shorten the summary in it.
    expect([...out, ...every.out, ...options].filter((line) => line.length > 145)).toEqual([]);
    expect((await run(["help", "fault", "add"])).out).toEqual((await run(["fault", "add", "--help"])).out);
    const forExec = (await run(["exec", "--help"])).out.join("\n");
    expect(forExec).toMatch(/--port <n> .*\(default: any free port\)/);
    expect(forExec).not.toContain("4747");
  });

  test("each action with its fields in `fault --help`, and its example with --all", async () => {
    const { out } = await run(["fault", "--help"]);
    const { out: all } = await run(["fault", "--help", "--all"]);
    for (const { type, main, schema, example } of actions) {
      const at = out.findIndex((line) => new RegExp(`^  ${type.replaceAll("_", "-")}\\b`).test(line));
      expect([type, at]).toEqual([type, expect.toSatisfy((index: number) => index >= 0)]);
      const fields = Object.keys(schema.properties).filter((name) => name !== "type" && name !== main);
      const below = out.slice(at, at + 3).join("\n");
      expect(fields.filter((name) => !below.includes(`--${kebab(name)}`))).toEqual([]);
      expect(all.join("\n")).toContain(`fault add ${example}`);
    }
  });
});

describe("start", () => {
  test("never prints a live key", async () => {
    for (const words of [["--json"], []]) {
      const program = launch(["--port", "0", "--db", "data.db", ...words]);
      const url = new URL(/http:\/\/[\d.:]+/.exec(await program.line(() => true))?.[0] as string).origin;
      const tail = "4eC39HqLyjWDarjtT1zdp7dc";
      const key = `sk_live_${tail}`;
      await call(url, "GET", `/v1/payments?key=${key}`, { key });
      await call(url, "GET", `/v1/${key}`);
      await call(url, "POST", RULES, { body: { ...rule, name: key }, headers: { "idempotency-key": key } });
      await program.line((line) => line.includes("req_lodge_2"));
      program.child.kill("SIGTERM");
      const { out, error } = await program.ended;
      expect(out.join() + error).not.toContain(tail);
    }
  });

  test("keeps its data by default in .merchant-sandbox, a folder that git ignores", async () => {
    const cwd = folder();
    const program = await start([], {}, cwd);
    expect(JSON.parse(program.out[0] as string).database).toBe(join(cwd, ".merchant-sandbox/sandbox.db"));
    const { body } = await call(program.url, "POST", RULES, { body: rule, headers: { "idempotency-key": "k" } });
    program.child.kill("SIGINT");
    await program.ended;
    const again = await start([], {}, cwd);
    const { headers, body: repeated } = await call(again.url, "POST", RULES, {
      body: rule,
      headers: { "idempotency-key": "k" },
    });
    expect([headers["idempotent-replayed"], repeated.id]).toEqual(["true", body.id]);
    expect(readFileSync(join(cwd, ".merchant-sandbox/.gitignore"), "utf8")).toBe("*\n");
  });

  test("listens on both loopback addresses", async () => {
    const program = await start(["--memory"]);
    expect((await call(`http://localhost:${program.port}`, "GET", "/v1/merchants/me")).status).toBe(200);
    const ipv6 = await call(`http://[::1]:${program.port}`, "GET", "/v1/merchants/me").catch(
      (error: { code: string }) => error.code,
    );
    expect(typeof ipv6 === "string" ? ipv6 : ipv6.status).toSatisfy(
      (found: unknown) => found === 200 || found === "EADDRNOTAVAIL",
    );
  });

  test("accepts `--name value` and `--name=value`; the last of two values wins", async () => {
    const program = await start(["--memory", "--rate-limit=5/1m", "--rate-limit", "6/1m", "--seed=1", "--seed", "2"]);
    expect((await call(program.url, "GET", "/v1/merchants/me")).headers["ratelimit-limit"]).toBe("6");
  });
});

describe("shutdown", () => {
  test.each(["SIGINT", "SIGTERM"] as const)("%s completes the requests in flight and exits with 0", async (signal) => {
    const program = await start(["--memory"]);
    const body = JSON.stringify(rule);
    const socket = connect(program.port, "127.0.0.1");
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk;
    });
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.write(
      `POST ${RULES} HTTP/1.1\r\nHost: 127.0.0.1:${program.port}\r\n` +
        "Authorization: Bearer sk_test_lodge\r\nExpect: 100-continue\r\n",
    );
    socket.write(`Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`);
    await new Promise((resolve) => socket.once("data", resolve));
    program.child.kill(signal);
    // Waits until the program accepts no new connection.
    for (let open = true; open; )
      open = await call(program.url, "GET", "/v1/merchants/me", { headers: { connection: "close" } }).then(
        () => true,
        () => false,
      );
    socket.write(body);
    await closed;
    expect(received).toContain("HTTP/1.1 200");
    expect(received).toContain('"object":"pricing_rule"');
    expect(await program.ended).toMatchObject({ code: 0, signal: null, error: "" });
  });

  test("does not wait for idle connections", async () => {
    const program = await start(["--memory"]);
    await call(program.url, "GET", "/v1/merchants/me");
    const idle = connect(program.port, "127.0.0.1");
    await new Promise((resolve) => idle.once("connect", resolve));
    idle.on("error", () => {});
    program.child.kill("SIGTERM");
    // The idle connection stays open until the program has ended.
    expect(await program.ended).toMatchObject({ code: 0, error: "" });
    idle.destroy();
  });

  test("does not start when the reader of the program's output exits", async () => {
    const program = await start(["--memory"]);
    program.child.stdout?.destroy();
    for (let count = 0; count < 5; count++)
      expect((await call(program.url, "GET", "/v1/merchants/me")).status).toBe(200);
    program.child.kill("SIGTERM");
    expect(await program.ended).toMatchObject({ code: 0, error: "" });
  });
});

test("command names of other tools are not commands here, and each suggests commands that exist", () => {
  for (const [other, meant] of Object.entries(otherNames)) {
    expect(commands).not.toHaveProperty(other);
    for (const words of meant) expect(commands).toHaveProperty(words.split(" ")[0] as string);
  }
});

describe("the program rejects in one sentence", () => {
  test("an unknown command or option, with a suggestion", async () => {
    await expectRefused(["strat"], 2, "Did you mean start?");
    await expectRefused(["constructor"], 2, "There is no command constructor");
    await expectRefused(["", "x"], 2, "There is no command");
    await expectRefused(["logs"], 2, "There is no command logs. Did you mean requests or deliveries?");
    await expectRefused(["--prot", "5"], 2, "Did you mean --port?");
    await expectRefused(["--url", "http://[::1]:1", "status"], 2, "npx merchant-sandbox status --url http://[::1]:1.");
    for (const [words, says] of [
      [["start", "-p", "5"], "There is no option -p"],
      [["start", "now"], 'Unexpected argument "now"'],
      [["clock", "toString"], "clock has no subcommand toString"],
      [["clock", "list"], "clock has no subcommand list. It has "],
      [["fault", "list"], "fault has no subcommand list. Did you mean ls?"],
      [["snapshot", "remove"], "snapshot has no subcommand remove. Did you mean rm?"],
      [["merchant", "delete"], "merchant has no subcommand delete. Did you mean rm?"],
    ] as const)
      expect(await runCommand(undefined, ...words)).toMatchObject({ code: 2, error: expect.stringContaining(says) });
  });

  const wrong: [option: GivenOptions, says: string][] = [
    [{ port: "-1" }, "--port"],
    [{ port: "65536" }, "--port"],
    [{ port: "1e3" }, "--port"],
    [{ seed: "0.5" }, "--seed"],
    [{ clock: "yesterday" }, "--clock takes real or a time"],
    [{ db: ":memory:" }, "Use --memory to keep all data in memory"],
    [{ clock: "1969-12-31T23:59:59Z" }, "--clock"],
    [{ bodies: "closed" }, "--bodies takes checked or open"],
    [{ memory: "perhaps" }, "--memory is a switch"],
    [{ rateLimit: "fast" }, "--rate-limit"],
    [{ retrySchedule: "soon" }, '--retry-schedule takes fast, realistic, or gaps such as 1s,10s,1m; received "soon".'],
    [{ allowedOrigin: "foo" }, '--allowed-origin takes an origin such as http://localhost:3000; received "foo".'],
    [{ allowWebhookHost: "http://x" }, "--allow-webhook-host takes a host name such as host.docker.internal; received"],
    [{ webhookTimeout: "10" }, "--webhook-timeout"],
    [{ db: "" }, "--db"],
    [{ prot: "5" } as GivenOptions, "Did you mean port?"],
  ];

  test("an invalid value, with the allowed values", async () => {
    for (const [option, says] of wrong) {
      expect(() => completeOptions(option)).toThrow(SandboxError);
      expect(() => completeOptions(option)).toThrow(says);
    }
    for (const [words, says] of [
      [["--port", "seven"], '--port takes a whole number from 0 to 65535; received "seven"'],
      [["--port"], "--port needs a value: --port <n>"],
      [["--memory", "--rate-limit", "nowhere=5/1m"], "--rate-limit: there is no operation nowhere"],
      [["--host", "192.0.2.1"], "--allowed-host"],
      [["--memory", "--db", "x.db"], "Choose --memory or --db"],
    ] as const)
      expect(await runCommand(undefined, "start", ...words)).toMatchObject({
        code: 2,
        error: expect.stringContaining(says),
      });
    await expectRefused([], 2, "MERCHANT_SANDBOX_PORT takes a whole number from 0 to 65535", {
      MERCHANT_SANDBOX_PORT: "seven",
    });
  });

  test("a port in use on either loopback address", async () => {
    for (const host of ["127.0.0.1", "::1"]) {
      const other = createServer();
      const listening = await new Promise((resolve) => {
        other.once("error", () => resolve(false));
        other.listen(0, host, () => resolve(true));
      });
      if (!listening) continue;
      const { port } = other.address() as AddressInfo;
      await expectRefused(
        ["--memory", "--port", String(port)],
        5,
        `Port ${port} on ${host} is used by process ${process.pid}`,
      );
      await expectRefused(["learn", "nope", "--port", String(port)], 2, "There is no lesson nope");
      other.close();
    }
  });
});
