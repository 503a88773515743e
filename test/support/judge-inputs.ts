// Inputs of the judge: requests, fault firings and delivery attempts, with defaults that a test overrides.

import type { Firing } from "../../src/contracts/fault.ts";
import type { AttemptMessage } from "../../src/contracts/live-messages.ts";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import { createJudge } from "../../src/judge/judge.ts";
import type { RequestEntry } from "../../src/store/request-log/request-log.ts";
import { checkVerdicts } from "../../src/verify/check-verdicts.ts";

export const NOON = Date.UTC(2026, 0, 5, 12);

/** The sandbox time of a judge. It advances with real time, like the times of the entries. */
export const sandboxNow = () => NOON + performance.now() - 1e9;

/** Operations that the entries call. */
export const operations = [
  { id: "payments.list", method: "GET", path: "/payments", idempotent: false },
  { id: "pricing_rules.create", method: "POST", path: "/hospitality/pricing-rules", idempotent: true },
];

let count = 0;

/**
 * A GET with its response. `arrived` is in real milliseconds after a time 11 days in the future, so that no deadline
 * passes during a test.
 */
export function requestEntry(arrived: number, status: number, rest: Partial<RequestEntry> = {}): RequestEntry {
  count++;
  const answered = (rest.arrived ?? 1e9 + arrived) + (rest.duration ?? 0);
  return {
    sequence: count,
    id: `req_${count}`,
    at: NOON + arrived,
    merchant: "mer_lodge",
    operation: "payments.list",
    method: "GET",
    path: "/v1/payments",
    search: "",
    status,
    duration: 0,
    arrived: 1e9 + arrived,
    answered,
    answeredAt: (rest.at ?? NOON + arrived) + (rest.duration ?? 0),
    connection: { number: count, opened: 1e9 + arrived },
    isFirst: rest.connection === undefined,
    key: "…odge",
    idempotencyKey: undefined,
    replayOf: undefined,
    fault: undefined,
    ignored: undefined,
    requestHeaders: {},
    requestBody: "",
    responseHeaders: { Date: "x" },
    responseBody: "",
    ...rest,
  } as RequestEntry;
}

/** A write with its response. `key` is its Idempotency-Key, if any. */
export const writeEntry = (
  arrived: number,
  status: number,
  key: string | undefined,
  rest: Partial<RequestEntry> = {},
): RequestEntry =>
  requestEntry(arrived, status, {
    method: "POST",
    path: "/v1/hospitality/pricing-rules",
    operation: undefined,
    requestHeaders: key === undefined ? {} : { "idempotency-key": key },
    requestBody: '{"name":"a","amount":1}',
    ...rest,
  });

export const firing = (rest: Partial<Firing>): Firing => ({
  ruleId: "flt_1",
  name: null,
  target: "api",
  action: "lost_response",
  form: null,
  outcome: "response_lost",
  expect: [],
  merchant: "mer_lodge",
  requestId: null,
  attemptId: null,
  eventId: null,
  endpointId: null,
  rotatedAt: null,
  at: NOON,
  ...rest,
});

export const attemptMessage = (rest: Partial<AttemptMessage> = {}): AttemptMessage => ({
  id: "whd_1",
  at: NOON,
  merchant: "mer_lodge",
  endpointId: "we_1",
  eventId: "evt_1",
  eventType: "payment.succeeded",
  url: "http://localhost:3000/",
  trigger: "event",
  attempt: 1,
  maxAttempts: 6,
  status: "succeeded",
  responseStatus: 200,
  errorCode: null,
  summary: null,
  sequence: 1,
  delivery: 1,
  fault: null,
  durationMs: 5,
  nextAttemptAt: null,
  ...rest,
});

/** A delivery attempt as the judge receives it. `began` is in real milliseconds. */
export const recordedAttempt = (rest: Partial<AttemptMessage> = {}, began = performance.now()) => ({
  message: attemptMessage(rest),
  began,
});

/** The headers of a response with this Retry-After. */
export const wait = (retryAfter: string) => ({ responseHeaders: { Date: "x", "Retry-After": retryAfter } });

export const newJudge = (onVerdict: (verdict: VerdictMessage) => void = () => {}) =>
  createJudge({
    operations,
    prefix: "/v1",
    now: sandboxNow,
    checkVerdicts,
    isDelivering: () => false,
    onVerdict,
  });

/** A judge that has observed the entries. `published` gets its final verdicts; `of` returns the verdicts of a rule. */
export function judge(...entries: RequestEntry[]) {
  const published: VerdictMessage[] = [];
  const made = newJudge((verdict) => published.push(verdict));
  for (const one of entries) made.request(one);
  return { ...made, published, of: (rule: string) => made.verdicts({ rule }).map(({ verdict }) => verdict) };
}
