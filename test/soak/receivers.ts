// The receivers of the soak test: one that records everything, and several that never respond.

import { createHash } from "node:crypto";
import { createServer, type Server as HttpServer, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createSocketServer, type Server, type Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import { sign } from "../../src/webhooks/signature.ts";

export interface Record {
  readonly url: string;
  /** The signing secret of the receiver's endpoint. */
  secret: string;
  /** The number of different events, by the idempotency key of the write that caused them. */
  events: Map<string, number>;
  /** How often each event arrived, by the id of the event. */
  copies: Map<string, number>;
  seen: { deliveries: number; forged: number; failed: number };
  /** Events whose deliveries had different bodies. */
  changed: string[];
  /** Closes idle connections. */
  rest(): void;
  close(): Promise<void>;
}

type Pick = (limit: number, ...name: (string | number)[]) => number;

/** Accepts genuine deliveries after a short delay. Some are accepted only at the second or third attempt. */
export async function keepRecord(pick: Pick): Promise<Record> {
  const digests = new Map<string, string>();
  const record = {
    secret: "",
    events: new Map<string, number>(),
    copies: new Map<string, number>(),
    changed: [] as string[],
  };
  const seen = { deliveries: 0, forged: 0, failed: 0 };
  const note = (body: Buffer) => {
    const { id, data } = JSON.parse(body.toString()) as { id: string; data: { metadata?: { key?: string } } };
    const copies = record.copies.get(id) ?? 0;
    const digest = createHash("sha1").update(body).digest("base64");
    record.copies.set(id, copies + 1);
    if ((digests.get(id) ?? digest) !== digest) record.changed.push(id);
    digests.set(id, digest);
    const key = data.metadata?.key;
    if (key !== undefined && copies === 0) record.events.set(key, (record.events.get(key) ?? 0) + 1);
    return copies + 1 <= pick(8, "fails", id) - 5;
  };
  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming).catch(() => undefined);
    if (body === undefined) return;
    seen.deliveries++;
    const isGenuine = incoming.headers["x-webhook-signature"] === sign(body.toString(), record.secret);
    if (!isGenuine) seen.forged++;
    const fails = isGenuine && note(body);
    if (fails) seen.failed++;
    const statusIfGenuine = fails ? 500 : 200;
    answerLate(outgoing, isGenuine ? statusIfGenuine : 400, pick(10, "late", seen.deliveries));
  });
  const { url, close } = await listenOn(server);
  return Object.assign(record, { url, seen, rest: () => server.closeIdleConnections(), close });
}

/** Responds after a delay, so that deliveries are in flight when the sandbox is killed. */
const answerLate = (outgoing: ServerResponse, status: number, after: number) =>
  void setTimeout(() => outgoing.writeHead(status).end(), after);

export interface Deaf {
  url: string;
  /** The number of accepted connections. */
  met(): number;
  close(): Promise<void>;
}

/**
 * The ways of never responding: read nothing, read but stay silent, stop within the headers or the body, or never end
 * the body.
 */
const WAYS: ((socket: Socket) => void)[] = [
  (socket) => void socket.pause(),
  (socket) => void socket.resume(),
  (socket) => void socket.resume().write("HTTP/1.1 200 OK\r\nContent-"),
  (socket) => void socket.resume().write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nnot all of it"),
  (socket) => {
    socket.resume().write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    const drip = setInterval(() => socket.write("1\r\n.\r\n"), 50);
    socket.once("close", () => clearInterval(drip));
  },
];

export const listenDeaf = (): Promise<Deaf[]> =>
  Promise.all(
    WAYS.map(async (way) => {
      let met = 0;
      const server = createSocketServer((socket) => {
        met++;
        way(socket);
      });
      return { ...(await listenOn(server)), met: () => met };
    }),
  );

async function listenOn(server: Server | HttpServer): Promise<{ url: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`,
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
