// The HTTP server: listens on both loopback addresses, handles upgrades and malformed requests, and shuts down
// gracefully.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from "node:net";
import type { Duplex } from "node:stream";
import { afterRealTime } from "../kernel/clock.ts";
import { ApiError, type ErrorCode, errors, fail, SandboxError } from "../kernel/errors.ts";
import { refuseLiveKeyIn } from "./authenticate.ts";
import type { Guard } from "./guard.ts";
import { endWithError } from "./reply.ts";

export type ListeningServer = ReturnType<typeof createListeningServer>;

export interface ServerHandlers {
  request(incoming: IncomingMessage, outgoing: ServerResponse): void;
  connected(socket: Socket): void;
  upgrade: UpgradeHandler;
}

const REQUEST_TIMEOUT = 30_000;
/**
 * Longer than clients keep idle connections (Go: 90 s), because a request on a connection that the server is closing
 * fails with ECONNRESET. `Keep-Alive: timeout` is rounded down to whole seconds, so the server closes almost a second
 * after clients that obey the header.
 */
const KEEP_ALIVE_TIMEOUT = 95_999;
const LOOPBACK = ["127.0.0.1", "::1"];
/** The options that Node's HTTP server sets for its own connections. */
const CONNECTIONS = { allowHalfOpen: true, noDelay: true };
const MAX_LISTEN_ATTEMPTS = 20;

/**
 * Listens on `host` (default: both loopback addresses, on the same port). `handlers` is not called before the first
 * connection, so the handlers can be created lazily.
 */
export async function listen(
  port: number,
  host: string | undefined,
  handlers: () => ServerHandlers,
): Promise<ListeningServer> {
  for (let attempt = 1; ; attempt++) {
    const server = createHttpServer(handlers);
    await open(server, port, host ?? (LOOPBACK[0] as string));
    const chosen = (server.address() as AddressInfo).port;
    if (host !== undefined) return createListeningServer(server, chosen);
    // Both addresses share one HTTP server, because a second one would cost two thirds as much as the first.
    const other = createTcpServer(CONNECTIONS, (socket) => server.emit("connection", socket));
    try {
      await open(other, chosen, LOOPBACK[1] as string);
      return createListeningServer(server, chosen, other);
    } catch (error) {
      const code = codeOf(error);
      if (code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT" || code === "EINVAL")
        return createListeningServer(server, chosen);
      server.close();
      if (port !== 0 || code !== "EADDRINUSE" || attempt === MAX_LISTEN_ATTEMPTS) throw error;
    }
  }
}

function open(server: TcpServer, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(explain(error, port, host)));
    server.listen(port, host, resolve);
  });
}

function createHttpServer(handlers: () => ServerHandlers): Server {
  const request = (incoming: IncomingMessage, outgoing: ServerResponse) => handlers().request(incoming, outgoing);
  // The guard rejects a request without Host, with an error in the API's format.
  const server = createServer(
    {
      requestTimeout: REQUEST_TIMEOUT,
      headersTimeout: REQUEST_TIMEOUT,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
      connectionsCheckingInterval: 5_000,
      requireHostHeader: false,
    },
    request,
  );
  // By default, Node silently drops headers after the 1,000th, even Authorization. The limit of 16 KiB still applies.
  server.maxHeadersCount = 0;
  server.on("connection", (socket) => {
    ignoreSocketErrors(socket);
    handlers().connected(socket);
  });
  // Without listeners, Node sends `100 Continue` before the request is checked, and a 417 without a body.
  server.on("checkContinue", request);
  server.on("checkExpectation", request);
  server.on("upgrade", (incoming, socket, head) => {
    afterPreviousResponse(socket, () => {
      if (isWebSocket(incoming)) void handlers().upgrade(incoming, socket, head);
      else declineUpgrade(server, incoming, socket, head);
    });
  });
  // Without a listener, Node closes the connection without a response.
  server.on("connect", (incoming, socket, head) => void handlers().upgrade(incoming, socket, head));
  server.on("clientError", rejectMalformed);
  return server;
}

export const isWebSocket = ({ headers }: IncomingMessage) => headers.upgrade?.toLowerCase() === "websocket";

/**
 * Node removes its own error listeners for an upgrade. Without this one, an error of an earlier response would then end
 * the process.
 */
export function ignoreSocketErrors(socket: Socket): void {
  if (!socket.listeners("error").includes(ignore)) socket.on("error", ignore);
}

const ignore = () => {};

/**
 * Calls back after the responses to earlier requests on the connection are sent, so that an upgrade does not overtake
 * them.
 */
export function afterPreviousResponse(socket: Duplex, callback: () => void): void {
  const previous = responseOn(socket);
  if (previous) previous.once("close", () => afterPreviousResponse(socket, callback));
  else callback();
}

/**
 * Serves a request for any upgrade but WebSocket as plain HTTP/1.1. Some clients, such as Java's HttpClient, offer
 * HTTP/2 with every request. Node hands over the socket with the body unread, so the request head is put back without
 * the offer and parsed again.
 */
