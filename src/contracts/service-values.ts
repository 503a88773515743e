// The values in which services differ, and their defaults. A service file may change them.

import { type ErrorCode, errors } from "../kernel/errors.ts";

export interface ServiceValues {
  /** The request header with the idempotency key. */
  readonly idempotencyHeader: string;
  /** The name of a response header; undefined if the service does not send it. */
  headerName(header: string, operation?: string): string | undefined;
  errorStatus(code: ErrorCode, operation?: string): number;
  /** `limit` requests per `window` milliseconds. */
  readonly rateLimit: { readonly limit: number; readonly window: number };
  /** Seconds that each 429 asks to wait; undefined for the time until the window ends. */
  readonly retryAfter?: number | undefined;
  /** A schedule by name, or the milliseconds before each attempt of a delivery. */
  readonly retrySchedule: "fast" | readonly number[];
  /** The form of the signature of deliveries. */
  readonly signature: string;
  readonly deliveryHeaders: DeliveryHeaders;
}

/** The names of the delivery headers; undefined if the service does not send the header. */
export interface DeliveryHeaders {
  readonly signature: string | undefined;
  readonly id: string | undefined;
  readonly event: string | undefined;
}

/** The values without a service file. */
export const ownValues: ServiceValues = {
  idempotencyHeader: "Idempotency-Key",
  headerName: (header) => header,
  errorStatus: (code) => errors[code].status,
  rateLimit: { limit: 6_000, window: 60_000 },
  retrySchedule: "fast",
  signature: "hex digest of the body, keyed with the whole secret",
  deliveryHeaders: { signature: "X-Webhook-Signature", id: "X-Webhook-Id", event: "X-Webhook-Event" },
};
