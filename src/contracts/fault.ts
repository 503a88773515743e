// The contract of fault rules: their effects on calls and deliveries, the record of each firing, and how the control
// API shows a rule.

import { nullable, nullableText, oneOf, type Static, Type, timeNumber, timeText } from "../schema/shapes.ts";

/** The rule id in the firings of X-Sandbox-Inject. */
export const INLINE_RULE = "flt_inline";

const TARGETS = ["api", "delivery"] as const;
export type FaultTarget = (typeof TARGETS)[number];

/**
 * The points of the request pipeline at which a fault can act, in pipeline order. At most one rule fires at each point.
 */
export const API_PHASES = ["outage", "auth", "limit", "recall", "before", "read", "after", "latency", "body"] as const;
export type ApiPhase = (typeof API_PHASES)[number];

/** The parts of a delivery that faults change: when it is sent, its content, or how it is sent. */
export const DELIVERY_PHASES = ["schedule", "content", "transport"] as const;
export type DeliveryPhase = (typeof DELIVERY_PHASES)[number];

/**
 * The outcome of a call with a fault. Each action declares its outcome and each firing contains it, because the judge
 * uses only the outcome, never the action's name.
 * - `normal`: the operation runs and its response arrives, perhaps late or with other values.
 * - `refused`: an error response is sent instead, and the operation has no effect.
 * - `disconnected`: the connection breaks before the operation has any effect.
 * - `response_lost`: the operation takes effect, and the client gets no usable response.
 */
const CALL_OUTCOMES = ["normal", "refused", "disconnected", "response_lost"] as const;
export type CallOutcome = (typeof CALL_OUTCOMES)[number];

/**
 * The delivery that a receiver gets under a fault.
 * - `genuine`: the service's own delivery, possibly at another time, in another order, or more than once.
 * - `altered`: other content, another transport, or nothing. The receiver's response says nothing about genuine
 *   deliveries.
 * - `forged`: a signature that does not match.
 * - `previous_secret`: a signature with the secret before the last rotation, as on a delivery that was in flight during
 *   the rotation.
 */
const DELIVERY_OUTCOMES = ["genuine", "altered", "forged", "previous_secret"] as const;
export type DeliveryOutcome = (typeof DELIVERY_OUTCOMES)[number];

/** The parts of a call that rules can match. The phase decides which parts are known. */
export interface CallSubject {
  requestId: string;
  merchant: string | undefined;
  key: string | undefined;
  operation: string | undefined;
  /** Method and target, which identify a call without an Idempotency-Key. */
  address: string;
  header(name: string): string | undefined;
  /** The parsed body; empty if there is none, or if it has not been read yet. */
  body: unknown;
}

/** A delivery attempt before its faults are decided. */
export interface DeliverySubject {
  merchant: string;
  endpoint: string;
  eventType: string;
  eventId: string;
  /** The number of the attempt, starting at 1. */
  attempt: number;
  attemptId?: string;
  /** Whether this is the first attempt at an event of a request, so that the response can wait for it. */
  canPrecedeResponse: boolean;
  /** Parses the event. Called only if a rule matches on its content. */
  event?: () => unknown;
  /** Sandbox milliseconds of the endpoint's last secret rotation; undefined if it was never rotated. */
  rotatedAt?: () => number | undefined;
}

/** The Retry-After header of an injected response. */
export type RetryAfter = number | "absent" | "zero" | "past" | "invalid" | { form: "http_date"; seconds: number };

export type DisconnectForm = "reset" | "empty" | "hang" | "garbage" | "malformed_chunk";
export type CorruptionForm = "truncate" | "invalid_json" | "html" | "wrong_content_type" | "drip";

/** The changes that a later version of the service may make to JSON. The first value stands for all of them. */
export const EVOLUTIONS = ["everything", "fields", "enums", "nulls", "order"] as const;
export type Evolution = (typeof EVOLUTIONS)[number];

/** The effects on calls. Each action prepares one of them. */
export type ApiEffect =
  /**
   * Sends this response instead of the operation's (default `code`: the usual one for the status). `endsAt` is the time
   * in sandbox milliseconds from which calls succeed again.
   */
  | {
      kind: "respond";
      status: number;
      /** Uses the status that an assumption sets for the code. */
      asService?: true;
      code?: string;
      message?: string;
      retryAfter?: RetryAfter;
      headers?: Record<string, string>;
      endsAt?: number;
    }
  /**
   * Uses up the merchant's real rate-limit window, which then ends in `resetIn` milliseconds (default: its usual end).
   */
  | { kind: "exhaust"; resetIn?: number }
  /** Waits for real milliseconds before the headers, or between the headers and the body. */
  | { kind: "delay"; milliseconds: number; before: "headers" | "body" }
  /** Breaks the connection before the HTTP response is complete, or with `hang` leaves it open without a response. */
  | { kind: "disconnect"; as: DisconnectForm }
  /** Corrupts the response. */
  | { kind: "corrupt"; as: CorruptionForm; bytesPerSecond: number }
  /** Merges this patch into the JSON of the response. */
  | { kind: "patch"; patch: Readonly<Record<string, unknown>> }
  /** Changes the JSON of the response as a later version of the service might. */
  | { kind: "evolve"; as: Evolution }
  /** Deletes the stored reply of the Idempotency-Key. */
  | { kind: "forget" }
  /** Answers a read with the records as of this many sandbox milliseconds ago. */
  | { kind: "lag"; milliseconds: number };

