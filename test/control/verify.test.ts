// Verify: expectations of a run in one call that waits, and the response when they do not hold.

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Expectations } from "../../src/contracts/expectations.ts";
import type { Verdict } from "../../src/contracts/verdict.ts";
import { connect } from "../../src/index.ts";
import { afterRealTime, afterThisTurn, stopwatch } from "../../src/kernel/clock.ts";
import { notify, subscribeTo } from "../../src/kernel/listeners.ts";
import { matchesWildcard } from "../../src/schema/conditions.ts";
import { checkFault } from "../../src/verify/check-effects.ts";
import { type CheckedVerdict, checkVerdicts } from "../../src/verify/check-verdicts.ts";
import { createVerifier } from "../../src/verify/verifier.ts";
import { type Answer, attempted, type Bench, open } from "../support/sandbox.ts";
import { openRegistered, receive, register, trigger } from "../support/webhooks.ts";

/** The longest wait. A test that waited for all of it would time out. */
const HOUR = "1h";

const ask = (bench: Bench, all: object[], rest: object = {}) => bench.control("POST", "/verify", { all, ...rest });
const refused = async (bench: Bench, all: object[], rest: object = {}) => {
  const answer = await bench.call("POST", "/_sandbox/verify", { key: null, body: { all, ...rest } });
  expect(answer.status, answer.text).toBe(400);
  return answer.body.message as string;
};
const list = (bench: Bench) => bench.call("GET", "/v1/payments?limit=1");
const pay = (bench: Bench, body: object, headers: Record<string, string> = {}) =>
  bench.call("POST", "/v1/hospitality/pricing-rules", { body, headers });
const rule = { name: "Summer", adjustmentType: "percentage", adjustmentValue: 1_500 };

describe("requests", () => {
  test("that were made pass immediately, and the result names them as evidence", async () => {
    const bench = await open();
    await list(bench);
    await list(bench);
    const { verdict, results } = await ask(
      bench,
      [{ requests: { match: { operation: "payments.list" }, count: { exactly: 2 } } }],
      {
        within: HOUR,
      },
    );
    expect(verdict).toBe("pass");
    expect(results).toEqual([
      {
        expectation: "requests",
        verdict: "pass",
        message: "2 requests matched; expected exactly 2.",
        found: 2,
        evidence: ["req_lodge_1", "req_lodge_2"],
        closest: [],
      },
    ]);
  });

  test("that are too many fail immediately, without waiting", async () => {
    const bench = await open();
    await list(bench);
    const none = { requests: { match: { operation: "payments.list" }, count: { atMost: 0 } } };
    const { verdict, results } = await ask(bench, [none], { within: HOUR });
    expect([verdict, results[0].message]).toEqual(["fail", "1 request matched; expected at most 0."]);
  });

  test.each<[string, object]>([
    ["operation", { operation: "pricing_rules.create" }],
    ["all operations of an area", { operation: "pricing_rules.*" }],
    ["one of several operations", { operation: ["payments.list", "pricing_rules.create"] }],
    ["merchant", { merchant: "mer_lodge" }],
    ["status", { status: 200 }],
    ["a class of statuses", { status: "2xx" }],
    ["method", { method: "POST" }],
    ["path", { path: "/v1/hospitality/*-rules" }],
    ["key", { key: "sk_test_lodge" }],
    ["idempotencyKey", { idempotencyKey: "one" }],
    ["the presence of an idempotencyKey", { idempotencyKey: { present: true } }],
    ["header", { header: { "X-Try": "2" } }],
    ["the absence of a header", { method: "POST", header: { "X-Other": { present: false } } }],
    ["body", { body: { "/name": "Summer", "/adjustmentValue": { gte: 1_000, lt: 2_000 } } }],
  ])("are matched by %s", async (_, match) => {
    const bench = await open();
    const made = await pay(bench, rule, { "idempotency-key": "one", "x-try": "2" });
    await bench.call("GET", "/v1/payouts", { key: "sk_test_nobody" });
    const { verdict, results } = await ask(bench, [{ requests: { match, count: { exactly: 1 } } }]);
    expect([verdict, results[0].evidence]).toEqual(["pass", [made.headers["x-sandbox-request-id"]]]);
  });

  test("that are missing show the closest request and its differences", async () => {
    const bench = await open();
    await list(bench);
    await pay(bench, { ...rule, adjustmentValue: 1 });
    await pay(bench, { name: "Winter" });
    const match = {
      operation: "pricing_rules.create",
      status: 200,
      body: { "/name": "Summer", "/adjustmentValue": { gte: 100 } },
    };
    const { verdict, results } = await ask(bench, [{ requests: { match } }]);
    expect(verdict).toBe("fail");
    expect(results[0].closest.slice(0, 2)).toEqual([
      {
        id: "req_lodge_2",
        what: "POST /v1/hospitality/pricing-rules 200",
        differs: [{ field: "body /adjustmentValue", expected: { gte: 100 }, received: 1 }],
      },
      {
        id: "req_lodge_3",
        what: "POST /v1/hospitality/pricing-rules 400",
        differs: [
          { field: "status", expected: 200, received: 400 },
          { field: "body /name", expected: "Summer", received: "Winter" },
          { field: "body /adjustmentValue", expected: { gte: 100 }, received: null },
        ],
      },
    ]);
  });

  test("show no secret in their differences", async () => {
    const bench = await open();
    await bench.call("POST", "/v1/merchants/login", { body: { email: "a@b.example", password: "correct horse" } });
    const { results } = await ask(bench, [
      { requests: { match: { operation: "merchants.login", body: { "/password": "guess" } } } },
    ]);
    expect(JSON.stringify(results)).not.toContain("horse");
    expect(results[0].closest[0].differs[0].field).toBe("body /password");
  });
});