export function declineUpgrade(server: Server, incoming: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { method, url, httpVersion, rawHeaders } = incoming;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name = "", value = ""] = rawHeaders.slice(index, index + 2);
    if (/^(upgrade|http2-settings)$/i.test(name)) continue;
    const kept = /^connection$/i.test(name) ? value.replace(/(upgrade|http2-settings)\s*,?\s*/gi, "") : value;
    lines.push(`${name}: ${kept}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1"), head]));
  server.emit("encrypted" in socket ? "secureConnection" : "connection", socket);
}

function createListeningServer(server: Server, port: number, other?: TcpServer) {
  const servers = other === undefined ? [server] : [server, other];
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    // `declineUpgrade` emits the same socket again.
    if (sockets.has(socket)) return;
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  return {
    port,
    /**
     * Stops accepting connections, waits up to `within` milliseconds for requests in flight, then destroys the
     * remaining sockets.
     */
    async close(within: number) {
      const closed = servers.map((one) => new Promise((resolve) => one.close(resolve)));
      for (const socket of sockets) closeAfterResponse(socket);
      const cancelTimeout = afterRealTime(within, () => {
        for (const socket of sockets) socket.destroy();
      });
      await Promise.all(closed);
      cancelTimeout();
    },
  };
}

/**
 * Closes a connection after its current response, or at once without one. Node would wait for connections that have not
 * sent a request yet, and would keep a connection alive after its response.
 */
function closeAfterResponse(socket: Socket): void {
  const response = responseOn(socket);
  if (!response) socket.destroy();
  else if (response.headersSent) response.once("close", () => socket.destroySoon());
  else response.shouldKeepAlive = false;
}

function explain(error: Error, port: number, host: string): Error {
  const code = codeOf(error);
  const remedy = "Choose another with --port <n> (in code, { port: <n> }), or 0 for any that is free.";
  if (code === "EADDRINUSE") {
    // The command line replaces "another program" with the program that it finds on the port.
    const message = `Port ${port} on ${host} is used by another program. ${remedy}`;
    return Object.assign(new SandboxError(message, "portInUse", { code: undefined, details: { port } }), { code });
  }
  if (code === "EACCES")
    return Object.assign(new SandboxError(`Port ${port} may not be opened by this user. ${remedy}`, "portInUse"), {
      code,
    });
  if (host === LOOPBACK[1]) return error;
  return new SandboxError(`Cannot listen on ${host}:${port}: ${error.message}.`);
}

const codeOf = (error: unknown) => (error as { code?: string }).code;

const ERROR_CODES: Record<string, ErrorCode> = {
  HPE_HEADER_OVERFLOW: "headers_too_large",
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
};

/** The response in progress on a socket, which Node keeps in this internal property. */
const responseOn = (socket: Duplex) => (socket as Duplex & { _httpMessage?: ServerResponse | null })._httpMessage;

/** Sockets that got an error as their last response. The parser reports later bytes from them as further errors. */
const rejected = new WeakSet<Duplex>();

/**
 * Responds to invalid HTTP in the API's error format. Node's own response has an empty body. The request is not
 * numbered, because a web page can make a browser send invalid HTTP (a cookie that is too long, or TLS), and must not
 * change the ids of later requests.
 */
function rejectMalformed(error: Error, socket: Duplex): void {
  const response = responseOn(socket);
  if (response?.req.complete) {
    // An earlier valid request on this connection gets its response first.
    response.once("close", () => rejectMalformed(error, socket));
    return;
  }
  if (rejected.has(socket)) return;
  if (!socket.writable || response?.headersSent) {
    socket.destroy();
    return;
  }
  rejected.add(socket);
  const code = ERROR_CODES[codeOf(error) ?? ""] ?? "malformed_http";
  endWithError(socket, new ApiError(code, errors[code].when));
}

export type UpgradeHandler = (incoming: IncomingMessage, socket: Duplex, head: Buffer) => void | Promise<void>;

interface UpgradeOptions {
  /** The only path that accepts upgrades. */
  path: string;
  guard: Guard;
  /** Throws 403 if the request lacks the control token. */
  requireToken: (incoming: IncomingMessage) => void;
  accept: UpgradeHandler;
  /** Called with errors that are defects of the sandbox. */
  report: (error: unknown) => void;
}

/** Applies the checks of other requests to WebSocket upgrades, before the 101 response. */
export function createUpgradeHandler({ path, guard, requireToken, accept, report }: UpgradeOptions): UpgradeHandler {
  return async (incoming, socket, head) => {
    // A client that disconnects is not an error.
    socket.on("error", () => socket.destroy());
    try {
      guard.check(incoming);
      refuseLiveKeyIn(incoming);
      requireToken(incoming);
      if (incoming.url?.split("?")[0] !== path) fail("route_not_found", `Only ${path} accepts WebSocket connections.`);
      checkHandshake(incoming);
      await accept(incoming, socket, head);
    } catch (error) {
      if (error instanceof ApiError) return endWithError(socket, error);
      report(error);
      socket.destroy();
    }
  };
}

/** Rejects an invalid handshake with a JSON error. The WebSocket library would respond with HTML. */
function checkHandshake({ method, headers }: IncomingMessage): void {
  const key = headers["sec-websocket-key"] ?? "";
  if (method === "GET" && headers["sec-websocket-version"] === "13" && /^[+/0-9A-Za-z]{22}==$/.test(key)) return;
  fail(
    "malformed_http",
    "The WebSocket handshake is invalid: it needs GET, Sec-WebSocket-Version: 13 and a Sec-WebSocket-Key of 16 bytes.",
  );
}
