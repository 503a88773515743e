// The client of the live stream: connects, resumes where it left off, and reconnects until it is closed.

import type { SandboxOverviewReply } from "../../generated/control-api.ts";
import type { HttpTarget } from "../../src/client/http-transport.ts";
import type { ReadMessage } from "../../src/client/read-live-message.ts";
import type { DigestFilters, LiveMessage } from "../../src/contracts/live-messages.ts";
import { afterRealTime } from "../../src/kernel/clock.ts";

export type StreamConnection =
  | { phase: "connecting" }
  | { phase: "live" }
  | { phase: "reconnecting"; retryInMs: number; reason: string }
  /** The sandbox refused the connection; it is not retried. */
  | { phase: "detached"; reason: string };

/** A message of the stream. A snapshot has the sandbox in the form of the control API. */
export type StreamMessage = LiveMessage<SandboxOverviewReply>;

export interface LiveStream {
  /** Sends the filters: the digest then includes rows that match them. */
  subscribe(filters: DigestFilters): void;
  close(): void;
}

export interface LiveHandlers {
  message(message: StreamMessage): void;
  /** Called with the number of messages or items that were skipped, because a server of another version sent them. */
  unknown(count: number): void;
  connection(connection: StreamConnection): void;
}

/** Where to resume: the run of the sandbox, and the last item received from it. */
export interface StreamPosition {
  run: string | undefined;
  /** Undefined: only new items. */
  seq: number | undefined;
}

export interface LiveSocket {
  /** Sends nothing unless the connection is open. */
  send(text: string): void;
  close(): void;
}

export interface SocketHandlers {
  opened(): void;
  message(read: ReadMessage<SandboxOverviewReply>): void;
  /** Access was denied: retrying would not help. */
  refused(reason: string): void;
  closed(reason: string): void;
}

/** Connects to the live stream: with `ws` in Node, with the browser's WebSocket in a browser. */
export type OpenSocket = (target: HttpTarget, query: URLSearchParams, handlers: SocketHandlers) => LiveSocket;

const RECONNECT_DELAYS_MS = [250, 500, 1_000, 2_000, 3_000];

export interface LiveOptions {
  target: HttpTarget;
  openSocket: OpenSocket;
  /** `digests` has exact counts but only the newest items. */
  mode: "everything" | "digests";
  from: StreamPosition;
}

export function openLive({ target, openSocket, mode, from }: LiveOptions, handlers: LiveHandlers): LiveStream {
  const query: Record<string, string> = mode === "digests" ? { digest: "1" } : {};
  let socket: LiveSocket | undefined;
  let failures = 0;
  let position = from;
  let filters: DigestFilters = {};
  let cancelRetry = () => {};
  let isClosed = false;

  const connect = () => {
    const { run, seq } = position;
    const resume = { ...(run !== undefined && { run }), ...(seq !== undefined && { since: String(seq) }) };
    socket = openSocket(target, new URLSearchParams({ ...query, ...resume }), {
      opened() {
        failures = 0;
        socket?.send(JSON.stringify(filters));
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
    });
  };
  // A microtask lets the caller paint its first frame first. A timer would also wait until the browser has drawn it.
  queueMicrotask(() => isClosed || connect());
  return {
    subscribe(next) {
      filters = next;
      socket?.send(JSON.stringify(filters));
    },
    close() {
      isClosed = true;
      cancelRetry();
      socket?.close();
    },
  };
}

/** The position after a message. The items of a new run count from 1 again. */
function advancePosition(message: StreamMessage, { run, seq }: StreamPosition): StreamPosition {
  if (message.type === "digest") return { run, seq: message.seq };
  if (message.type === "batch") return { run, seq: message.items.at(-1)?.seq ?? seq };
  if (message.type === "gap") return { run, seq: message.to };
  if (run === message.run) return { run, seq };
  const isFirst = run === undefined && seq === undefined;
  return { run: message.run, seq: isFirst ? message.seq : 0 };
}