describe("a sequence", () => {
  const steps = { sequence: [{ operation: "pricing_rules.create" }, { operation: "payments.list" }] };

  test("passes with other requests in between", async () => {
    const bench = await open();
    await pay(bench, rule);
    await bench.call("GET", "/v1/payouts");
    await list(bench);
    const { verdict, results } = await ask(bench, [steps]);
    expect([verdict, results[0].evidence]).toEqual(["pass", ["req_lodge_1", "req_lodge_3"]]);
  });

  test("fails in another order, and says how much matched", async () => {
    const bench = await open();
    await list(bench);
    await pay(bench, rule);
    await bench.call("GET", "/v1/payouts");
    const { verdict, results } = await ask(bench, [steps]);
    expect(verdict).toBe("fail");
    expect(results[0].message).toBe(
      "1 of 2 requests came in this order; after req_lodge_2, no request matches number 2.",
    );
    expect(results[0].closest).toEqual([
      {
        id: "req_lodge_3",
        what: "GET /v1/payouts 200",
        differs: [{ field: "operation", expected: "payments.list", received: "payouts.list" }],
      },
    ]);
  });
});

describe("never", () => {
  const match = { operation: "gov_payments.post" };
  const post = (bench: Bench) => bench.call("POST", "/v1/gov-payments/gov_paid/post-to-books", { body: {} });

  test("passes after its duration, even if `within` is shorter", async () => {
    const bench = await open();
    const { verdict, waited } = await ask(bench, [{ never: { match, for: "60ms" } }], { within: "1ms" });
    expect(verdict).toBe("pass");
    expect(waited).toBeGreaterThanOrEqual(59);
  });

  test("fails as soon as a matching request arrives", async () => {
    const bench = await open();
    const asked = ask(bench, [{ never: { match, for: HOUR } }]);
    await post(bench);
    const { verdict, results } = await asked;
    expect([verdict, results[0].evidence]).toEqual(["fail", ["req_lodge_1"]]);
  });
});

