// Sends JSON that is too long to be held as one text.

import { pipeline } from "node:stream/promises";
import { httpDate } from "../kernel/clock.ts";
import type { JsonParts } from "../kernel/reply-bodies.ts";
import type { RequestContext } from "./context.ts";
import { SAFE_HEADERS } from "./reply.ts";
import { READ_TIMEOUT } from "./unread-responses.ts";

/** Sends each part once the client has read the parts before it. Disconnects a client that stops reading. */
export async function sendParts(
  context: RequestContext,
  { parts }: JsonParts,
  report: (error: unknown, context: RequestContext) => void,
): Promise<void> {
  const { incoming, outgoing, headers, at } = context;
  const head = { Date: httpDate(at), "Content-Type": "application/json", ...SAFE_HEADERS, ...headers };
  outgoing.setTimeout(READ_TIMEOUT, () => outgoing.destroy());
  outgoing.sendDate = false;
  outgoing.writeHead(200, head);
  try {
    await pipeline(incoming.method === "HEAD" ? [] : parts, outgoing);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ERR_STREAM_PREMATURE_CLOSE") report(error, context);
  }
}
