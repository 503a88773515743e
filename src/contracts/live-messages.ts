// The messages of the live stream.

import type { MadeCounts } from "./counts.ts";
import type { Firing } from "./fault.ts";
import type { LessonMessage } from "./lesson.ts";
import type { VerdictMessage } from "./verdict.ts";

/** A request that has its response. Details are fetched by id from the request log. */
export interface RequestMessage {
  id: string;
  /** Sandbox milliseconds. */
  at: number;
  method: string;
  path: string;
  query: string;
  operation: string | null;
  merchant: string | null;
  status: number;
  durationMs: number;
  idempotencyKey: string | null;
  replayOf: string | null;
  /** The fault rules that fired for it, separated by commas. */
  fault: string | null;
}

/** A completed delivery attempt. */
export interface AttemptMessage {
  id: string;
  /** Its number in the log, in the order in which attempts were written. */
  sequence: number;
  /** The number of its delivery. A replay is a delivery of its own, and so is a copy that a fault rule made. */
  delivery: number;
  /** Sandbox milliseconds. */
  at: number;
  merchant: string;
  endpointId: string;
  eventId: string;
  eventType: string;
  url: string;
  trigger: string;
  attempt: number;
  maxAttempts: number;
  status: string;
  responseStatus: number | null;
  errorCode: string | null;
  durationMs: number | null;
  /** Unix seconds; null when there is no next attempt. */
  nextAttemptAt: number | null;
  /** The fault rules that applied, separated by commas. */
  fault: string | null;
}

export interface ClockMessage {
  mode: "real" | "frozen" | "offset";
  now: string;
  unix: number;
}

/** One item of the stream. `seq` numbers all items without gaps, `nth` those of its kind. */
export type LiveItem = { seq: number; nth: number } & (
  | { kind: "request"; request: RequestMessage }
  | { kind: "attempt"; attempt: AttemptMessage }
  | { kind: "verdict"; verdict: VerdictMessage }
  | { kind: "fault"; fault: Firing }
  | { kind: "clock"; clock: ClockMessage }
  | { kind: "lesson"; lesson: LessonMessage }
  | { kind: "reset"; merchant: string | null }
);

export type LiveEvent = LiveItem extends infer Item ? (Item extends LiveItem ? Omit<Item, "seq" | "nth"> : never) : never;

/** The row filters of a client that gets digests, so that the digest keeps the rows that it shows. */
export interface DigestFilters {
  requests?: string;
  deliveries?: string;
}

/** The filters for which a digest has every match since the one before; undefined if matches were left out. Failed verdicts count as one. */
export interface CompleteFor {
  request?: string;
  attempt?: string;
  verdict?: "is:failed";
}

/** `Index` is the type of the sandbox in the first message. */
export type LiveMessage<Index = unknown> =
  /** The first message of a connection: the current `seq` of this run, and the sandbox as `GET /_sandbox` shows it. */
  | { type: "snapshot"; run: string; seq: number; made: MadeCounts; sandbox: Index }
  /** The items since the last message, in order. */
  | { type: "batch"; items: LiveItem[] }
  /** The same for a client that asked for a digest: exact counts, but only the newest items of each kind, and those that match its filters. */
  | { type: "digest"; seq: number; made: MadeCounts; completeFor: CompleteFor; items: LiveItem[] }
  /** The range of items that this client missed, because it resumed too late or read too slowly. */
  | { type: "gap"; from: number; to: number };