describe("deliveries", () => {
  test("pass if their attempts and final state are as expected", async () => {
    const { bench, receiver, id } = await openRegistered();
    await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { body: {} });
    const match = { event: "booking.declined", endpoint: id, merchant: "mer_lodge" };
    const wanted = { deliveries: { match, count: { exactly: 1 }, attempts: { exactly: 1 }, final: "succeeded" } };
    const { verdict, results } = await ask(bench, [wanted], { within: HOUR });
    expect(verdict, JSON.stringify(results)).toBe("pass");
    expect(results[0].evidence[0]).toMatch(/^evt_\w+ to we_\w+$/);
    expect((await ask(bench, [{ deliveries: { match: { endpoint: receiver.url } } }])).verdict).toBe("pass");
  });

  test("fail if they have too many attempts or another final state", async () => {
    const { bench, receiver } = await openRegistered();
    receiver.script(500, 500);
    await trigger(bench);
    await bench.control("POST", "/clock/advance", { by: "1h" });
    const match = { event: "payment.*" };
    const few = await ask(bench, [{ deliveries: { match, attempts: { atMost: 2 } } }], { within: HOUR });
    expect(few.verdict).toBe("fail");
    expect(few.results[0].message).toMatch(/^1 of 1: evt_\w+ to we_\w+ had 3 attempts; expected at most 2\.$/);
    const end = await ask(bench, [{ deliveries: { match, final: "failed" } }], { within: HOUR });
    expect(end.results[0].message).toMatch(/is succeeded; expected failed\.$/);
  });

  test("say why the last attempt failed", async () => {
    const { bench, receiver } = await openRegistered();
    receiver.script(500);
    await trigger(bench);
    const wanted = [{ deliveries: { match: { event: "payment.succeeded" }, final: "succeeded" } }];
    await bench.control("POST", "/drain", {});
    expect((await ask(bench, wanted)).results[0].message).toMatch(
      /is pending; expected succeeded\. Last attempt: The receiver answered 500; only 2xx accepts a delivery\.$/,
    );
  });

  test("say that a delivery had no attempt yet", async () => {
    const { bench } = await openRegistered();
    await bench.control("POST", "/faults", { action: { type: "delay", by: "1h" } });
    await trigger(bench);
    const wanted = [{ deliveries: { match: { event: "payment.succeeded" }, final: "succeeded" } }];
    expect((await ask(bench, wanted)).results[0].message).toMatch(/expected succeeded\. It had no attempt yet\.$/);
  });
});

describe("records", () => {
  const wanted = {
    records: { kind: "remittance", where: { "/id": "rem_overdue", "/status": "confirmed" }, count: { exactly: 1 } },
  };
  const confirm = (bench: Bench) => bench.call("POST", "/v1/statutory/remittances/rem_overdue/confirm", { body: {} });

  test("may change while verify waits, and are counted by their fields", async () => {
    const bench = await open();
    const asked = ask(bench, [wanted], { within: HOUR, merchant: "mer_lodge" });
    await confirm(bench);
    expect((await asked).results[0]).toMatchObject({ verdict: "pass", evidence: ["rem_overdue"] });
  });

  test("that are missing show the closest record", async () => {
    const bench = await open();
    const { results } = await ask(bench, [wanted], { merchant: "mer_lodge" });
    expect(results[0].closest[0]).toEqual({
      id: "rem_overdue",
      what: "remittance overdue",
      differs: [{ field: "/status", expected: "confirmed", received: "overdue" }],
    });
  });
});

const judged = (rule: string, verdict: Verdict, merchant = "mer_lodge"): CheckedVerdict => ({
  ...{
    rule,
    operation: null,
    verdict,
    merchant,
    message: "The client came back at once.",
    hint: "Wait.",
    attempts: ["att_1"],
  },
  confirmedBy: "time",
  calls: [{ request: "req_lodge_1", connection: 1, milliseconds: 0 }],
});

