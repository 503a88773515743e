// Injected answers: the service's own words and headers for a status that the service did not come to.

import type { ApiEffect, RetryAfter } from "../../contracts/fault.ts";
import { httpDate, LATEST_TIME } from "../../kernel/clock.ts";
import { type ErrorBody, type ErrorCode, errors } from "../../kernel/errors.ts";
import type { Reply, RequestContext } from "../context.ts";

type Refusal = Extract<ApiEffect, { kind: "refuse" }>;

/** The code that a status has where nobody named one: not simply the first of the table. */
const USUAL: Readonly<Record<number, ErrorCode>> = {
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
  USUAL[status] ?? (Object.keys(errors) as ErrorCode[]).find((code) => errors[code].status === status) ?? "injected_error";

function categoryOf(code: string, status: number): string {
  if (Object.hasOwn(errors, code) && errors[code as ErrorCode].status === status) return errors[code as ErrorCode].error;
  const usual = errors[codeOf(status)];
  return usual.status === status ? usual.error : status < 500 ? "invalid_request" : "api_error";
}

/** Writes the answer and the headers that go with it. */
export function refusal(context: RequestContext, { status, code = codeOf(status), message, retryAfter, headers }: Refusal): Reply {
  const seconds = secondsOf(retryAfter);
  Object.assign(context.headers, ownHeaders(status), headers, retryHeaders(retryAfter, context.at));
  if (status === 429) Object.assign(context.headers, windowHeaders(seconds ?? 1, context.at));
  const body: ErrorBody = {
    error: categoryOf(code, status),
    message: message ?? "A fault rule answered instead of the service.",
    code,
    details: {
      ...(status === 429 && context.bucket ? { limit: context.bucket.limit } : {}),
      ...(seconds === undefined ? {} : { retryAfter: seconds }),
      requestId: context.id,
    },
  };
  return { status, body: JSON.stringify(body) };
}

/** What goes with a status whoever answers it. */
function ownHeaders(status: number): Record<string, string> {
  if (status === 401) return { "WWW-Authenticate": "Bearer" };
  return status === 429 ? { "Cache-Control": "no-store" } : {};
}

/** The window as the 429 tells of it: nothing is left, and it ends when the waiting does. */
const windowHeaders = (seconds: number, at: number) => ({
  "RateLimit-Remaining": "0",
  "RateLimit-Reset": String(Math.floor(at / 1_000) + seconds),
});

/** The seconds that were meant; undefined where the answer does not say them. */
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

/** Lets the headers tell another time; answers that time, within what a calendar can show. */
export function skewHeaders(context: RequestContext, by: number): number {
  const { at, bucket } = context;
  const wrong = Math.min(LATEST_TIME, Math.max(0, at + by));
  context.headers.Date = httpDate(wrong);
  if (bucket) context.headers["RateLimit-Reset"] = String(Math.ceil((bucket.reset(at) + wrong - at) / 1_000));
  return wrong;
}
