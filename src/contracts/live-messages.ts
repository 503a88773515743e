// The vocabulary of the live stream: everything that the sandbox says unasked, and all that a dashboard needs to know of it.

import type { Firing } from "./fault.ts";
import type { LessonMessage } from "./lesson.ts";
import type { VerdictMessage } from "./verdict.ts";

/** A request once it was answered. Details are fetched by id from the journal. */
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
  /** The fault rules that touched it, parted by commas. */
  fault: string | null;
}

/** A delivery attempt once it ended. */
export interface AttemptMessage {
  id: string;
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
}

export interface ClockMessage {
  mode: "real" | "frozen" | "offset";
  now: string;
  unix: number;
}

/** One thing that happened; `seq` counts them without gaps. */
export type LiveItem = { seq: number } & (
  | { kind: "request"; request: RequestMessage }
  | { kind: "attempt"; attempt: AttemptMessage }
  | { kind: "verdict"; verdict: VerdictMessage }
  | { kind: "fault"; fault: Firing }
  | { kind: "clock"; clock: ClockMessage }
  | { kind: "lesson"; lesson: LessonMessage }
  | { kind: "reset"; merchant: string | null }
);

export type LiveEvent = LiveItem extends infer Item ? (Item extends LiveItem ? Omit<Item, "seq"> : never) : never;

/** How many of each kind have happened since the sandbox was started. */
export type Totals = Record<LiveItem["kind"], number>;

/** What a watcher of digests may say: which rows it shows, so that those are not cut away. */
export interface DigestFilters {
  requests?: string;
  deliveries?: string;
}

export type LiveMessage =
  /** The first message of a connection: where the count stands in this run of a sandbox, and the sandbox as `GET /_sandbox` shows it. */
  | { type: "snapshot"; run: string; seq: number; totals: Totals; sandbox: unknown }
  /** What happened since the last message, in order. */
  | { type: "batch"; items: LiveItem[] }
  /** The same for a watcher that asked for a digest: exact counts, and of each kind only the newest items. */
  | { type: "digest"; seq: number; totals: Totals; items: LiveItem[] }
  /** Items that this client did not get, because it resumed too late or read too slowly. */
  | { type: "gap"; from: number; to: number };
