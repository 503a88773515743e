// The live stream of a sandbox: connects, listens, and connects again for as long as it takes.

import { WebSocket } from "ws";
import { afterRealTime } from "../../src/kernel/clock.ts";
import type { LiveMessage, WatcherWish } from "../../src/kernel/messages.ts";
import type { Target } from "./calls.ts";

export type Link =
  | { phase: "connecting" }
  | { phase: "live" }
  /** Tries again in so many milliseconds. */
  | { phase: "reconnecting"; within: number; why: string }
  | { phase: "detached"; why: string };

export interface Live {
  /** Says which rows are shown. */
  wish(wish: WatcherWish): void;
  close(): void;
}

interface Hearer {
  message(message: LiveMessage): void;
  link(link: Link): void;
}

const PAUSES = [250, 500, 1_000, 2_000, 3_000];

export function openLive(target: Target, heard: Hearer): Live {
  let socket: WebSocket | undefined;
  let failures = 0;
  let seen: number | undefined;
  let wished: WatcherWish = {};
  let cancel = () => {};
  let closed = false;

  const connect = () => {
    socket = openSocket(target, seen, {
      opened(opened) {
        failures = 0;
        opened.send(JSON.stringify(wished));
        heard.link({ phase: "live" });
      },
      message(message) {
        seen = newestOf(message, seen);
        heard.message(message);
      },
      refused(why) {
        closed = true;
        heard.link({ phase: "detached", why });
      },
      closed(why) {
        if (closed) return;
        const within = PAUSES[Math.min(failures++, PAUSES.length - 1)] ?? 0;
        heard.link({ phase: "reconnecting", within, why });
        cancel = afterRealTime(within, connect);
      },
    });
  };
  connect();
  return {
    wish(wish) {
      wished = wish;
      if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(wish));
    },
    close() {
      closed = true;
      cancel();
      socket?.terminate();
    },
  };
}

interface SocketHearer {
  opened(socket: WebSocket): void;
  message(message: LiveMessage): void;
  /** The control plane does not know us: trying again would not help. */
  refused(why: string): void;
  closed(why: string): void;
}

function openSocket({ url, token }: Target, seen: number | undefined, heard: SocketHearer): WebSocket {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const since = seen === undefined ? "" : `&since=${seen}`;
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/_sandbox/live?digest=1${since}`, { headers });
  let why = "the sandbox has gone";
  socket.on("open", () => heard.opened(socket));
  socket.on("message", (text) => heard.message(JSON.parse(String(text)) as LiveMessage));
  socket.on("unexpected-response", (_, answer) => {
    why = `it answered ${answer.statusCode}`;
    if (answer.statusCode === 401) heard.refused("the control plane asks for its token: --control-token TOKEN");
    socket.terminate();
  });
  socket.on("error", (error: NodeJS.ErrnoException) => {
    why = error.code === "ECONNREFUSED" ? "nobody listens there" : error.message || String(error.code);
  });
  socket.on("close", () => heard.closed(why));
  return socket;
}

/** Where to go on from. A sandbox that was started anew counts from one again. */
function newestOf(message: LiveMessage, seen: number | undefined): number | undefined {
  if (message.type === "digest") return message.seq;
  if (message.type === "snapshot" && (seen === undefined || message.seq < seen)) return message.seq;
  return seen;
}
