// The user interfaces of a sandbox: which one starts, how a user switches, and how each exit restores the terminal.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { chooseUi } from "../../src/cli/output/show-sandbox.ts";
import { version } from "../../src/sandbox/package-files.ts";
import { ORDER } from "../support/insist.ts";
import { folder, isAlive, launch, start } from "../support/program.ts";
import { call, control, NOON, open } from "../support/sandbox.ts";
import { LEAST, openDashboard, openProgram, openShell, type TestTerminal, USUAL } from "../support/terminal.ts";
import { receive } from "../support/webhooks.ts";

const urlIn = (text: string) => /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0] ?? "";
const get = (url: string, path: string) => call(url, "GET", path);

/** Which modes of the dashboard the terminal has: alternate screen, hidden cursor, no line wrap. */
const modesOf = ({ modes }: TestTerminal) => [modes.has(1049), !modes.has(25), !modes.has(7)];
const ACTIVE = [true, true, true];
const RESTORED = [false, false, false];

/** Starts the program in a shell, and waits for its dashboard. */
async function startInShell(words: string, variables: Record<string, string> = {}) {
  const shell = openShell({ variables });
  await shell.shows("$ ");
  shell.type(`$program ${words}; echo ended with $?\r`);
  const text = await shell.shows("LIVE");
  expect(modesOf(shell)).toEqual(ACTIVE);
  return { ...shell, url: urlIn(text) };
}

/** Expects that the terminal is restored: the shell echoes, edits lines and runs commands. */
async function expectRestored(shell: TestTerminal): Promise<void> {
  expect(modesOf(shell)).toEqual(RESTORED);
  shell.type("stty -a; echo back at $((6 * 7))\r");
  const text = await shell.shows("back at 42");
  expect(text).toContain("echo back at $((6 * 7))");
  for (const words of ["icanon", "echo", "isig"]) expect(text).toMatch(new RegExp(`(^|\\s)${words}\\s`));
}

/** Process id of the program. */
const pidAt = async (url: string) => ((await control(url, "GET", "")) as { pid: number }).pid;

