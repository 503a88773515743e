// Describes a logged request for the rules: the client, the operation, the times, the result, and whether a client
// should retry it.

import type { Firing } from "../contracts/fault.ts";
import { tryParseJson } from "../kernel/attempt.ts";
import { readRetryAfter } from "../kernel/duration.ts";
import { type ErrorCode, isRateLimit } from "../kernel/errors.ts";
import { fingerprint } from "../kernel/fingerprint.ts";
import { once } from "../kernel/once.ts";
import { isReadable } from "../kernel/request-limits.ts";
import type { RequestEntry } from "../store/request-log/request-log.ts";

/**
 * Why a client should retry a call. `rate_limited`: a 429, or the service's own status for a rate limit. `unavailable`:
 * a 503. `failed`: any other temporary error. `lost`: the client did not receive the whole response. `abandoned`: the
 * client did not wait for the response.
 */
export type Failure = "rate_limited" | "unavailable" | "failed" | "lost" | "abandoned";

/**
 * Milliseconds by which a retry may be early: for `seconds`, the inaccuracy of timers and of the network; for `date`,
 * the resolution of an HTTP date.
 */
const TOLERANCE = { seconds: 50, date: 1_000 };

export type ObservedCall = Readonly<ReturnType<typeof describeCall>>;

/** A moment on both clocks, in milliseconds. */
export interface Moment {
  readonly real: number;
  readonly sandbox: number;
}

export const arrivalOf = ({ arrived, at }: ObservedCall): Moment => ({ real: arrived, sandbox: at });

export const responseOf = ({ answered, answeredAt }: ObservedCall): Moment => ({ real: answered, sandbox: answeredAt });

/**
 * The time between two moments, in real time or in sandbox time, whichever is longer. A client of a frozen sandbox
 * waits by advancing the clock.
 */
export const waitBetween = (from: Moment, to: Moment) => Math.max(to.real - from.real, to.sandbox - from.sandbox);

export const isSameAddress = (one: ObservedCall, other: ObservedCall) =>
  one.caller === other.caller && one.method === other.method && one.path === other.path && one.search === other.search;

/** Whether two calls have the same address and body. If a body is missing, compares the lengths. */
export const isSameRequest = (one: ObservedCall, other: ObservedCall) =>
  isSameAddress(one, other) &&
  (one.hasBody && other.hasBody
    ? one.body === other.body || one.fingerprint() === other.fingerprint()
    : one.bodyLength === other.bodyLength);

/** The fields of an operation that the judge uses. */
export interface JudgedOperation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly idempotent: boolean;
}

/**
 * Finds a request's operation. The path decides if a rate limit or a fault answered the request before routing.
 */
export function createOperationFinder(operations: readonly JudgedOperation[], prefix: string) {
  const byId = new Map(operations.map((operation) => [operation.id, operation]));
  const patterns = once(() =>
    operations.map((operation) => ({
      operation,
      pattern: new RegExp(`^${prefix}${operation.path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
    })),
  );
  return ({ operation, method, path }: RequestEntry) =>
    operation === undefined
      ? patterns().find(({ operation: { method: verb }, pattern }) => verb === method && pattern.test(path))?.operation
      : byId.get(operation);
}

const FAILED = new Set([408, 500, 502, 503, 504]);
/** The code of the only 409 after which a client should retry the unchanged request. */
const KEY_IN_USE: ErrorCode = "idempotency_key_in_use";

/** Whether the sandbox sent no response at all. */
export const isUnanswered = ({ responseHeaders }: RequestEntry) => responseHeaders.Date === undefined;

export const callerOf = ({ key, requestHeaders }: RequestEntry) => key ?? String(requestHeaders.authorization ?? "");

export function describeCall(entry: RequestEntry, firings: readonly Firing[], operation: JudgedOperation | undefined) {
  const { method, path, search, status, requestBody } = entry;
  const isWrite = method !== "GET" && method !== "HEAD";
  const failure = failureOf(entry, firings);
  return {
    request: entry.id,
    /** Sandbox milliseconds. */
    at: entry.at,
    /** Real milliseconds, like `answered`. */
    arrived: entry.arrived,
    answered: entry.answered,
    /** Sandbox milliseconds. */
    answeredAt: entry.answeredAt,
    merchant: entry.merchant,
    /** The API key. Calls with another key may come from another program. */
    caller: callerOf(entry),
    operation: operation?.id,
    method,
    path,
    search,
    key: entry.requestHeaders["idempotency-key"]?.toString() || undefined,
    isWrite,
    /** Whether the operation accepts an Idempotency-Key. */
    acceptsKey: operation?.idempotent ?? false,
    status,
    failure,
    /** Whether the call got a 4xx that no fault caused, so that the same request would be rejected again. */
    rejected: failure === undefined && firings.length === 0 && status >= 400 && status < 500,
    requestedWait: requestedWaitOf(entry),
    /** Whether the call changed data, even if the client did not receive the response. */
    tookEffect: isWrite && entry.replayOf === undefined && hasEffect(status, firings),
    fault: firings[0]?.ruleId,
    connection: entry.connection,
    /** Whether it is the first request of any kind on its connection. */
    isFirst: entry.isFirst,
    userAgent: entry.requestHeaders["user-agent"]?.toString(),
    /** Whether the sandbox received the body. False if the connection broke first. */
    hasBody: requestBody !== "" || Number(entry.requestHeaders["content-length"] ?? 0) === 0,
    body: requestBody,
    bodyLength: entry.requestHeaders["content-length"]?.toString(),
    /**
     * Computed on first use. Requests that differ only in JSON formatting or the order of fields have equal
     * fingerprints.
     */
    fingerprint: once(() => fingerprint(method, path, search, parsed(requestBody))),
  };
}

function failureOf(entry: RequestEntry, firings: readonly Firing[]): Failure | undefined {
  const { status, errorCode } = entry;
  if (firings.some(({ outcome }) => outcome === "response_lost")) return "lost";
  if (isUnanswered(entry)) return firings.some(({ outcome }) => outcome === "disconnected") ? "failed" : "abandoned";
  if (isRateLimit(status, errorCode)) return "rate_limited";
  if (status === 503) return "unavailable";
  if (FAILED.has(status) || errorCode === KEY_IN_USE) return "failed";
  return undefined;
}

const hasEffect = (status: number, firings: readonly Firing[]) =>
  firings.some(({ outcome }) => outcome === "response_lost") ||
  (status >= 200 && status < 300 && !firings.some(({ outcome }) => outcome === "disconnected"));

/** The wait that Retry-After asks for. */
function requestedWaitOf({ responseHeaders, at }: RequestEntry) {
  const sent = responseHeaders["Retry-After"];
  const wait = sent === undefined ? undefined : readRetryAfter(String(sent), at);
  return wait && { ...wait, tolerance: TOLERANCE[wait.form] };
}

/** Parses the body. Returns the text if it is not JSON, or if the request pipeline would not parse it. */
function parsed(body: string): unknown {
  if (body === "") return {};
  return (isReadable(body) ? tryParseJson(body) : undefined) ?? body;
}