/** The effects on delivery attempts. Durations are in milliseconds. */
export type DeliveryEffect =
  | { kind: "duplicate"; copies: number; gap: number; concurrent: boolean }
  | { kind: "reorder"; batch: number; order: "reverse" | "shuffle"; hold: number | undefined }
  | { kind: "delay"; by: number }
  | { kind: "delay"; until: "before_response" | { after: string } }
  | { kind: "drop" }
  | {
      kind: "signature";
      as: "missing" | "wrong_secret" | "previous_secret" | "body_changed" | "reserialised" | "malformed";
    }
  | {
      kind: "payload";
      as: "patch" | "truncate" | "unknown_type" | "extra_field" | "evolve" | "invalid_json" | "reformat";
      /** JSON Pointers into the event, each with its new value. */
      patch: Readonly<Record<string, unknown>>;
    }
  | { kind: "transport"; as: "slow_send" | "wrong_content_type" | "abort_mid_body" };

/** The effects of fault rules on an attempt. */
export const AttemptFault = Type.Object(
  {
    id: Type.String({ description: "The rule, or the first of several" }),
    name: nullable(Type.String()),
    effects: Type.Array(Type.Unsafe<{ id: string; action: string; effect: DeliveryEffect }>({}), {
      description: "The effect of each rule",
    }),
    copy: Type.Integer({ description: "Number of this copy, if a rule duplicates deliveries; 0 for the original" }),
    wouldHaveSent: Type.Object({ headers: Type.Record(Type.String()), body: Type.String() }),
  },
  { title: "delivery_fault" },
);

export type AttemptFault = Static<typeof AttemptFault>;

/** The record of a firing: the rule, its action, and the affected request or attempt. */
export const Firing = Type.Object(
  {
    ruleId: Type.String(),
    name: nullable(Type.String()),
    target: oneOf(TARGETS, ""),
    action: Type.String(),
    form: nullableText("The action's `as`, such as `previous_secret`; null where it has none, or its default applies"),
    outcome: oneOf([...CALL_OUTCOMES, ...DELIVERY_OUTCOMES], ""),
    expect: Type.Array(Type.String(), { description: "The judge's rules that the fault rule tests" }),
    merchant: nullable(Type.String()),
    requestId: nullableText("Set for a call; `attemptId` is set for a delivery"),
    attemptId: nullable(Type.String()),
    eventId: nullable(Type.String()),
    endpointId: nullable(Type.String()),
    rotatedAt: nullable(
      Type.Number({
        description: "Sandbox milliseconds of the endpoint's last secret rotation; null if it was never rotated",
      }),
    ),
    at: timeNumber(),
  },
  { title: "firing" },
);

export type Firing = Static<typeof Firing>;

/** The effect of a fired rule, and the record of the firing. */
export interface Injection<Effect> {
  effect: Effect;
  firing: Firing;
  /** Whether X-Sandbox-Fault names the rule. */
  label: boolean;
}

export type ApiInjection = Injection<ApiEffect>;
export type DeliveryInjection = Injection<DeliveryEffect> & { phase: DeliveryPhase };

/** A fault that a request injects into itself with its X-Sandbox-Inject header. */
export interface InlineFault {
  phase: ApiPhase;
  fire(call: CallSubject): ApiInjection;
}

/** A rule as the control API shows it: its definition with defaults, and its counts. */
export const RuleState = Type.Object(
  {
    id: Type.String(),
    name: nullableText("A name that logs and reports show"),
    target: oneOf(TARGETS, "What it acts on"),
    match: Type.Record(Type.Unknown()),
    trigger: Type.Record(Type.Unknown()),
    action: Type.Unsafe<{ type: string; [field: string]: unknown }>(Type.Record(Type.Unknown())),
    expect: Type.Array(Type.String(), { description: "The judge's rules that the fault tests" }),
    ttl: nullableText("How long it stays armed; null for no limit"),
    priority: Type.Integer({ description: "Rules with a higher priority are tried first" }),
    label: Type.Boolean(),
    enabled: Type.Boolean(),
    status: oneOf(
      ["armed", "spent", "expired", "removed"],
      "`spent` when it has fired as often as it may, `expired` when its time is over",
    ),
    matched: Type.Integer({ description: "How many calls or attempts it matched" }),
    fired: Type.Integer(),
    remaining: nullable(
      Type.Integer({
        description:
          "How often it may still fire; null if unlimited, or limited for each key, event or endpoint separately",
      }),
    ),
    lastFiredAt: nullable(timeText("Sandbox time")),
    warnings: Type.Array(Type.String(), {
      description: "Warnings about unlikely values, such as a mistyped event type; usually empty",
    }),
    endsAt: nullable(timeText("Sandbox time at which its ttl, or its `for`, is over; null if it has neither")),
  },
  { title: "fault_rule" },
);

export type RuleState = Static<typeof RuleState>;
export type RuleStatus = RuleState["status"];
