// Builds injected error responses, with the body and headers that the service itself would send with the status.

import type { ApiEffect, RetryAfter } from "../../contracts/fault.ts";
import { type Clock, httpDate, LATEST_TIME } from "../../kernel/clock.ts";
import { type ErrorBody, type ErrorCode, errors } from "../../kernel/errors.ts";
import type { Reply, RequestContext } from "../context.ts";
import { moveClock, secondsUntil } from "../rate-limit.ts";

type InjectedResponse = Extract<ApiEffect, { kind: "respond" }>;

/** The default error code of a status, if it is not the first in the table of errors. */
const DEFAULT_CODES: Readonly<Record<number, ErrorCode>> = {
  400: "validation_failed",
  401: "invalid_api_key",
  403: "merchant_suspended",
  404: "resource_not_found",
  409: "invalid_state",
  429: "injected_rate_limit",
  500: "injected_error",
  503: "outage",
};

const codeOf = (status: number): ErrorCode =>
  DEFAULT_CODES[status] ?? (Object.keys(errors) as ErrorCode[]).find((code) => errors[code].status === status) ?? "injected_error";

function categoryOf(code: string, status: number): string {
  if (Object.hasOwn(errors, code) && errors[code as ErrorCode].status === status) return errors[code as ErrorCode].error;
  const fallback = errors[codeOf(status)];
  return fallback.status === status ? fallback.error : status < 500 ? "invalid_request" : "api_error";
}

/** Builds the reply, and sets its headers on the context. */
export function injectedResponse(
  context: RequestContext,
  { status, code = codeOf(status), message = "A fault rule sent this response.", retryAfter, headers, endsAt = Infinity }: InjectedResponse,
  { mode }: Pick<Clock, "mode">,
): Reply {
  const isStuck = endsAt < Infinity && mode === "frozen";
  const seconds = secondsOf(retryAfter);
  context.errorCode = code;
  Object.assign(context.headers, statusHeaders(status), headers, retryHeaders(retryAfter, context.at));
  if (status === 429) Object.assign(context.headers, windowHeaders(seconds ?? 1, context.at));
  const body: ErrorBody = {
    error: categoryOf(code, status),
    message: isStuck ? `${message} ${moveClock("it", secondsUntil(endsAt, context.at))}` : message,
    code,
    details: {
      ...(status === 429 && context.bucket ? { limit: context.bucket.limit } : {}),
      ...(seconds === undefined ? {} : { retryAfter: seconds }),
      ...(isStuck ? { clock: mode } : {}),
      requestId: context.id,
    },
  };
  return { status, body: JSON.stringify(body) };
}

/** The headers that every response with this status has. */
function statusHeaders(status: number): Record<string, string> {
  if (status === 401) return { "WWW-Authenticate": "Bearer" };
  return status === 429 ? { "Cache-Control": "no-store" } : {};
}

/** The rate-limit headers of an injected 429: nothing remains, and the window ends when Retry-After does. */
const windowHeaders = (seconds: number, at: number) => ({
  "RateLimit-Remaining": "0",
  "RateLimit-Reset": String(Math.floor(at / 1_000) + seconds),
});

/** Retry-After in seconds; undefined if the response does not state it. */
function secondsOf(retryAfter: RetryAfter | undefined): number | undefined {
  if (typeof retryAfter === "number") return retryAfter;
  if (typeof retryAfter === "object") return retryAfter.seconds;
  return retryAfter === "zero" || retryAfter === "past" ? 0 : undefined;
}

const AN_HOUR = 3_600_000;

function retryHeaders(retryAfter: RetryAfter | undefined, at: number): Record<string, string> {
  if (retryAfter === undefined || retryAfter === "absent") return {};
  if (retryAfter === "invalid") return { "Retry-After": "soon" };
  if (retryAfter === "past") return { "Retry-After": httpDate(at - AN_HOUR) };
  if (typeof retryAfter === "object") return { "Retry-After": httpDate(at + retryAfter.seconds * 1_000) };
  return { "Retry-After": String(retryAfter === "zero" ? 0 : retryAfter) };
}

/** Shifts the times in the headers, and returns the shifted time, limited to valid dates. */
export function skewHeaders(context: RequestContext, by: number): number {
  const { at, bucket } = context;
  const wrong = Math.min(LATEST_TIME, Math.max(0, at + by));
  context.headers.Date = httpDate(wrong);
  if (bucket) context.headers["RateLimit-Reset"] = String(Math.ceil((bucket.reset(at) + wrong - at) / 1_000));
  return wrong;
}
