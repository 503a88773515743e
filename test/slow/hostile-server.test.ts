// If a server is not a sandbox of this version, the command line prints no escape sequences and does not crash.

import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import { NO_COUNTS } from "../../src/contracts/live-messages.ts";
import { controlCatalogue } from "../../src/control/index.ts";
import { createSandbox } from "../../src/sandbox/create.ts";
import { afterEachTest } from "../support/cleanup.ts";
import { isHosted, runHosted } from "../support/hosted-commands.ts";
import { folder, launch, ownEnvironment, PROGRAM, type Program, run } from "../support/program.ts";
import { attempted } from "../support/sandbox.ts";
import { openProgram } from "../support/terminal.ts";

const servers: Server[] = [];
afterEachTest.push(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** Starts a server that answers with `reply(path, method)`. Resolves with its URL. */
function answering(reply: (path: string, method: string) => unknown, status = 200): Promise<string> {
  const server = createServer((incoming, outgoing) => {
    const body = reply(incoming.url ?? "", incoming.method ?? "");
    outgoing.statusCode = status;
    outgoing.setHeader("Content-Type", "application/json");
    outgoing.end(JSON.stringify(body));
  });
  servers.push(server);
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
}

const says = (program: Program, words: string) => program.line((line) => line.includes(words));

test.each([{ data: null }, "text", [[]], null])(
  "the command requests reports the invalid response %j in one sentence",
  async (answer) => {
    attempted("Replies of a foreign server to the command line");
    const url = await answering(() => answer);
    const { code, error } = await run(["requests", "--url", url]);
    expect([code, error]).toEqual([
      1,
      expect.stringMatching(/^merchant-sandbox: [^\n]+ returned a reply that this version does not know: [^\n]+\n$/),
    ]);
  },
);

test("the command requests reads a bounded part of a reply", async () => {
  attempted("Replies of a foreign server to the command line");
  let sent = 0;
  const server = createServer((_, outgoing) => {
    outgoing.setHeader("Content-Type", "application/json");
    const piece = "[".repeat(65_536);
    const write = () => {
      sent += piece.length;
      outgoing.write(piece);
    };
    outgoing.on("drain", write);
    write();
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { code, error } = await run(["requests", "--url", url]);
  expect([code, error]).toEqual([1, expect.stringMatching(/^merchant-sandbox: [^\n]{20,2500}\n$/)]);
  // The sockets of both sides hold a few megabytes in addition to the bytes that the command reads.
  expect(sent).toBeLessThan(80 * 1_048_576);
});

/** Text that controls a terminal: it sets the title, colours, the cursor and the direction, and starts new lines. */
const NASTY = "\x1b]0;owned\x07\x1b[31m\x9b2J\u202e\x7f\r\nmerchant-sandbox: forged";
const STEERS = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/u;

// biome-ignore lint/suspicious/noExplicitAny: any schema.
type AnySchema = any;

/** A value that matches a schema, with NASTY wherever the schema allows any text. */
function matchOf(schema: AnySchema): unknown {
  if ("const" in schema) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return matchOf(schema.anyOf[0]);
  const type = [schema.type].flat()[0];
  if (type === "string") return schema.pattern || schema.format ? "paging.mjs" : NASTY;
  if (type === "integer" || type === "number") return schema.minimum ?? 1;
  if (type === "boolean") return true;
  if (type === "array") return [matchOf(schema.items ?? {})];
  const record = Object.values(schema.patternProperties ?? {}).map((inner) => [NASTY, matchOf(inner)]);
  const fields = Object.entries(schema.properties ?? {}).map(([name, inner]) => [name, matchOf(inner)]);
  return type === "object" ? Object.fromEntries([...record, ...fields]) : NASTY;
}

/** The replies of a hostile sandbox: every text contains terminal escapes. */
function hostileReply(method: string, url: string): unknown {
  const { pathname } = new URL(url, "http://h");
  if (pathname.startsWith("/v1/"))
    return { id: NASTY, type: NASTY, secret: "whsec_1", deliveries: [{ endpointId: NASTY }] };
  const path = pathname.replace("/_sandbox", "");
  const fits = (one: { method: string; path: string }) =>
    one.method === method && new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`).test(path);
  const reply = matchOf(controlCatalogue.find(fits)?.reply ?? {});
  if (path === "")
    return {
      ...(reply as object),
      name: "merchant-sandbox",
      merchants: [{ id: NASTY, name: NASTY, email: NASTY, apiKeys: ["sk_test_1"] }],
    };
  return reply;
}

/**
 * Everything that a command writes until it ends. A command that does not end on its own is stopped after its first
 * output.
 */
async function outputOf(words: string[], cwd = folder()): Promise<string> {
  if (isHosted(words, {})) {
    const { out, error } = await runHosted({ program: PROGRAM, words, cwd, variables: ownEnvironment() });
    return out + error;
  }
  const program = launch(words, {}, cwd);
  let text = "";
  for (const stream of [program.child.stdout, program.child.stderr])
    stream?.on("data", (chunk: Buffer) => {
      text += chunk.toString("utf8");
      if (LASTING.includes(words[0] ?? "")) program.child.kill("SIGTERM");
    });
  await program.ended;
  return text;
}

/** Commands that end only when they are stopped. */
const LASTING = ["attach", "learn", "receive"];

const COMMANDS = [
  ["status"],
  ["status", "--json"],
  ["doctor"],
  ["deliveries"],
  ["deliveries", "--json"],
  ["fault", "ls"],
  ["fault", "ls", "--json"],
  ["fault", "add", "503", "payments.list"],
  ["scenario", "ls"],
  ["scenario", "status", "lost-response"],
  ["clock"],
  ["clock", "advance", "1h"],
  ["reset"],
  ["env"],
  ["env", "--format", "json"],
  ["audit", "http://localhost:1/"],
  ["replay", "evt_1"],
  ["trigger", "a.b"],
  ["wait", "--within", "300ms"],
  ["attach", "--no-ui"],
  ["receive", "--port", "0"],
];

describe("text of a hostile sandbox cannot control the terminal", () => {
  test.each(COMMANDS.map((words) => [words.join(" "), words] as const))("printed by %s", async (_, words) => {
    attempted("Escape sequences in a terminal", 2);
    const replies = await answering((path, method) => hostileReply(method, path));
    const errors = await answering(() => ({ error: NASTY, code: NASTY, message: NASTY }), 400);
    for (const url of [replies, errors]) {
      const text = await outputOf([...words, "--url", url]);
      expect(text).not.toBe("");
      expect(text).not.toMatch(STEERS);
    }
  });
});

test("names in files and arguments cannot control the terminal", async () => {
  const cwd = folder();
  writeFileSync(join(cwd, "faults.json"), JSON.stringify([{ name: NASTY, action: { type: NASTY } }]));
  mkdirSync(join(cwd, "fixtures"));
  writeFileSync(join(cwd, "fixtures", "shop.json"), JSON.stringify({ merchant: { [NASTY]: NASTY } }));
  mkdirSync(join(cwd, "lessons"));
  writeFileSync(
    join(cwd, "lessons", "01-first.md"),
    "# \x1b]0;owned\x07Title\n\nAbout \x9b2J.\n\n" +
      "## 1. \x1b[31mStep\n\nRead.\n\n" +
      '<!-- check: {"requests": {"match": {"operation": "merchants.me", "status": 200}}} -->\n',
  );
  const all = [
    ["--memory", "--port", "0", "--faults", "faults.json"],
    ["--memory", "--port", "0", "--fixtures", "fixtures"],
    ["--memory", "--port", NASTY],
    ["learn", "--lessons", "lessons", "--list"],
    ["learn", "--lessons", "lessons", "--port", "0"],
    [NASTY],
    ["status", `--${NASTY}`],
    ["status", "--url", NASTY],
    ["exec", "--", NASTY],
  ];
  for (const words of all) {
    attempted("Escape sequences in a terminal");
    const text = await outputOf(words, cwd);
    expect([words, text === "", STEERS.exec(text)]).toEqual([words, false, null]);
  }
});

describe("attach", () => {
  /**
   * Starts a hostile sandbox whose live stream sends these messages to each client. Returns its URL.
   */
  async function streaming(...messages: unknown[]): Promise<string> {
    const url = await answering((path, method) => hostileReply(method, path));
    const sockets = new WebSocketServer({ server: servers.at(-1) });
    sockets.on("connection", (socket) => {
      for (const message of messages) socket.send(typeof message === "string" ? message : JSON.stringify(message));
    });
    return url;
  }

  const reset = (seq: number) => ({ seq, nth: 1, kind: "reset", merchant: "mer_known" });
  const request = { seq: 2, nth: 1, kind: "request", request: { at: 1e300, method: 7 } };

  test("skips unknown messages, prints their number and continues", async () => {
    const foreign = [
      "not JSON",
      "null",
      [],
      { type: "other" },
      { type: "batch" },
      { type: "snapshot", run: 1, sandbox: null },
    ];
    attempted("A foreign live stream", foreign.length + 3);
    const batch = { type: "batch", items: [{ seq: 1, nth: 1, kind: "newer" }, request, { kind: "reset" }, reset(3)] };
    const program = launch(["attach", "--no-ui", "--url", await streaming(...foreign, batch)]);
    await says(program, "reset of mer_known");
    program.child.kill("SIGTERM");
    const { code, error } = await program.ended;
    expect(code).toBe(0);
    expect(error.split("\n").filter((line) => line !== "")).toEqual([
      "merchant-sandbox: Messages of another version were not shown: 1.",
      "merchant-sandbox: Messages of another version were not shown: 9.",
    ]);
  });

  test("shows the dashboard of a server whose replies have other fields, and can be stopped", async () => {
    const sandbox = await createSandbox();
    const index = await sandbox.overview();
    await sandbox.close();
    const odd = {
      data: [null, 7, [], {}, { id: 1, at: "x" }],
      merchants: 7,
      clock: null,
      windows: [null],
      events: [null],
    };
    const url = await answering((path) => (path.endsWith("/_sandbox") ? index : odd));
    const snapshot = { type: "snapshot", run: "r", seq: 0, made: index.made, sandbox: index };
    new WebSocketServer({ server: servers.at(-1) }).on("connection", (socket) => socket.send(JSON.stringify(snapshot)));
    const terminal = openProgram(["attach", "--url", url]);
    await terminal.shows("LIVE");
    for (const key of ["1", "2", "3", "4", "5", "6", "7", "8", "x", "\x1b", "m"]) {
      attempted("A foreign live stream");
      terminal.type(key);
      await terminal.shows(/cannot be shown|could not be read/);
    }
    terminal.type("\x1b\x1bq");
    expect(await terminal.ended).toMatchObject({ code: 0 });
  });

  test("draws the dashboard of a sandbox of another version, whose state lacks a field", async () => {
    const url = await answering((path) => {
      const reply = hostileReply("GET", path) as object;
      return path.endsWith("/_sandbox") ? { ...reply, heldEndpoints: undefined } : reply;
    });
    const sandbox = await (await fetch(`${url}/_sandbox`)).json();
    const snapshot = { type: "snapshot", run: "r", seq: 0, made: NO_COUNTS, sandbox };
    new WebSocketServer({ server: servers.at(-1) }).on("connection", (socket) => socket.send(JSON.stringify(snapshot)));
    const terminal = openProgram(["attach", "--url", url]);
    attempted("A foreign live stream");
    await terminal.shows("Messages of another version were not shown: 1");
    terminal.type("?");
    await terminal.shows("clear the filter");
    terminal.type("\x1bq");
    expect(await terminal.ended).toMatchObject({ code: 0 });
  });

  test("closes a connection that sends too much, and reports the sandbox as unreachable", async () => {
    attempted("A foreign live stream");
    const program = launch([
      "attach",
      "--no-ui",
      "--json",
      "--url",
      await streaming(JSON.stringify("x".repeat(17 * 1_048_576))),
    ]);
    expect(await says(program, '"event":"unreachable"')).toContain("Max payload size exceeded");
    program.child.kill("SIGTERM");
    expect(await program.ended).toMatchObject({ code: 0, error: "" });
  });
});