describe("every exit restores the terminal and prints a summary", () => {
  test("q exits with 0, and prints the output that the dashboard captured from other code", async () => {
    const shell = await startInShell("--memory --port 0", planted("write"));
    await get(shell.url, "/v1/payments");
    await shell.shows(/GET +\/v1\/payments/);
    process.kill(await pidAt(shell.url), "SIGUSR2");
    expect(await shell.shows("stray warning")).toContain("LIVE");
    expect(shell.lines().filter((line) => line.includes("stray"))).toHaveLength(1);
    shell.type("q");
    await shell.shows("stop the sandbox; what is in memory is lost");
    shell.type("s");
    const text = await shell.shows("ended with 0");
    expect(text).toMatch(/stray output\nstray error\n.*stray warning.*merchant-sandbox was at/s);
    expect(text).toContain(
      `was at ${shell.url}/v1\n1 request, 0 delivery attempts, 0 failed verdicts\nAll data was in memory`,
    );
    await expectRestored(shell);
  });

  test("Ctrl-C exits like SIGINT, also in a text field, and the summary names the database file", async () => {
    const shell = await startInShell("--db kept.db --port 0");
    shell.type("/abc");
    await shell.shows("/abc");
    shell.type("\x03");
    expect(await shell.shows("ended with 130")).toMatch(/Kept the data and the request log in \/.*kept\.db/s);
    await expectRestored(shell);
  });

  test.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("%s exits with %d", async (signal, code) => {
    const shell = await startInShell("--memory --port 0");
    process.kill(await pidAt(shell.url), signal);
    expect(await shell.shows(`ended with ${code}`)).toContain("merchant-sandbox was at");
    await expectRestored(shell);
  });

  test("a second Ctrl-C does not wait for requests in flight", async () => {
    const shell = await startInShell("--memory --port 0");
    const pid = await pidAt(shell.url);
    const { host, hostname, port } = new URL(shell.url);
    const halfSent = connect(Number(port), hostname).on("error", () => {});
    const head =
      `POST /v1/hospitality/pricing-rules HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer sk_test_lodge\r\n` +
      "Content-Type: application/json\r\nContent-Length: 100";
    await new Promise<void>((resolve) => halfSent.write(`${head}\r\n\r\n{`, () => resolve()));
    // This later request is answered, so the sandbox has also received the partial request.
    await get(shell.url, "/v1/payments");
    shell.type("\x03");
    await shell.shows("merchant-sandbox was at");
    shell.type("\x03");
    // The shell prints nothing about a process that a signal ended, and drops the rest of the line.
    await expect.poll(() => isAlive(pid), { timeout: 4_000 }).toBe(false);
    halfSent.destroy();
    await expectRestored(shell);
  });

  test("a startup error is printed, and decides the exit code", async () => {
    const { port } = await start(["--memory"]);
    const shell = openShell({ variables: { taken: String(port) } });
    await shell.shows("$ ");
    shell.type("echo no database > broken.db; clear\r");
    for (const [words, code, says] of [
      ["--db broken.db", 1, "is not a usable SQLite file"],
      ["--memory --port 0 --scenario nowhere", 2, "There is no scenario nowhere"],
      ["--memory --port $taken", 5, "Choose another with --port <n>"],
    ] as const) {
      shell.type(`clear; $program ${words}; echo ended with $?\r`);
      expect((await shell.shows(`ended with ${code}`)).replaceAll("\n", "")).toContain(says);
    }
    await expectRestored(shell);
  });

  test("the dashboard repaints after SIGSTOP and SIGCONT; closing the terminal shuts the sandbox down", async () => {
    const terminal = await openDashboard();
    const { pid } = terminal;
    for (const signal of ["SIGSTOP", "SIGCONT"]) process.kill(pid, signal);
    await get(terminal.url, "/v1/payments");
    await terminal.shows(/GET +\/v1\/payments/);
    expect(modesOf(terminal)).toEqual(ACTIVE);
    terminal.hangUp();
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
    await expect(get(terminal.url, "/v1/payments")).rejects.toThrow();
  });

  test.each([
    ["an uncaught exception", "throw"],
    ["an unhandled rejection", "reject"],
  ])("a crash by %s restores the terminal before it prints the error", async (_, plant) => {
    const shell = await startInShell("--memory --port 0", planted(plant));
    process.kill(await pidAt(shell.url), "SIGUSR2");
    expect(await shell.shows(/ended with \d+/)).toMatch(/Error: planted.*ended with 1/s);
    await expectRestored(shell);
  });
});

/** Variables that preload a script. At SIGUSR2, the script makes the program throw, reject or write. */
function planted(what: string): Record<string, string> {
  const file = join(folder(), "planted.cjs");
  const acts: Record<string, string> = {
    throw: `throw new Error("planted");`,
    reject: `void Promise.reject(new Error("planted"));`,
    write: `console.log("stray output"); console.error("stray error"); process.emitWarning("stray warning");`,
  };
  writeFileSync(file, `process.on("SIGUSR2", () => { ${acts[what]} });`);
  return { NODE_OPTIONS: `--require ${file}` };
}

describe("job control", () => {
  test("Ctrl-Z restores the terminal, bg continues without writing to it, and fg repaints the dashboard", async () => {
    const shell = await startInShell("--memory --port 0");
    const suspend = async () => {
      shell.type("\x1a");
      await shell.shows("topped");
      expect(modesOf(shell)).toEqual(RESTORED);
    };
    await suspend();
    shell.resize(USUAL);
    shell.type("clear; fg\r");
    await shell.shows("[1 Requests]");
    expect(modesOf(shell)).toEqual(ACTIVE);
    await get(shell.url, "/v1/payouts");
    await shell.shows(/GET +\/v1\/payouts/);
    await suspend();
    shell.type("bg\r");
    expect((await get(shell.url, "/v1/payments")).status).toBe(200);
    shell.type("echo it is $((6 * 7))\r");
    await shell.shows("it is 42");
    expect(modesOf(shell)).toEqual(RESTORED);
    shell.type("fg\r");
    await shell.shows(/GET +\/v1\/payments/);
    expect(modesOf(shell)).toEqual(ACTIVE);
    shell.type("qy");
    await shell.shows(/merchant-sandbox was at.*\n\$ /s);
    await expectRestored(shell);
  });

  test("a program started in the background prints plain lines and is not stopped", async () => {
    const shell = openShell();
    await shell.shows("$ ");
    shell.type("$program --memory --port 0 &\r");
    const url = urlIn(await shell.shows("is ready at"));
    await get(url, "/v1/payments");
    await shell.shows(/GET \/v1\/payments 200/);
    expect(modesOf(shell)).toEqual(RESTORED);
    process.kill(await pidAt(url), "SIGTERM");
  });
});

