// A sandbox on a real port with a frozen clock, a plain HTTP client, servers for tests, and a count of the attacks in
// tests.

import { randomInt } from "node:crypto";
import { appendFileSync } from "node:fs";
import { Agent, createServer as createHttpServer, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, TestRunner, test } from "vitest";
import { createSandbox, type Sandbox } from "../../src/sandbox/create.ts";
import type { Defect } from "../../src/sandbox/engine.ts";
import type { GivenOptions } from "../../src/sandbox/options.ts";
import { afterEachTest } from "./cleanup.ts";

export const NOON = "2026-01-05T12:00:00Z";
export const NOON_SECONDS = 1_767_614_400;

/** The collection of pricing rules, and a rule that it accepts. */
export const RULES = "/v1/hospitality/pricing-rules";
export const rule = { name: "Weekend", adjustmentType: "fixed", adjustmentValue: 100 };
/** An action on a seeded record. */
export const DECLINE = "/v1/hospitality/bookings/bkg_pending/decline";

/** The required fields of a record of this kind. Creates the records to which these fields refer. */
export async function neededFields(bench: Bench, merchant: string, kind: string): Promise<object> {
  if (kind !== "product_variant") return {};
  const { id } = await bench.control("POST", "/records/product", { merchant });
  return { productId: id };
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  body: any;
}

export interface CallOptions {
  /** The API key; null sends no Authorization. */
  key?: string | null;
  headers?: Record<string, string | string[]>;
  /** Sent as JSON unless it is a string or bytes. */
  body?: unknown;
  /** Content-Type; null sends none. */
  contentType?: string | null;
  /** Sends the body in chunks of this many bytes, without Content-Length. */
  chunked?: number;
  /** Idle timeout in milliseconds (default: none). */
  patience?: number;
  /** HTTP agent (default: one shared by all tests). */
  agent?: Agent;
}

export interface Bench extends Omit<Sandbox, "events"> {
  /** Calls a path of the sandbox. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Calls the control API, which must succeed, and returns the body. */
  control(method: string, path: string, body?: unknown): Promise<Answer["body"]>;
  /** As a function, returns the types of the events that a request emitted, in order. */
  events: Sandbox["events"] & ((answer: Answer) => Promise<string[]>);
  /** Reported defects. Closing the sandbox fails the test if there is any. */
  defects: Defect[];
}

const opened: Bench[] = [];
const shared = new Agent({ keepAlive: true });

afterEachTest.push(() => Promise.all(opened.splice(0).map((bench) => bench.close())));

/** A sandbox for one test, closed after the test. Any defect fails the test. */
export async function open(options: GivenOptions = {}): Promise<Bench> {
  const bench = await share(options);
  opened.push(bench);
  return bench;
}

/** One sandbox for all tests of the describe, or of the file, in which this is called. */
export function shareForBlock(options: GivenOptions = {}, prepare?: (bench: Bench) => Promise<unknown>): () => Bench {
  let bench: Bench;
  beforeAll(async () => {
    bench = await share(options);
    await prepare?.(bench);
  });
  afterAll(() => bench.close());
  return () => bench;
}

/** A sandbox that the caller closes. */
export async function share(options: GivenOptions = {}): Promise<Bench> {
  const isMounted = MOUNTED && options.port === undefined && options.host === undefined;
  const sandbox = await createSandbox({ clock: NOON, listen: !isMounted, ...options });
  const app = isMounted ? await mount(sandbox) : undefined;
  const { url, port } = app ?? sandbox;
  const defects: Defect[] = [];
  sandbox.onDefect((defect) => defects.push(defect));
  return {
    ...sandbox,
    url,
    port,
    baseUrl: `${url}/v1`,
    defects,
    call: (method, path, given) => call(url, method, path, given),
    control: (method, path, body) => control(url, method, path, body),
    events: Object.assign((answer: Answer) => eventsOf(url, answer), sandbox.events),
    async close() {
      await sandbox.close();
      await app?.close();
      if (defects[0]) throw defects[0].error;
    },
  };
}

/** Set in the test project `mounted`: sandboxes without the options `port` and `host` are mounted in an Express app. */
const MOUNTED = process.env.MOUNTED !== undefined;

/** Adds a test of the sandbox's own port. If the sandbox is mounted, the app's server or routes decide instead. */
export const testOnOwnPort = MOUNTED ? ((() => {}) as unknown as typeof test) : test;

/** Mounts a sandbox in an Express app that listens on 127.0.0.1. */
async function mount(sandbox: Sandbox): Promise<{ url: string; port: number; close(): Promise<void> }> {
  const { default: express } = await import("express");
  const server = createHttpServer(express().disable("x-powered-by").use(sandbox.middleware));
  sandbox.attach(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, port, close };
}

