// Ends responses to requests whose body was not read, so that a client that is still sending its request gets the
// response.

import type { IncomingMessage } from "node:http";
import { afterRealTime } from "../kernel/clock.ts";
import type { RequestContext } from "./context.ts";

/** Limits for discarding a body after the response, in real milliseconds and bytes. */
const DISCARD_TIMEOUT = 5_000;
const MAX_DISCARDED = 256 * 1_048_576;

export const announcesBody = ({ headers }: IncomingMessage) =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/**
 * Whether the client may still wait for `100 Continue`. Until then, it is unknown whether the client sends its body.
 */
export const awaitsContinue = ({ headers, complete }: IncomingMessage) => headers.expect !== undefined && !complete;

/**
 * Ends a response whose headers are written. If the connection will close and the request has not arrived completely,
 * discards the rest of the request first: closing with unread bytes resets the connection, and the client would lose
 * the response.
 */
export function endResponse({ incoming, outgoing, sentHeaders }: RequestContext, body: string | undefined): void {
  const staysOpen = outgoing.shouldKeepAlive && sentHeaders.Connection !== "close";
  if (staysOpen || incoming.complete || incoming.destroyed || !announcesBody(incoming)) {
    outgoing.end(body);
    return;
  }
  // Content-Length tells the client that the response is complete.
  if (body === undefined) outgoing.flushHeaders();
  else outgoing.write(body);
  discardRest(incoming, () => outgoing.end());
}

/** Reads and discards the rest of a request, within the limits above. */
export function discardRest(incoming: IncomingMessage, done: () => void): void {
  let discarded = 0;
  const count = (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > MAX_DISCARDED) end();
  };
  const end = () => {
    cancel();
    incoming.off("data", count).off("end", end).off("close", end);
    done();
  };
  const cancel = afterRealTime(DISCARD_TIMEOUT, end);
  incoming.on("data", count).once("end", end).once("close", end);
  incoming.resume();
}
