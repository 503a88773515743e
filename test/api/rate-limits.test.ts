// Rate limits: the scope of a window, what it counts, its headers, and when it ends.

import { describe, expect, test } from "vitest";
import type { RequestContext } from "../../src/http/context.ts";
import { createRateLimiter } from "../../src/http/rate-limit.ts";
import { type Answer, attempted, type Bench, type CallOptions, NOON_SECONDS, open, RULES } from "../support/sandbox.ts";
import { advance } from "../support/webhooks.ts";

const ME = "/v1/merchants/me";

const me = (bench: Bench, options: CallOptions = {}) => bench.call("GET", ME, options);

/** The values of the three RateLimit headers as numbers. */
const windowOf = ({ headers }: Answer) =>
  ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"].map((name) =>
    headers[name] === undefined ? undefined : Number(headers[name]),
  );

describe("a window", () => {
  test("is aligned to the epoch", async () => {
    const bench = await open({ clock: "2026-01-05T12:00:47Z", rateLimit: "5/10s" });
    expect(windowOf(await me(bench))).toEqual([5, 4, NOON_SECONDS + 50]);
    await advance(bench, "2999ms");
    expect(windowOf(await me(bench))).toEqual([5, 3, NOON_SECONDS + 50]);
    await advance(bench, "1ms");
    expect(windowOf(await me(bench))).toEqual([5, 4, NOON_SECONDS + 60]);
    await advance(bench, "35s");
    expect(windowOf(await me(bench))).toEqual([5, 4, NOON_SECONDS + 90]);
  });

  test("may be shorter than a second, and its headers never name a time in the past", async () => {
    const bench = await open({ rateLimit: "1/500ms" });
    expect(windowOf(await me(bench))).toEqual([1, 0, NOON_SECONDS + 1]);
    const limited = await me(bench);
    expect([limited.status, limited.headers["retry-after"]]).toEqual([429, "1"]);
    await advance(bench, "500ms");
    expect((await me(bench)).status).toBe(200);
  });

  test("does not end by waiting under a frozen clock: the 429 says so and names the command that ends it", async () => {
    const bench = await open({ rateLimit: "1/10s" });
    await me(bench);
    const limited = await me(bench);
    expect(limited).toMatchObject({ status: 429, body: { details: { limit: 1, retryAfter: 10, clock: "frozen" } } });
    const [, by = ""] = /frozen.*`npx merchant-sandbox clock advance (\w+)`/.exec(limited.body.message) ?? [];
    await advance(bench, by);
    expect((await me(bench)).status).toBe(200);
    await bench.control("PUT", "/clock", { mode: "offset", now: "2026-01-05T12:01:01Z" });
    await me(bench);
    const running = await me(bench);
    expect(running.body).toMatchObject({
      message: expect.stringContaining("Wait 9 s"),
      details: { limit: 1, retryAfter: 9 },
    });
    expect(running.text).not.toContain("frozen");
  });

  test("is too large to be used up with `none`, but still has its headers", async () => {
    const bench = await open({ rateLimit: "none" });
    expect(windowOf(await me(bench))).toEqual([1_000_000_000, 999_999_999, NOON_SECONDS + 60]);
  });
});

