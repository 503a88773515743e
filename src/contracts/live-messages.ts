// The messages of the live stream, and the counts that they carry.

import { nullable, nullableText, oneOf, type Static, type TSchema, Type, timeNumber } from "../schema/shapes.ts";
import { Firing } from "./fault.ts";
import { LessonMessage } from "./lesson.ts";
import { VerdictMessage } from "./verdict.ts";

const text = Type.String();
const maybeText = nullable(text);
const count = Type.Integer({ minimum: 0 });
const attempts = Type.Integer({ minimum: 0, description: "Delivery attempts" });

export const VerdictCounts = Type.Object({
  pass: count,
  fail: count,
  inconclusive: count,
  failures: Type.Record(Type.Integer(), { description: "How often each rule failed" }),
});

export type VerdictCounts = Readonly<Static<typeof VerdictCounts>>;

/** Counts since the last reset of everything. A reset of one merchant subtracts its counts. */
export const MadeCounts = Type.Object(
  { requests: count, attempts, verdicts: VerdictCounts },
  { description: "Counts since the last reset. After a restart with a file, they start from the rows in the file" },
);

export type MadeCounts = Readonly<Static<typeof MadeCounts>>;

export const KeptCounts = Type.Object(
  { requests: count, attempts, verdicts: count },
  { description: "The number of rows that the logs still have" },
);

export const NO_COUNTS: MadeCounts = {
  requests: 0,
  attempts: 0,
  verdicts: { pass: 0, fail: 0, inconclusive: 0, failures: {} },
};

/** A completed request, without its headers and bodies, which clients fetch from the request log by id. */
export const RequestMessage = Type.Object(
  {
    id: text,
    sequence: Type.Integer({ description: "Its number among the requests of all merchants, in order of arrival" }),
    at: timeNumber(),
    method: text,
    path: text,
    query: text,
    operation: maybeText,
    merchant: maybeText,
    status: Type.Integer(),
    durationMs: Type.Number({ description: "Real milliseconds from arrival to response" }),
    idempotencyKey: maybeText,
    replayOf: nullableText("The request whose stored response was replayed"),
    fault: nullableText("The fault rules that affected it, separated by commas"),
    ignored: nullable(
      Type.String({
        description:
          "What had no effect, separated by commas: " +
          "unknown query parameters, and `Idempotency-Key` where the operation takes none",
      }),
    ),
    summary: nullable(
      Type.String({
        description: "The response in a line: the code and message of an error, or the record that a write returned",
      }),
    ),
  },
  { title: "request_message" },
);

export type RequestMessage = Static<typeof RequestMessage>;

/** A completed delivery attempt. */
export const AttemptMessage = Type.Object(
  {
    id: text,
    sequence: Type.Integer({ description: "Its number in the log, in the order in which attempts were written" }),
    delivery: Type.Integer({
      description: "The number of its delivery. A replay is a new delivery, and so is a copy that a fault rule made",
    }),
    at: timeNumber(),
    merchant: text,
    endpointId: text,
    eventId: text,
    eventType: text,
    url: text,
    trigger: text,
    attempt: Type.Integer(),
    maxAttempts: Type.Integer(),
    status: text,
    responseStatus: nullable(Type.Integer()),
    errorCode: maybeText,
    summary: nullable(
      Type.String({ description: "Why it failed: the first line of the response's body, or the error" }),
    ),
    durationMs: nullable(Type.Number()),
    nextAttemptAt: nullable(
      Type.Number({
        description: "Unix seconds; null if there is no next attempt",
        minimum: -8.64e12,
        maximum: 8.64e12,
      }),
    ),
    fault: nullableText("The fault rules that applied, separated by commas"),
  },
  { title: "attempt_message" },
);

export type AttemptMessage = Static<typeof AttemptMessage>;

