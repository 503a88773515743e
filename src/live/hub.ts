// Speaks to whoever watches: happenings in small batches over WebSocket. A slow watcher loses items, never anybody's time.

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { WebSocket, WebSocketServer } from "ws";
import { afterRealTime } from "../kernel/clock.ts";
import type { Happening, LiveMessage } from "../kernel/messages.ts";
import { createRing, type Ring } from "./ring.ts";

export interface Hub {
  /** Notes that something happened; watchers hear of it within a moment. */
  say(happening: Happening): void;
  /** Takes over an upgrade that was let in. */
  accept(incoming: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): void;
}

interface Watcher {
  socket: WebSocket;
  /** The last item that this watcher was sent, or was told that it lost. */
  seen: number;
}

const BATCH_EVERY = 50;
/** What is kept for those who come back with `?since=`. */
const REMEMBERED = 5_000;
/** A watcher with more than this unread is passed over until it has caught up. */
const MOST_UNREAD = 1_048_576;

export function createHub(snapshot: () => unknown): Hub {
  const ring = createRing(REMEMBERED);
  const watchers = new Set<Watcher>();
  let server: Promise<WebSocketServer> | undefined;
  let cancel: (() => void) | undefined;
  let closed = false;

  const flush = () => {
    cancel = undefined;
    for (const watcher of watchers) feed(watcher, ring);
    // A watcher that was passed over is looked at again, even when nothing more happens.
    if ([...watchers].some(({ seen }) => seen !== ring.newest())) schedule();
  };
  const schedule = () => {
    cancel ??= afterRealTime(BATCH_EVERY, flush);
  };
  const admit = (socket: WebSocket, since: string | undefined) => {
    const newest = ring.newest();
    const watcher = { socket, seen: since === undefined ? newest : Math.min(Number(since), newest) };
    watchers.add(watcher);
    socket.on("close", () => watchers.delete(watcher));
    socket.on("error", () => socket.terminate());
    send(socket, { type: "snapshot", seq: newest, sandbox: snapshot() });
    feed(watcher, ring);
  };

  return {
    say(happening) {
      ring.push(happening);
      if (watchers.size > 0) schedule();
    },
    async accept(incoming, socket, head) {
      server ??= openServer();
      const opened = await server;
      if (closed) socket.destroy();
      else opened.handleUpgrade(incoming, socket, head, (watcher) => admit(watcher, /[?&]since=(\d+)/.exec(incoming.url ?? "")?.[1]));
    },
    close() {
      closed = true;
      cancel?.();
      for (const { socket } of watchers) socket.terminate();
    },
  };
}

/** Tells a watcher what it has not seen, unless it has not even read what it was told. */
function feed(watcher: Watcher, ring: Ring): void {
  const { socket } = watcher;
  if (watcher.seen === ring.newest() || socket.readyState !== socket.OPEN || socket.bufferedAmount > MOST_UNREAD) return;
  for (const message of ring.since(watcher.seen)) send(socket, message);
  watcher.seen = ring.newest();
}

/** Loaded when the first watcher comes: most sandboxes in a pipeline have none. */
async function openServer(): Promise<WebSocketServer> {
  const { WebSocketServer } = await import("ws");
  return new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 65_536 });
}

const send = (socket: WebSocket, message: LiveMessage) => socket.send(JSON.stringify(message));
