// A request as the judge sees it: who asked for what, when, what became of it, and what a client should make of that.

import type { Firing } from "../contracts/fault.ts";
import { readHttpDate } from "../kernel/clock.ts";
import { isTooDeep } from "../kernel/depth.ts";
import { fingerprint } from "../kernel/fingerprint.ts";
import type { Connection, LoggedRequest } from "../store/journal/request-log.ts";

/**
 * Why a call should come again. `limited` and `unavailable` were told so; `failed` is any other trouble of the service;
 * `lost` is an answer that the client never got whole; `abandoned` is one that it did not wait for.
 */
export type Failure = "limited" | "unavailable" | "failed" | "lost" | "abandoned";

/** How long the service said to wait. */
export interface Told {
  milliseconds: number;
  form: "seconds" | "date";
  /** How much too early is still in time. */
  tolerance: number;
}

/** Timers and travel make a client a little early; a date names no more than whole seconds. */
const TOLERANCE = { seconds: 50, date: 1_000 };

export interface Call {
  readonly request: string;
  /** Sandbox milliseconds. */
  readonly at: number;
  /** Real milliseconds, as is `answered`. */
  readonly arrived: number;
  readonly answered: number;
  readonly merchant: string | undefined;
  /** Whose key it was: another key may be another program. */
  readonly caller: string;
  readonly operation: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly key: string | undefined;
  /** Whether it changes anything, and whether an Idempotency-Key makes that happen once. */
  readonly writes: boolean;
  readonly takesKeys: boolean;
  readonly status: number;
  readonly failure: Failure | undefined;
  /** Refused for what it is: sent again it is refused again. */
  readonly refused: boolean;
  readonly told: Told | undefined;
  /** Whether it changed something, whatever the client heard of that. */
  readonly effect: boolean;
  readonly fault: string | undefined;
  readonly connection: Connection;
  /** Whether the body was read: where a connection breaks, what was still on the way is not known. */
  readonly isWhole: boolean;
  /** As the client announced it. */
  readonly bodyLength: string | undefined;
  /** The same for every way to write the same request. Worked out when first asked for. */
  print(): string;
}

export const isSameAddress = (one: Call, other: Call) =>
  one.caller === other.caller && one.method === other.method && one.path === other.path && one.search === other.search;

/** Where one of the bodies is not known, its length speaks for it. */
export const isSameRequest = (one: Call, other: Call) =>
  isSameAddress(one, other) && (one.isWhole && other.isWhole ? one.print() === other.print() : one.bodyLength === other.bodyLength);

/** What the judge must know of an operation. */
export interface OperationFacts {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly idempotent: boolean;
}

const REFUSED = new Set([400, 401, 403, 404, 422]);
const FAILED = new Set([408, 500, 502, 503, 504]);

export const isTrouble = (status: number) => status === 429 || FAILED.has(status) || REFUSED.has(status) || status === 409;

/** No answer was sent at all. */
export const isUnanswered = ({ responseHeaders }: LoggedRequest) => responseHeaders.Date === undefined;

export function describeCall(entry: LoggedRequest, firings: readonly Firing[], operation: OperationFacts | undefined): Call {
  const { method, path, search, status, requestBody } = entry;
  const writes = method !== "GET" && method !== "HEAD";
  const failure = failureOf(entry, firings);
  let print: string | undefined;
  return {
    request: entry.id,
    at: entry.at,
    arrived: entry.arrived,
    answered: entry.arrived + entry.duration,
    merchant: entry.merchant,
    caller: entry.key ?? String(entry.requestHeaders.authorization ?? ""),
    operation: operation?.id,
    method,
    path,
    search,
    key: entry.requestHeaders["idempotency-key"]?.toString() || undefined,
    writes,
    takesKeys: operation?.idempotent ?? false,
    status,
    failure,
    refused: failure === undefined && REFUSED.has(status),
    told: readRetryAfter(entry),
    effect: writes && entry.replayOf === undefined && hasEffect(status, firings),
    fault: firings[0]?.ruleId,
    connection: entry.connection,
    isWhole: requestBody !== "" || Number(entry.requestHeaders["content-length"] ?? 0) === 0,
    bodyLength: entry.requestHeaders["content-length"]?.toString(),
    print() {
      print ??= fingerprint(method, path, search, parsed(requestBody));
      return print;
    },
  };
}

function failureOf(entry: LoggedRequest, firings: readonly Firing[]): Failure | undefined {
  const { status } = entry;
  if (firings.some(({ outcome }) => outcome === "response_lost")) return "lost";
  if (isUnanswered(entry)) return firings.some(({ outcome }) => outcome === "disconnected") ? "failed" : "abandoned";
  if (status === 429) return "limited";
  if (status === 503) return "unavailable";
  if (FAILED.has(status) || (status === 409 && entry.responseBody.includes('"idempotency_key_in_use"'))) return "failed";
  return undefined;
}

const hasEffect = (status: number, firings: readonly Firing[]) =>
  firings.some(({ outcome }) => outcome === "response_lost") ||
  (status >= 200 && status < 300 && !firings.some(({ outcome }) => outcome === "disconnected"));

function readRetryAfter({ responseHeaders, at }: LoggedRequest): Told | undefined {
  const sent = responseHeaders["Retry-After"];
  if (sent === undefined) return undefined;
  const text = String(sent);
  if (/^\d+$/.test(text)) return { milliseconds: Number(text) * 1_000, form: "seconds", tolerance: TOLERANCE.seconds };
  const date = readHttpDate(text);
  return date === undefined ? undefined : { milliseconds: Math.max(0, date - at), form: "date", tolerance: TOLERANCE.date };
}

/** A body that was refused for what it is, no JSON or nested too deep, is compared as text. */
function parsed(body: string): unknown {
  if (body === "") return {};
  try {
    const value: unknown = JSON.parse(body);
    return isTooDeep(value) ? body : value;
  } catch {
    return body;
  }
}
