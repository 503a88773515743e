// What every test starts from: a sandbox on a real port with a frozen clock, and a client that hides nothing.

import { Agent, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { createSandbox, type Sandbox } from "../../src/sandbox/create.ts";
import type { Defect } from "../../src/sandbox/engine.ts";
import type { GivenOptions } from "../../src/sandbox/options.ts";
import { afterEachTest } from "./cleanup.ts";

export const NOON = "2026-01-05T12:00:00Z";
export const NOON_SECONDS = 1_767_614_400;

/** What a record of a kind cannot be without. */
export const needed: Readonly<Record<string, object>> = { product_variant: { productId: "prod_any" } };

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
  /** Sent as JSON unless it is text or bytes. */
  body?: unknown;
  /** The media type of the body; null sends none. */
  contentType?: string | null;
  /** Sends the body in chunks of this many bytes, without its length. */
  chunked?: number;
  /** After how many milliseconds of silence it is given up; never unless given. */
  patience?: number;
  /** Whose connections it uses; those of all tests unless given. */
  agent?: Agent;
}

export interface Bench extends Omit<Sandbox, "events"> {
  /** Calls a path under the sandbox's address. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Calls the control plane, which must succeed; the answer's body. */
  control(method: string, path: string, body?: unknown): Promise<Answer["body"]>;
  /** The types of the events that a request made, in order. */
  events: Sandbox["events"] & ((answer: Answer) => Promise<string[]>);
  /** The defects that came out; a test that expects none need not look: closing fails on any. */
  defects: Defect[];
}

const opened: Bench[] = [];
const shared = new Agent({ keepAlive: true });

afterEachTest.push(() => Promise.all(opened.splice(0).map((bench) => bench.close())));

/** A sandbox for one test, closed after it; any defect of the sandbox fails the test. */
export async function open(options: GivenOptions = {}): Promise<Bench> {
  const bench = await share(options);
  opened.push(bench);
  return bench;
}

/** A sandbox for several tests, which its own describe closes. */
export async function share(options: GivenOptions = {}): Promise<Bench> {
  const sandbox = await createSandbox({ clock: NOON, ...options });
  const defects: Defect[] = [];
  sandbox.onDefect((defect) => defects.push(defect));
  return {
    ...sandbox,
    defects,
    call: (method, path, given) => call(sandbox.url, method, path, given),
    control: (method, path, body) => control(sandbox.url, method, path, body),
    events: Object.assign((answer: Answer) => eventsOf(sandbox.url, answer), sandbox.events),
    async close() {
      await sandbox.close();
      if (defects[0]) throw defects[0].error;
    },
  };
}

export function call(url: string, method: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const { key = "sk_test_lodge", body, contentType = "application/json", chunked, patience = 0, agent = shared } = options;
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
        resolve({ status: statusCode, headers: answered, rawHeaders, text, body: parsed(text) });
      });
    });
    outgoing.on("error", reject);
    outgoing.on("timeout", () => outgoing.destroy(new Error("no answer within the client's patience")));
    for (let start = 0; chunked !== undefined && start < (bytes?.length ?? 0); start += chunked)
      outgoing.write(bytes?.subarray(start, start + chunked));
    outgoing.end(chunked === undefined ? bytes : undefined);
  });
}

const bytesOf = (body: unknown) => (Buffer.isBuffer(body) ? body : Buffer.from(typeof body === "string" ? body : JSON.stringify(body)));

/** Every answer of the sandbox is JSON or nothing; text of another kind is left undefined, for a test to stumble over. */
function parsed(text: string): unknown {
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

/** A port of this machine that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Sends bytes as they are and answers everything that comes back until the sandbox closes the connection; `last` says that no more follow. */
export function raw(port: number, bytes: string | Buffer, last = false): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true }, () => (last ? socket.end(bytes) : socket.write(bytes)));
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
    });
    socket.on("end", () => socket.end());
    socket.on("error", reject);
    socket.on("close", () => resolve(received));
  });
}

/** A request as bytes, its lines exactly as given, after which the connection closes. */
export const lines = (start: string, ...headers: string[]) => [start, ...headers, "Connection: close", "", ""].join("\r\n");

/** Status, headers and JSON of the first answer among raw bytes. */
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
