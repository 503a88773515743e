// Verdicts under a service file: the judge recognises the service's errors, and speaks of them and of its headers in the service's terms.

import { expect, test } from "vitest";
import type { JudgedRule, VerdictMessage } from "../../src/contracts/verdict.ts";
import { OWN_TERMS } from "../../src/judge/terms.ts";
import type { Bench } from "../support/sandbox.ts";
import { openAs } from "../support/service-file.ts";

const DECLINE = "/v1/hospitality/bookings/bkg_pending/decline";

const judged = async (bench: Bench) => {
  const { verdicts, rules } = await bench.control("GET", "/verdicts");
  const of = (rule: string) => (verdicts as VerdictMessage[]).filter((verdict) => verdict.rule === rule);
  const demands = (rules as JudgedRule[]).flatMap((rule) => [rule.demands, rule.hint]).join("\n");
  return { of, demands, texts: demands + JSON.stringify(verdicts) };
};

test("name the headers of the file", async () => {
  const bench = await openAs({ "idempotency.header": "X-Request-Key", "header.Retry-After.name": "X-Wait" });
  await bench.control("POST", "/faults", {
    action: { type: "rate_limit", retryAfter: 1 },
    match: { operation: "bookings.decline" },
    trigger: { times: 1 },
  });
  const headers = { "X-Request-Key": "one" };
  expect((await bench.call("POST", DECLINE, { headers })).status).toBe(429);
  expect((await bench.call("POST", DECLINE, { headers })).status).toBe(200);
  const { of, texts } = await judged(bench);
  expect(of("idempotency.body_stable")[0]?.says).toMatch(/ under the same X-Request-Key with the same body\.$/);
  expect(of("idempotency.key_reused")[0]?.says).toMatch(/ under the same X-Request-Key\.$/);
  expect(of("idempotency.present")[0]?.says).toMatch(/ was sent with X-Request-Key and retried /);
  expect(of("retry_after.honoured")[0]).toMatchObject({
    says: expect.stringContaining("got a 429 with X-Wait: 1 (1000 ms);"),
    hint: expect.stringMatching(/^Read X-Wait /),
  });
  expect(texts).not.toMatch(/Idempotency-Key|Retry-After/);
});

test.each([
  [403, "After a 403, the client stops ", "Read Retry-After (seconds or an HTTP date) from every 403 and 503, "],
  [509, "After a 509, the client stops ", "Read Retry-After (seconds or an HTTP date) from every 509 and 503, "],
  [503, "After a 503, the client stops ", "Read Retry-After (seconds or an HTTP date) from every 503, "],
])("take a rate limit that is refused with %i for one, not for a rejection", async (status, demand, hint) => {
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
  const { of, demands } = await judged(bench);
  expect(of("retry.happened")).toMatchObject([{ verdict: "pass", says: expect.stringContaining(` got a ${status} and was retried`) }]);
  expect(of("idempotency.body_stable")).toMatchObject([{ verdict: "pass" }]);
  expect(of("retry_after.honoured")).toMatchObject([{ milliseconds: { told: 10_000 } }]);
  expect(of("retry.only_retryable")).toEqual([]);
  expect(demands).toContain(demand);
  expect(demands).toContain(hint);
  expect(demands).not.toContain(String(OWN_TERMS.rateLimit));
});
