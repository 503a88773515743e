// The context that the pipeline's stages share: one request and its reply.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { DisconnectForm, InlineFault } from "../contracts/fault.ts";
import type { Operation } from "../store/operation-context.ts";
import type { Identity } from "../store/records/tenants.ts";
import type { RateLimitWindow } from "./rate-limit-window.ts";

export interface Reply {
  status: number;
  /** The body as sent: JSON. */
  body: string;
  /** Translates all headers to the names and formats of a service file. */
  headersOut?(headers: Record<string, string | number>, at: number): Record<string, string | number>;
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

export interface RequestContext {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  /** Sandbox milliseconds at arrival. Used for every time that the request shows or stores, unless a fault shifts it. */
  at: number;
  /** The number in the request's id; 0 for requests that the request log does not keep. */
  readonly sequence: number;
  /** Increases with each reset, which starts the numbers again. */
  readonly era: number;
  readonly id: string;
  /** The path as sent, without its query. */
  readonly path: string;
  readonly search: string;
  /** All headers of the response, as sent. */
  sentHeaders: Record<string, string | number>;
  /** Extra headers for this response. */
  readonly headers: Record<string, string>;
  /** Reads the milliseconds since arrival. */
  readonly elapsed: () => number;
  /**
   * Milliseconds from arrival to the first byte of the response, or to the loss of the connection. Measured before the write, because the
   * client may read the response before this process runs again.
   */
  answeredAfter: number | undefined;
  /** Milliseconds from arrival to the end of the checks, the body, the validation and the operation; shorter if the request ended earlier. */
  readonly stages: number[];
  operation: Operation | undefined;
  params: Record<string, string>;
  identity: Identity | undefined;
  bucket: RateLimitWindow | undefined;
  bodyText: string;
  body: Record<string, unknown>;
  query: Record<string, unknown>;
  extra: Record<string, unknown>;
  idempotencyKey: string | undefined;
  fingerprint: string | undefined;
  /** The id of the request whose stored reply is replayed. */
  replayOf: string | undefined;
  faults: CallFaults | undefined;
  /** Whether the guard admitted the request. Rejected requests are not logged, because a web page could fill the log with them. */
  isAdmitted: boolean;
  /** The error code of the reply, before a service file translates it. */
  errorCode: string | undefined;
  /** Set by the stage that responds; no later stage runs. */
  reply: Reply | undefined;
}

/** One stage of the pipeline: passes the request on (returns), responds (sets `reply`) or rejects the request (throws an ApiError). */
export type Stage = (context: RequestContext) => void | Promise<void>;

export function openContext(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  sequence: number,
  at: number,
  elapsed: () => number,
  era = 0,
): RequestContext {
  const target = incoming.url ?? "/";
  const cut = target.indexOf("?");
  return {
    incoming,
    outgoing,
    at,
    sequence,
    era,
    id: `req_${sequence}`,
    sentHeaders: {},
    path: cut === -1 ? target : target.slice(0, cut),
    search: cut === -1 ? "" : target.slice(cut + 1),
    headers: {},
    elapsed,
    answeredAfter: undefined,
    stages: [],
    operation: undefined,
    params: {},
    identity: undefined,
    bucket: undefined,
    bodyText: "",
    body: {},
    query: {},
    extra: {},
    idempotencyKey: undefined,
    fingerprint: undefined,
    replayOf: undefined,
    faults: undefined,
    isAdmitted: false,
    errorCode: undefined,
    reply: undefined,
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

/** Whether the client closed the connection before it had sent the whole request. Such a request gets no response, and is not a defect. */
export const isAbandoned = ({ incoming }: RequestContext) => incoming.destroyed && (!incoming.complete || incoming.errored !== null);
