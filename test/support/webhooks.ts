// A scripted webhook receiver, and a sandbox with endpoints.

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { buffer } from "node:stream/consumers";
import type { WebhookDelivery } from "../../src/contracts/webhook.ts";
import { afterEachTest } from "./cleanup.ts";
import { type Bench, open, parsed } from "./sandbox.ts";

/** One received request. */
export interface Arrival {
  url: string;
  headers: NodeJS.Dict<string>;
  rawHeaders: string[];
  body: Buffer;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape.
  event: any;
  /** The number of the request's connection, from 1. */
  connection: number;
}

/** How the receiver handles a request: with a status, a failure, a response, or a custom handler. */
export type Step =
  | number
  | "hang"
  | "reset"
  | "garbage"
  | { status: number; headers?: Record<string, string>; body?: string | Buffer }
  | ((arrival: Arrival, outgoing: ServerResponse) => void);

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly arrivals: Arrival[];
  /** Responses to the next requests in order; 200 after the last. */
  script(...steps: Step[]): void;
  /** Sets the response to every request from now on. undefined returns to the script. */
  always(step: Step | undefined): void;
  /** Resolves when this many requests have arrived in total. */
  arrived(count: number): Promise<Arrival[]>;
  connections(): number;
  close(): Promise<void>;
}

const opened: Receiver[] = [];

afterEachTest.push(() => Promise.all(opened.splice(0).map((receiver) => receiver.close())));

/** A receiver on a free port, closed after the test. */
export async function receive(host?: string): Promise<Receiver> {
  const receiver = await startReceiver(host);
  opened.push(receiver);
  return receiver;
}

export async function startReceiver(host = "127.0.0.1"): Promise<Receiver> {
  const arrivals: Arrival[] = [];
  const steps: Step[] = [];
  const sockets = new Map<Socket, number>();
  let every: Step | undefined;
  let waiting: { count: number; resolve: (arrivals: Arrival[]) => void }[] = [];
  let connections = 0;

  const note = (arrival: Arrival) => {
    arrivals.push(arrival);
    for (const { resolve } of waiting.filter(({ count }) => count <= arrivals.length)) resolve(arrivals);
    waiting = waiting.filter(({ count }) => count > arrivals.length);
  };
  const server = createServer((incoming, outgoing) => {
    void buffer(incoming).then((body) => {
      const arrival = describe(incoming, body, sockets.get(incoming.socket) ?? 0);
      const step = every ?? steps.shift() ?? 200;
      note(arrival);
      perform(step, arrival, outgoing);
    });
  });
  server.on("connection", (socket: Socket) => {
    sockets.set(socket, ++connections);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const name = host.includes(":") ? `[${host}]` : host;
  return {
    url: `http://${name}:${port}/hooks`,
    port,
    arrivals,
    script: (...more) => void steps.push(...more),
    always: (step) => {
      every = step;
    },
    arrived: (count) =>
      new Promise((resolve) => {
        if (arrivals.length >= count) resolve(arrivals);
        else waiting.push({ count, resolve });
      }),
    connections: () => connections,
    close() {
      for (const socket of sockets.keys()) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function perform(step: Step, arrival: Arrival, outgoing: ServerResponse): void {
  if (typeof step === "function") step(arrival, outgoing);
  else if (step === "reset") outgoing.socket?.resetAndDestroy();
  else if (step === "garbage") outgoing.socket?.end("this is no HTTP\r\n\r\n");
  else if (step !== "hang") {
    const { status, headers = {}, body = "" } = typeof step === "number" ? { status: step } : step;
    outgoing.writeHead(status, headers).end(body);
  }
}

function describe(incoming: IncomingMessage, body: Buffer, connection: number): Arrival {
  return {
    url: incoming.url ?? "",
    headers: incoming.headers as NodeJS.Dict<string>,
    rawHeaders: incoming.rawHeaders,
    body,
    event: parsed(body.toString("utf8")),
    connection,
  };
}

export interface Registered {
  id: string;
  secret: string;
  url: string;
}

/** Registers an endpoint. `key` chooses the merchant (default: the sandbox's first merchant). */
export async function register(bench: Bench, url: string, events: string[] = ["*"], key?: string): Promise<Registered> {
  const { status, body, text } = await bench.call("POST", "/v1/webhooks", {
    body: { url, events },
    ...(key ? { key } : {}),
  });
  if (status !== 201) throw new Error(text);
  return body;
}

/** A sandbox and a receiver that is registered for `events` (default: every event of the first merchant). */
export async function openRegistered(options: Parameters<typeof open>[0] = {}, events?: string[], key?: string) {
  const bench = await open(options);
  const receiver = await receive();
  return { bench, receiver, ...(await register(bench, receiver.url, events, key)) };
}

/** Sends a test event and returns its id. */
export async function trigger(
  bench: Bench,
  type = "payment.succeeded",
  data: object = { amount: 1 },
  key?: string,
): Promise<string> {
  const { status, body, text } = await bench.call("POST", "/v1/webhook-events/test", {
    body: { type, data },
    ...(key ? { key } : {}),
  });
  if (status !== 200) throw new Error(text);
  return body.id;
}

/** The delivery log, oldest first. */
export async function log(bench: Bench, query = "", key?: string): Promise<WebhookDelivery[]> {
  const all: WebhookDelivery[] = [];
  for (let after = ""; ; ) {
    const { body } = await bench.call("GET", `/v1/webhook-deliveries?limit=100${after}${query}`, key ? { key } : {});
    all.push(...body.data);
    if (!body.has_more) return all.reverse();
    after = `&starting_after=${body.data.at(-1).id}`;
  }
}

/** Advances the sandbox clock; resolves when everything due has settled. */
export const advance = (bench: Bench, by: string) => bench.control("POST", "/clock/advance", { by });

/** Waits until everything due now has settled. */
export const settle = (bench: Bench) => advance(bench, "0s");

/** Sends a test event, waits until its deliveries have settled, and returns its id. */
export async function deliver(...event: Parameters<typeof trigger>): Promise<string> {
  const id = await trigger(...event);
  await settle(event[0]);
  return id;
}
