// Numbers each request under /v1 and notes in the journal what became of it.

import type { IncomingMessage, ServerResponse } from "node:http";
import { type Clock, realNow } from "../kernel/clock.ts";
import type { RequestMessage } from "../kernel/messages.ts";
import { keyHint, redactTarget } from "../kernel/redact.ts";
import type { Journal, JournalEntry } from "../store/journal.ts";
import { type Context, openContext } from "./context.ts";

export interface Recorder {
  open(incoming: IncomingMessage, outgoing: ServerResponse): Context;
  /** To be called when the answer is on its way. */
  close(context: Context): void;
}

/** `heard` is whoever shows requests live. */
export function createRecorder(journal: Journal, clock: Clock, heard: (entry: JournalEntry) => void): Recorder {
  return {
    open(incoming, outgoing) {
      const started = realNow();
      const sequence = journal.next();
      return openContext(incoming, outgoing, sequence, clock.now(), () => realNow() - started);
    },
    close(context) {
      const entry = describe(context);
      journal.add(entry);
      heard(entry);
    },
  };
}

/** An entry as the live stream tells of it. */
export function requestMessage(entry: JournalEntry): RequestMessage {
  const { id, at, method, path, search, operation, merchant, status, duration, idempotencyKey, replayOf } = entry;
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
  };
}

function describe(context: Context): JournalEntry {
  const { incoming, identity, reply } = context;
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
    duration: context.elapsed(),
    key: identity && keyHint(identity.key),
    idempotencyKey: context.idempotencyKey,
    replayOf: context.replayOf,
    requestHeaders: incoming.headers,
    requestBody: context.bodyText,
    responseHeaders: context.sentHeaders,
    responseBody: reply?.body ?? "",
  };
}
