// The live stream: publishes events to WebSocket clients in small batches. A slow client misses events; it never slows the sandbox.

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import type { LiveEvent, LiveMessage, Totals } from "../contracts/live-messages.ts";
import { afterRealTime } from "../kernel/clock.ts";
import { notify } from "../kernel/listeners.ts";
import { once } from "../kernel/once.ts";
import { randomToken } from "../kernel/random.ts";
import { createDigest, type Digest } from "./digest.ts";
import { createEventBuffer, type EventBuffer } from "./event-buffer.ts";

export interface Hub {
  /** Sends an event to all clients within a moment, and to listeners in this process at once. */
  publish(event: LiveEvent): void;
  listen(listener: (event: LiveEvent) => void): void;
  /** Takes over the socket of an upgrade request that has passed all checks. */
  acceptUpgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): void;
}

interface LiveClient {
  socket: WebSocket;
  /** The last event that this client was sent, or was told that it missed. */
  seen: number;
  /** Undefined for a client that gets every event. */
  digest: Digest | undefined;
}

/** Real milliseconds between two batches, and between two digests. */
const BATCH_INTERVAL = 50;
const DIGEST_INTERVAL = 100;
/** Under load, digests come more slowly: more events pass than a person can read, and each frame takes time from requests. */
const LOADED_DIGEST_INTERVAL = 400;
/** Events per second. */
const LOAD = 1_000;
/** How many events are kept for clients that reconnect with `?since=`. */
const BUFFERED_EVENTS = 5_000;
/** A client with more unread bytes than this is skipped until it has caught up. */
const MAX_UNREAD = 1_048_576;

export function createHub(snapshot: () => unknown): Hub {
  const run = once(randomToken);
  const events = createEventBuffer(BUFFERED_EVENTS);
  const listeners = new Set<(event: LiveEvent) => void>();
  const totals: Totals = { request: 0, attempt: 0, verdict: 0, fault: 0, clock: 0, lesson: 0, reset: 0 };
  const batches = createBroadcast(
    () => BATCH_INTERVAL,
    (client) => update(client, events, (seen) => events.since(seen)),
  );
  const digests = createBroadcast(digestInterval(events), (client) => update(client, events, () => digestOf(client, events, totals)));
  const server = once(openServer);
  let closed = false;

  const join = (socket: WebSocket, query: URLSearchParams) => {
    const newest = events.newest();
    const digest = query.has("digest") ? createDigest() : undefined;
    const client = { socket, seen: Math.min(seenBefore(query, run()) ?? newest, newest), digest };
    const broadcast = digest ? digests : batches;
    socket.on("close", () => broadcast.clients.delete(client));
    socket.on("error", () => socket.terminate());
    if (digest) socket.on("message", (text) => digest.setFilters(String(text)));
    send(socket, { type: "snapshot", run: run(), seq: newest, totals, sandbox: snapshot() });
    broadcast.join(client);
  };

  return {
    publish(event) {
      events.push(event);
      totals[event.kind]++;
      notify(listeners, event);
      batches.schedule();
      digests.schedule();
    },
    listen: (listener) => void listeners.add(listener),
    async acceptUpgrade(incoming, socket, head) {
      const opened = await server();
      const query = new URLSearchParams(incoming.url?.split("?")[1]);
      if (closed) socket.destroy();
      else opened.handleUpgrade(incoming, socket, head, (client) => join(client, query));
    },
    close() {
      closed = true;
      for (const broadcast of [batches, digests]) broadcast.close();
    },
  };
}

/** The last event that a client has seen; undefined for a new client. One that comes from another run has seen none of this one. */
function seenBefore(query: URLSearchParams, run: string): number | undefined {
  const since = /^\d{1,15}$/.exec(query.get("since") ?? "")?.[0];
  if (since === undefined) return undefined;
  return (query.get("run") ?? run) === run ? Number(since) : 0;
}

/** The time until the next digest depends on the number of events since the one before. */
function digestInterval(events: EventBuffer): () => number {
  let seen = events.newest();
  let interval = DIGEST_INTERVAL;
  return () => {
    const perSecond = ((events.newest() - seen) * 1_000) / interval;
    seen = events.newest();
    interval = perSecond > LOAD ? LOADED_DIGEST_INTERVAL : DIGEST_INTERVAL;
    return interval;
  };
}

/** Updates its clients together, at most once in an interval. `updateOne` returns whether the client is up to date. */
function createBroadcast(interval: () => number, updateOne: (client: LiveClient) => boolean) {
  const clients = new Set<LiveClient>();
  let cancel: (() => void) | undefined;
  const schedule = () => {
    if (clients.size > 0) cancel ??= afterRealTime(interval(), updateAll);
  };
  const updateAll = () => {
    cancel = undefined;
    const upToDate = [...clients].map(updateOne);
    // A client that was skipped is tried again, even if no event follows.
    if (upToDate.includes(false)) schedule();
  };
  return {
    clients,
    schedule,
    join(client: LiveClient) {
      clients.add(client);
      if (!updateOne(client)) schedule();
    },
    close() {
      cancel?.();
      for (const { socket } of clients) socket.terminate();
    },
  };
}

/** Sends a client what it has not seen, unless it still has too much to read. Returns whether it is up to date. */
function update(client: LiveClient, events: EventBuffer, messagesSince: (seen: number) => LiveMessage[]): boolean {
  const { socket, seen } = client;
  if (seen === events.newest()) return true;
  if (socket.readyState !== socket.OPEN || socket.bufferedAmount > MAX_UNREAD) return false;
  for (const message of messagesSince(seen)) send(socket, message);
  client.seen = events.newest();
  return true;
}

/** A digest needs no gap messages: its totals count the events that it leaves out. */
function digestOf({ seen, digest }: LiveClient, events: EventBuffer, totals: Totals): LiveMessage[] {
  const items = events.since(seen).flatMap((message) => (message.type === "batch" ? (digest?.select(message.items) ?? []) : []));
  return [{ type: "digest", seq: events.newest(), totals, items }];
}

/** Loads ws when the first client connects: most sandboxes in a pipeline have none. */
async function openServer(): Promise<WebSocketServer> {
  const { WebSocketServer } = await import("ws");
  return new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 65_536 });
}

const send = (socket: WebSocket, message: LiveMessage) => socket.send(JSON.stringify(message));
