// Speaks to whoever watches: happenings in small batches over WebSocket. A slow watcher loses items, never anybody's time.

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import type { LiveEvent, LiveMessage, Totals } from "../contracts/live-messages.ts";
import { afterRealTime } from "../kernel/clock.ts";
import { notify } from "../kernel/listeners.ts";
import { once } from "../kernel/once.ts";
import { randomToken } from "../kernel/random.ts";
import { createDigest, type Digest } from "./digest.ts";
import { createRing, type Ring } from "./ring.ts";

export interface Hub {
  /** Notes that something happened; watchers hear of it within a moment. */
  say(happening: LiveEvent): void;
  /** Hears of each happening at once, in this process. */
  listen(listener: (happening: LiveEvent) => void): void;
  /** Takes over an upgrade that was let in. */
  accept(incoming: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): void;
}

interface Watcher {
  socket: WebSocket;
  /** The last item that this watcher was sent, or was told that it lost. */
  seen: number;
  /** Cuts what it is told; undefined for one who wants everything. */
  digest: Digest | undefined;
}

const BATCH_EVERY = 50;
const DIGEST_EVERY = 100;
/** Where more passes by than anybody can read, it is told less often: every frame takes something from those who work. */
const FLOOD_EVERY = 400;
/** Happenings a second. */
const FLOOD = 1_000;
/** What is kept for those who come back with `?since=`. */
const REMEMBERED = 5_000;
/** A watcher with more than this unread is passed over until it has caught up. */
const MOST_UNREAD = 1_048_576;

export function createHub(snapshot: () => unknown): Hub {
  const run = once(randomToken);
  const ring = createRing(REMEMBERED);
  const listeners = new Set<(happening: LiveEvent) => void>();
  const totals: Totals = { request: 0, attempt: 0, verdict: 0, fault: 0, clock: 0, lesson: 0, reset: 0 };
  const whole = createRound(
    () => BATCH_EVERY,
    (watcher) => feed(watcher, ring, (seen) => ring.since(seen)),
  );
  const digests = createRound(digestPause(ring), (watcher) => feed(watcher, ring, () => digestOf(watcher, ring, totals)));
  const server = once(openServer);
  let closed = false;

  const admit = (socket: WebSocket, query: URLSearchParams) => {
    const newest = ring.newest();
    const since = /^\d{1,15}$/.exec(query.get("since") ?? "")?.[0];
    const digest = query.has("digest") ? createDigest() : undefined;
    const watcher = { socket, seen: since === undefined ? newest : Math.min(seenIn(query, run(), Number(since)), newest), digest };
    const round = digest ? digests : whole;
    socket.on("close", () => round.watchers.delete(watcher));
    socket.on("error", () => socket.terminate());
    if (digest) socket.on("message", (text) => digest.hear(String(text)));
    send(socket, { type: "snapshot", run: run(), seq: newest, totals, sandbox: snapshot() });
    round.join(watcher);
  };

  return {
    say(happening) {
      ring.push(happening);
      totals[happening.kind]++;
      notify(listeners, happening);
      whole.soon();
      digests.soon();
    },
    listen: (listener) => void listeners.add(listener),
    async accept(incoming, socket, head) {
      const opened = await server();
      const query = new URLSearchParams(incoming.url?.split("?")[1]);
      if (closed) socket.destroy();
      else opened.handleUpgrade(incoming, socket, head, (watcher) => admit(watcher, query));
    },
    close() {
      closed = true;
      for (const round of [whole, digests]) round.close();
    },
  };
}

/** What a watcher saw of another run counts for nothing: it is told all there is of this one. */
const seenIn = (query: URLSearchParams, run: string, since: number) => ((query.get("run") ?? run) === run ? since : 0);

/** How long until the next digest, by what came since the one before. */
function digestPause(ring: Ring): () => number {
  let seen = ring.newest();
  let pause = DIGEST_EVERY;
  return () => {
    const perSecond = ((ring.newest() - seen) * 1_000) / pause;
    seen = ring.newest();
    pause = perSecond > FLOOD ? FLOOD_EVERY : DIGEST_EVERY;
    return pause;
  };
}

/** Watchers that are fed together, at most so often. */
function createRound(every: () => number, feedOne: (watcher: Watcher) => boolean) {
  const watchers = new Set<Watcher>();
  let cancel: (() => void) | undefined;
  const soon = () => {
    if (watchers.size > 0) cancel ??= afterRealTime(every(), flush);
  };
  const flush = () => {
    cancel = undefined;
    const upToDate = [...watchers].map(feedOne);
    // A watcher that was passed over is looked at again, even when nothing more happens.
    if (upToDate.includes(false)) soon();
  };
  return {
    watchers,
    soon,
    join(watcher: Watcher) {
      watchers.add(watcher);
      if (!feedOne(watcher)) soon();
    },
    close() {
      cancel?.();
      for (const { socket } of watchers) socket.terminate();
    },
  };
}

/** Tells a watcher what it has not seen, unless it has not even read what it was told. Answers whether it has seen all. */
function feed(watcher: Watcher, ring: Ring, news: (seen: number) => LiveMessage[]): boolean {
  const { socket, seen } = watcher;
  if (seen === ring.newest()) return true;
  if (socket.readyState !== socket.OPEN || socket.bufferedAmount > MOST_UNREAD) return false;
  for (const message of news(seen)) send(socket, message);
  watcher.seen = ring.newest();
  return true;
}

/** What a digest leaves out shows in its totals, so that it needs no gaps. */
function digestOf({ seen, digest }: Watcher, ring: Ring, totals: Totals): LiveMessage[] {
  const items = ring.since(seen).flatMap((message) => (message.type === "batch" ? (digest?.cut(message.items) ?? []) : []));
  return [{ type: "digest", seq: ring.newest(), totals, items }];
}

/** Loaded when the first watcher comes: most sandboxes in a pipeline have none. */
async function openServer(): Promise<WebSocketServer> {
  const { WebSocketServer } = await import("ws");
  return new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 65_536 });
}

const send = (socket: WebSocket, message: LiveMessage) => socket.send(JSON.stringify(message));
