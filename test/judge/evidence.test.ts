// The evidence of a verdict: its calls with connections and times, how sure it is, and when it is final.

import { Agent } from "node:http";
import { describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { LiveMessage } from "../../src/contracts/live-messages.ts";
import { evidenceText, type VerdictMessage } from "../../src/contracts/verdict.ts";
import { createRejectionTracker } from "../../src/judge/merchant-tracker.ts";
import { describeCall } from "../../src/judge/observed-call.ts";
import { createRetryTracker, type PendingRetry, type RetryListeners } from "../../src/judge/retry-tracker.ts";
import { retryBackoffGrows } from "../../src/judge/rules/retry.ts";
import { retryAfterJittered } from "../../src/judge/rules/retry-after.ts";
import type { RequestEntry } from "../../src/store/request-log/request-log.ts";
import { firing, judge, NO_LAG, requestEntry, wait, writeEntry } from "../support/judge-inputs.ts";
import { open } from "../support/sandbox.ts";

const NO_LISTENERS: Omit<RetryListeners, "lag"> = {
  onRetry: () => new Map(),
  onChainEnd: () => new Map(),
  onConclude: () => new Map(),
  onFailure() {},
  onFirstPause() {},
  onDrop() {},
  recent: () => [],
};

describe("the evidence of a verdict", () => {
  const lostWrite = (second: RequestEntry) => {
    const made = judge();
    const lost = writeEntry(0, 0, "a", { responseHeaders: {} });
    made.fired(firing({ requestId: lost.id }));
    for (const one of [lost, second]) made.request(one);
    return made;
  };

  test("names the calls with their connections and times", () => {
    const [one, two] = [requestEntry(0, 429, wait("5")), requestEntry(31, 200)];
    expect(judge(one, two).verdicts({ rule: "retry_after.honoured" })).toMatchObject([
      {
        requests: [one.id, two.id],
        calls: [
          { request: one.id, connection: one.connection.number, milliseconds: 0 },
          { request: two.id, connection: two.connection.number, milliseconds: 31 },
        ],
      },
    ]);
  });

  test("is the store where a second effect or the same key shows the retry", () => {
    const found = (key: string, rule: string) => lostWrite(writeEntry(10, 200, key)).verdicts({ rule });
    expect(found("b", "effect.single")).toMatchObject([{ verdict: "fail", confirmedBy: "database" }]);
    expect(found("b", "idempotency.key_reused")).toMatchObject([{ verdict: "fail", confirmedBy: "database" }]);
    expect(found("a", "idempotency.key_reused")).toMatchObject([{ verdict: "pass", confirmedBy: "database" }]);
  });

  test("is the order on connections where an equal call follows the response, and time where none did", () => {
    const early = judge(requestEntry(0, 429, wait("5")), requestEntry(31, 200));
    expect(early.verdicts({ rule: "retry_after.honoured" })).toMatchObject([
      { verdict: "fail", confirmedBy: "connections" },
    ]);
    const silent = judge(requestEntry(0, 429, wait("1")), requestEntry(4_001, 200, { search: "limit=5" }));
    expect(silent.verdicts({ rule: "retry.happened" })).toMatchObject([{ verdict: "fail", confirmedBy: "time" }]);
  });

  test("is one line: of many calls, the first and the last", () => {
    const call = (number: number) => ({ request: `req_${number}`, connection: 1, milliseconds: (number - 1) * 5 });
    const calls = Array.from({ length: 9 }, (_, index) => call(index + 1));
    expect(evidenceText({ calls: calls.slice(0, 2), attempts: [], confirmedBy: "connections" })).toBe(
      "req_1 on connection 1 after 0 ms, req_2 on connection 1 after 5 ms; confirmed by the order on connections",
    );
    expect(evidenceText({ calls, attempts: [], confirmedBy: "time" })).toMatch(
      /req_5 [^,]+, 3 more calls, req_9 [^,]+ after 40 ms; confirmed by timing$/,
    );
    expect(evidenceText({ calls: [], attempts: ["whd_1"], confirmedBy: null })).toBe("whd_1; not confirmed");
  });
});

test("a connection that the client ends is known as closed", async () => {
  const bench = await open();
  const seen: RequestEntry[] = [];
  bench.onRequest((entry) => seen.push(entry));
  for (let time = 0; time < 2; time++) {
    const agent = new Agent({ keepAlive: true });
    await bench.call("GET", "/v1/payments", { agent });
    agent.destroy();
  }
  const [one, two] = seen as [RequestEntry, RequestEntry];
  expect(two.connection.number).toBe(one.connection.number + 1);
  await expect.poll(() => one.connection.closed).toBeGreaterThanOrEqual(one.arrived + one.duration);
});

test.each([
  ["the control API", "GET", "/_sandbox/clock", {}],
  ["a page that does not exist", "GET", "/nowhere", {}],
  ["a rejected host", "GET", "/v1/payments", { host: "evil.example" }],
  ["a preflight", "OPTIONS", "/v1/payments", { origin: "http://127.0.0.1:1", "access-control-request-method": "POST" }],
])("a connection counts as used after a call of %s", async (_, method, path, headers) => {
  const bench = await open({ allowedOrigin: ["http://127.0.0.1:1"] });
  const agent = new Agent({ keepAlive: true });
  await Promise.all([1, 2].map(() => bench.call(method, path, { agent, headers })));
  await bench.faults.add({ action: { type: "lost_response", as: "reset" } });
  const post = (key: string) =>
    bench.call("POST", "/v1/hospitality/pricing-rules", { agent, body: rule, headers: { "idempotency-key": key } });
  await post("a").catch(() => {});
  await post("b");
  agent.destroy();
  const { data: verdicts } = await bench.verdicts.list({ verdict: "fail" });
  expect(verdicts.map(({ rule: id }) => id).sort()).toEqual(["effect.single", "idempotency.key_reused"]);
});

const rule = { name: "Low", adjustmentType: "fixed", adjustmentValue: 5 };

describe("a client that is silent after its deadline", () => {
  /** A base at which the deadline of a failed call, 15 s later, has just passed. */
  const past = () => performance.now() - 1e9 - 16_000;

  test("has failed to retry, which is not final: its retry may still come", () => {
    const start = past();
    const made = judge(requestEntry(start, 503));
    expect(made.verdicts()).toMatchObject([{ rule: "retry.happened", verdict: "fail", id: null, confirmedBy: "time" }]);
    made.request(requestEntry(start + 15_900, 200));
    expect(made.of("retry.happened")).toEqual(["pass"]);
  });

  test("has not failed while the event loop lagged for as long as it is late", () => {
    const late = (lag: number) => {
      const tracker = createRetryTracker({ ...NO_LISTENERS, lag: { worst: () => lag, total: () => lag } });
      const call = describeCall(requestEntry(0, 503), [], undefined);
      tracker.observe(call);
      return tracker.isOverdue(tracker.pending[0] as PendingRetry, call.answered + 16_000);
    };
    expect([late(0), late(2_000)]).toEqual([true, false]);
  });
});

describe("repeats of a rejected request", () => {
  const verdictsOf = (pause: number, lag: number) => {
    let reported = 0;
    const tracker = createRejectionTracker(() => `vdt_${++reported}`, { ...NO_LAG, total: () => lag });
    for (let place = 0; place < 4; place++)
      tracker.observe(describeCall(requestEntry(place * pause, 404), [], undefined));
    return reported;
  };

  test("belong together for 10 s, and longer if the event loop lagged meanwhile", () => {
    expect([verdictsOf(9_000, 0), verdictsOf(11_000, 0), verdictsOf(11_000, 2_000)]).toEqual([1, 0, 1]);
  });
});

describe("a busy machine", () => {
  const pauses = (ownWaits: number[], lags: number[]) =>
    retryBackoffGrows.onChainEnd?.({ calls: [], ownWaits, lags, confirmedBy: "database", lookalikes: [] }, false)
      ?.verdict;

  test("may be all that makes equal pauses grow", () => {
    expect(pauses([303, 217, 257, 1_046], [60, 0, 30, 820])).toBe("inconclusive");
    expect(pauses([303, 217, 257, 1_046], [60, 0, 30, 82])).toBe("pass");
  });

  test("makes pauses longer and so more alike: they are equal only if they are without the lag too", () => {
    expect([pauses([400, 400, 410], []), pauses([1, 2], [0, 0]), pauses([200, 400, 800], [])]).toEqual([
      "fail",
      "fail",
      "pass",
    ]);
    expect(pauses([3_500, 5_200, 3_300, 3_800], [3_300, 4_800, 2_500, 2_200])).toBe("inconclusive");
    expect(pauses([230, 260, 240, 250], [20, 50, 30, 40])).toBe("fail");
    expect(pauses([768, 736, 671], [500, 350, 40])).toBe("inconclusive");
    expect(pauses([3_200, 3_400, 3_800], [3_000, 3_000, 3_000])).toBe("inconclusive");
  });

  const herd = (apart: number, { before = 0, busy = 0 }) => {
    const from = describeCall(requestEntry(0, 429, wait("1")), [], undefined);
    const call = (place: number) => describeCall(requestEntry(1_000 + place * apart, 200), [], undefined);
    const sample = Array.from({ length: 20 }, (_, place) => ({ from, call: call(place), busy: (busy * place) / 15 }));
    return retryAfterJittered.onReturn?.(sample, { before, total: 0 })?.verdict;
  };

  test("delivers calls together that were sent apart, after a stall", () => {
    expect([herd(1, {}), herd(1, { before: 100 })]).toEqual(["fail", "inconclusive"]);
  });

  test("delivers calls apart that were sent together, while it serves them", () => {
    expect([herd(10, {}), herd(10, { busy: 140 }), herd(30, { busy: 140 })]).toEqual(["pass", "inconclusive", "pass"]);
    expect(herd(43, { busy: 600 })).toBe("inconclusive");
  });
});

describe("a run that ends", () => {
  test("makes what is open final and publishes it; a retry that still arrives amends it", () => {
    const now = performance.now() - 1e9;
    const made = judge(requestEntry(now, 429, wait("5")));
    expect(made.published).toEqual([]);
    made.conclude("mer_market");
    expect(made.published).toEqual([]);
    made.conclude();
    made.conclude();
    expect(made.published).toMatchObject([{ rule: "retry.happened", verdict: "inconclusive", id: "vdt_1" }]);
    made.request(requestEntry(now + 5_010, 200));
    expect(made.verdicts({ rule: "retry.happened" })).toMatchObject([{ verdict: "pass", id: "vdt_1" }]);
  });

  test("has a verdict for each rule that a fault should have tested", () => {
    const made = judge();
    const failed = requestEntry(0, 200);
    made.fired(firing({ requestId: failed.id, outcome: "normal", expect: ["retry.jittered"] }));
    made.request(failed);
    made.conclude();
    expect(made.published).toMatchObject([{ rule: "retry.jittered", verdict: "inconclusive", fault: "flt_1" }]);
    expect(made.of("retry.jittered")).toEqual(["inconclusive"]);
  });

  test.each(["close", "reset"] as const)(
    "by %s publishes the verdicts on calls whose retry is missing",
    async (end) => {
      const bench = await open({ rateLimit: "1/1m" });
      const found: VerdictMessage[] = [];
      bench.onHappening((event) => {
        if (event.kind === "verdict") found.push(event.verdict);
      });
      for (let time = 0; time < 2; time++) await bench.call("GET", "/v1/payments");
      expect(found).toEqual([]);
      if (end === "close") await bench.close();
      else await bench.reset();
      expect(found).toMatchObject([{ rule: "retry.happened", verdict: "inconclusive", requests: ["req_2"] }]);
    },
  );

  test("by close sends them to the clients of the live stream too", async () => {
    const bench = await open({ rateLimit: "1/1m" });
    const socket = new WebSocket(`${bench.url.replace("http", "ws")}/_sandbox/live`);
    const found: string[] = [];
    await new Promise((resolve) => socket.once("message", resolve));
    socket.on("message", (data) => {
      const message = JSON.parse(String(data)) as LiveMessage;
      if (message.type === "batch")
        found.push(...message.items.flatMap((item) => (item.kind === "verdict" ? [item.verdict.rule] : [])));
    });
    for (let time = 0; time < 2; time++) await bench.call("GET", "/v1/payments");
    await Promise.all([new Promise((resolve) => socket.once("close", resolve)), bench.close()]);
    expect(found).toEqual(["retry.happened"]);
  });
});
