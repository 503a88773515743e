// The stand-in's behaviour, with the values that the sandbox has; each of them can be changed.

import { createHmac } from "node:crypto";
import type { Stored } from "./records.ts";

interface Bounds {
  default: number;
  minimum: number;
  maximum: number;
  /** A limit out of bounds is moved into them. */
  clamps: boolean;
}

interface ErrorShape {
  status: number;
  error: string;
  code: string;
}

export interface Behaviour {
  /** The status of a success, by operation (default: 200). */
  success: Record<string, number>;
  errors: Record<
    | "missing_api_key"
    | "invalid_api_key"
    | "resource_not_found"
    | "invalid_state"
    | "already_exists"
    | "invalid_limit"
    | "validation_failed"
    | "idempotency_key_reused"
    | "rate_limit_exceeded"
    | "invalid_credentials"
    | "token_expired"
    | "idempotency_key_in_use"
    | "invalid_webhook_url"
    | "method_not_allowed"
    | "route_not_found",
    ErrorShape
  >;
  /** Changes a whole error. */
  error(body: Stored): Stored;
  /** Changes a record as it is shown. */
  record(record: Stored, kind: string): Stored;
  /** Changes a whole reply. */
  reply(body: Stored, operation: string): Stored;
  lists: {
    object: string;
    data: string;
    more: string;
    cursor: string;
    newestFirst: boolean;
    payments: Bounds;
    payouts: Bounds;
  };
  pricingRule: { required: string[]; known: string[]; takesUnknownFields: boolean };
  rate: {
    limit: number;
    seconds: number;
    names: { limit: string; remaining: string; reset: string; retryAfter: string };
    /** The value of Retry-After; undefined leaves it out. */
    retryAfter(wait: number, now: number): string | undefined;
    reset(end: number, now: number): string;
  };
  idempotency: { header: string; window: number; replays: "first response" | "refused" | "no" };
  /** The headers of a replayed response. */
  replayed: Record<string, string>;
  events: { names: Record<string, string>; envelope(event: Stored): Stored };
  deliveries: {
    contentType: string;
    headers: { signature: string; id: string; event: string };
    sign(body: string, secret: string): string;
    /** Seconds between one attempt and the next. */
    schedule: number[];
  };
  endpointHealth: Stored;
  secretPrefix: string;
}

const KNOWN = [
  "name",
  "adjustmentType",
  "adjustmentValue",
  "roomTypeId",
  "startDate",
  "endDate",
  "daysOfWeek",
  "minNights",
  "maxNights",
];

export const hexDigest = (body: string, key: string) => createHmac("sha256", key).update(body).digest("hex");

export const asTheSandbox = (): Behaviour => ({
  success: { "webhooks.create": 201 },
  errors: {
    missing_api_key: { status: 401, error: "authentication_error", code: "missing_api_key" },
    invalid_api_key: { status: 401, error: "authentication_error", code: "invalid_api_key" },
    resource_not_found: { status: 404, error: "not_found", code: "resource_not_found" },
    invalid_state: { status: 409, error: "conflict", code: "invalid_state" },
    already_exists: { status: 409, error: "conflict", code: "already_exists" },
    invalid_limit: { status: 400, error: "invalid_request", code: "invalid_limit" },
    validation_failed: { status: 400, error: "invalid_request", code: "validation_failed" },
    idempotency_key_reused: { status: 422, error: "idempotency_error", code: "idempotency_key_reused" },
    invalid_credentials: { status: 401, error: "authentication_error", code: "invalid_credentials" },
    token_expired: { status: 401, error: "authentication_error", code: "token_expired" },
    idempotency_key_in_use: { status: 409, error: "conflict", code: "idempotency_key_in_use" },
    invalid_webhook_url: { status: 400, error: "invalid_request", code: "invalid_webhook_url" },
    method_not_allowed: { status: 405, error: "method_not_allowed", code: "method_not_allowed" },
    route_not_found: { status: 404, error: "not_found", code: "route_not_found" },
    rate_limit_exceeded: { status: 429, error: "rate_limited", code: "rate_limit_exceeded" },
  },
  error: (body) => body,
  record: (record) => record,
  reply: (body) => body,
  lists: {
    ...{ object: "list", data: "data", more: "has_more", cursor: "starting_after", newestFirst: true },
    payments: { default: 25, minimum: 1, maximum: 100, clamps: false },
    payouts: { default: 25, minimum: 1, maximum: 100, clamps: false },
  },
  pricingRule: {
    required: ["name", "adjustmentType", "adjustmentValue"],
    known: [...KNOWN, "priority", "metadata"],
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
    retryAfter: (wait) => String(wait),
    reset: (end) => String(end),
  },
  idempotency: { header: "Idempotency-Key", window: 86_400, replays: "first response" },
  replayed: { "idempotent-replayed": "true" },
  events: { names: {}, envelope: (event) => event },
  deliveries: {
    contentType: "application/json",
    headers: { signature: "x-webhook-signature", id: "x-webhook-id", event: "x-webhook-event" },
    sign: hexDigest,
    schedule: [1, 5, 15, 30, 60],
  },
  endpointHealth: {
    ...{
      state: "unknown",
      consecutiveFailures: 0,
      pendingDeliveries: 0,
      succeeded24h: 0,
      failed24h: 0,
      lastAttemptAt: null,
    },
    ...{ lastSuccessAt: null, lastFailureAt: null, lastResponseStatus: null, lastError: null, disabledReason: null },
  },
  secretPrefix: "whsec",
});
