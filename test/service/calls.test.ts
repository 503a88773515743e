// Calls under a service file: lists, rate limits, their headers, Retry-After, idempotency keys, and the verdicts of the
// judge.

import { describe, expect, test } from "vitest";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import { type Bench, NOON_SECONDS, openAs } from "../support/sandbox.ts";

const DECLINE = "/v1/hospitality/bookings/bkg_pending/decline";

describe("rate limits", () => {
  test("are those of the file, unless --rate-limit gives others", async () => {
    const facts = { "rate_limit.limit": 2, "rate_limit.seconds": 10 };
    const bench = await openAs(facts);
    const { headers } = await bench.call("GET", "/v1/payments");
    expect([headers["ratelimit-limit"], headers["ratelimit-reset"]]).toEqual(["2", String(NOON_SECONDS + 10)]);
    await bench.call("GET", "/v1/payments");
    expect((await bench.call("GET", "/v1/payments")).status).toBe(429);
    const other = await openAs(facts, { rateLimit: "7/1m" });
    expect((await other.call("GET", "/v1/payments")).headers["ratelimit-limit"]).toBe("7");
  });

  test("are shown by the headers of the file", async () => {
    const bench = await openAs({
      "rate_limit.limit": 1,
      "header.RateLimit-Limit.name": "X-Rate-Limit",
      "header.RateLimit-Remaining": "absent",
      "header.RateLimit-Reset.format": "seconds from now",
      "header.Retry-After.format": "HTTP date",
      "error.rate_limit_exceeded.status": 503,
      "rate_limit.retry_after": 90,
    });
    const { headers } = await bench.call("GET", "/v1/payments");
    expect(headers).toMatchObject({ "x-rate-limit": "1", "ratelimit-reset": "60" });
    expect(Object.keys(headers)).not.toContain("ratelimit-limit");
    expect(Object.keys(headers)).not.toContain("ratelimit-remaining");
    const refused = await bench.call("GET", "/v1/payments");
    expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "Mon, 05 Jan 2026 12:01:30 GMT"]);
  });
});

