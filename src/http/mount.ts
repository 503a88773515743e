// Serves the sandbox inside the user's app. HTTP requests arrive through middleware for Express, connect or node:http;
// the live stream, which needs upgrades, attaches to the app's server.

import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { afterRealTime } from "../kernel/clock.ts";
import { isApiPath, isControlPath } from "./request-target.ts";
import {
  afterPreviousResponse,
  declineUpgrade,
  ignoreSocketErrors,
  isWebSocket,
  type ServerHandlers,
} from "./server.ts";

/** A part of Node's request, declared here because the public types must compile without Node's. */
export interface MountedRequest {
  url?: string | undefined;
  headers: object;
}

/** A part of Node's response, declared here for the same reason. */
export interface MountedResponse {
  headersSent: boolean;
}

/** A server of node:http or node:https. */
export interface MountedServer {
  listening: boolean;
  address(): unknown;
}

/**
 * Middleware for Express, connect and Fastify's middie. Without `next`, a request listener for a server of node:http.
 */
export type Middleware = (request: MountedRequest, response: MountedResponse, next?: (error?: unknown) => void) => void;

/** Where an app serves the sandbox. */
export interface MountPoint {
  port: number;
  /** The path below which the app has mounted the sandbox, such as /pay; empty at the root. */
  prefix: string;
  isSecure: boolean;
}

/** Calls `arrived` for each request, with the port, the mount path and the protocol of the app. */
export function createMount(handlers: () => ServerHandlers, arrived: (place: MountPoint) => void) {
  const pending = new Set<ServerResponse>();
  const detach: (() => void)[] = [];
  let isClosed = false;
  const handle = (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    pending.add(response);
    response.once("close", () => pending.delete(response));
    arrived({ port: socket.localPort ?? 0, prefix: prefixOf(request), isSecure: isSecure(socket) });
    handlers().connected(socket);
    handlers().request(request, response);
  };
  const middleware: Middleware = (request, response, next) => {
    const isOwn = isApiPath(request.url) || isControlPath(request.url);
    if (next !== undefined && (isClosed || !isOwn)) next();
    else if (isClosed) (response as ServerResponse).writeHead(503).end("The sandbox is closed.");
    else handle(request as IncomingMessage, response as ServerResponse);
  };
  return {
    middleware,
    attach(given: MountedServer, prefix: string) {
      const server = given as unknown as Server;
      const connected = (socket: IncomingMessage["socket"]) => {
        ignoreSocketErrors(socket);
        handlers().connected(socket);
      };
      const upgrade = (incoming: IncomingMessage, socket: Duplex, head: Buffer) => {
        const path = incoming.url?.startsWith(prefix) ? incoming.url.slice(prefix.length) : "";
        const isOwn = isApiPath(path) || isControlPath(path);
        // Other listeners respond to the upgrades of the app's own paths.
        if (!isOwn && server.listenerCount("upgrade") > 1) return;
        afterPreviousResponse(socket, () => {
          if (!isOwn || !isWebSocket(incoming)) return declineUpgrade(server, incoming, socket, head);
          incoming.url = path;
          void handlers().upgrade(incoming, socket, head);
        });
      };
      server.on("connection", connected).on("upgrade", upgrade);
      detach.push(() => server.off("connection", connected).off("upgrade", upgrade));
    },
    /**
     * Passes later requests on to the app; if there is no `next`, answers them with 503. Waits up to
     * `within` milliseconds for the requests in flight, then closes their connections.
     */
    async close(within: number) {
      isClosed = true;
      for (const end of detach.splice(0)) end();
      const cancelTimeout = afterRealTime(within, () => {
        for (const response of pending) response.destroy();
      });
      await Promise.all([...pending].map((response) => new Promise((resolve) => response.once("close", resolve))));
      cancelTimeout();
    },
  };
}

/** The mount path, which the app has removed from the path of the request. */
function prefixOf({ url = "", originalUrl = url }: IncomingMessage & { originalUrl?: string }): string {
  return originalUrl.endsWith(url) ? originalUrl.slice(0, originalUrl.length - url.length) : "";
}

const isSecure = (socket: IncomingMessage["socket"]) => (socket as { encrypted?: boolean }).encrypted === true;