describe("verdicts of the judge", () => {
  test.each<[string, object, CheckedVerdict[], Verdict, boolean]>([
    [
      "pass if none of the named rules failed",
      {},
      [judged("retry.bounded", "pass"), judged("effect.single", "fail")],
      "pass",
      false,
    ],
    [
      "fail for good if one of the named rules failed",
      {},
      [judged("retry.bounded", "pass"), judged("retry.backoff_grows", "fail")],
      "fail",
      false,
    ],
    ["are inconclusive while there are none", {}, [], "inconclusive", true],
    ["are inconclusive if the judge's verdict is", {}, [judged("retry.bounded", "inconclusive")], "inconclusive", true],
    [
      "are inconclusive if only another merchant has some",
      {},
      [judged("retry.bounded", "pass", "mer_market")],
      "inconclusive",
      true,
    ],
    ["are counted", { pass: { atLeast: 2 } }, [judged("retry.bounded", "pass")], "fail", true],
    ["that failed can be expected", { fail: { exactly: 1 } }, [judged("retry.bounded", "fail")], "pass", false],
    [
      "that are inconclusive can be expected",
      { inconclusive: { exactly: 1 } },
      [judged("retry.bounded", "inconclusive")],
      "pass",
      false,
    ],
  ])("%s", (_, counts, verdicts, verdict, open) => {
    const look = checkVerdicts(verdicts, { rules: ["retry.*"], ...counts }, "mer_lodge");
    expect([look.verdict, look.open], look.message).toEqual([verdict, open]);
  });

  test("can be limited to the verdicts that fault rules led to", () => {
    const verdicts = [
      { ...judged("retry.bounded", "pass"), fault: "flt_1" },
      { ...judged("retry.bounded", "fail"), fault: null },
      { ...judged("effect.single", "fail"), fault: "flt_2" },
    ];
    const found = (...faults: string[]) => checkVerdicts(verdicts, { rules: ["*"], faults }).verdict;
    expect([found("flt_1"), found("flt_1", "flt_2"), found("flt_3")]).toEqual(["pass", "fail", "inconclusive"]);
  });

  test("that failed are explained by the judge's message and hint", () => {
    const look = checkVerdicts(
      [judged("retry.bounded", "pass"), judged("retry.backoff_grows", "fail")],
      { rules: ["retry.*"] },
      "mer_lodge",
    );
    expect(look.message.split("\n")).toEqual([
      "1 passed, 1 failed, 0 inconclusive; expected exactly 0 fail.",
      "retry.backoff_grows: The client came back at once. Wait. (req_lodge_1 on connection 1 after 0 ms, att_1; " +
        "confirmed by timing)",
    ]);
  });
});

describe("a fault", () => {
  test.each<[string, object, number, Verdict, boolean]>([
    ["that fired passes", {}, 1, "pass", false],
    ["that never fired is inconclusive", {}, 0, "inconclusive", true],
    ["that was not to fire, and did not fire, passes", { fired: { exactly: 0 } }, 0, "pass", false],
    ["that fired too seldom may still fire", { fired: { exactly: 3 } }, 2, "fail", true],
    ["that fired too often fails for good", { fired: { atMost: 1 } }, 2, "fail", false],
  ])("%s", (_, wanted, fired, verdict, open) => {
    const look = checkFault(() => fired, { id: "flt_one", ...wanted })(0);
    expect([look.verdict, look.open], look.message).toEqual([verdict, open]);
  });
});

describe("all together", () => {
  const met = { requests: { match: { operation: "payments.list" } } };
  const missed = { requests: { match: { operation: "payouts.list" } } };

  test("the worst result is the verdict, and with strict a failure is a 409", async () => {
    const bench = await open();
    await list(bench);
    const body = { all: [met, missed] };
    const loose = await bench.call("POST", "/_sandbox/verify", { key: null, body });
    expect([loose.status, loose.body.verdict]).toEqual([200, "fail"]);
    const strict = await bench.call("POST", "/_sandbox/verify?strict=1", { key: null, body });
    expect([strict.status, strict.body.code]).toEqual([409, "verification_failed"]);
    expect(strict.body.message).toMatch(/^1 of 2 did not pass\. requests: 0 requests matched/);
    expect(strict.body.details.results.map(({ verdict }: Answer["body"]) => verdict)).toEqual(["pass", "fail"]);
    const passed = await bench.call("POST", "/_sandbox/verify?strict=1", { key: null, body: { all: [met] } });
    expect([passed.status, passed.body.verdict]).toEqual([200, "pass"]);
  });

  test("closing the sandbox ends the wait with the current result", async () => {
    const bench = await open();
    const headers = { connection: "close" };
    const asked = bench.call("POST", "/_sandbox/verify", { key: null, headers, body: { all: [missed], within: "1h" } });
    await list(bench);
    await bench.close();
    expect((await asked).body.verdict).toBe("fail");
  });
});