test("a 401 has WWW-Authenticate, and no other status has", async () => {
  const bench = await openAs({ "error.missing_api_key.status": 403, "error.resource_not_found.status": 401 });
  const missing = await bench.call("GET", "/v1/payments", { key: null });
  expect([missing.status, missing.headers["www-authenticate"]]).toEqual([403, undefined]);
  const unknown = await bench.call("POST", "/v1/hospitality/bookings/bkg_none/decline");
  expect([unknown.status, unknown.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
});

describe("idempotency keys", () => {
  const decline = async (facts: object, header: string) => {
    const bench = await openAs(facts);
    const send = () => bench.call("POST", DECLINE, { headers: { [header]: "one" } });
    return { bench, first: await send(), again: await send(), send };
  };

  test("are read from the header of the file, and from no other", async () => {
    const renamed = { "idempotency.header": "X-Request-Key" };
    expect((await decline(renamed, "X-Request-Key")).again).toMatchObject({
      status: 200,
      headers: { "idempotent-replayed": "true" },
    });
    expect((await decline(renamed, "Idempotency-Key")).again).toMatchObject({
      status: 409,
      body: { code: "invalid_state" },
    });
    const bench = await openAs(renamed);
    const empty = await bench.call("POST", DECLINE, { headers: { "X-Request-Key": "" } });
    expect(empty.body.message).toMatch(/^X-Request-Key is empty/);
  });

  test("have the window of the file", async () => {
    const { bench, again, send } = await decline({ "idempotency.seconds": 60 }, "Idempotency-Key");
    expect(again.status).toBe(200);
    await bench.control("POST", "/clock/advance", { by: "61s" });
    expect((await send()).body.code).toBe("invalid_state");
  });

  test("are refused a second time, where the service replays nothing", async () => {
    const { again } = await decline(
      { "idempotency.replay": "refused with 409", "error.idempotency_key_reused.code": "duplicate" },
      "Idempotency-Key",
    );
    expect([again.status, again.body.code, again.headers["idempotent-replayed"]]).toEqual([
      409,
      "duplicate",
      undefined,
    ]);
  });

  test("have no effect, where the service ignores them", async () => {
    const { again } = await decline({ "idempotency.replay": "a second effect" }, "Idempotency-Key");
    expect(again.body.code).toBe("invalid_state");
  });

  test("that are in use are retried, by the status and the code of the file", async () => {
    const bench = await openAs({
      "error.idempotency_key_in_use.status": 423,
      "error.idempotency_key_in_use.code": "busy",
    });
    await bench.control("POST", "/faults", {
      action: { type: "idempotency" },
      match: { operation: "bookings.decline" },
    });
    const headers = { "Idempotency-Key": "one" };
    expect(await bench.call("POST", DECLINE, { headers })).toMatchObject({ status: 423, body: { code: "busy" } });
    expect((await bench.call("POST", DECLINE, { headers })).status).toBe(200);
    const { data: verdicts } = await bench.control("GET", "/verdicts");
    expect(verdicts.find(({ rule }: { rule: string }) => rule === "retry.happened")).toMatchObject({ verdict: "pass" });
  });
});

describe("verdicts", () => {
  const verdictsOf = async (bench: Bench) => {
    const { data: verdicts } = await bench.control("GET", "/verdicts");
    return (rule: string) => (verdicts as VerdictMessage[]).filter((verdict) => verdict.rule === rule);
  };

  test("follow the headers of the file", async () => {
    const bench = await openAs({ "idempotency.header": "X-Request-Key", "header.Retry-After.name": "X-Wait" });
    await bench.control("POST", "/faults", {
      action: { type: "rate_limit", retryAfter: 1 },
      match: { operation: "bookings.decline" },
      trigger: { times: 1 },
    });
    const headers = { "X-Request-Key": "one" };
    expect((await bench.call("POST", DECLINE, { headers })).status).toBe(429);
    expect((await bench.call("POST", DECLINE, { headers })).status).toBe(200);
    const of = await verdictsOf(bench);
    expect(of("idempotency.body_stable")[0]?.says).toMatch(/ under the same Idempotency-Key with the same body\.$/);
    expect(of("idempotency.present")[0]?.says).toMatch(/ was sent with Idempotency-Key and retried /);
    expect(of("retry_after.honoured")[0]?.says).toContain("got a 429 with Retry-After: 1 (1000 ms);");
  });

  test.each([403, 509, 503])(
    "take a rate limit that is refused with %i for one, not for a rejection",
    async (status) => {
      const bench = await openAs({
        "rate_limit.limit": 1,
        "rate_limit.seconds": 10,
        "error.rate_limit_exceeded.status": status,
        "error.rate_limit_exceeded.code": "busy",
      });
      const headers = { "Idempotency-Key": "one" };
      const decline = () => bench.call("POST", DECLINE, { headers, body: { reason: "full" } });
      await bench.call("GET", "/v1/payments");
      expect((await decline()).status).toBe(status);
      await bench.control("POST", "/clock/advance", { by: "10s" });
      expect((await decline()).status).toBe(200);
      const of = await verdictsOf(bench);
      expect(of("retry.happened")).toMatchObject([
        { verdict: "pass", says: expect.stringContaining(` got a ${status} and was retried`) },
      ]);
      expect(of("idempotency.body_stable")).toMatchObject([{ verdict: "pass" }]);
      expect(of("retry_after.honoured")).toMatchObject([{ milliseconds: { requested: 10_000 } }]);
      expect(of("retry.only_retryable")).toEqual([]);
    },
  );
});

describe("lists", () => {
  const list = (bench: Bench, query = "") => bench.call("GET", `/v1/payments${query}`);
  const idsOf = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id);

  describe("limit", () => {
    test("has the default and the bounds of the file", async () => {
      const bench = await openAs({ "payments.list.query.limit.default": 3, "payments.list.query.limit.maximum": 5 });
      expect((await list(bench)).body.data).toHaveLength(3);
      expect((await list(bench, "?limit=5")).body.data).toHaveLength(5);
      expect((await list(bench, "?limit=6")).body).toMatchObject({
        code: "invalid_limit",
        message: expect.stringContaining("5"),
      });
      expect((await bench.call("GET", "/v1/payouts?limit=6")).status).toBe(200);
    });

    test("has a default within a bound that the file moves, and a bound that takes the file's default", async () => {
      const bench = await openAs({ "payments.list.query.limit.maximum": 5, "payouts.list.query.limit.default": 200 });
      expect((await list(bench)).body.data).toHaveLength(5);
      expect((await bench.call("GET", "/v1/payouts?limit=200")).status).toBe(200);
      const { facts } = (await bench.control("GET", "/assumptions")) as { facts: { id: string; value: unknown }[] };
      const shown = (id: string) => facts.find((fact) => fact.id === id)?.value;
      expect([shown("payments.list.query.limit.default"), shown("payouts.list.query.limit.maximum")]).toEqual([5, 200]);
    });
  });

  test("a limit out of its bounds is moved into them, where the service does so", async () => {
    const bench = await openAs({
      "payments.list/error.invalid_limit.status": 200,
      "payments.list.query.limit.maximum": 4,
    });
    expect((await list(bench, "?limit=9")).body.data).toHaveLength(4);
    expect((await list(bench, "?limit=0")).body.data).toHaveLength(1);
    expect((await list(bench, "?limit=many")).body.code).toBe("invalid_limit");
    expect((await bench.call("GET", "/v1/payouts?limit=0")).body.code).toBe("invalid_limit");
  });

  describe("parameters", () => {
    const names = { "payments.list.query.limit.name": "page_size", "payments.list.query.starting_after.name": "after" };

    test("have the names of the file, and no others", async () => {
      const bench = await openAs(names);
      const first = await list(bench, "?page_size=2");
      expect(first.body.data).toHaveLength(2);
      const next = await list(bench, `?page_size=2&after=${idsOf(first.body)[1]}`);
      expect(idsOf(next.body)).toEqual(idsOf((await list(bench, "?page_size=4")).body).slice(2));
      const ignored = await list(bench, "?limit=2");
      expect([ignored.body.data.length > 2, ignored.headers["x-sandbox-unknown-params"]]).toEqual([true, "limit"]);
    });

    test("are named so in errors", async () => {
      const bench = await openAs(names);
      expect((await list(bench, "?page_size=0")).body).toMatchObject({
        code: "invalid_limit",
        details: { field: "page_size" },
      });
      expect((await list(bench, "?after=pay_none")).body).toMatchObject({
        message: expect.stringMatching(/^after must be/),
        details: { field: "after" },
      });
      const both = (await list(bench, "?after=pay_none&ending_before=pay_none")).body;
      expect([both.message, both.details.fields]).toEqual([
        "Send after or ending_before, not both.",
        ["after", "ending_before"],
      ]);
    });

    test("that the service does not have are ignored", async () => {
      const bench = await openAs({ "payments.list.query.ending_before": "absent" });
      const { status, headers } = await list(bench, "?ending_before=pay_none");
      expect([status, headers["x-sandbox-unknown-params"]]).toEqual([200, "ending_before"]);
    });
  });

  test("a list is oldest first, and its cursors follow", async () => {
    const plain = await openAs({ "payments.list.query.limit.maximum": 1_000 });
    const everything = idsOf((await list(plain, "?limit=1000")).body).toReversed();
    const bench = await openAs({ "payments.list.order": "oldest first" });
    const first = await list(bench, "?limit=3");
    expect([idsOf(first.body), first.body.has_more]).toEqual([everything.slice(0, 3), true]);
    const next = await list(bench, `?limit=3&starting_after=${everything[2]}`);
    expect(idsOf(next.body)).toEqual(everything.slice(3, 6));
    const back = await list(bench, `?limit=2&ending_before=${everything[3]}`);
    expect([idsOf(back.body), back.body.has_more]).toEqual([everything.slice(1, 3), true]);
  });
});
