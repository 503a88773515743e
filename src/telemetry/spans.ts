// Creates a span for each request, with its stages, for each delivery attempt, and for each fault below the call or
// delivery that it affected. Times are real milliseconds since the process started.

import type { Firing } from "../contracts/fault.ts";
import type { AttemptMessage } from "../contracts/live-messages.ts";
import type { Random } from "../kernel/random.ts";
import { type CallSpan, childSpan, newTrace } from "../kernel/trace-context.ts";
import type { RequestEntry } from "../store/request-log/request-log.ts";
import { stagesBetween } from "../store/request-log/stages.ts";

/** The span kinds of OTLP. */
export const KINDS = { internal: 1, server: 2, client: 3 } as const;

export interface Span {
  traceId: string;
  spanId: string;
  parent: string | undefined;
  name: string;
  kind: keyof typeof KINDS;
  from: number;
  to: number;
  /** Attributes without a value are not sent. */
  attributes: Readonly<Record<string, string | number | null | undefined>>;
  /** The error; undefined for a success, and for a mistake of the client. */
  error?: string | undefined;
}

/** A fault that fired. */
export interface TimedFiring {
  firing: Firing;
  at: number;
}

export interface TracedRequest {
  entry: Omit<RequestEntry, "requestHeaders" | "requestBody" | "responseHeaders" | "responseBody">;
  /** The path of the request's operation, such as /v1/payments/{id}. */
  route: string | undefined;
  firings: readonly TimedFiring[];
}

export interface TracedAttempt {
  message: AttemptMessage;
  began: number;
  /** Undefined if no traced request caused the event. */
  span: CallSpan | undefined;
  firings: readonly TimedFiring[];
}

export function spansOfRequest(random: Random, { entry, route, firings }: TracedRequest): Span[] {
  const { id, span = { own: newTrace(), parent: undefined }, method, status, arrived, duration } = entry;
  const { own, parent } = span;
  const ends = [...entry.stages, entry.answered - arrived, duration];
  const stages = stagesBetween(ends).map(({ name, from, to }): Span => {
    const { traceId, spanId } = childSpan(random, own, name);
    const times = { from: arrived + from, to: arrived + to };
    return { traceId, spanId, parent: own.spanId, name, kind: "internal", ...times, attributes: {} };
  });
  const error = errorOf(status);
  const request: Span = {
    traceId: own.traceId,
    spanId: own.spanId,
    parent,
    name: route === undefined ? method : `${method} ${route}`,
    kind: "server",
    from: arrived,
    to: arrived + duration,
    attributes: {
      "http.request.method": method,
      "http.route": route,
      "url.path": entry.path,
      "url.query": entry.search || undefined,
      "http.response.status_code": status || undefined,
      "error.type": error && String(status || "no_response"),
      "merchant_sandbox.request": id,
      "merchant_sandbox.merchant": entry.merchant,
      "merchant_sandbox.operation": entry.operation,
      "merchant_sandbox.idempotency_key": entry.idempotencyKey,
      "merchant_sandbox.replay_of": entry.replayOf,
      "merchant_sandbox.fault": entry.fault,
      "merchant_sandbox.summary": entry.summary,
    },
    error,
  };
  return [request, ...stages, ...spansOfFaults(random, own, firings)];
}

function errorOf(status: number): string | undefined {
  if (status === 0) return "The client got no response.";
  return status >= 500 ? `Status ${status}` : undefined;
}

export function spansOfAttempt(random: Random, { message, began, span, firings }: TracedAttempt): Span[] {
  const { own, parent } = span ?? { own: newTrace(), parent: undefined };
  const isFailed = message.status !== "succeeded";
  const attempt: Span = {
    traceId: own.traceId,
    spanId: own.spanId,
    parent,
    name: `deliver ${message.eventType}`,
    kind: "client",
    from: began,
    to: began + (message.durationMs ?? 0),
    attributes: {
      "http.request.method": "POST",
      "url.full": message.url,
      "http.response.status_code": message.responseStatus,
      "error.type": message.errorCode,
      "merchant_sandbox.delivery": message.id,
      "merchant_sandbox.event": message.eventId,
      "merchant_sandbox.event_type": message.eventType,
      "merchant_sandbox.endpoint": message.endpointId,
      "merchant_sandbox.merchant": message.merchant,
      "merchant_sandbox.attempt": message.attempt,
      "merchant_sandbox.trigger": message.trigger,
      "merchant_sandbox.fault": message.fault,
    },
    error: isFailed ? (message.summary ?? message.errorCode ?? message.status) : undefined,
  };
  return [attempt, ...spansOfFaults(random, own, firings)];
}

/** The spans of faults. They have no length, because a fault is a moment. */
const spansOfFaults = (random: Random, cause: CallSpan["own"], firings: readonly TimedFiring[]): Span[] =>
  firings.map(({ firing, at }, index) => {
    const { traceId, spanId } = childSpan(random, cause, `fault ${index}`);
    const attributes = {
      "merchant_sandbox.fault": firing.ruleId,
      "merchant_sandbox.fault_name": firing.name,
      "merchant_sandbox.fault_form": firing.form,
      "merchant_sandbox.outcome": firing.outcome,
    };
    const name = `fault ${firing.action}`;
    return { traceId, spanId, parent: cause.spanId, name, kind: "internal", from: at, to: at, attributes };
  });
