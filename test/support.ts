// What every test starts from: a sandbox on a real port with a frozen clock, and a client that hides nothing.

import { Agent, request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { connect } from "node:net";
import { afterEach } from "vitest";
import type { GivenOptions } from "../src/options.ts";
import { createSandbox, type Defect, type Sandbox } from "../src/sandbox.ts";

export const NOON = "2026-01-05T12:00:00Z";
export const NOON_SECONDS = 1_767_614_400;

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
  /** Sent as JSON unless it is text. */
  body?: unknown;
  contentType?: string | null;
}

export interface Bench extends Sandbox {
  /** Calls a path under the sandbox's address. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** The defects that came out; a test that expects none need not look: closing fails on any. */
  defects: Defect[];
}

const opened: Bench[] = [];
const agent = new Agent({ keepAlive: true });

afterEach(async () => {
  const benches = opened.splice(0);
  await Promise.all(benches.map((bench) => bench.close()));
  const [defect] = benches.flatMap(({ defects }) => defects);
  if (defect) throw defect.error;
});

/** A sandbox for one test, closed after it; any defect of the sandbox fails the test. */
export async function open(options: GivenOptions = {}): Promise<Bench> {
  const sandbox = await createSandbox({ clock: NOON, ...options });
  const defects: Defect[] = [];
  sandbox.onDefect((defect) => defects.push(defect));
  const bench: Bench = { ...sandbox, defects, call: (method, path, given) => call(sandbox.url, method, path, given) };
  opened.push(bench);
  return bench;
}

export function call(url: string, method: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const { key = "sk_test_lodge", body, contentType = "application/json" } = options;
  const text = body === undefined ? undefined : typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const headers: Record<string, string | string[]> = {
    ...(key === null ? {} : { authorization: `Bearer ${key}` }),
    ...(text === undefined || contentType === null ? {} : { "content-type": contentType }),
    ...(text === undefined ? {} : { "content-length": String(Buffer.byteLength(text)) }),
    ...options.headers,
  };
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(url + path, { method, headers, agent, path }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("error", reject);
      incoming.on("end", () => {
        const received = Buffer.concat(chunks).toString("utf8");
        const { statusCode = 0, headers: answered, rawHeaders } = incoming;
        resolve({ status: statusCode, headers: answered, rawHeaders, text: received, body: received === "" ? undefined : JSON.parse(received) });
      });
    });
    outgoing.on("error", reject);
    outgoing.end(text);
  });
}

/** Sends bytes as they are and answers everything that comes back until the sandbox closes the connection. */
export function raw(port: number, bytes: string | Buffer, address = "127.0.0.1"): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, address, () => socket.write(bytes));
    let received = "";
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(received));
  });
}
