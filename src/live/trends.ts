// Trends of the last minutes: requests, errors, faults and the 95th percentile of durations in short spans of real
// time, for each operation and for all operations.

import { isoTime, realNow } from "../kernel/clock.ts";
import { nullable, type Static, Type, timeText } from "../schema/shapes.ts";

export const SPAN_SECONDS = 5;
export const SPANS = 60;
const SPAN = SPAN_SECONDS * 1_000;

const counts = {
  requests: Type.Integer(),
  clientErrors: Type.Integer({ description: "Responses with a 4xx" }),
  serverErrors: Type.Integer({ description: "Responses with a 5xx, and connections closed without a response" }),
  faults: Type.Integer({ description: "Requests that a fault rule affected" }),
  p95: nullable(
    Type.Number({
      description: "The 95th percentile of the durations in real milliseconds, exact to 5 %; null without requests",
    }),
  ),
};

/** The requests of several spans of time. */
export const TrendTotal = Type.Object(counts);

const end = {
  sequence: Type.Integer({ description: "The request's number in the request log" }),
  at: timeText("Sandbox time of arrival"),
};

/** The requests of one span of time. */
export const TrendSpan = Type.Object({
  ...counts,
  first: Type.Optional(Type.Object(end, { description: "The request that arrived first. Left out without requests" })),
  last: Type.Optional(Type.Object(end, { description: "The request that arrived last. Left out without requests" })),
});

type TrendTotal = Static<typeof TrendTotal>;

/** A request whose response was sent. `at` is in sandbox milliseconds, and `duration` in real milliseconds. */
export interface CountedRequest {
  sequence: number;
  at: number;
  operation: string | undefined;
  status: number;
  duration: number;
  fault: string | undefined;
}

type End = Pick<CountedRequest, "sequence" | "at">;

interface Span extends Omit<TrendTotal, "p95"> {
  /** The number of the span, counted from the start of the process. */
  number: number;
  first: End | undefined;
  last: End | undefined;
  /** The number of requests in each step of durations; see `stepOf`. */
  durations: Uint32Array<ArrayBuffer>;
}

/**
 * Durations are counted in steps of 9 %, from 8 microseconds to 4 minutes. Eight steps double the duration. A
 * percentile is therefore exact to 5 %.
 */
const STEPS_TO_DOUBLE = 8;
const LOWEST = -7;
const STEPS = 25 * STEPS_TO_DOUBLE;

const stepOf = (duration: number) =>
  Math.max(0, Math.min(STEPS - 1, Math.floor((Math.log2(duration) - LOWEST) * STEPS_TO_DOUBLE)));
const middleOf = (step: number) => 2 ** ((step + 0.5) / STEPS_TO_DOUBLE + LOWEST);

export type Trends = ReturnType<typeof createTrends>;

/**
 * Spans are slots of a ring buffer. The first request of a span takes the slot of an old one, so an operation without
 * calls costs nothing.
 */
export function createTrends(now: () => number = realNow) {
  const all: Span[] = [];
  const byOperation = new Map<string, Span[]>();
  return {
    add(request: CountedRequest) {
      const { operation } = request;
      const number = Math.floor(now() / SPAN);
      count(all, number, request);
      if (operation === undefined) return;
      const ring = byOperation.get(operation) ?? [];
      byOperation.set(operation, ring);
      count(ring, number, request);
    },
    /**
     * Returns the spans of all requests, oldest first; the age of the newest span in milliseconds; and the totals of
     * each operation. The newest span is still running.
     */
    read() {
      const time = now();
      const newest = Math.floor(time / SPAN);
      const spans = spansOf(all, newest);
      const operations = [...byOperation]
        .map(([operation, ring]) => ({ operation, ...shown(merged(spansOf(ring, newest))) }))
        .filter(({ requests }) => requests > 0);
      const shownSpans = spans.map((span) => ({
        ...shown(span),
        ...endsOf(span),
      }));
      return { total: shown(merged(spans)), spans: shownSpans, elapsed: time - newest * SPAN, operations };
    },
    clear() {
      all.length = 0;
      byOperation.clear();
    },
  };
}

/** The spans up to the newest one, oldest first; undefined for each span without requests. */
const spansOf = (ring: readonly Span[], newest: number) =>
  Array.from({ length: SPANS }, (_, index) => {
    const number = newest - SPANS + 1 + index;
    const span = number < 0 ? undefined : ring[number % SPANS];
    return span?.number === number ? span : undefined;
  });

function count(ring: Span[], number: number, { sequence, at, status, duration, fault }: CountedRequest): void {
  const slot = number % SPANS;
  const span = ring[slot]?.number === number ? ring[slot] : emptySpan(number);
  ring[slot] = span;
  span.requests++;
  if (status >= 500 || status === 0) span.serverErrors++;
  else if (status >= 400) span.clientErrors++;
  if (fault !== undefined) span.faults++;
  const step = stepOf(duration);
  span.durations[step] = (span.durations[step] ?? 0) + 1;
  // Requests are counted in the order of their responses, which is not the order of their arrival.
  if (span.first === undefined || sequence < span.first.sequence) span.first = { sequence, at };
  span.last ??= { sequence, at };
  if (sequence > span.last.sequence) span.last = { sequence, at };
}

const emptySpan = (number: number): Span => ({
  number,
  requests: 0,
  clientErrors: 0,
  serverErrors: 0,
  faults: 0,
  first: undefined,
  last: undefined,
  durations: new Uint32Array(STEPS),
});

function endsOf({ first, last }: Span = emptySpan(0)) {
  const shownEnd = ({ sequence, at }: End) => ({ sequence, at: isoTime(at) });
  return first && last ? { first: shownEnd(first), last: shownEnd(last) } : {};
}

function merged(spans: readonly (Span | undefined)[]): Span {
  const total = emptySpan(0);
  for (const span of spans) {
    if (!span) continue;
    total.requests += span.requests;
    total.clientErrors += span.clientErrors;
    total.serverErrors += span.serverErrors;
    total.faults += span.faults;
    for (const [step, times] of span.durations.entries()) total.durations[step] = (total.durations[step] ?? 0) + times;
  }
  return total;
}

function shown({ requests, clientErrors, serverErrors, faults, durations }: Span = emptySpan(0)): TrendTotal {
  let left = Math.ceil(requests * 0.95);
  const step = durations.findIndex((times) => {
    left -= times;
    return left <= 0;
  });
  return {
    requests,
    clientErrors,
    serverErrors,
    faults,
    p95: requests === 0 ? null : Math.round(middleOf(step) * 1_000) / 1_000,
  };
}
