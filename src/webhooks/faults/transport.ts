// How a transport fault sends the body of a request: slowly, in pieces, or only half of it before the connection is cut.

import { realDelay } from "../../kernel/clock.ts";

/** `drop` sends nothing at all. */
export type TransportFault = "slow_send" | "abort_mid_body" | "drop";

const PIECES = 8;
/** Real milliseconds that a slow body takes in all, if the deadline allows it. */
const SLOW_SEND = 2_000;
/** Real milliseconds between sending the first half of a body and cutting the connection. */
const BEFORE_ABORT = 20;

/** The body in pieces, with pauses that take at most half of the attempt's timeout. */
export async function* slowBody(text: string, timeout: number): AsyncGenerator<Buffer> {
  const body = Buffer.from(text);
  const size = Math.ceil(body.length / PIECES);
  for (let start = 0; start < body.length; start += size) {
    if (start > 0) await realDelay(Math.min(SLOW_SEND, timeout / 2) / PIECES);
    yield body.subarray(start, start + size);
  }
}

/** The first half of the body; then calls `abort`, which must end the request. */
export async function* halfBody(text: string, abort: () => void): AsyncGenerator<Buffer> {
  const body = Buffer.from(text);
  yield body.subarray(0, Math.ceil(body.length / 2));
  await realDelay(BEFORE_ABORT);
  abort();
}
