// Calls under a service file: rate limits, their headers, Retry-After, idempotency keys, and the verdicts of the judge.

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
    expect((await decline(renamed, "X-Request-Key")).again).toMatchObject({ status: 200, headers: { "idempotent-replayed": "true" } });
    expect((await decline(renamed, "Idempotency-Key")).again).toMatchObject({ status: 409, body: { code: "invalid_state" } });
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
    expect([again.status, again.body.code, again.headers["idempotent-replayed"]]).toEqual([409, "duplicate", undefined]);
  });

  test("have no effect, where the service ignores them", async () => {
    const { again } = await decline({ "idempotency.replay": "a second effect" }, "Idempotency-Key");
    expect(again.body.code).toBe("invalid_state");
  });

  test("that are in use are retried, by the status and the code of the file", async () => {
    const bench = await openAs({ "error.idempotency_key_in_use.status": 423, "error.idempotency_key_in_use.code": "busy" });
    await bench.control("POST", "/faults", { action: { type: "idempotency" }, match: { operation: "bookings.decline" } });
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

  test.each([403, 509, 503])("take a rate limit that is refused with %i for one, not for a rejection", async (status) => {
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
    expect(of("retry.happened")).toMatchObject([{ verdict: "pass", says: expect.stringContaining(` got a ${status} and was retried`) }]);
    expect(of("idempotency.body_stable")).toMatchObject([{ verdict: "pass" }]);
    expect(of("retry_after.honoured")).toMatchObject([{ milliseconds: { requested: 10_000 } }]);
    expect(of("retry.only_retryable")).toEqual([]);
  });
});
