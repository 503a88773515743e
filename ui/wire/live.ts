// The client of the live stream: connects, resumes where it left off, and reconnects until it is closed.

import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import type { SandboxOverviewReply } from "../../src/client/control-plane.generated.ts";
import type { HttpTarget } from "../../src/client/http-transport.ts";
import type { DigestFilters, LiveMessage } from "../../src/contracts/live-messages.ts";
import { type ReadMessage, readLiveMessage } from "../../src/contracts/stream-schema.ts";
import { afterRealTime, afterThisTurn } from "../../src/kernel/clock.ts";

export type StreamConnection =
  | { phase: "connecting" }
  | { phase: "live" }
  | { phase: "reconnecting"; retryInMs: number; reason: string }
  /** The sandbox refused the connection; it is not retried. */
  | { phase: "detached"; reason: string };

/** A message of the stream, with the sandbox as the control plane shows it. */
export type StreamMessage = LiveMessage<SandboxOverviewReply>;

export interface LiveStream {
  /** Sends the filters: the digest then includes rows that match them. */
  subscribe(filters: DigestFilters): void;
  close(): void;
}

export interface LiveHandlers {
  message(message: StreamMessage): void;
  /** Called with how many messages or items were left out, because a server of another version sent them. */
  unknown(count: number): void;
  connection(connection: StreamConnection): void;
}

/** Where to resume: the run of the sandbox, and the last item received from it. */
export interface StreamPosition {
  run: string | undefined;
  /** Undefined: only new items. */
  seq: number | undefined;
}

/** Bytes of a message; a larger one closes the connection. */
const MAX_MESSAGE = 16 * 1_048_576;
/** Characters that are read of a refusal. */
const MAX_REFUSAL = 65_536;
const RECONNECT_DELAYS_MS = [250, 500, 1_000, 2_000, 3_000];

export interface LiveOptions {
  target: HttpTarget;
  /** `digests` has exact counts but only the newest items. */
  mode: "everything" | "digests";
  from: StreamPosition;
}

export function openLive({ target, mode, from }: LiveOptions, handlers: LiveHandlers): LiveStream {
  const query: Record<string, string> = mode === "digests" ? { digest: "1" } : {};
  let socket: WebSocket | undefined;
  let failures = 0;
  let position = from;
  let filters: DigestFilters = {};
  let cancelRetry = () => {};
  let isClosed = false;

  const connect = () => {
    socket = openSocket(
      target,
      { ...query, ...resumeQuery(position) },
      {
        opened(opened) {
          failures = 0;
          opened.send(JSON.stringify(filters));
          handlers.connection({ phase: "live" });
        },
        message({ message, unknown }) {
          if (unknown > 0) handlers.unknown(unknown);
          if (!message) return;
          position = advancePosition(message, position);
          handlers.message(message);
        },
        refused(reason) {
          isClosed = true;
          handlers.connection({ phase: "detached", reason });
        },
        closed(reason) {
          if (isClosed) return;
          const retryInMs = RECONNECT_DELAYS_MS[Math.min(failures++, RECONNECT_DELAYS_MS.length - 1)] ?? 0;
          handlers.connection({ phase: "reconnecting", retryInMs, reason });
          cancelRetry = afterRealTime(retryInMs, connect);
        },
      },
    );
  };
  // Deferred, so that the caller can paint its first frame before.
  afterThisTurn(() => {
    if (!isClosed) connect();
  });
  return {
    subscribe(next) {
      filters = next;
      if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(filters));
    },
    close() {
      isClosed = true;
      cancelRetry();
      socket?.terminate();
    },
  };
}

const resumeQuery = ({ run, seq }: StreamPosition): Record<string, string> => ({
  ...(run === undefined ? {} : { run }),
  ...(seq === undefined ? {} : { since: String(seq) }),
});

interface SocketHandlers {
  opened(socket: WebSocket): void;
  message(read: ReadMessage<SandboxOverviewReply>): void;
  /** Access was denied: retrying would not help. */
  refused(reason: string): void;
  closed(reason: string): void;
}

function openSocket({ url, token }: HttpTarget, query: Record<string, string>, handlers: SocketHandlers): WebSocket {
  const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/_sandbox/live?${new URLSearchParams(query)}`, {
    headers,
    maxPayload: MAX_MESSAGE,
  });
  let reason = "connection closed";
  let status: string | undefined;
  socket.on("open", () => handlers.opened(socket));
  socket.on("message", (text) => handlers.message(readLiveMessage<SandboxOverviewReply>(String(text))));
  socket.on("unexpected-response", (_, response) => {
    void refusalReason(response).then((refusal) => {
      status = `HTTP ${response.statusCode}`;
      if (refusal !== undefined) handlers.refused(refusal);
      socket.terminate();
    });
  });
  socket.on("error", (error: NodeJS.ErrnoException) => {
    reason = error.code === "ECONNREFUSED" ? "connection refused" : error.message || String(error.code);
  });
  socket.on("close", () => handlers.closed(status ?? reason));
  return socket;
}

/** The position after a message. The items of a new run count from 1 again. */
function advancePosition(message: StreamMessage, { run, seq }: StreamPosition): StreamPosition {
  if (message.type === "digest") return { run, seq: message.seq };
  if (message.type === "batch") return { run, seq: message.items.at(-1)?.seq ?? seq };
  if (message.type === "gap") return { run, seq: message.to };
  return { run: message.run, seq: run === message.run ? seq : run === undefined && seq === undefined ? message.seq : 0 };
}

/** Why access was denied; undefined for any other response, which may succeed later. */
async function refusalReason(response: IncomingMessage): Promise<string | undefined> {
  let text = "";
  for await (const chunk of response) {
    text += chunk;
    if (text.length > MAX_REFUSAL) break;
  }
  const { statusCode = 0 } = response;
  // A sandbox answers 503 when it has too many clients; a proxy answers other 5xx while it starts.
  if (statusCode >= 500) return undefined;
  if (statusCode !== 403) return `this is not a merchant-sandbox: it answered HTTP ${statusCode} to GET /_sandbox/live`;
  const { code, message } = parseError(text);
  return code === "control_token_required" ? "the control plane requires a token: pass --control-token TOKEN" : message;
}

function parseError(text: string): { code?: unknown; message: string } {
  try {
    const { code, message } = JSON.parse(text) as { code?: unknown; message?: unknown };
    return { code, message: typeof message === "string" ? message : text };
  } catch {
    return { message: text };
  }
}
