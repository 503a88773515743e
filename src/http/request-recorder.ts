// Numbers each admitted request under /v1 and writes it to the request log with its response.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { RequestMessage } from "../contracts/live-messages.ts";
import { tryParseJson } from "../kernel/attempt.ts";
import { type Clock, realNow } from "../kernel/clock.ts";
import { isRateLimit } from "../kernel/errors.ts";
import { containsLiveKey, mask, maskKey } from "../kernel/mask.ts";
import type { Random } from "../kernel/random.ts";
import { MAX_BODY } from "../kernel/request-limits.ts";
import { type CallSpan, childSpan, newTrace, parseTraceparent } from "../kernel/trace-context.ts";
import type { Connection, RequestEntry, RequestLog } from "../store/request-log/request-log.ts";
import { openContext, type RequestContext } from "./context.ts";
import { readElsewhere } from "./read-body.ts";
import { awaitsContinue } from "./unread-body.ts";

interface RecorderOptions {
  requestLog: RequestLog;
  clock: Clock;
  random: Random;
  /** Whether a call without a `traceparent` header starts a trace. */
  startsTraces: boolean;
  /** Called with each entry, for the live stream. */
  onRecorded: (entry: RequestEntry) => void;
  /** Called with errors that are defects of the sandbox. */
  report: (error: unknown, context: RequestContext) => void;
}

export type RequestRecorder = ReturnType<typeof createRequestRecorder>;

export function createRequestRecorder(options: RecorderOptions) {
  const { requestLog, clock, onRecorded, report } = options;
  const connections = new WeakMap<Socket, Connection>();
  let accepted = 0;
  const record = (context: RequestContext, entry: RequestEntry) => {
    // After a reset, a later request may have the same id.
    if (context.series.isErased) return;
    try {
      requestLog.add(entry);
      onRecorded(entry);
    } catch (error) {
      report(error, context);
    }
  };
  return {
    /** Call this for each new connection. Repeated calls for a connection have no effect. */
    connected(socket: Socket) {
      if (connections.has(socket)) return;
      const connection: Connection = { number: ++accepted, opened: realNow() };
      connections.set(socket, connection);
      socket.once("end", () => {
        connection.closed = realNow();
      });
    },
    /** Opens the context of a request. The pipeline calls `finish` to send the reply. */
    open: (incoming: IncomingMessage, outgoing: ServerResponse, finish: (context: RequestContext) => void) =>
      openContext(incoming, outgoing, clock.now(), finish),
    /** Numbers a request that the guard has admitted, once its merchant is known. */
    admitted(context: RequestContext) {
      Object.assign(context, requestLog.numbers.next(context.identity?.merchant));
      context.span = spanOf(context, options);
    },
    /** Call this once the response is being sent. */
    close(context: RequestContext) {
      const entry = describe(context, connections.get(context.incoming.socket) ?? UNKNOWN, clock.now());
      const recordWith = (body: string) =>
        record(context, { ...entry, requestBody: containsLiveKey(body) ? "" : body });
      if (!hasUnusedBody(context)) record(context, entry);
      else if (context.incoming.readableEnded) recordWith(readElsewhere(context.incoming)?.text ?? "");
      else collect(context.incoming, recordWith);
    },
  };
}

function spanOf(
  { incoming, id }: RequestContext,
  { random, startsTraces }: Pick<RecorderOptions, "random" | "startsTraces">,
): CallSpan | undefined {
  const { traceparent } = incoming.headers;
  const caller = traceparent === undefined ? undefined : parseTraceparent(traceparent);
  if (caller !== undefined) return { own: childSpan(random, caller, id), parent: caller.spanId };
  return startsTraces ? { own: newTrace(), parent: undefined } : undefined;
}

/**
 * Whether the request was rate-limited or got a 5xx before the sandbox used its body. The judge compares that body with
 * the body of the retry.
 */
