// The live stream: publishes events to WebSocket clients in small batches. A slow client misses events, but never slows
// the sandbox.

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import type { LiveEvent, LiveMessage, MadeCounts, VerdictCounts } from "../contracts/live-messages.ts";
import { afterRealTime } from "../kernel/clock.ts";
import { fail } from "../kernel/errors.ts";
import { notifyEach } from "../kernel/listeners.ts";
import { once } from "../kernel/once.ts";
import { randomToken } from "../kernel/random.ts";
import type { StoredCounts } from "../store/request-log/run-summary.ts";
import {
  createEventBuffer,
  createMadeCounts,
  type EventBuffer,
  type Filters,
  readFilters,
  selectItems,
} from "./digest.ts";

/** The close code and reason for a client that reads too slowly. */
const TOO_SLOW = { code: 1013, reason: "Too many unread messages; reconnect with ?since= to go on." };

interface LiveClient {
  socket: WebSocket;
  /** The number of the last event that was sent to this client, or that a gap message counted. */
  seen: number;
  /** The filters of a client that gets digests. Undefined for a client that gets every event. */
  filters: Filters | undefined;
}

/** Real milliseconds between two batches, and between two digests. */
const BATCH_INTERVAL = 50;
const DIGEST_INTERVAL = 100;
/**
 * Real milliseconds between two digests under load: there are more events than a person can read, and each frame takes
 * time from requests.
 */
const LOADED_DIGEST_INTERVAL = 400;
/** Events per second. */
const LOAD = 500;
/** How many events are kept for clients that reconnect with `?since=`. */
const BUFFERED_EVENTS = 5_000;
/** A client with more unread bytes than this is skipped until it has caught up. */
const MAX_UNREAD = 524_288;
/**
 * The most events in one message. The next message is sent once the client has read most of this one, so that the
 * unread bytes are not much more than `MAX_UNREAD`.
 */
const MAX_BATCH = 200;
/** The most unread bytes of all clients together. Above this limit, the slowest clients are disconnected. */
const MAX_UNREAD_OF_ALL = 33_554_432;
const MAX_CLIENTS = 100;
/** Real milliseconds that a disconnected client has to read the reason, before its unread bytes are freed. */
const CLOSE_TIMEOUT = 10_000;

export interface HubOptions {
  /** Describes the sandbox to each client that joins. */
  snapshot(): unknown;
  /** Receives the errors of listeners. */
  report(error: unknown): void;
  /** The counts of the rows in the database. */
  stored(): StoredCounts;
  verdicts(): VerdictCounts;
  /** Headers of the 101 response. */
  responseHeaders: Readonly<Record<string, string>>;
}

export function createHub({ snapshot, report, stored, verdicts, responseHeaders }: HubOptions) {
  const run = once(randomToken);
  const events = createEventBuffer(BUFFERED_EVENTS);
  const listeners = new Set<(event: LiveEvent) => void>();
  const counts = createMadeCounts(stored);
  const made = (): MadeCounts => ({ ...counts.made(), verdicts: verdicts() });
  const batches = createBroadcast(
    () => BATCH_INTERVAL,
    (client) => sendBatches(client, events),
  );
  const digests = createBroadcast(digestInterval(events), (client) => sendDigest(client, events, made));
  const server = once(() => openServer(responseHeaders));
  let closed = false;

  const join = (socket: WebSocket, query: URLSearchParams) => {
    const newest = events.newest();
    const seen = Math.min(seenBefore(query, run()) ?? newest, newest);
    const client: LiveClient = { socket, seen, filters: query.has("digest") ? {} : undefined };
    const broadcast = client.filters ? digests : batches;
    socket.on("close", () => broadcast.clients.delete(client));
    socket.on("error", () => socket.terminate());
    socket.on("message", (text) => {
      client.filters &&= readFilters(String(text)) ?? client.filters;
    });
    socket.send(
      JSON.stringify({
        type: "snapshot",
        run: run(),
        seq: newest,
        made: made(),
        sandbox: snapshot(),
      } satisfies LiveMessage),
    );
    broadcast.join(client);
  };

  return {
    /** Sends an event to all clients within a moment, and to listeners in this process at once. */
    publish(event: LiveEvent) {
      events.push(event);
      counts.add(event);
      batches.schedule();
      digests.schedule();
      notifyEach(listeners, event, report);
    },
    listen: (listener: (event: LiveEvent) => void) => void listeners.add(listener),
    made,
    /** Takes over the socket of an upgrade request that has passed all checks. */
    async acceptUpgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer) {
      const opened = await server();
      const query = new URLSearchParams(incoming.url?.split("?")[1]);
      if (batches.clients.size + digests.clients.size >= MAX_CLIENTS)
        fail("sandbox_unavailable", `${MAX_CLIENTS} clients already watch the live stream. Close one of them.`);
      if (closed) socket.destroy();
      else opened.handleUpgrade(incoming, socket, head, (client) => join(client, query));
    },
    close() {
      closed = true;
      for (const broadcast of [batches, digests]) broadcast.close();
    },
  };
}

