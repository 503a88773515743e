// Writes one last response directly to a socket that Node no longer serves as HTTP, and closes the socket.

import type { Duplex } from "node:stream";
import { afterRealTime } from "../kernel/clock.ts";

/** Real milliseconds. If the socket were destroyed at once, a client that is still sending could lose the response. */
const READ_TIMEOUT = 2_000;

/** Sends a response and closes the socket; destroys it after a timeout if the client neither reads nor closes. */
export function endWithResponse(socket: Duplex, status: string, body: string): void {
  const head = [`HTTP/1.1 ${status}`, "Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`, "Connection: close"];
  socket.once(
    "close",
    afterRealTime(READ_TIMEOUT, () => socket.destroy()),
  );
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