function hasUnusedBody({ incoming, bodyText, reply, errorCode }: RequestContext): boolean {
  if (
    bodyText !== "" ||
    (incoming.destroyed && !incoming.readableEnded) ||
    incoming.method === "GET" ||
    incoming.method === "HEAD"
  )
    return false;
  // Without a `100 Continue`, the client does not send the body.
  if (awaitsContinue(incoming)) return false;
  const { status } = reply ?? { status: 0 };
  return isRateLimit(status, errorCode) || status >= 500;
}

/** Reads the rest of a request after its response. Node would discard the rest. */
function collect(incoming: IncomingMessage, done: (body: string) => void): void {
  const chunks: Buffer[] = [];
  let size = 0;
  incoming.on("data", (chunk: Buffer) => {
    size += chunk.length;
    if (size <= MAX_BODY) chunks.push(chunk);
  });
  incoming.once("close", () => done(Buffer.concat(chunks).toString("utf8")));
  // Start reading now, because Node discards a body without a reader when the response ends.
  incoming.read(0);
}

/** Converts an entry to a message of the live stream. */
export function requestMessage(entry: RequestEntry): RequestMessage {
  return {
    id: entry.id,
    sequence: entry.sequence,
    at: entry.at,
    method: entry.method,
    path: entry.path,
    query: entry.search,
    operation: entry.operation ?? null,
    merchant: entry.merchant ?? null,
    status: entry.status,
    durationMs: entry.duration,
    idempotencyKey: entry.idempotencyKey ?? null,
    replayOf: entry.replayOf ?? null,
    fault: entry.fault ?? null,
    ignored: entry.ignored ?? null,
    summary: entry.summary ?? null,
  };
}

/** The names in the headers that report ignored input. */
function ignoredInput(sent: RequestContext["headers"]): string | undefined {
  const { "X-Sandbox-Unknown-Params": params, "X-Sandbox-Ignored-Headers": headers } = sent;
  return params !== undefined && headers !== undefined ? `${params}, ${headers}` : (params ?? headers);
}

const LONGEST_SUMMARY = 300;
/** Records begin with their id, so the start of a body is enough. */
const SUMMARISED = 2_048;

/** `invalid_state: This payment …` for an error, `pay_1 succeeded` for a write. */
function summaryOf(method: string | undefined, status: number, body: string): string | undefined {
  if (status >= 400) {
    const { code, message } = (tryParseJson(body) ?? {}) as { code?: unknown; message?: unknown };
    return code === undefined ? undefined : `${code}: ${message}`.slice(0, LONGEST_SUMMARY);
  }
  if (method === "GET" || method === "HEAD") return undefined;
  const start = body.slice(0, SUMMARISED);
  const found = [/"id":"([^"]{1,80})"/, /"status":"(\w{1,40})"/].flatMap((pattern) => pattern.exec(start)?.[1] ?? []);
  return found.length === 0 ? undefined : found.join(" ");
}

const UNKNOWN: Connection = { number: 0, opened: 0 };

function describe(context: RequestContext, connection: Connection, answeredAt: number): RequestEntry {
  const { incoming, identity, reply } = context;
  const duration = context.elapsed();
  return {
    sequence: context.sequence,
    id: context.id,
    span: context.span,
    at: context.at,
    merchant: identity?.merchant,
    operation: context.operation?.id,
    method: incoming.method ?? "",
    path: mask(context.path),
    search: context.search === "" ? "" : mask(context.search),
    status: reply?.status ?? 0,
    errorCode: context.errorCode,
    duration,
    stages: context.stages,
    arrived: context.arrived,
    answered: context.arrived + (context.answeredAfter ?? duration),
    answeredAt,
    connection,
    isFirst: context.isFirst,
    key: identity && maskKey(identity.key),
    idempotencyKey: context.idempotencyKey,
    replayOf: context.replayOf,
    fault: context.faults?.fired.join(",") || undefined,
    ignored: ignoredInput(context.headers),
    summary: reply && summaryOf(incoming.method, reply.status, reply.body),
    requestHeaders: incoming.headers,
    requestBody: context.bodyText,
    responseHeaders: context.sentHeaders,
    responseBody: reply?.body ?? "",
  };
}
