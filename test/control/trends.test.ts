// Trends: counts for each span of real time, the 95th percentile, and the control operation that reads them.

import { describe, expect, test } from "vitest";
import { createTrends, SPAN_SECONDS, SPANS } from "../../src/live/trends.ts";
import { open } from "../support/sandbox.ts";

const SPAN = SPAN_SECONDS * 1_000;

/** Trends whose time the test sets. */
function trendsAt(start: number) {
  let now = start;
  let sequence = 0;
  const trends = createTrends(() => now);
  const add = (status: number, duration: number, operation?: string, fault?: string) =>
    trends.add({ sequence: ++sequence, at: now, operation, status, duration, fault });
  return {
    ...trends,
    add,
    /** Adds a slow request, which arrived before all requests that were already added. */
    addSlow: () => trends.add({ sequence: 0, at: 0, operation: undefined, status: 200, duration: 1, fault: undefined }),
    advance(milliseconds: number) {
      now += milliseconds;
    },
  };
}

describe("a trend", () => {
  test("counts requests and errors by span, the newest last", () => {
    const trends = trendsAt(10 * SPAN);
    trends.add(200, 1);
    trends.add(404, 1);
    trends.advance(SPAN);
    for (const status of [429, 500, 503, 0]) trends.add(status, 1);
    const { spans, total, elapsed } = trends.read();
    expect(spans).toHaveLength(SPANS);
    expect(spans.slice(-3)).toMatchObject([
      { requests: 0, p95: null },
      { requests: 2, clientErrors: 1, serverErrors: 0 },
      { requests: 4, clientErrors: 1, serverErrors: 3 },
    ]);
    expect(total).toMatchObject({ requests: 6, clientErrors: 2, serverErrors: 3 });
    expect(elapsed).toBe(0);
  });

  test("counts what faults affected, and names the requests that arrived first and last in each span", () => {
    const trends = trendsAt(10 * SPAN);
    trends.add(200, 1);
    trends.advance(SPAN);
    trends.add(503, 1, "payments.list", "flt_1");
    trends.advance(1_000);
    trends.add(200, 1);
    trends.addSlow();
    const { spans, total, operations } = trends.read();
    expect(spans.at(-3)).not.toHaveProperty("first");
    expect([total.faults, operations[0]?.faults]).toEqual([1, 1]);
    expect(spans.slice(-3)).toMatchObject([
      { faults: 0, requests: 0 },
      { faults: 0, first: { sequence: 1, at: "1970-01-01T00:00:50.000Z" }, last: { sequence: 1 } },
      { faults: 1, first: { sequence: 0 }, last: { sequence: 3, at: "1970-01-01T00:00:56.000Z" } },
    ]);
  });

  test("forgets requests that are older than its spans, even if their slots are reused", () => {
    const trends = trendsAt(0);
    trends.add(200, 1);
    trends.advance((SPANS - 1) * SPAN);
    expect(trends.read().spans[0]).toMatchObject({ requests: 1 });
    trends.advance(SPAN);
    expect(trends.read().total).toMatchObject({ requests: 0 });
    trends.add(500, 1);
    expect(trends.read().total).toMatchObject({ requests: 1, serverErrors: 1 });
  });

  test("of an operation counts only the requests of that operation", () => {
    const trends = trendsAt(0);
    trends.add(200, 1, "payments.list");
    trends.add(429, 1, "payouts.list");
    trends.add(404, 1);
    const { total, operations } = trends.read();
    expect(total).toMatchObject({ requests: 3, clientErrors: 2 });
    expect(operations).toMatchObject([
      { operation: "payments.list" },
      { operation: "payouts.list", requests: 1, clientErrors: 1 },
    ]);
    trends.advance(SPANS * SPAN);
    expect(trends.read().operations).toEqual([]);
  });

  test("has a 95th percentile within 5 % of the exact one, from microseconds to seconds", () => {
    for (const scale of [0.02, 1, 37, 2_000]) {
      const trends = trendsAt(0);
      const durations = Array.from({ length: 1_000 }, (_, index) => (scale * (index + 1)) / 1_000);
      for (const duration of durations) trends.add(200, duration);
      const exact = scale * 0.95;
      expect(Math.abs((trends.read().total.p95 ?? 0) - exact) / exact).toBeLessThan(0.05);
    }
  });
});

test("the control API shows the trend of all requests and of an operation, until a reset", async () => {
  const bench = await open();
  await bench.call("GET", "/v1/payments");
  await bench.call("GET", "/v1/payments?limit=0");
  await bench.call("GET", "/v1/nowhere");
  const { total, spans, seconds, operations } = await bench.control("GET", "/trends");
  expect([total.requests, total.clientErrors, seconds, spans.length]).toEqual([3, 2, SPAN_SECONDS, SPANS]);
  expect(operations).toMatchObject([
    { operation: "payments.list", requests: 2, clientErrors: 1, p95: expect.any(Number) },
  ]);
  await bench.control("POST", "/reset", {});
  expect((await bench.control("GET", "/trends")).total).toMatchObject({ requests: 0, p95: null });
});

test("the overview names armed scenarios with their score", async () => {
  const bench = await open();
  expect(await bench.control("GET", "")).toMatchObject({ scenarios: [] });
  await bench.control("POST", "/scenarios/lost-response", { merchant: "mer_lodge" });
  expect(await bench.control("GET", "")).toMatchObject({
    scenarios: [{ name: "lost-response", merchant: "mer_lodge", score: 0, verdict: "inconclusive" }],
  });
  await bench.control("DELETE", "/scenarios/lost-response");
  expect(await bench.control("GET", "")).toMatchObject({ scenarios: [] });
});