describe("a used-up window", () => {
  test("gives 429 with the time to wait on every route, without any effect", async () => {
    const bench = await open({ rateLimit: "3/1m", clock: "2026-01-05T12:00:18.250Z" });
    const answers = [await me(bench), await me(bench), await me(bench)];
    expect(answers.map((answer) => [answer.status, windowOf(answer)[1]])).toEqual([
      [200, 2],
      [200, 1],
      [200, 0],
    ]);
    const limited = await bench.call("POST", RULES, {
      body: { name: "x", adjustmentType: "fixed", adjustmentValue: 1 },
    });
    expect(limited).toMatchObject({
      status: 429,
      headers: { "retry-after": "42", "cache-control": "no-store" },
      body: { error: "rate_limited", code: "rate_limit_exceeded", details: { limit: 3, retryAfter: 42 } },
    });
    expect(windowOf(limited)).toEqual([3, 0, NOON_SECONDS + 60]);
    expect(await bench.events(limited)).toEqual([]);
    expect((await bench.call("GET", "/v1/payments")).status).toBe(429);
  });

  test("rejects exactly those concurrent requests that exceed the limit", async () => {
    const bench = await open({ rateLimit: "10/1m" });
    const answers = await Promise.all(Array.from({ length: 30 }, () => me(bench)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
    expect(answers.filter(({ status }) => status === 200).map((answer) => windowOf(answer)[1])).toEqual([
      9, 8, 7, 6, 5, 4, 3, 2, 1, 0,
    ]);
  });
});

test("every request that reaches the limiter counts; requests rejected earlier or under /_sandbox do not", async () => {
  const bench = await open();
  const remaining = async () => Number((await me(bench)).headers["ratelimit-remaining"]);
  const calls: [counted: number, method: string, path: string, options?: CallOptions][] = [
    [1, "HEAD", "/v1/payments"],
    [1, "POST", RULES, { body: "x", contentType: "text/plain" }],
    [1, "POST", "/v1/hospitality/bookings/bkg_confirmed/decline", { headers: { "idempotency-key": "k" } }],
    [0, "GET", "/v1/nowhere"],
    [0, "PUT", ME],
    [0, "GET", ME, { key: null }],
    [0, "GET", ME, { key: "sk_test_nobody" }],
    [0, "GET", ME, { headers: { host: "evil.example" } }],
    [0, "GET", ME, { key: "sk_test_market" }],
    [0, "GET", "/_sandbox"],
    [0, "GET", "/_sandbox/clock"],
    [0, "GET", "/nowhere"],
  ];
  for (const [counted, method, path, options] of calls) {
    const before = await remaining();
    await bench.call(method, path, options);
    // remaining() makes a call itself, which counts as well.
    expect([path, await remaining()]).toEqual([path, before - 1 - counted]);
  }
});

describe("the scope of a window", () => {
  test("is the address for clients without a valid key, who learn nothing about a merchant's window", async () => {
    const bench = await open({ rateLimit: "4/1m" });
    for (let used = 0; used < 3; used++) await me(bench);
    const strangers = [
      await me(bench, { key: null }),
      await me(bench, { key: "sk_test_nobody" }),
      await me(bench, { key: "sk_live_whatever" }),
      await me(bench, { key: null, headers: { authorization: ["Bearer sk_test_lodge", "Bearer sk_test_lodge"] } }),
    ];
    expect(strangers.map((answer) => [answer.status, windowOf(answer)[1]])).toEqual([
      [401, 3],
      [401, 2],
      [403, 1],
      [401, 0],
    ]);
    const fifth = await me(bench, { key: null });
    expect(fifth).toMatchObject({
      status: 429,
      headers: { "retry-after": "60" },
      body: { code: "rate_limit_exceeded" },
    });
    expect(fifth.headers["www-authenticate"]).toBeUndefined();
    expect(windowOf(await me(bench))).toEqual([4, 0, NOON_SECONDS + 60]);
    expect((await me(bench, { key: "sk_test_market" })).status).toBe(200);
  });

  test("is the address for an expired session, not the merchant", async () => {
    const bench = await open({ rateLimit: "9/2h" });
    const login = { email: "ola@lodge.example", password: "lodge-password" };
    const { body } = await bench.call("POST", "/v1/merchants/login", { body: login });
    await advance(bench, "1h");
    const expired = await me(bench, { key: body.accessToken });
    expect([expired.status, windowOf(expired)[1]]).toEqual([401, 8]);
    expect(windowOf(await me(bench))[1]).toBe(7);
  });
});

describe("an operation with a window of its own", () => {
  const rateLimit = ["100/1m", "bookings.decline=2/10s", "payments.list=none"];
  const decline = (bench: Bench) => bench.call("POST", "/v1/hospitality/bookings/bkg_confirmed/decline");

  test("counts only in that window, not in the merchant's", async () => {
    const bench = await open({ rateLimit });
    expect(windowOf(await decline(bench))).toEqual([2, 1, NOON_SECONDS + 10]);
    expect(windowOf(await decline(bench))).toEqual([2, 0, NOON_SECONDS + 10]);
    expect(await decline(bench)).toMatchObject({ status: 429, headers: { "retry-after": "10" } });
    expect(windowOf(await bench.call("GET", "/v1/payments"))).toEqual([1_000_000_000, 999_999_999, NOON_SECONDS + 60]);
    expect(windowOf(await me(bench))).toEqual([100, 99, NOON_SECONDS + 60]);
    expect(
      (await bench.call("POST", "/v1/hospitality/bookings/bkg_confirmed/decline", { key: "sk_test_market" })).status,
    ).toBe(404);
    await advance(bench, "10s");
    expect((await decline(bench)).status).toBe(409);
  });

  test("is rejected with a suggestion if the operation does not exist", async () => {
    await expect(open({ rateLimit: "booking.decline=2/10s" })).rejects.toThrow(/booking\.decline.*bookings\.decline/);
    await expect(open({ rateLimit: "__proto__=1/1h" })).rejects.toThrow(
      "--rate-limit: there is no operation __proto__.",
    );
  });
});

test("responses of the Host and Origin checks and of the control API have no RateLimit headers", async () => {
  const bench = await open({ rateLimit: "100/1m" });
  const guarded = [
    await me(bench, { headers: { host: "evil.example" } }),
    await me(bench, { headers: { origin: "null" } }),
  ];
  for (const answer of [...guarded, await bench.call("GET", "/_sandbox")])
    expect(windowOf(answer)).toEqual(Array(3).fill(undefined));
});

describe("an invalid rate", () => {
  test.each(["0/10s", "5/0s", "-1/10s", "5/10", "5", "", "1.5/1s", "99999999999999999999/1s", "5/99999999999d"])(
    "%j is rejected",
    async (rateLimit) => {
      await expect(open({ rateLimit })).rejects.toThrow(/--rate-limit/);
    },
  );
});

describe("many windows", () => {
  const limiter = () => createRateLimiter({}, { "rate_limit.limit": 2 });
  const request = (remoteAddress: string, merchant?: string) =>
    ({
      incoming: { socket: { remoteAddress } },
      at: 0,
      ...(merchant && { identity: { merchant } }),
    }) as unknown as RequestContext;

  test("of unauthenticated clients do not reset the window of a merchant", () => {
    const { bucket } = limiter();
    bucket(request("::1", "mer_lodge")).take(0);
    attempted("Rate windows pushed out by strangers", 10_001);
    for (let stranger = 0; stranger < 10_001; stranger++) bucket(request(`address ${stranger}`));
    expect(bucket(request("::1", "mer_lodge")).remaining(0)).toBe(1);
  });
});
