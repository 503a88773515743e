// Trends of the last minutes: requests, errors and the 95th percentile of durations in short spans of real time, for
// each operation and for all.

import { realNow } from "../kernel/clock.ts";
import { nullable, type Static, Type } from "../schema/shapes.ts";

export const SPAN_SECONDS = 5;
export const SPANS = 60;
const SPAN = SPAN_SECONDS * 1_000;

/** The requests of one span of time. */
export const TrendSpan = Type.Object({
  requests: Type.Integer(),
  clientErrors: Type.Integer({ description: "Responses with a 4xx" }),
  serverErrors: Type.Integer({ description: "Responses with a 5xx, and connections closed without a response" }),
  p95: nullable(
    Type.Number({
      description: "The 95th percentile of the durations in real milliseconds, exact to 5 %; null without requests",
    }),
  ),
});

type TrendSpan = Static<typeof TrendSpan>;

interface Span extends Omit<TrendSpan, "p95"> {
  /** Counts the spans since the process started. */
  number: number;
  /** The number of requests by `stepOf` their duration. */
  durations: Uint32Array<ArrayBuffer>;
}

/**
 * Durations are counted in steps of 9 % (8 to a doubling), from 8 microseconds to 4 minutes: a percentile is exact to 5
 * %.
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
    add({ operation, status, duration }: { operation: string | undefined; status: number; duration: number }) {
      const number = Math.floor(now() / SPAN);
      const step = stepOf(duration);
      count(all, number, status, step);
      if (operation === undefined) return;
      const ring = byOperation.get(operation) ?? [];
      byOperation.set(operation, ring);
      count(ring, number, status, step);
    },
    /**
     * The spans of all requests, oldest first, the age of the newest one in milliseconds, and the totals of each
     * operation. The newest is not over yet.
     */
    read() {
      const time = now();
      const newest = Math.floor(time / SPAN);
      const spans = spansOf(all, newest);
      const operations = [...byOperation]
        .map(([operation, ring]) => ({ operation, ...shown(merged(spansOf(ring, newest))) }))
        .filter(({ requests }) => requests > 0);
      return { total: shown(merged(spans)), spans: spans.map(shown), elapsed: time - newest * SPAN, operations };
    },
    clear() {
      all.length = 0;
      byOperation.clear();
    },
  };
}

/** The spans up to the newest one, oldest first; undefined for those without requests. */
const spansOf = (ring: readonly Span[], newest: number) =>
  Array.from({ length: SPANS }, (_, index) => {
    const number = newest - SPANS + 1 + index;
    const span = number < 0 ? undefined : ring[number % SPANS];
    return span?.number === number ? span : undefined;
  });

function count(ring: Span[], number: number, status: number, step: number): void {
  const slot = number % SPANS;
  const span = ring[slot]?.number === number ? ring[slot] : emptySpan(number);
  ring[slot] = span;
  span.requests++;
  if (status >= 500 || status === 0) span.serverErrors++;
  else if (status >= 400) span.clientErrors++;
  span.durations[step] = (span.durations[step] ?? 0) + 1;
}

const emptySpan = (number: number): Span => ({
  number,
  requests: 0,
  clientErrors: 0,
  serverErrors: 0,
  durations: new Uint32Array(STEPS),
});

function merged(spans: readonly (Span | undefined)[]): Span {
  const total = emptySpan(0);
  for (const span of spans) {
    if (!span) continue;
    total.requests += span.requests;
    total.clientErrors += span.clientErrors;
    total.serverErrors += span.serverErrors;
    for (const [step, times] of span.durations.entries()) total.durations[step] = (total.durations[step] ?? 0) + times;
  }
  return total;
}

function shown({ requests, clientErrors, serverErrors, durations }: Span = emptySpan(0)): TrendSpan {
  let left = Math.ceil(requests * 0.95);
  const step = durations.findIndex((times) => {
    left -= times;
    return left <= 0;
  });
  return {
    requests,
    clientErrors,
    serverErrors,
    p95: requests === 0 ? null : Math.round(middleOf(step) * 1_000) / 1_000,
  };
}
