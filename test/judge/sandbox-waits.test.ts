// Waits of clients on a frozen clock: instead of waiting, a test advances the clock, which takes no real time.

import { describe, expect, test } from "vitest";
import type { RequestEntry } from "../../src/store/request-log/request-log.ts";
import { judge, NOON, requestEntry, wait } from "../support/judge-inputs.ts";
import { open } from "../support/sandbox.ts";
import { advance } from "../support/webhooks.ts";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const connection = { number: 1, opened: 0 };

/**
 * Calls of one client at these sandbox times, 5 ms of real time apart. All but the last get `status`; the last gets
 * 200.
 */
const callsAt = (times: readonly number[], status: number, rest: Partial<RequestEntry> = {}) =>
  times.map((at, index) => {
    const isLast = index === times.length - 1;
    return requestEntry(index * 5, isLast ? 200 : status, { connection, at: NOON + at, ...(isLast ? {} : rest) });
  });

describe("on a frozen clock", () => {
  test.each([
    ["1", 1 * SECOND, "pass"],
    ["1", 900, "fail"],
    ["Mon, 05 Jan 2026 12:00:10 GMT", 10 * SECOND, "pass"],
    ["Mon, 05 Jan 2026 12:00:10 GMT", 8 * SECOND, "fail"],
  ])("retry_after.honoured: Retry-After %s and an advance by %i ms give the verdict %s", (retryAfter, by, verdict) => {
    expect(judge(...callsAt([0, by], 429, wait(retryAfter))).of("retry_after.honoured")).toEqual([verdict]);
  });

  test("retry_after.unit: an advance by 60 s passes, although the client really waited for about 60 ms", () => {
    const waits = (by: number) =>
      judge(
        requestEntry(0, 503, { ...wait("60"), connection, at: NOON }),
        requestEntry(61, 200, { connection, at: NOON + by }),
      );
    expect([waits(60 * SECOND).of("retry_after.*"), waits(0).of("retry_after.*")]).toEqual([
      ["pass", "pass"],
      ["fail"],
    ]);
  });

  test("retry.happened: a client that makes another call after its deadline on the clock has given up", () => {
    const other = (by: number) => requestEntry(10, 200, { connection, at: NOON + by, search: "limit=5" });
    const failed = () => requestEntry(0, 429, { ...wait("60"), connection, at: NOON });
    expect(judge(...callsAt([0, 60 * SECOND], 429, wait("60"))).of("retry.happened")).toEqual(["pass"]);
    expect(judge(failed(), other(60 * SECOND)).of("retry.happened")).toEqual(["inconclusive"]);
    expect(judge(failed(), other(HOUR)).of("retry.happened")).toEqual(["fail"]);
  });

  test("retry.happened: a retry after a longer advance than expected is a pass", () => {
    expect(judge(...callsAt([0, HOUR], 429, wait("60"))).of("retry.happened")).toEqual(["pass"]);
  });

  test("retry.backoff_grows: the advances are the pauses", () => {
    const verdictsOn = (...times: number[]) => judge(...callsAt(times, 503)).of("retry.backoff_grows");
    expect(verdictsOn(0, 1 * SECOND, 3 * SECOND, 7 * SECOND)).toEqual(["pass"]);
    expect(verdictsOn(0, 1 * SECOND, 2 * SECOND, 3 * SECOND)).toEqual(["fail"]);
  });

  test("retry.bounded: too many tries of one call are found, even if the clock is advanced between them", () => {
    const tries = (count: number) =>
      callsAt(
        [...Array(count).keys()].map((place) => place * SECOND),
        503,
      );
    expect([judge(...tries(10)).of("retry.bounded"), judge(...tries(11)).of("retry.bounded")]).toEqual([
      ["pass"],
      ["fail"],
    ]);
  });

  test("retry.only_retryable: the same rejected call once an hour does not count as a loop", () => {
    const every = (pause: number) =>
      judge(...[0, 1, 2, 3].map((place) => requestEntry(place * 5, 404, { connection, at: NOON + place * pause })));
    expect([every(HOUR).of("retry.only_retryable"), every(SECOND).of("retry.only_retryable")]).toEqual([[], ["fail"]]);
  });

  test("a client that advances the clock by Retry-After and calls again gets no failure", async () => {
    const bench = await open({ rateLimit: "1/1m" });
    await bench.call("GET", "/v1/payments");
    const limited = await bench.call("GET", "/v1/payments");
    expect(limited.status).toBe(429);
    await advance(bench, `${limited.headers["retry-after"]}s`);
    expect((await bench.call("GET", "/v1/payments")).status).toBe(200);
    const { data } = await bench.control("GET", "/verdicts");
    expect(data.map(({ rule, verdict }: { rule: string; verdict: string }) => `${verdict} ${rule}`).sort()).toEqual([
      "pass retry.bounded",
      "pass retry.happened",
      "pass retry_after.honoured",
      "pass retry_after.unit",
    ]);
  });
});
