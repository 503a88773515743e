// Writes one last response directly to a socket that Node no longer serves as HTTP, and closes the socket.

import { STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { afterRealTime } from "../kernel/clock.ts";
import type { ApiError } from "../kernel/errors.ts";
import { errorBody, SAFE_HEADERS } from "./reply.ts";

/** Real milliseconds. If the socket were destroyed at once, a client that is still sending could lose the response. */
const READ_TIMEOUT = 2_000;

/** Sends an error and closes the socket; destroys it after a timeout if the client neither reads nor closes. */
export function endWithError(socket: Duplex, error: ApiError, requestId?: string): void {
  const body = JSON.stringify(errorBody(error, requestId));
  const headers = {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
    ...(requestId === undefined ? {} : { "X-Sandbox-Request-Id": requestId }),
    ...SAFE_HEADERS,
    ...error.headers,
    Connection: "close",
  };
  const head = [`HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`, ...Object.entries(headers).map((header) => header.join(": "))];
  socket.once(
    "close",
    afterRealTime(READ_TIMEOUT, () => socket.destroy()),
  );
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  // Discards the rest of the request: closing with unread bytes would reset the connection.
  socket.resume();
}
