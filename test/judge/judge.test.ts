// The judge without a sandbox: which calls need a retry, which calls count as one, and which verdicts are kept. Then,
// in a sandbox: when a response counts as sent, and the control operation that lists the verdicts.

import { ServerResponse } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Firing } from "../../src/contracts/fault.ts";
import type { AttemptMessage } from "../../src/contracts/live-messages.ts";
import type { RequestEntry } from "../../src/store/request-log/request-log.ts";
import { firing, judge, NOON, recordedAttempt, requestEntry, wait, writeEntry } from "../support/judge-inputs.ts";
import { open } from "../support/sandbox.ts";

describe("Retry-After", () => {
  test.each([
    ["1", 950, "pass"],
    ["1", 949, "fail"],
    ["Mon, 05 Jan 2026 12:00:10 GMT", 9_000, "pass"],
    ["Mon, 05 Jan 2026 12:00:10 GMT", 8_999, "fail"],
    ["Monday, 05-Jan-26 12:00:10 GMT", 8_999, "fail"],
  ])("of %s and a retry after %i ms give the verdict %s", (retryAfter, waited, verdict) => {
    const connection = { number: 1, opened: 0 };
    expect(
      judge(requestEntry(0, 429, { ...wait(retryAfter), connection }), requestEntry(waited, 200, { connection })).of(
        "retry_after.honoured",
      ),
    ).toEqual([verdict]);
  });

  test.each(["0", "soon", "-1", "1.5", "Mon, 05 Jan 2026 11:59:00 GMT"])(
    "of %s asks for no wait, so no rule gives a verdict",
    (retryAfter) => {
      expect(judge(requestEntry(0, 429, wait(retryAfter)), requestEntry(300, 200)).of("retry_after.*")).toEqual([]);
    },
  );

  test("read as milliseconds fails only retry_after.unit, not retry_after.honoured", () => {
    const same = { number: 1, opened: 0 };
    const mistaken = judge(
      requestEntry(0, 503, { ...wait("60"), connection: same }),
      requestEntry(62, 200, { connection: same }),
    );
    expect([mistaken.of("retry_after.unit"), mistaken.of("retry_after.honoured")]).toEqual([["fail"], []]);
  });
});

describe("a retry", () => {
  test("is the same call under the same API key, not a call with another key, merchant or query", () => {
    const { verdicts } = judge(
      requestEntry(0, 429, wait("1")),
      requestEntry(1_100, 200, { key: "…rket" }),
      requestEntry(1_100, 200, { merchant: "mer_market" }),
      requestEntry(1_100, 200, { search: "limit=5" }),
    );
    expect(verdicts({ rule: "retry.happened" })).toMatchObject([
      { rule: "retry.happened", verdict: "inconclusive", id: null, requests: [expect.any(String)] },
    ]);
  });

  test("has the same JSON, however it is formatted", () => {
    const { of } = judge(
      writeEntry(0, 429, "k", wait("1")),
      writeEntry(1_000, 200, "k", { requestBody: '{ "amount": 1, "name": "a" }' }),
    );
    expect(of("idempotency.*")).toEqual(["pass", "pass", "pass"]);
  });

  test("of a write without Idempotency-Key counts only if the write took effect: it may be another order", () => {
    const lost = writeEntry(0, 0, undefined, { responseHeaders: {} });
    const made = judge();
    made.fired(firing({ requestId: lost.id }));
    for (const one of [lost, writeEntry(300, 200, undefined)]) made.request(one);
    expect([made.of("retry.happened"), made.of("effect.single")]).toEqual([["pass"], ["fail"]]);
    const refused = judge(writeEntry(0, 503, undefined), writeEntry(300, 200, undefined));
    expect(refused.of("retry.happened")).toEqual([]);
  });

  test("is missing once the client sends other calls after the deadline", () => {
    expect(
      judge(requestEntry(0, 429, wait("1")), requestEntry(3_999, 200, { search: "limit=5" })).of("retry.happened"),
    ).toEqual(["inconclusive"]);
    expect(
      judge(requestEntry(0, 429, wait("1")), requestEntry(4_001, 200, { search: "limit=5" })).of("retry.happened"),
    ).toEqual(["fail"]);
  });

  test("is expected after a fault that lost the response", () => {
    const made = judge();
    const lost = writeEntry(0, 0, "k", { responseHeaders: {} });
    made.fired(firing({ requestId: lost.id, expect: ["idempotency.key_reused", "effect.*", "retry.backoff_grows"] }));
    for (const one of [lost, writeEntry(300, 200, "k", { replayOf: lost.id })]) made.request(one);
    expect(made.verdicts({ rule: "effect.single" })).toMatchObject([
      { verdict: "pass", fault: "flt_1", operation: "pricing_rules.create" },
    ]);
    expect(made.of("retry.backoff_grows")).toEqual(["inconclusive"]);
    expect(made.of("idempotency.key_reused")).toEqual(["pass"]);
  });
});