export function call(url: string, method: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const {
    key = "sk_test_lodge",
    body,
    contentType = "application/json",
    chunked,
    patience = 0,
    agent = shared,
  } = options;
  const bytes = body === undefined ? undefined : bytesOf(body);
  const headers: Record<string, string | string[]> = {
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    ...(bytes === undefined || contentType === null ? {} : { "content-type": contentType }),
    ...(bytes === undefined || chunked !== undefined ? {} : { "content-length": String(bytes.length) }),
    ...options.headers,
  };
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(url, { method, headers, agent, path, timeout: patience }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("error", reject);
      incoming.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        const { statusCode = 0, headers: answered, rawHeaders } = incoming;
        const answer = { status: statusCode, headers: answered, rawHeaders, text, body: parsed(text) };
        record({ method, path, headers, ...(bytes && { body: bytes.toString("utf8") }) }, answer);
        resolve(answer);
      });
    });
    outgoing.on("error", reject);
    outgoing.on("timeout", () => outgoing.destroy(new Error("no response within the client's idle timeout")));
    for (let start = 0; chunked !== undefined && start < (bytes?.length ?? 0); start += chunked)
      outgoing.write(bytes?.subarray(start, start + chunked));
    outgoing.end(chunked === undefined ? bytes : undefined);
  });
}

/**
 * If RECORDED_CALLS is set, adds each call of the API to the file that it names. `npm run openapi:tools` sends these
 * calls through a validating proxy.
 */
function record(
  request: { method: string; path: string; headers: object; body?: string },
  { status, headers, text }: Answer,
): void {
  const file = process.env.RECORDED_CALLS;
  if (file !== undefined && request.path.startsWith("/v1/"))
    appendFileSync(file, `${JSON.stringify({ ...request, response: { status, headers, text } })}\n`);
}

const bytesOf = (body: unknown) =>
  Buffer.isBuffer(body) ? body : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));

/** Parses JSON. Returns undefined for other text, which faults can send. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export async function control(url: string, method: string, path: string, body?: unknown): Promise<Answer["body"]> {
  const answer = await call(url, method, `/_sandbox${path}`, { key: null, body });
  if (answer.status >= 300) throw new Error(`${method} /_sandbox${path} answered ${answer.status}: ${answer.text}`);
  return answer.body;
}

export async function eventsOf(url: string, answer: Answer): Promise<string[]> {
  const { events } = await control(url, "GET", `/requests/${answer.headers["x-sandbox-request-id"]}`);
  return (events as { type: string }[]).map(({ type }) => type);
}

/** Servers that a test starts; each is closed after the test, with its connections. */
const servers = new Map<Server, Set<Socket>>();

afterEachTest.push(async () => {
  const open = [...servers];
  servers.clear();
  await Promise.all(open.map(([server, sockets]) => close(server, sockets)));
});

function close(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  for (const socket of sockets) socket.destroy();
  return closed;
}

/** Resolves with a free port once the server listens there. */
export async function listen(server: Server, host = "127.0.0.1"): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  servers.set(server, sockets);
  return (server.address() as AddressInfo).port;
}

/**
 * A free port, for a program that starts later. The port is below the range from which systems assign ports, because a
 * system could assign it to another test's server before the program listens.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(11_000, 32_768);
  const server = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false)).listen(port, "localhost", () => resolve(true));
  });
  if (!isFree) return freePort();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Sends raw bytes and returns everything received until the connection closes; `last` half-closes the socket. */
export function raw(port: number, bytes: string | Buffer, last = false, host = "127.0.0.1"): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host, allowHalfOpen: true }, () => (last ? socket.end(bytes) : socket.write(bytes)));
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
    });
    socket.on("end", () => socket.end());
    socket.on("error", reject);
    socket.on("close", () => resolve(received));
  });
}

/** Raw bytes of a request with the given lines and Connection: close. */
export const lines = (start: string, ...headers: string[]) =>
  [start, ...headers, "Connection: close", "", ""].join("\r\n");

/** The headers that ask for a WebSocket. */
export const HANDSHAKE = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
];

/** The statuses of all responses among raw bytes. */
export const statusesIn = (received: string) =>
  [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));

/** Parses status, headers and JSON of the first response among raw bytes. */
export function readRaw(received: string): { status: number; headers: Record<string, string>; body: Answer["body"] } {
  const cut = received.indexOf("\r\n\r\n");
  const [start = "", ...rest] = received.slice(0, cut).split("\r\n");
  const headers = Object.fromEntries(
    rest.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
  );
  return {
    status: Number(start.split(" ")[1]),
    headers,
    body: parsed(received.slice(cut + 4, cut + 4 + Number(headers["content-length"]))),
  };
}

declare module "vitest" {
  interface TaskMeta {
    /** Attempts by row. */
    attacks?: Record<string, number>;
  }
}

/**
 * Counts attempts of the attack that a row of SECURITY.md names, for `npm run attack`. If the test passes, the sandbox
 * has refused all of them.
 */
export function attempted(row: string, count = 1): void {
  const test = TestRunner.getCurrentTest();
  if (!test) throw new Error("attempted() is called outside a test.");
  test.meta.attacks ??= {};
  test.meta.attacks[row] = (test.meta.attacks[row] ?? 0) + count;
}