describe("the key s", () => {
  test("switches to plain lines, which show the control token; there, Ctrl-C exits too", async () => {
    const terminal = await openDashboard(["--host", "0.0.0.0", "--allowed-host", "localhost"], {
      size: { columns: 160, rows: 36 },
    });
    await terminal.shows("The control API requires a token: press s to see it");
    terminal.type("s");
    expect(await terminal.shows("requires the token")).toMatch(/requires the token [0-9a-f]{48}/);
    terminal.type("\x03");
    expect(await terminal.ended).toMatchObject({ code: 130 });
    expect(modesOf(terminal)).toEqual(RESTORED);
  });

  test("switches between the dashboard and plain lines any number of times, without losing rows", async () => {
    const shell = await startInShell(`--memory --port 0 --clock ${NOON}`);
    await get(shell.url, "/v1/payments?limit=1");
    await shell.shows("limit=1");
    for (const limit of [2, 4]) {
      shell.type("s");
      await shell.shows("Press s for the dashboard, q to quit");
      expect(modesOf(shell)).toEqual(RESTORED);
      await get(shell.url, `/v1/payments?limit=${limit}`);
      await shell.shows(new RegExp(`^2026-01-05T12:00:00\\.000Z GET /v1/payments\\?limit=${limit} 200`, "m"));
      shell.type("s");
      await shell.shows(
        (text) => text.includes("LIVE") && text.includes("limit=1") && text.includes(`limit=${limit} `),
      );
      expect(modesOf(shell)).toEqual(ACTIVE);
    }
    shell.type("s");
    await shell.shows("Press s for the dashboard");
    shell.type("q");
    await shell.shows("ended with 0");
    await expectRestored(shell);
  });
});

describe("a terminal that stops reading", () => {
  test("blocks neither requests nor shutdown, and gets the current screen once it reads again", async () => {
    const terminal = await openDashboard(["--rate-limit", "none"]);
    const { pid } = terminal;
    const stopReading = () => {
      terminal.freeze();
      // Each key repaints the whole screen, until the buffer of the terminal is full.
      for (let count = 0; count < 100; count++) terminal.type("?q");
    };
    stopReading();
    // If the program blocked on the terminal, requests and shutdown would hang.
    for (let limit = 1; limit <= 100; limit++) await get(terminal.url, `/v1/payments?limit=${limit}`);
    terminal.thaw();
    await terminal.shows("limit=100");
    stopReading();
    await get(terminal.url, "/v1/payouts");
    process.kill(pid, "SIGTERM");
    await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false);
  });
});

test.each([
  [{}, {}, "dashboard"],
  [{}, { CI: "true" }, "plain"],
  [{ ui: "" }, { CI: "true" }, "dashboard"],
  [{}, { CI: "false" }, "dashboard"],
  [{}, { TERM: "dumb" }, "plain"],
  [{}, { INK_SCREEN_READER: "true" }, "plain"],
  [{ "no-ui": "" }, {}, "plain"],
  [{ json: "", ui: "" }, {}, "json"],
])("a terminal with the flags %j and the variables %j gets the interface %s", (flags, environment, expected) => {
  expect(chooseUi(flags, { isTerminal: true, environment })).toBe(expected);
  if (expected === "dashboard") expect(chooseUi(flags, { isTerminal: false, environment })).toBe("plain");
});