/**
 * The last event that a client has seen; undefined for a new client. A client from another run has seen no event of
 * this run.
 */
function seenBefore(query: URLSearchParams, run: string): number | undefined {
  const since = /^\d{1,15}$/.exec(query.get("since") ?? "")?.[0];
  if (since === undefined) return undefined;
  return (query.get("run") ?? run) === run ? Number(since) : 0;
}

/** The time until the next digest depends on the number of events since the previous digest. */
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

/** Updates all clients together, at most once in an interval. `updateOne` returns whether the client is up to date. */
function createBroadcast(interval: () => number, updateOne: (client: LiveClient) => boolean) {
  const clients = new Set<LiveClient>();
  let cancel: (() => void) | undefined;
  const schedule = () => {
    if (clients.size > 0) cancel ??= afterRealTime(interval(), updateAll);
  };
  const updateAll = () => {
    cancel = undefined;
    const upToDate = [...clients].map(updateOne);
    dropSlowest(clients);
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
    /** Sends each client the events that it has not seen, then disconnects it. */
    close() {
      cancel?.();
      updateAll();
      cancel?.();
      for (const { socket } of clients) socket.terminate();
      clients.clear();
    },
  };
}

/**
 * Disconnects the slowest clients until the unread bytes of the others are within the limit. The slowest clients are
 * those that have seen the fewest events.
 */
function dropSlowest(clients: ReadonlySet<LiveClient>): void {
  let unread = 0;
  for (const { socket } of clients) unread += socket.bufferedAmount;
  if (unread <= MAX_UNREAD_OF_ALL) return;
  for (const { socket } of [...clients].sort((one, other) => one.seen - other.seen)) {
    if (unread <= MAX_UNREAD_OF_ALL) return;
    unread -= socket.bufferedAmount;
    if (socket.readyState !== socket.OPEN) continue;
    socket.close(TOO_SLOW.code, TOO_SLOW.reason);
    const cancelTimeout = afterRealTime(CLOSE_TIMEOUT, () => socket.terminate());
    socket.once("close", cancelTimeout);
  }
}

const canRead = ({ socket }: LiveClient) => socket.readyState === socket.OPEN && socket.bufferedAmount <= MAX_UNREAD;

/** Sends a client the events that it has not seen, as long as it keeps reading. Returns whether it is up to date. */
function sendBatches(client: LiveClient, events: EventBuffer): boolean {
  while (client.seen < events.newest()) {
    if (!canRead(client)) return false;
    const messages = events.since(client.seen, MAX_BATCH);
    for (const message of messages) client.socket.send(JSON.stringify(message));
    client.seen = itemsOf(messages).at(-1)?.seq ?? events.newest();
  }
  return true;
}

const itemsOf = (messages: readonly LiveMessage[]) =>
  messages.flatMap((message) => (message.type === "batch" ? message.items : []));

/**
 * Sends a client a digest of the events that it has not seen. A digest needs no gap messages, because the numbers of
 * its items show which events it leaves out.
 */
function sendDigest(client: LiveClient, events: EventBuffer, made: () => MadeCounts): boolean {
  const { socket, seen, filters = {} } = client;
  if (seen === events.newest()) return true;
  if (!canRead(client)) return false;
  const messages = events.since(seen);
  const selected = selectItems([...events.missed(seen), ...itemsOf(messages)], filters);
  // The buffer may have dropped matches.
  if (messages.some(({ type }) => type === "gap")) selected.completeFor = {};
  client.seen = events.newest();
  socket.send(JSON.stringify({ type: "digest", seq: client.seen, made: made(), ...selected } satisfies LiveMessage));
  return true;
}

/**
 * The only subprotocol of the stream. A browser sends the token as a second subprotocol, which must not be sent back.
 */
const PROTOCOL = "merchant-sandbox";

/** Loads ws when the first client connects, because most sandboxes in CI have none. */
async function openServer(responseHeaders: HubOptions["responseHeaders"]): Promise<WebSocketServer> {
  const { WebSocketServer } = await import("ws");
  const handleProtocols = (offered: ReadonlySet<string>) => offered.has(PROTOCOL) && PROTOCOL;
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 65_536, handleProtocols });
  const headerLines = Object.entries(responseHeaders).map((header) => header.join(": "));
  server.on("headers", (lines) => void lines.push(...headerLines));
  // Without this listener, ws would respond with HTML. It emits the event within `handleUpgrade`.
  return server.on("wsClientError", ({ message }) =>
    fail("malformed_http", `The WebSocket handshake is invalid: ${message}.`),
  );
}
