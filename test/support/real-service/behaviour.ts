// The behaviour of the stand-in for the real service. It begins with the sandbox's values, and tests change them.

import { createHmac } from "node:crypto";
import type { Stored } from "./records.ts";

export type Behaviour = ReturnType<typeof asTheSandbox>;

/** The status and the category of each error, by its code. */
const ERRORS = {
  missing_api_key: [401, "authentication_error"],
  invalid_api_key: [401, "authentication_error"],
  resource_not_found: [404, "not_found"],
  invalid_state: [409, "conflict"],
  already_exists: [409, "conflict"],
  invalid_limit: [400, "invalid_request"],
  validation_failed: [400, "invalid_request"],
  idempotency_key_reused: [422, "idempotency_error"],
  invalid_credentials: [401, "authentication_error"],
  token_expired: [401, "authentication_error"],
  idempotency_key_in_use: [409, "conflict"],
  invalid_webhook_url: [400, "invalid_request"],
  method_not_allowed: [405, "method_not_allowed"],
  route_not_found: [404, "not_found"],
  rate_limit_exceeded: [429, "rate_limited"],
} as const;

const errorsByCode = () =>
  Object.fromEntries(
    Object.entries(ERRORS).map(([code, [status, error]]) => [code, { status, error, code }]),
  ) as Record<keyof typeof ERRORS, { status: number; error: string; code: string }>;

/** If `clamps` is set, a limit out of bounds is replaced by the nearest bound. Otherwise it is refused. */
const bounds = () => ({ default: 25, minimum: 1, maximum: 100, clamps: false });

const hexDigest = (body: string, key: string) => createHmac("sha256", key).update(body).digest("hex");

export const asTheSandbox = () => ({
  /** The status of a success, by operation (default: 200). */
  success: { "webhooks.create": 201 } as Record<string, number>,
  errors: errorsByCode(),
  /** Changes a whole error. */
  error: (body: Stored): Stored => body,
  /** Changes a record before it is shown. */
  record: (record: Stored, _kind: string): Stored => record,
  /** Changes a whole reply. */
  reply: (body: Stored, _operation: string): Stored => body,
  lists: {
    ...{ object: "list", data: "data", more: "has_more", cursor: "starting_after", newestFirst: true },
    payments: bounds(),
    payouts: bounds(),
  },
  pricingRule: {
    required: ["name", "adjustmentType", "adjustmentValue"],
    known: [
      ...["name", "adjustmentType", "adjustmentValue", "roomTypeId", "startDate", "endDate"],
      ...["daysOfWeek", "minNights", "maxNights", "priority", "metadata"],
    ],
    takesUnknownFields: true,
  },
  rate: {
    limit: 6_000,
    seconds: 60,
    names: {
      limit: "ratelimit-limit",
      remaining: "ratelimit-remaining",
      reset: "ratelimit-reset",
      retryAfter: "retry-after",
    },
    /** The value of Retry-After; undefined leaves it out. */
    retryAfter: (wait: number, _now: number): string | undefined => String(wait),
    reset: (end: number, _now: number) => String(end),
  },
  idempotency: {
    header: "Idempotency-Key",
    window: 86_400,
    replays: "first response" as "first response" | "refused" | "no",
  },
  /** The headers of a replayed response. */
  replayed: { "idempotent-replayed": "true" } as Record<string, string>,
  events: { names: {} as Record<string, string>, envelope: (event: Stored): Stored => event },
  deliveries: {
    contentType: "application/json",
    headers: { signature: "x-webhook-signature", id: "x-webhook-id", event: "x-webhook-event" },
    sign: hexDigest,
    /** Seconds between one attempt and the next. */
    schedule: [1, 5, 15, 30, 60],
  },
  endpointHealth: {
    ...{ state: "unknown", consecutiveFailures: 0, pendingDeliveries: 0, succeeded24h: 0, failed24h: 0 },
    ...{ lastAttemptAt: null, lastSuccessAt: null, lastFailureAt: null, lastResponseStatus: null, lastError: null },
    disabledReason: null,
  } as Stored,
  secretPrefix: "whsec",
});