describe("plain lines", () => {
  const everything = async (url: string) => {
    const receiver = await receive();
    receiver.always(500);
    await call(url, "POST", "/v1/webhooks", { body: { url: receiver.url, events: ["*"] } });
    await control(url, "POST", "/faults", {
      id: "flt_1",
      action: { type: "status", status: 503, retryAfter: 5 },
      name: "planted",
    });
    await get(url, "/v1/payments");
    await get(url, "/v1/payments");
    await control(url, "POST", "/clock/advance", { by: "1h" });
    await call(url, "POST", "/v1/webhook-events/test", { body: { type: "payment.succeeded" } });
    await control(url, "POST", "/drain", { within: "5s" });
    await control(url, "POST", "/reset", {});
  };

  test("show every request, event and delivery on one line, without escape sequences", async () => {
    const program = launch(["--port", "0", "--memory", "--clock", NOON]);
    await everything(urlIn(await program.line((line) => line.includes("is ready"))));
    await program.line((line) => line.startsWith("reset"));
    const text = program.out.join("\n");
    expect(text).toMatch(/^2026-01-05T12:00:00\.000Z POST \/v1\/webhooks 201 .* mer_lodge req_lodge_1$/m);
    expect(text).toMatch(/^2026-01-05T12:00:00\.000Z fault flt_1 \(planted\) status hit req_lodge_2 mer_lodge$/m);
    expect(text).toMatch(
      /^2026-01-05T12:00:00\.000Z verdict fail retry_after\.\w+ mer_lodge vdt_\d req_lodge_2,req_lodge_3: /m,
    );
    expect(text).toMatch(/^2026-01-05T13:00:00\.000Z clock frozen$/m);
    expect(text).toMatch(
      /delivery of payment\.succeeded evt_\w+ to http:\/\/127\.0\.0\.1:\d+\/hooks 1\/\d 500 .*mer_lodge \w+ next at 2026-01-05T13:/,
    );
    // biome-ignore lint/suspicious/noControlCharactersInRegex: an escape sequence begins with ESC.
    expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f]/);
    program.child.kill("SIGTERM");
    expect((await program.ended).code).toBe(0);
  });

  test("are JSON objects with --json: ready, then each event", async () => {
    const program = await start(["--memory", "--clock", NOON]);
    await everything(program.url);
    const path = "/v1/hospitality/pricing-rules";
    for (const _ of [1, 2]) await call(program.url, "POST", path, { body: ORDER, headers: { "idempotency-key": "k" } });
    await program.line((line) => line.includes('"replayOf"'));
    const events = program.out.map((line) => JSON.parse(line));
    const [ready] = events;
    expect(ready).toMatchObject({
      event: "ready",
      version: version(),
      pid: program.child.pid,
      database: null,
      baseUrl: `${ready.url}/v1`,
    });
    const keys = ready.merchants.map(({ apiKeys }: { apiKeys: string[] }) => apiKeys[0]);
    expect(keys).toEqual(["sk_test_lodge", "sk_test_market", "sk_test_stage", "sk_test_blank"]);
    expect(new Set(events.map(({ event }) => event))).toEqual(
      new Set(["ready", "request", "fault", "verdict", "clock", "delivery", "reset"]),
    );
    const of = (kind: string) => events.filter(({ event }) => event === kind);
    expect(of("fault")).toMatchObject([{ ruleId: "flt_1", requestId: "req_lodge_2", at: "2026-01-05T12:00:00.000Z" }]);
    expect(of("delivery")[0]).toMatchObject({ eventType: "payment.succeeded", attempt: 1, merchant: "mer_lodge" });
    expect(of("request")[1]).toMatchObject({
      id: "req_lodge_2",
      operation: "payments.list",
      at: "2026-01-05T12:00:00.000Z",
      status: 503,
    });
    const replayed = {
      method: "POST",
      path,
      status: 200,
      merchant: "mer_lodge",
      idempotencyKey: "k",
      replayOf: "req_lodge_1",
    };
    expect(of("request").at(-1)).toMatchObject(replayed);
  });

  test("are printed in CI without loading the modules of the dashboard, which --ui loads", async () => {
    const [plain, drawing] = [folder(), folder()];
    const terminal = openProgram(["--memory", "--port", "0"], { variables: { CI: "true", NODE_V8_COVERAGE: plain } });
    const url = urlIn(await terminal.shows("/v1"));
    await get(url, "/v1/payments");
    await terminal.shows("req_lodge_1");
    process.kill(terminal.pid, "SIGTERM");
    expect(await terminal.ended).toMatchObject({ code: 0 });
    expect(terminal.bytes()).not.toContain("\x1b");
    expect(drawn(plain)).toEqual([]);
    const dashboard = await openDashboard(["--ui"], {
      variables: { CI: "true", NODE_V8_COVERAGE: drawing },
      size: LEAST,
    });
    dashboard.type("qs");
    await dashboard.ended;
    expect(drawn(drawing)).not.toEqual([]);
  });

  /** Files loaded by the program that contain React or its layout engine. */
  function drawn(coverage: string): string[] {
    const reports = readdirSync(coverage).map((name) => JSON.parse(readFileSync(join(coverage, name), "utf8")));
    const files = reports.flatMap(({ result }) => result as { url: string }[]).map(({ url }) => url);
    expect(files.some((url) => url.endsWith("/dist/program.cjs"))).toBe(true);
    const ours = files.filter((url) => url.includes("/dist/"));
    return ours.filter((url) => /yoga|react-reconciler/i.test(readFileSync(fileURLToPath(url), "utf8")));
  }
});