export const ClockState = Type.Object(
  {
    mode: oneOf(
      ["real", "frozen", "offset"],
      "`real` follows the machine, `frozen` stands still, `offset` runs from another time",
    ),
    now: Type.String({ description: "Sandbox time, RFC 3339", format: "date-time" }),
    unix: Type.Integer({ description: "The same in Unix seconds, as in `created`" }),
  },
  { title: "clock" },
);

/** The events of the live stream by kind. */
export const liveEvents = {
  request: Type.Object({ kind: oneOf(["request"], ""), request: RequestMessage }),
  attempt: Type.Object({ kind: oneOf(["attempt"], ""), attempt: AttemptMessage }),
  verdict: Type.Object({ kind: oneOf(["verdict"], ""), verdict: VerdictMessage }),
  fault: Type.Object({ kind: oneOf(["fault"], ""), fault: Firing }),
  clock: Type.Object({ kind: oneOf(["clock"], ""), clock: ClockState }),
  lesson: Type.Object({ kind: oneOf(["lesson"], ""), lesson: LessonMessage }),
  reset: Type.Object({
    kind: oneOf(["reset"], ""),
    merchant: nullableText("Null for a reset of everything"),
  }),
  /** The pending deliveries to an endpoint were cancelled, because it was deleted or disabled. */
  cancellation: Type.Object({ kind: oneOf(["cancellation"], ""), merchant: text, endpoint: text }),
  removal: Type.Object({
    kind: oneOf(["removal"], ""),
    merchant: Type.String({ description: "The merchant that was removed" }),
  }),
};

export type LiveEvent = Static<(typeof liveEvents)[keyof typeof liveEvents]>;

/** One item of the stream. `seq` numbers all items without gaps, `nth` the items of the same kind. */
export type LiveItem = { seq: number; nth: number } & LiveEvent;

/** The row filters of a client that gets digests. The digests keep the rows that match them. */
export interface DigestFilters {
  requests?: string;
  deliveries?: string;
}

/**
 * For each kind of item, the filter for which the digest has every match since the previous digest; undefined if
 * matches were left out.
 */
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
  /**
   * For a client that asked for digests: exact counts, but only the newest items of each kind and the items that match
   * its filters.
   */
  | { type: "digest"; seq: number; made: MadeCounts; completeFor: CompleteFor; items: LiveItem[] }
  /** The range of items that this client missed, because it resumed too late or read too slowly. */
  | { type: "gap"; from: number; to: number };

export const Merchant = Type.Object(
  { id: text, name: maybeText, email: maybeText, apiKeys: Type.Array(text) },
  { title: "merchant" },
);

/** The fields of the sandbox that the dashboard and plain lines read. */
export const SandboxState = Type.Object({
  version: text,
  pid: count,
  baseUrl: text,
  clock: ClockState,
  database: maybeText,
  merchants: Type.Array(Merchant),
  pendingDeliveries: count,
  made: MadeCounts,
  kept: KeptCounts,
  failedDeliveries: count,
  life: text,
  signature: text,
  scenarios: Type.Array(Type.Object({ name: text, score: count, points: count })),
  heldDeliveries: count,
  heldEndpoints: Type.Array(text),
  heldFaults: Type.Array(text),
});

const completeFor = Type.Object({
  request: Type.Optional(text),
  attempt: Type.Optional(text),
  verdict: Type.Optional(text),
});
/** Items are validated one by one later, so that an item of a newer kind does not invalidate the message. */
const list = Type.Array(Type.Unknown());
export const liveMessages: Record<LiveMessage["type"], TSchema> = {
  snapshot: Type.Object({ run: text, seq: count, made: MadeCounts, sandbox: SandboxState }),
  batch: Type.Object({ items: list }),
  digest: Type.Object({ seq: count, made: MadeCounts, completeFor, items: list }),
  gap: Type.Object({ from: count, to: count }),
};
/** The place of an item in the stream. */
export const livePlace = Type.Object({ seq: count, nth: count });
