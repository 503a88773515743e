// Speaks to whoever watches: happenings in small batches over WebSocket. A slow watcher loses items, never anybody's time.

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import { afterRealTime } from "../kernel/clock.ts";
import type { Happening, LiveItem, LiveMessage } from "../kernel/messages.ts";

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
  const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 65_536 });
  const watchers = new Set<Watcher>();
  let items: LiveItem[] = [];
  let seq = 0;
  let cancel: (() => void) | undefined;

  const feed = (watcher: Watcher) => {
    if (watcher.seen === seq || watcher.socket.readyState !== WebSocket.OPEN || watcher.socket.bufferedAmount > MOST_UNREAD) return;
    const oldest = items[0]?.seq ?? seq + 1;
    if (watcher.seen + 1 < oldest) send(watcher.socket, { type: "gap", from: watcher.seen + 1, to: oldest - 1 });
    const fresh = items.slice(Math.max(0, watcher.seen + 1 - oldest));
    if (fresh.length > 0) send(watcher.socket, { type: "batch", items: fresh });
    watcher.seen = seq;
  };
  const flush = () => {
    cancel = undefined;
    for (const watcher of watchers) feed(watcher);
    // A watcher that was passed over is looked at again, even when nothing more happens.
    if ([...watchers].some(({ seen }) => seen !== seq)) schedule();
  };
  const schedule = () => {
    cancel ??= afterRealTime(BATCH_EVERY, flush);
  };

  return {
    say(happening) {
      items.push({ seq: ++seq, ...happening } as LiveItem);
      if (items.length > 2 * REMEMBERED) items = items.slice(-REMEMBERED);
      if (watchers.size > 0) schedule();
    },
    accept(incoming, socket, head) {
      server.handleUpgrade(incoming, socket, head, (opened) => {
        const since = /[?&]since=(\d+)/.exec(incoming.url ?? "")?.[1];
        const watcher = { socket: opened, seen: since === undefined ? seq : Math.min(Number(since), seq) };
        watchers.add(watcher);
        opened.on("close", () => watchers.delete(watcher));
        opened.on("error", () => opened.terminate());
        send(opened, { type: "snapshot", seq, sandbox: snapshot() });
        feed(watcher);
      });
    },
    close() {
      cancel?.();
      for (const { socket } of watchers) socket.terminate();
      server.close();
    },
  };
}

const send = (socket: WebSocket, message: LiveMessage) => socket.send(JSON.stringify(message));
