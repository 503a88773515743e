// The context that the pipeline's stages share: one request and its reply.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { DisconnectForm, InlineFault } from "../contracts/fault.ts";
import { realNow } from "../kernel/clock.ts";
import type { CallSpan } from "../kernel/trace-context.ts";
import { NO_ASSUMPTIONS } from "../store/assumptions.ts";
import type { Operation } from "../store/operation-context.ts";
import type { Identity } from "../store/records/tenants.ts";
import type { RequestSeries } from "../store/request-log/request-numbers.ts";
import type { RateLimitWindow } from "./rate-limit-window.ts";

export interface Reply {
  status: number;
  /** The body as sent: JSON. */
  body: string;
}

/** The faults of one call. Exists only if a rule is armed or the request has X-Sandbox-Inject. */
export interface CallFaults {
  readonly inline: readonly InlineFault[];
  /** The rules that fired, in order. */
  readonly fired: string[];
  /** The labels of fired rules, which X-Sandbox-Fault lists. */
  readonly labels: string[];
  /** The parsed body, before validation separates unknown fields. */
  body: unknown;
  /** Set once the operation itself has produced a reply. */
  served: boolean;
  /** How to break the connection instead of sending a response. */
  disconnect: DisconnectForm | undefined;
}

export interface RequestContext extends ReturnType<typeof openContext> {}

/** Passes the request on to the next stage, or with an error to the error handler. */
export type Next = (error?: unknown) => void;

/**
 * One stage of a pipeline, with the parameters of Express's middleware. A stage passes the request on, sets `reply` and
 * so ends the stages, or throws an ApiError to reject the request.
 */
export type Stage = (request: IncomingMessage, response: ServerResponse, next: Next) => void | Promise<void>;

/**
 * The property of a request that holds its context. A property costs nothing; a WeakMap of all requests added two
 * thirds to the CPU time of a GET.
 */
const CONTEXT = Symbol("context");

type WithContext = IncomingMessage & { [CONTEXT]?: RequestContext };

/** The context of a request whose pipeline has started. */
export const contextOf = (request: IncomingMessage): RequestContext =>
  (request as WithContext)[CONTEXT] as RequestContext;

export const setContext = (request: IncomingMessage, context: RequestContext): void => {
  (request as WithContext)[CONTEXT] = context;
};

/** Passes the request on, or ends the stages if this stage has set the reply. */
export function passOn(context: RequestContext, next: Next): void {
  if (context.reply === undefined) next();
  else context.finish(context);
}

const NO_SERIES: RequestSeries = { prefix: "req_", made: 0, isErased: false };

export function openContext(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  at: number,
  finish: (context: RequestContext) => void = () => {},
) {
  const arrived = realNow();
  const target = incoming.url ?? "/";
  const cut = target.indexOf("?");
  return {
    incoming,
    outgoing,
    /** The assumptions that the sandbox's options set. */
    assumed: NO_ASSUMPTIONS,
    /** Sends the reply that a stage has set. */
    finish,
    /**
     * Sandbox milliseconds at arrival. Used for every time that the request shows or stores, unless a fault shifts it.
     */
    at,
    /** The request's number among all requests; 0 for requests that the request log does not keep. */
    sequence: 0,
    /** The series that the request belongs to, which numbers the requests of one merchant for their ids. */
    series: NO_SERIES,
    /** The request's id, shown in the response only if the request has a number. */
    id: "req_0",
    /**
     * The request's span, in the trace of its `traceparent` header or in a new trace; undefined if nothing is traced.
     */
    span: undefined as CallSpan | undefined,
    /** All headers of the response, as sent. */
    sentHeaders: {} as Record<string, string | number>,
    /** The path as sent, without its query. */
    path: cut === -1 ? target : target.slice(0, cut),
    search: cut === -1 ? "" : target.slice(cut + 1),
    /** Extra headers for this response. */
    headers: {} as Record<string, string>,
    /** Real milliseconds at arrival. */
    arrived,
    /**
     * Whether the sandbox had sent nothing on the connection before, so that the client may have opened it for this
     * request.
     */
    isFirst: incoming.socket.bytesWritten === 0,
    /** Reads the milliseconds since arrival. */
    elapsed: () => realNow() - arrived,
    /**
     * Milliseconds from arrival to the first byte of the response, or to the loss of the connection. Measured before
     * the write, because the client may read the response before this process runs again.
     */
    answeredAfter: undefined as number | undefined,
    /**
     * Milliseconds from arrival to the end of the checks, the body, the validation and the operation. Has fewer
     * elements if the request ended earlier.
     */
    stages: [] as number[],
    operation: undefined as Operation | undefined,
    params: {} as Record<string, string>,
    identity: undefined as Identity | undefined,
    bucket: undefined as RateLimitWindow | undefined,
    bodyText: "",
    body: {} as Record<string, unknown>,
    query: {} as Record<string, unknown>,
    extra: {} as Record<string, unknown>,
    idempotencyKey: undefined as string | undefined,
    fingerprint: undefined as string | undefined,
    /** The id of the request whose stored reply is replayed. */
    replayOf: undefined as string | undefined,
    faults: undefined as CallFaults | undefined,
    /**
     * Whether the guard admitted the request. Rejected requests are not logged, because a web page could fill the log
     * with them.
     */
    isAdmitted: false,
    /** The error code of the reply. */
    errorCode: undefined as string | undefined,
    /** Set by the stage that responds; `finish` sends it. */
    reply: undefined as Reply | undefined,
  };
}

/** The value of a header; an array if it was sent several times, undefined if it was not sent. */
export function headerOnce({ rawHeaders }: IncomingMessage, name: string): string | string[] | undefined {
  let found: string | string[] | undefined;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (!isNamed(rawHeaders[index] as string, name)) continue;
    const value = rawHeaders[index + 1] as string;
    found = found === undefined ? value : [found, value].flat();
  }
  return found;
}

const isNamed = (header: string, name: string) => header.length === name.length && header.toLowerCase() === name;

/**
 * Whether the client closed the connection before it had sent the whole request. Such a request gets no response, and
 * is not a defect.
 */
export const isAbandoned = ({ incoming }: RequestContext) =>
  incoming.destroyed && (!incoming.complete || incoming.errored !== null);
