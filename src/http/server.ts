// The sockets: loopback in both its spellings, one listener, and an orderly end.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { afterRealTime } from "../kernel/clock.ts";
import { type ErrorCode, errors, SandboxError } from "../kernel/errors.ts";
import { endWithResponse } from "./raw-response.ts";
import type { UpgradeHandler } from "./upgrade.ts";

export interface ListeningServer {
  readonly port: number;
  /** Stops accepting, lets what is in flight finish within the span, then cuts what is left. */
  close(within: number): Promise<void>;
}

export interface ServerHandlers {
  request(incoming: IncomingMessage, outgoing: ServerResponse): void;
  connected(socket: Socket): void;
  upgrade: UpgradeHandler;
}

const REQUEST_TIMEOUT = 30_000;
const LOOPBACK = ["127.0.0.1", "::1"];
const TRIES = 20;

/** Listens on `host`, or on both loopback addresses at one port when no host is given. */
export async function listen(port: number, host: string | undefined, listeners: ServerHandlers): Promise<ListeningServer> {
  for (let attempt = 1; ; attempt++) {
    const first = await open(port, host ?? (LOOPBACK[0] as string), listeners);
    if (host !== undefined) return listening([first]);
    const chosen = (first.address() as AddressInfo).port;
    try {
      return listening([first, await open(chosen, LOOPBACK[1] as string, listeners)]);
    } catch (error) {
      const code = codeOf(error);
      if (code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT" || code === "EINVAL") return listening([first]);
      first.close();
      if (port !== 0 || code !== "EADDRINUSE" || attempt === TRIES) throw error;
    }
  }
}

function open(port: number, host: string, listeners: ServerHandlers): Promise<Server> {
  const server = createServer(
    // A request without Host is refused by the guard, in our own words.
    { requestTimeout: REQUEST_TIMEOUT, headersTimeout: REQUEST_TIMEOUT, connectionsCheckingInterval: 5_000, requireHostHeader: false },
    listeners.request,
  );
  server.on("connection", outlive);
  server.on("connection", listeners.connected);
  server.on("upgrade", (incoming, socket, head) => {
    if (incoming.headers.upgrade?.toLowerCase() === "websocket") listeners.upgrade(incoming, socket, head);
    else declineUpgrade(server, incoming, socket, head);
  });
  server.on("clientError", refuseGarbage);
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(explain(error, port, host)));
    server.listen(port, host, () => resolve(server));
  });
}

/** Node takes its own listeners off a socket that it hands over, and an answer before may still fail on it: nobody else would hear that. */
function outlive(socket: Socket): void {
  if (!socket.listeners("error").includes(ignore)) socket.on("error", ignore);
}

const ignore = () => {};

/**
 * Some clients offer HTTP/2 with every request, Java's own among them. Node then hands over the socket with the request but
 * half read; the offer is taken out, and the request read once more as what it is.
 */
function declineUpgrade(server: Server, incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
  const earlier = answerOn(socket);
  if (earlier) {
    earlier.once("close", () => declineUpgrade(server, incoming, socket, head));
    return;
  }
  const { method, url, httpVersion, rawHeaders } = incoming;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = "", value = ""] = rawHeaders.slice(index, index + 2);
    if (/^(upgrade|http2-settings)$/i.test(name)) continue;
    const kept = /^connection$/i.test(name) ? value.replace(/(upgrade|http2-settings)\s*,?\s*/gi, "") : value;
    lines.push(`${name}: ${kept}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("connection", socket);
}

function listening(servers: [Server, ...Server[]]): ListeningServer {
  const sockets = new Set<Socket>();
  for (const server of servers)
    server.on("connection", (socket) => {
      // One that was handed back is here already.
      if (sockets.has(socket)) return;
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
    });
  return {
    port: (servers[0].address() as AddressInfo).port,
    async close(within) {
      const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)));
      for (const socket of sockets) closeOnceAnswered(socket);
      const calm = afterRealTime(within, () => {
        for (const socket of sockets) socket.destroy();
      });
      await Promise.all(closed);
      calm();
    },
  };
}

/** Node itself would wait for a connection on which nothing was asked yet, and keep one alive whose answer was the last. */
function closeOnceAnswered(socket: Socket): void {
  const answer = answerOn(socket);
  if (!answer) socket.destroy();
  else if (answer.headersSent) answer.once("close", () => socket.destroySoon());
  else answer.shouldKeepAlive = false;
}

function explain(error: Error, port: number, host: string): Error {
  const code = codeOf(error);
  const remedy = "Choose another with --port <n>, or --port 0 for any that is free.";
  if (code === "EADDRINUSE") return Object.assign(new SandboxError(`Port ${port} is taken on ${host}. ${remedy}`, "portTaken"), { code });
  if (code === "EACCES")
    return Object.assign(new SandboxError(`Port ${port} may not be opened by this user. ${remedy}`, "portTaken"), { code });
  if (host === LOOPBACK[1]) return error;
  return new SandboxError(`Cannot listen on ${host}:${port}: ${error.message}.`);
}

const codeOf = (error: unknown) => (error as { code?: string }).code;

const GARBAGE: Record<string, ErrorCode> = { HPE_HEADER_OVERFLOW: "headers_too_large", ERR_HTTP_REQUEST_TIMEOUT: "request_timeout" };

/** The answer that is under way on a socket, as Node notes it there. */
const answerOn = (socket: Duplex) => (socket as Duplex & { _httpMessage?: ServerResponse | null })._httpMessage;

/** Answers what never became a request; Node would answer it with an empty page. */
function refuseGarbage(error: Error, socket: Duplex): void {
  const answer = answerOn(socket);
  if (answer?.req.complete) {
    // The request before this garbage was a good one, and gets its answer first.
    answer.once("close", () => refuseGarbage(error, socket));
    return;
  }
  if (!socket.writable || answer?.headersSent) {
    socket.destroy();
    return;
  }
  const code = GARBAGE[codeOf(error) ?? ""] ?? "malformed_http";
  const { status, error: category, when } = errors[code];
  const body = JSON.stringify({ error: category, message: when, code, details: {} });
  endWithResponse(socket, `${status} ${category}`, body);
}
