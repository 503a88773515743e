// What the stages of the pipe hand on: one request on its way to one reply.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { DisconnectForm, InlineFault } from "../contracts/fault.ts";
import type { Operation } from "../store/operation-context.ts";
import type { Identity } from "../store/records/tenants.ts";

export interface Reply {
  status: number;
  /** JSON, as it goes out. */
  body: string;
}

/** The state of one window, as its headers tell it. */
export interface RateLimitWindow {
  readonly limit: number;
  /** Milliseconds. */
  readonly window: number;
  remaining(now: number): number;
  /** Sandbox milliseconds at which the window ends. */
  reset(now: number): number;
  /** Takes one request; false when none is left. A refused request takes nothing. */
  take(now: number): boolean;
  /** Changes the rule from now on, or where the present window stands. */
  set(change: RateLimitChange, now: number): void;
}

export interface RateLimitChange {
  limit?: number | undefined;
  /** Milliseconds, as `resetIn`. */
  window?: number | undefined;
  remaining?: number | undefined;
  resetIn?: number | undefined;
}

/** The faults of one call; set only if a rule is armed or the request has X-Sandbox-Inject. */
export interface CallFaults {
  readonly inline: readonly InlineFault[];
  /** The rules that fired, in order. */
  readonly fired: string[];
  /** Those of them that X-Sandbox-Fault names. */
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
  /** Sandbox milliseconds at arrival: every time that this request shows or stores, unless a fault lets the clock be wrong. */
  at: number;
  /** The number of the request, from which its id is made; 0 for what the journal does not keep. */
  readonly sequence: number;
  /** Which count the number belongs to: a reset begins a new one. */
  readonly era: number;
  readonly id: string;
  /** The path as sent, without its query. */
  readonly path: string;
  readonly search: string;
  /** The headers of the reply as they were sent. */
  sentHeaders: Record<string, string | number>;
  /** Headers of the reply beyond those that every reply has. */
  readonly headers: Record<string, string>;
  /** Reads the milliseconds since arrival. */
  readonly elapsed: () => number;
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
  /** The request whose answer this one repeats. */
  replayOf: string | undefined;
  faults: CallFaults | undefined;
  /** Set by the stage that answers; no later stage runs. */
  reply: Reply | undefined;
}

/** One step of the pipe: it passes (returns), answers (sets `reply`) or refuses (throws an ApiError). */
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
    reply: undefined,
  };
}

/** A header sent exactly once, undefined when it was not sent, or all its values when it was sent more than once. */
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

/** A client that went away in the middle of its own request gets no answer, and is no defect of ours. */
export const isAbandoned = ({ incoming }: RequestContext) => incoming.destroyed && (!incoming.complete || incoming.errored !== null);