describe("attached to a sandbox elsewhere", () => {
  test("the dashboard needs the control token, and shows old and new rows; q leaves the sandbox running", async () => {
    const sandbox = await open({ controlToken: "sesame" });
    await openProgram(["attach", sandbox.url]).shows(/DETACHED.*--control-token/);
    await get(sandbox.url, "/v1/payments?limit=1");
    const shell = openShell();
    await shell.shows("$ ");
    shell.type(`$program attach ${sandbox.url} --control-token sesame; echo ended with $?\r`);
    await shell.shows(/limit=1/);
    await get(sandbox.url, "/v1/payments?limit=2");
    await shell.shows(/limit=2/);
    // The count may arrive after the row, because the first page of the list contains the row too.
    await shell.shows(/▸ 1 Requests ─+ 2 /);
    shell.type("q");
    expect(await shell.shows("ended with 0")).toContain(
      `merchant-sandbox keeps running at ${sandbox.url}/v1\n2 requests`,
    );
    await expectRestored(shell);
    expect((await get(sandbox.url, "/v1/payments")).status).toBe(200);
  });

  test("the dashboard and plain lines report a lost sandbox and stale rows, and recognise a new sandbox", async () => {
    const sandbox = await start(["--memory"]);
    await get(sandbox.url, "/v1/payments?limit=7");
    const terminal = openProgram(["attach", sandbox.url]);
    const plain = launch(["attach", sandbox.url]);
    const json = launch(["attach", `${sandbox.url}/v1`, "--json"]);
    await terminal.shows("limit=7");
    expect(await plain.line(() => true)).toContain(`at ${sandbox.url}/v1 with keys sk_test_lodge`);
    expect(JSON.parse(await json.line(() => true))).toMatchObject({ event: "attached", baseUrl: `${sandbox.url}/v1` });
    await get(sandbox.url, "/v1/payments");
    await plain.line((line) => /GET \/v1\/payments 200 .* mer_lodge req_lodge_2$/.test(line));
    expect(JSON.parse(await json.line((line) => line.startsWith('{"event":"request"')))).toMatchObject({
      id: "req_lodge_2",
      path: "/v1/payments",
    });
    await sandbox.kill();
    expect(await terminal.shows("RECONNECTING")).toContain("limit=7");
    expect(JSON.parse(await json.line((line) => line.includes("unreachable")))).toMatchObject({
      event: "unreachable",
      url: sandbox.url,
    });
    const waiting = openProgram(["attach", sandbox.url]);
    await waiting.shows(/RECONNECTING.*connection refused/);
    await terminal.shows(/what is shown is old|stale/i);
    const again = await start(["--memory", "--port", String(sandbox.port)]);
    await json.line((line) => line.includes('"restarted"'));
    await get(again.url, "/v1/payouts");
    await plain.line((line) => line.includes("/v1/payouts"));
    await terminal.shows((text) => text.includes("LIVE") && text.includes("/v1/payouts") && !text.includes("limit=7"));
    expect(terminal.text()).toContain("sandbox restarted");
    await waiting.shows("LIVE");
    plain.child.kill("SIGTERM");
    const ended = await plain.ended;
    expect(ended.code).toBe(0);
    expect(ended.error).toContain("The sandbox was restarted.");
  });
});
