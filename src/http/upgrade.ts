// WebSocket upgrades: checks them as it checks requests, before the 101 response.

import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { ApiError, fail } from "../kernel/errors.ts";
import type { Guard } from "./guard.ts";
import { endWithError } from "./reply.ts";

export type UpgradeHandler = (incoming: IncomingMessage, socket: Duplex, head: Buffer) => void | Promise<void>;

interface UpgradeOptions {
  /** The only path that accepts upgrades. */
  path: string;
  guard: Guard;
  /** Throws unless the sandbox's host sent the request. */
  requireHost: (incoming: IncomingMessage) => void;
  accept: UpgradeHandler;
  /** Called with errors that are defects of the sandbox. */
  report: (error: unknown) => void;
}

export function createUpgradeHandler({ path, guard, requireHost, accept, report }: UpgradeOptions): UpgradeHandler {
  return async (incoming, socket, head) => {
    // A client that disconnects is not an error.
    socket.on("error", () => socket.destroy());
    try {
      guard.check(incoming);
      requireHost(incoming);
      if (incoming.url?.split("?")[0] !== path) fail("route_not_found", `Only ${path} speaks WebSocket.`);
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
  fail("malformed_http", "This is no WebSocket handshake: it takes GET, Sec-WebSocket-Version: 13 and a Sec-WebSocket-Key of 16 bytes.");
}
