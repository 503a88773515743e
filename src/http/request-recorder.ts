// Numbers each request under /v1 and notes in the journal what became of it.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { RequestMessage } from "../contracts/live-messages.ts";
import { type Clock, realNow } from "../kernel/clock.ts";
import { containsLiveKey, maskKey, redactTarget } from "../kernel/redact.ts";
import type { Connection, LoggedRequest, RequestLog } from "../store/journal/request-log.ts";
import { openContext, type RequestContext } from "./context.ts";
import { MAX_BODY } from "./read-body.ts";

export interface RequestRecorder {
  open(incoming: IncomingMessage, outgoing: ServerResponse): RequestContext;
  /** To be called when the answer is on its way. */
  close(context: RequestContext): void;
  /** To be called for each connection when it opens. */
  connected(socket: Socket): void;
}

/** `heard` is whoever shows requests live. */
export function createRequestRecorder(journal: RequestLog, clock: Clock, heard: (entry: LoggedRequest) => void): RequestRecorder {
  const connections = new WeakMap<Socket, Connection>();
  const note = (era: number, entry: LoggedRequest) => {
    // What began before a reset is of a world that is gone, and its number may be another's by now.
    if (era !== journal.era()) return;
    journal.add(entry);
    heard(entry);
  };
  return {
    connected: (socket) => void connections.set(socket, { opened: realNow() }),
    open(incoming, outgoing) {
      const started = realNow();
      const sequence = journal.next();
      return openContext(incoming, outgoing, sequence, clock.now(), () => realNow() - started, journal.era());
    },
    close(context) {
      const entry = describe(context, connections.get(context.incoming.socket) ?? UNKNOWN);
      const { era, incoming } = context;
      if (hasUnreadBody(context)) collect(incoming, (body) => note(era, { ...entry, requestBody: containsLiveKey(body) ? "" : body }));
      else note(era, entry);
    },
  };
}

const UNKNOWN: Connection = { opened: 0 };

/** A call that was put off before its body was looked at: what it carried matters when it comes again. */
function hasUnreadBody({ incoming, bodyText, reply }: RequestContext): boolean {
  if (bodyText !== "" || incoming.readableEnded || incoming.destroyed || incoming.method === "GET" || incoming.method === "HEAD")
    return false;
  return reply?.status === 429 || (reply?.status ?? 0) >= 500;
}

/** Reads, after the answer, what is left of a request; Node would throw it away. */
function collect(incoming: IncomingMessage, done: (body: string) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  incoming.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_BODY) chunks.push(chunk);
  });
  incoming.once("close", () => done(Buffer.concat(chunks).toString("utf8")));
  // Asked for at once: Node gives up what nobody has begun to read when the answer is out.
  incoming.read(0);
}

/** An entry as the live stream tells of it. */
export function requestMessage(entry: LoggedRequest): RequestMessage {
  const { id, at, method, path, search, operation, merchant, status, duration, idempotencyKey, replayOf, fault } = entry;
  return {
    id,
    at,
    method,
    path,
    query: search,
    operation: operation ?? null,
    merchant: merchant ?? null,
    status,
    durationMs: duration,
    idempotencyKey: idempotencyKey ?? null,
    replayOf: replayOf ?? null,
    fault: fault ?? null,
  };
}

function describe(context: RequestContext, connection: Connection): LoggedRequest {
  const { incoming, identity, reply } = context;
  const duration = context.elapsed();
  return {
    sequence: context.sequence,
    id: context.id,
    at: context.at,
    merchant: identity?.merchant,
    operation: context.operation?.id,
    method: incoming.method ?? "",
    path: redactTarget(context.path),
    search: redactTarget(context.search),
    status: reply?.status ?? 0,
    duration,
    arrived: realNow() - duration,
    connection,
    key: identity && maskKey(identity.key),
    idempotencyKey: context.idempotencyKey,
    replayOf: context.replayOf,
    fault: context.faults?.fired.join(",") || undefined,
    requestHeaders: incoming.headers,
    requestBody: context.bodyText,
    responseHeaders: context.sentHeaders,
    responseBody: reply?.body ?? "",
  };
}
