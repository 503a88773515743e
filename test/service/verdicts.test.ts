// Verdicts under a service file: the judge recognises the service's errors and headers, and speaks of them in the sandbox's own terms.

import { expect, test } from "vitest";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import type { Bench } from "../support/sandbox.ts";
import { openAs } from "../support/service-file.ts";

const DECLINE = "/v1/hospitality/bookings/bkg_pending/decline";

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
