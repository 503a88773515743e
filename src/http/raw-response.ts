// The last words on a socket that carries no more HTTP: an answer as bytes, a while for it to be read, and the end.

import type { Duplex } from "node:stream";
import { afterRealTime } from "../kernel/clock.ts";

/** Real milliseconds. Cut at once, a peer that is still sending might lose the answer. */
const READ_WITHIN = 2_000;

/** Ends the socket with an answer. A peer that neither reads nor closes would otherwise hold it for ever. */
export function endWithResponse(socket: Duplex, status: string, body: string): void {
  const head = [`HTTP/1.1 ${status}`, "Content-Type: application/json", `Content-Length: ${Buffer.byteLength(body)}`, "Connection: close"];
  socket.once(
    "close",
    afterRealTime(READ_WITHIN, () => socket.destroy()),
  );
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}