describe("a signature with another secret", () => {
  const rotated = (ago: number, form = "previous_secret") =>
    firing({
      attemptId: "whd_1",
      target: "delivery",
      action: "signature",
      form,
      outcome: form === "previous_secret" ? form : "forged",
      rotatedAt: NOON - ago,
    });
  const answered = (status: number, fired: Firing) => {
    const made = judge();
    made.fired(fired);
    made.attempt(recordedAttempt({ responseStatus: status, status: status === 200 ? "succeeded" : "failed" }));
    return made
      .verdicts()
      .filter(({ rule }) => rule !== "webhook.ack_fast")
      .map(({ rule, verdict, fault }) => [rule, verdict, fault]);
  };

  test("is genuine for five minutes after a rotation if the secret is the previous one", () => {
    expect(answered(200, rotated(300_000))).toEqual([["webhook.genuine_taken", "pass", "flt_1"]]);
    expect(answered(401, rotated(0))).toEqual([["webhook.genuine_taken", "fail", "flt_1"]]);
  });

  test("is forged after more than five minutes, without a rotation, or if the secret is a wrong one", () => {
    expect(answered(200, rotated(300_001))).toEqual([["webhook.forgery_rejected", "fail", "flt_1"]]);
    expect(answered(401, { ...rotated(0), rotatedAt: null })).toEqual([["webhook.forgery_rejected", "pass", "flt_1"]]);
    expect(answered(401, rotated(0, "wrong_secret"))).toEqual([["webhook.forgery_rejected", "pass", "flt_1"]]);
  });

  test("that is rejected leads to a retry, and the verdict on the retry names the same fault", () => {
    const made = judge();
    made.fired(rotated(0, "wrong_secret"));
    made.attempt(recordedAttempt({ responseStatus: 401, status: "failed" }));
    made.attempt(recordedAttempt({ id: "whd_2", attempt: 2, responseStatus: 200 }));
    expect(made.verdicts({ rule: "webhook.genuine_taken" })).toMatchObject([
      { verdict: "pass", fault: "flt_1", attempts: ["whd_2"] },
    ]);
  });
});

test("the hint on a rejected event says that the sandbox clock is far from this machine, only if it is", () => {
  const hintAt = (at: number) => {
    const made = judge();
    made.attempt(recordedAttempt({ at, responseStatus: 400, status: "failed" }));
    return made.verdicts({ rule: "webhook.genuine_taken" })[0]?.hint;
  };
  expect(hintAt(Date.UTC(2026, 0, 5))).toMatch(/the sandbox clock said 2026-01-05T00:00:00\.000Z, which is not /);
  expect(hintAt(Date.now() - 10_000)).not.toMatch(/clock/);
});

test.each([
  [302, /^Register the final address of the receiver: redirects are not followed\.$/],
  [401, /^Check the secret first: /],
  [400, /^Store events that you cannot process yet /],
])("the hint on a genuine event that got a %i fits the response", (responseStatus, hint) => {
  const made = judge();
  made.attempt(recordedAttempt({ responseStatus, status: "failed" }));
  expect(made.verdicts({ rule: "webhook.genuine_taken" })[0]?.hint).toMatch(hint);
});

test.each([
  [200, "pass"],
  [409, "fail"],
])("a receiver that answers %i to an event that it accepted before gets the verdict %s", (responseStatus, verdict) => {
  const made = judge();
  made.attempt(recordedAttempt());
  made.attempt(
    recordedAttempt({
      id: "whd_2",
      trigger: "replay",
      responseStatus,
      status: responseStatus === 200 ? "succeeded" : "failed",
    }),
  );
  expect(made.of("webhook.duplicate_acked")).toEqual([verdict]);
});

test.each([
  ["timeout", "failed", ["fail"]],
  ["reset", "failed", ["inconclusive"]],
  ["connection_refused", "failed", []],
  ["dns", "failed", []],
  ["tls", "failed", []],
  ["target_not_allowed", "failed", []],
  ["dropped", "failed", []],
  [null, "aborted", []],
] as const)(
  "an accepted event that gets no response when it is sent again (%s, %s) has the verdicts %j",
  (errorCode, status, verdicts) => {
    const made = judge();
    made.attempt(recordedAttempt());
    const unanswered = { responseStatus: null, durationMs: 10_000, errorCode, status };
    made.attempt(recordedAttempt({ id: "whd_2", trigger: "replay", ...unanswered }));
    expect(made.of("webhook.duplicate_acked")).toEqual(verdicts);
  },
);

test("a timeout fails webhook.ack_fast only if it is longer than the rule's limit", () => {
  const found = (rest: Partial<AttemptMessage>) => {
    const made = judge();
    made.attempt(recordedAttempt({ status: "failed", responseStatus: null, errorCode: "timeout", ...rest }));
    return made.of("webhook.ack_fast");
  };
  expect([found({ durationMs: 1_000 }), found({ durationMs: 5_001 })]).toEqual([[], ["fail"]]);
});

