// The measured servers, each in a separate process. A process reports its port, and on request its CPU time and memory.

import { hash } from "node:crypto";
import { fdatasyncSync, openSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { openFolder } from "./folder.js";
import { timed } from "./many/timed.js";
import { RECORD } from "./sample-record.js";

const FROZEN = "2026-01-05T12:00:00Z";
const [name, ...words] = process.argv.slice(2);

const servers = {
  /** The baseline: node:http that returns 300 bytes and inspects nothing. */
  async bare() {
    const server = createServer((incoming, outgoing) => {
      incoming.resume();
      incoming.on("end", () => {
        outgoing.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(RECORD) });
        outgoing.end(RECORD);
      });
    });
    return listening(server);
  },
  /** The minimum work of a replay: read, parse and hash the body, and look up the response. */
  async hashing() {
    const known = new Map();
    const server = createServer((incoming, outgoing) => {
      const chunks = [];
      incoming.on("data", (chunk) => chunks.push(chunk));
      incoming.on("end", () => {
        const body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
        const print = hash("sha256", JSON.stringify([incoming.method, incoming.url, body]), "base64");
        if (!known.has(print)) known.set(print, RECORD);
        outgoing.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(RECORD) });
        outgoing.end(known.get(print));
      });
    });
    return listening(server);
  },
  /** The minimum work of a durable write: append the body to a file, and respond once the body is on disk. */
  async durable() {
    const file = openSync(openFolder().file("appended"), "a");
    const server = createServer((incoming, outgoing) => {
      const chunks = [];
      incoming.on("data", (chunk) => chunks.push(chunk));
      incoming.on("end", () => {
        writeSync(file, Buffer.concat(chunks));
        fdatasyncSync(file);
        outgoing.writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(RECORD) });
        outgoing.end(RECORD);
      });
    });
    return listening(server);
  },
  async express() {
    const { default: express } = await import("express");
    const app = express();
    app.use(express.json());
    app.all("/{*any}", (_incoming, outgoing) => outgoing.json(JSON.parse(RECORD)));
    return listening(createServer(app));
  },
  memory: () => sandbox({ memory: true }),
  file: () => sandbox(fresh()),
  /** A sandbox on an existing file. */
  over: () => sandbox({ memory: false, db: words[0] }),
  frozen: () => sandbox({ memory: true, clock: FROZEN }),
  "frozen-file": () => sandbox({ ...fresh(), clock: FROZEN }),
  "frozen-over": () => sandbox({ memory: false, db: words[0], clock: FROZEN }),
  /** The requested number of sandboxes in this process. */
  many: () => manySandboxes(Number(words[0])),
  /** A separate build of the sandbox, in memory or with a file. */
  variant: () => sandbox(words[1] === "file" ? fresh() : { memory: true }, words[0]),
};

const fresh = () => ({ memory: false, db: openFolder().file("sandbox.db") });

async function sandbox(options, module = "../dist/index.cjs") {
  const { createSandbox } = await import(module);
  const { port } = await createSandbox({ port: 0, rateLimit: "none", ...options });
  return port;
}

/** The number of sandboxes created before the measured ones, so that V8 has compiled the hot code. */
const EARLY = 10;

/** The ports of the sandboxes, and the cost of creating one sandbox: milliseconds, CPU time and bytes. */
async function manySandboxes(count) {
  const { createSandbox } = await import("../dist/index.cjs");
  const make = (length) => Promise.all(Array.from({ length }, () => createSandbox({ rateLimit: "none" })));
  for (const early of await make(EARLY)) await early.close();
  const { rss } = answers.memory();
  let made = [];
  const cost = await timed(
    () => (process.cpuUsage().user + process.cpuUsage().system) / 1_000,
    count,
    async () => {
      made = await make(count);
    },
  );
  const ports = made.map(({ port }) => port);
  return { port: ports[0], ports, created: { ...cost, each: (answers.memory().rss - rss) / count } };
}

function listening(server) {
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server.address().port)));
}

const delays = monitorEventLoopDelay({ resolution: 1 });
const NANOSECONDS = 1_000_000;

const answers = {
  cpu: () => ({ cpu: process.cpuUsage() }),
  memory() {
    globalThis.gc();
    const { rss, heapUsed } = process.memoryUsage();
    return { rss, heap: heapUsed };
  },
  stall() {
    // The histogram has the time between two ticks. Without a stall, this time is a millisecond.
    const stall = Math.max(0, delays.max / NANOSECONDS - 1);
    delays.reset();
    delays.enable();
    return { stall };
  },
};

process.on("message", (question) => process.send(answers[question]()));
process.on("disconnect", () => process.exit());
const opened = await servers[name]();
const facts = typeof opened === "number" ? { port: opened } : opened;
// A server on a terminal has no parent process to report to.
if (process.send) process.send(facts);
else process.stdout.write(`listening at ${facts.port}\n`);