describe("a pattern with *", () => {
  const letters = fc.string({ unit: fc.constantFrom("a", "b", "."), maxLength: 6 });

  test("matches like the equivalent regular expression", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", "b", ".", "*"), maxLength: 6 }), letters, (pattern, text) => {
        const expression = new RegExp(`^${pattern.replaceAll(".", "\\.").replaceAll("*", ".*")}$`);
        expect(matchesWildcard(text, pattern)).toBe(expression.test(text));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe("expectations are rejected with the reason if they contain", () => {
  const requests = (match: object, count?: object) => [{ requests: { match, ...(count && { count }) } }];
  const any = { status: 200 };

  test.each<[string, object[], object, RegExp]>([
    [
      "an unknown operation",
      requests({ operation: "payment.list" }),
      {},
      /no operation payment\.list\. Did you mean payments\.list\?/,
    ],
    ["an unknown expectation", [{ request: {} }], {}, /Unknown field all\.0\.request\. Did you mean requests\?/],
    ["an unknown field", requests({ state: 1 }), {}, /Unknown field \S+match\.state\. Did you mean status\?/],
    ["an unknown bound", requests(any, { atleast: 1 }), {}, /Unknown field \S+count\.atleast\. Did you mean atLeast\?/],
    ["an unknown operator", requests({ body: { "/a": { gtt: 1 } } }), {}, /Unknown field \S+\.gtt\. Did you mean gt\?/],
    [
      "a field name instead of a JSON Pointer",
      requests({ body: { amount: 1 } }),
      {},
      /by JSON Pointer, such as "\/amount"; received "amount"/,
    ],
    ["a count that no number meets", requests(any, { atLeast: 2, atMost: 1 }), {}, /which no number satisfies/],
    [
      "an unknown kind of record",
      [{ records: { kind: "remitance" } }],
      {},
      /no kind of record remitance\. Did you mean remittance\?/,
    ],
    ["an unknown merchant", requests(any), { merchant: "mer_lodg" }, /no merchant mer_lodg\. Did you mean mer_lodge\?/],
    ["an unknown fault rule", [{ fault: { id: "flt_none" } }], {}, /no fault rule flt_none/],
    ["an unknown rule of the judge", [{ verdicts: { rules: ["retri.*"] } }], {}, /judge has no rule retri\.\*/],
    [
      "an unknown fault rule for verdicts",
      [{ verdicts: { rules: ["*"], faults: ["flt_none"] } }],
      {},
      /no fault rule flt_none/,
    ],
    [
      "an invalid duration",
      requests(any),
      { within: "soon" },
      /within must be a duration such as 500ms, 30s or 30d; received "soon"/,
    ],
    ["a duration above the maximum", requests(any), { within: "2h" }, /within must not be longer than an hour/],
    [
      "two expectations in one object",
      [{ requests: { match: { status: 200 } }, never: { match: { status: 500 } } }],
      {},
      /all\.0 must have at most 1 entry/,
    ],
    ["nothing", [], {}, /all must have at least 1 item/],
  ])("%s", async (_, all, rest, message) => {
    expect(await refused(await open(), all, rest)).toMatch(message);
  });
});

describe("many waiting verifications", () => {
  const wanted: Expectations = { within: "60s", all: [{ requests: { match: { operation: "payments.list" } } }] };

  /** A verifier of an empty request log, in which each search takes `look` real milliseconds. */
  function slowVerifier(look = 1) {
    const listeners = new Set<() => void>();
    const seen = { looks: 0 };
    const find = () => {
      const elapsed = stopwatch();
      while (elapsed() < look);
      seen.looks++;
      return [];
    };
    const sources = {
      requestLog: { find, last: () => 0 },
      operations: ["payments.list"],
      resources: [],
      listen: subscribeTo(listeners),
    };
    const verifier = createVerifier(sources as unknown as Parameters<typeof createVerifier>[0]);
    return { verifier, seen, notifyAll: () => notify(listeners as Set<(value: undefined) => void>, undefined) };
  }

  test("are checked a few at a time, so no request waits for all of them", async () => {
    const { verifier, seen, notifyAll } = slowVerifier();
    attempted("A flood of waiting verifications", 100);
    const waiting = Array.from({ length: 100 }, () => verifier.verify(wanted));
    await new Promise<void>(afterThisTurn);
    notifyAll();
    let most = 0;
    const start = seen.looks;
    while (seen.looks < start + 50) {
      const before = seen.looks;
      await new Promise<void>(afterThisTurn);
      most = Math.max(most, seen.looks - before);
    }
    // Each check reads the log twice: for matches, and for the closest requests.
    expect(most).toBeLessThanOrEqual(4);
    verifier.stop();
    await Promise.all(waiting);
  });

  test("have a maximum number, and a further one is rejected with a message", async () => {
    const { verifier } = slowVerifier(0);
    attempted("A flood of waiting verifications");
    const clients = Array.from({ length: 500 }, () => new AbortController());
    const waiting = clients.map(({ signal }) => verifier.verify(wanted, signal));
    await expect(verifier.verify(wanted)).rejects.toMatchObject({
      code: "sandbox_unavailable",
      message: "500 verifications are waiting, which is the maximum. Run fewer at once.",
    });
    attempted("Work for callers that have gone", 500);
    for (const client of clients) client.abort();
    await Promise.all(waiting);
    const next = verifier.verify(wanted);
    verifier.stop();
    expect((await next).verdict).toBe("fail");
    expect((await slowVerifier(0).verifier.verify({ all: wanted.all })).verdict).toBe("fail");
  });
});

test("a scenario gets its verdict only after its receiver had time to act on every delivery", async () => {
  const bench = await open({ clock: "real" });
  const receiver = await receive();
  const writes: Promise<Answer>[] = [];
  // Real time: the receiver acts on the first copy at once, and on the last copy a second after accepting it.
  const act = () => void writes.push(pay(bench, rule));
  receiver.always((_, outgoing) => {
    outgoing.writeHead(200).end();
    if (receiver.arrivals.length === 1) act();
    if (receiver.arrivals.length === 3) afterRealTime(1_000, act);
  });
  await register(bench, receiver.url, ["booking.declined"]);
  await bench.scenarios.start({ name: "webhook-storm" });
  await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline");
  const { verdict, results } = await ask(bench, [{ scenario: { name: "webhook-storm" } }], { within: "10s" });
  expect([verdict, results[0].message]).toEqual(["fail", expect.stringContaining("webhook.single_effect failed")]);
  await Promise.all(writes);
});

describe("effects", () => {
  const paid = { event: "payment.succeeded" } as const;

  test("are expected once for each accepted event, however often the event was delivered", async () => {
    const { bench, receiver } = await openRegistered();
    await bench.control("POST", "/faults", {
      target: "delivery",
      trigger: { times: null },
      action: { type: "duplicate", copies: 3 },
    });
    for (let event = 1; event <= 2; event++) await bench.control("POST", "/events", { type: "payment.succeeded" });
    await bench.control("POST", "/drain", { within: "5s" });
    const verdictOf = async (made: number, match: object = paid) => {
      const { results } = await ask(bench, [{ effects: { match, made } }]);
      return [results[0].verdict, results[0].message];
    };
    expect(receiver.arrivals.length).toBeGreaterThanOrEqual(6);
    expect(await verdictOf(2)).toEqual(["pass", "The receiver acted 2 times on 2 events."]);
    expect(await verdictOf(6)).toEqual([
      "fail",
      "The receiver acted 6 times on 2 events: it acts more than once on the same event.",
    ]);
    expect(await verdictOf(1)).toEqual([
      "fail",
      "The receiver acted 1 time on 2 events, but accepted 2: at least one accepted event had no effect.",
    ]);
    expect((await verdictOf(0, { event: "payout.paid" }))[0]).toBe("inconclusive");
  });

  test("are inconclusive if events of several types were delivered, until the types are named", async () => {
    const { bench } = await openRegistered();
    for (const type of ["payment.succeeded", "payout.paid"]) await bench.control("POST", "/events", { type });
    await bench.control("POST", "/drain", { within: "5s" });
    const { results } = await ask(bench, [{ effects: { made: 4 } }]);
    expect([results[0].verdict, results[0].message]).toEqual([
      "inconclusive",
      expect.stringContaining('Set event to the types that it acts on, or to "*" for all.'),
    ]);
  });

  test("that exceed the events of the named type name other types, on which the receiver may also act", async () => {
    const { bench, receiver } = await openRegistered();
    const { id } = await bench.events.trigger({ type: "payment.succeeded" });
    await bench.control("POST", "/drain", { within: "5s" });
    const resultOf = async (made: number, event: string) =>
      (await ask(bench, [{ effects: { match: { event }, made } }])).results[0];
    const twice = "acted 2 times on 1 event: it acts more than once on the same event";
    // The sandbox sends payment.pending before payment.succeeded.
    expect(await resultOf(2, "payment.succeeded")).toMatchObject({
      verdict: "fail",
      message: `The receiver ${twice}, or it also acts on payment.pending, which is not named.`,
    });
    expect((await resultOf(2, "*")).verdict).toBe("pass");
    expect((await resultOf(3, "payment.succeeded")).message).toMatch(/ on the same event\.$/);
    expect((await resultOf(2, id)).message).toMatch(/ on the same event\.$/);
    await bench.call("POST", "/_sandbox/audit", { key: null, body: { url: receiver.url } });
    expect((await resultOf(3, "*")).message).toMatch(/ on the same event, or the count includes .* in an audit\.$/);
  });

  test("of a scenario may or may not include an event that was first delivered before the scenario", async () => {
    const { bench, receiver } = await openRegistered();
    await bench.events.trigger({ type: "payout.paid" });
    await bench.control("POST", "/drain", { within: "5s" });
    const [earlier] = (await bench.events.list({ type: "payout.paid" })).data;
    const count = async (made: number) => {
      const { expectations } = await bench.scenarios.count({ name: "webhook-storm", effects: 10 + made });
      return expectations.find(({ rule }) => rule === "webhook.single_effect")?.verdict;
    };
    await bench.scenarios.start({ name: "webhook-storm", effects: 10, event: "payout.paid" });
    const before = receiver.arrivals.length;
    await bench.events.replay({ id: earlier?.id ?? "" });
    await bench.control("POST", "/clock/advance", { by: "10s" });
    await bench.control("POST", "/drain", { within: "5s" });
    expect(receiver.arrivals.length).toBeGreaterThan(before);
    expect([await count(0), await count(1), await count(2)]).toEqual(["pass", "pass", "fail"]);
  });

  test("are counted in the library by a function, which is called again until the count is right", async () => {
    const { bench } = await openRegistered();
    await bench.control("POST", "/events", { type: "payment.succeeded" });
    await bench.control("POST", "/drain", { within: "5s" });
    let calls = 0;
    const made = () => (++calls < 3 ? 0 : 1);
    const { verdict } = await connect(bench.url).verify({ within: HOUR, all: [{ effects: { match: paid, made } }] });
    expect([verdict, calls]).toEqual(["pass", 3]);
  });
});