test("a response counts as sent before its bytes are written, because the client may act on them at once", async () => {
  const bench = await open();
  const entries: RequestEntry[] = [];
  bench.onRequest((entry) => void entries.push(entry));
  const end = ServerResponse.prototype.end;
  ServerResponse.prototype.end = function (this: ServerResponse, ...given: unknown[]) {
    const ended = Reflect.apply(end, this, given);
    for (const until = performance.now() + 30; performance.now() < until; );
    return ended;
  } as typeof end;
  onTestFinished(() => {
    ServerResponse.prototype.end = end;
  });
  await bench.call("GET", "/v1/payments");
  const [{ arrived, answered, duration }] = entries as [RequestEntry];
  expect(duration - (answered - arrived)).toBeGreaterThanOrEqual(30);
});

describe("the verdict log", () => {
  test("is bounded, and passes never push out a failure", () => {
    const made = judge();
    const same = { number: 1, opened: 0 };
    made.request(requestEntry(0, 429, { ...wait("9"), connection: same }));
    made.request(requestEntry(10, 200, { connection: same }));
    for (let round = 1; round <= 1_000; round++) {
      made.request(requestEntry(round * 10_000, 429, wait("1")));
      made.request(requestEntry(round * 10_000 + 1_100, 200));
    }
    expect(made.of("retry_after.honoured").filter((verdict) => verdict === "fail")).toEqual(["fail"]);
    expect(made.verdicts().length).toBeLessThanOrEqual(2_000);
    expect(made.published.length).toBeGreaterThan(3_000);
  });

  test("is cleared for one merchant, or for all", () => {
    const made = judge();
    for (const merchant of ["mer_lodge", "mer_market"])
      for (const one of [
        requestEntry(0, 429, { ...wait("1"), merchant }),
        requestEntry(1_100, 200, { merchant }),
        requestEntry(2_000, 429, { merchant }),
      ])
        made.request(one);
    made.forget("mer_lodge");
    expect(new Set(made.verdicts().map(({ merchant }) => merchant))).toEqual(new Set(["mer_market"]));
    made.forget();
    expect(made.verdicts()).toEqual([]);
  });
});

describe("GET /_sandbox/verdicts", () => {
  const throttled = async () => {
    const bench = await open({ rateLimit: "1/1m" });
    await bench.call("GET", "/v1/merchants/me");
    const first = await bench.call("POST", "/v1/hospitality/pricing-rules", {
      body: { name: "x" },
      headers: { "idempotency-key": "k" },
    });
    const again = await bench.call("POST", "/v1/hospitality/pricing-rules", {
      body: { name: "y" },
      headers: { "idempotency-key": "k" },
    });
    return { bench, ids: [first, again].map(({ headers }) => headers["x-sandbox-request-id"]) };
  };

  test("lists verdicts with evidence and hint, filtered by rule, verdict, merchant and time", async () => {
    const { bench, ids } = await throttled();
    const { data: verdicts, rules } = await bench.control("GET", "/verdicts?rule=idempotency.body_stable");
    expect(verdicts).toMatchObject([
      {
        rule: "idempotency.body_stable",
        severity: "error",
        verdict: "fail",
        merchant: "mer_lodge",
        requests: ids,
        at: "2026-01-05T12:00:00.000Z",
      },
    ]);
    expect(verdicts[0].hint).toMatch(/body/);
    expect(await bench.control("GET", `/verdicts/${verdicts[0].id}`)).toEqual(verdicts[0]);
    expect(rules.find(({ id }: { id: string }) => id === "idempotency.body_stable")).toMatchObject({
      pass: 0,
      fail: 1,
    });
    const count = async (query: string) => (await bench.control("GET", `/verdicts?${query}`)).data.length;
    expect([await count("verdict=fail&merchant=mer_lodge"), await count("merchant=mer_market")]).toEqual([2, 0]);
    expect([await count("since=2026-01-05T12:00:00Z&verdict=fail"), await count("since=2026-01-05T12:00:01Z")]).toEqual(
      [2, 0],
    );
  });

  test("suggests the nearest rule id, and rejects an invalid time", async () => {
    const bench = await open();
    const wrong = await bench.call("GET", "/_sandbox/verdicts?rule=retry.bound", { key: null });
    expect([wrong.status, wrong.body.message]).toEqual([400, expect.stringContaining("retry.bounded")]);
    expect((await bench.call("GET", "/_sandbox/verdicts?since=now", { key: null })).status).toBe(400);
  });

  test("is empty after DELETE, and after a reset", async () => {
    const { bench } = await throttled();
    expect((await bench.control("DELETE", "/verdicts")).cleared).toBeGreaterThan(0);
    expect((await bench.control("GET", "/verdicts")).data).toEqual([]);
    await bench.call("GET", "/v1/payments");
    expect((await bench.control("GET", "/verdicts")).data).toHaveLength(1);
    await bench.control("POST", "/reset", {});
    expect((await bench.control("GET", "/verdicts")).data).toEqual([]);
  });
});
