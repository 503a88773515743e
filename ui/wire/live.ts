// The live stream of a sandbox: connects, listens, and connects again for as long as it takes.

import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import type { DigestFilters, LiveMessage } from "../../src/contracts/live-messages.ts";
import { afterRealTime, afterThisTurn } from "../../src/kernel/clock.ts";
import type { Target } from "./control-calls.ts";

export type Link =
  | { phase: "connecting" }
  | { phase: "live" }
  /** Tries again in so many milliseconds. */
  | { phase: "reconnecting"; within: number; why: string }
  | { phase: "detached"; why: string };

export interface Live {
  /** Says which rows are shown. */
  wish(wish: DigestFilters): void;
  close(): void;
}

interface Hearer {
  message(message: LiveMessage): void;
  link(link: Link): void;
}

/** Up to where which run of a sandbox was heard. */
export interface Heard {
  run: string | undefined;
  /** Undefined while only what happens from now on is wanted. */
  seq: number | undefined;
}

const PAUSES = [250, 500, 1_000, 2_000, 3_000];

export interface LiveOptions {
  target: Target;
  /** Each thing that happens, or now and then the newest. */
  wants: "everything" | "digests";
  from: Heard;
}

export function openLive({ target, wants, from }: LiveOptions, heard: Hearer): Live {
  const query: Record<string, string> = wants === "digests" ? { digest: "1" } : {};
  let socket: WebSocket | undefined;
  let failures = 0;
  let upTo = from;
  let wished: DigestFilters = {};
  let cancel = () => {};
  let closed = false;

  const connect = () => {
    socket = openSocket(
      target,
      { ...query, ...resumption(upTo) },
      {
        opened(opened) {
          failures = 0;
          opened.send(JSON.stringify(wished));
          heard.link({ phase: "live" });
        },
        message(message) {
          upTo = newestOf(message, upTo);
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
      },
    );
  };
  // Not at once: whoever opens it has something to show first.
  afterThisTurn(() => {
    if (!closed) connect();
  });
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

const resumption = ({ run, seq }: Heard): Record<string, string> => ({
  ...(run === undefined ? {} : { run }),
  ...(seq === undefined ? {} : { since: String(seq) }),
});

interface SocketHearer {
  opened(socket: WebSocket): void;
  message(message: LiveMessage): void;
  /** The control plane does not know us: trying again would not help. */
  refused(why: string): void;
  closed(why: string): void;
}

function openSocket({ url, token }: Target, query: Record<string, string>, heard: SocketHearer): WebSocket {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/_sandbox/live?${new URLSearchParams(query)}`, { headers });
  let why = "the sandbox has gone";
  let answered: string | undefined;
  socket.on("open", () => heard.opened(socket));
  socket.on("message", (text) => heard.message(JSON.parse(String(text)) as LiveMessage));
  socket.on("unexpected-response", (_, answer) => {
    void refusalOf(answer).then((refusal) => {
      answered = `it answered ${answer.statusCode}`;
      if (refusal !== undefined) heard.refused(refusal);
      socket.terminate();
    });
  });
  socket.on("error", (error: NodeJS.ErrnoException) => {
    why = error.code === "ECONNREFUSED" ? "nobody listens there" : error.message || String(error.code);
  });
  socket.on("close", () => heard.closed(answered ?? why));
  return socket;
}

/** Where to go on from. Another run counts from one again. */
function newestOf(message: LiveMessage, { run, seq }: Heard): Heard {
  if (message.type === "digest") return { run, seq: message.seq };
  if (message.type === "batch") return { run, seq: message.items.at(-1)?.seq ?? seq };
  if (message.type === "gap") return { run, seq: message.to };
  return { run: message.run, seq: run === message.run ? seq : run === undefined && seq === undefined ? message.seq : 0 };
}

/** Why a sandbox does not let us in; undefined where it may do so later. */
async function refusalOf(answer: IncomingMessage): Promise<string | undefined> {
  let text = "";
  for await (const piece of answer) text += piece;
  if (answer.statusCode !== 403) return undefined;
  const { code, message } = asError(text);
  return code === "control_token_required" ? "the control plane asks for its token: --control-token <token>" : message;
}

function asError(text: string): { code?: string; message?: string } {
  try {
    return JSON.parse(text);
  } catch {
    return { message: text };
  }
}
