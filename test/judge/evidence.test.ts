// The evidence of a verdict: its calls with connections and times, how it was confirmed, and when it is final.

import { Agent } from "node:http";
import { describe, expect, test } from "vitest";
import { WebSocket } from "ws";
import { evidenceText } from "../../src/client/verdict-text.ts";
import type { LiveMessage } from "../../src/contracts/live-messages.ts";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import { createRejectionTracker } from "../../src/judge/merchant-tracker.ts";
import { describeCall } from "../../src/judge/observed-call.ts";
import { retryBackoffGrows } from "../../src/judge/rules/retry.ts";
import type { RetryChain } from "../../src/judge/rules/rule.ts";
import { createRandom } from "../../src/kernel/random.ts";
import type { RequestEntry } from "../../src/store/request-log/request-log.ts";
import { firing, judge, requestEntry, wait, writeEntry } from "../support/judge-inputs.ts";
import { open } from "../support/sandbox.ts";

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

  test("comes from the database if a second effect or the same key proves the retry", () => {
    const found = (key: string, rule: string) => lostWrite(writeEntry(10, 200, key)).verdicts({ rule });
    expect(found("b", "effect.single")).toMatchObject([{ verdict: "fail", confirmedBy: "database" }]);
    expect(found("b", "idempotency.key_reused")).toMatchObject([{ verdict: "fail", confirmedBy: "database" }]);
    expect(found("a", "idempotency.key_reused")).toMatchObject([{ verdict: "pass", confirmedBy: "database" }]);
  });

  test("comes from the order on connections if an equal call follows, and from the time if none does", () => {
    const early = judge(requestEntry(0, 429, wait("5")), requestEntry(31, 200));
    expect(early.verdicts({ rule: "retry_after.honoured" })).toMatchObject([
      { verdict: "fail", confirmedBy: "connections" },
    ]);
    const silent = judge(requestEntry(0, 429, wait("1")), requestEntry(4_001, 200, { search: "limit=5" }));
    expect(silent.verdicts({ rule: "retry.happened" })).toMatchObject([{ verdict: "fail", confirmedBy: "time" }]);
  });

  test("is shown in one line, which shortens a long list of calls", () => {
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

test("a connection that the client closes is recorded as closed", async () => {
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
  ["a call of the control API", "GET", "/_sandbox/clock", {}],
  ["a call of a page that does not exist", "GET", "/nowhere", {}],
  ["a call with a rejected Host", "GET", "/v1/payments", { host: "evil.example" }],
  ["a preflight", "OPTIONS", "/v1/payments", { origin: "http://127.0.0.1:1", "access-control-request-method": "POST" }],
])("a connection counts as used after %s", async (_, method, path, headers) => {
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
  /** A time for a failed call whose deadline, 15 s later, has just passed. */
  const past = () => performance.now() - 1e9 - 16_000;

  test("fails retry.happened; a later retry still revises the verdict", () => {
    const start = past();
    const made = judge(requestEntry(start, 503));
    expect(made.verdicts()).toMatchObject([
      { rule: "retry.happened", verdict: "fail", id: "vdt_1", confirmedBy: "time" },
    ]);
    made.request(requestEntry(start + 15_900, 200));
    expect(made.of("retry.happened")).toEqual(["pass"]);
  });
});

test("repeats of a rejected request count together if they are less than 10 s apart", () => {
  const verdictsOf = (pause: number) => {
    let reported = 0;
    const tracker = createRejectionTracker(() => `vdt_${++reported}`);
    for (let place = 0; place < 4; place++)
      tracker.observe(describeCall(requestEntry(place * pause, 404), [], undefined));
    return reported;
  };
  expect([verdictsOf(9_000), verdictsOf(11_000)]).toEqual([1, 0]);
});

test.each<[number[], string | undefined]>([
  [[400, 405, 410], "fail"],
  [[400, 405, 420], undefined],
  [[240, 250, 245, 248], "fail"],
  [[861, 835, 750, 753], undefined],
  [[160, 190, 165, 170, 180], "fail"],
  [[150, 190, 160, 170, 200], undefined],
  [[1, 2, 9], "fail"],
  [[1, 2], undefined],
  [[200, 400, 800], "pass"],
  [[303, 217, 257, 1_046], "pass"],
])("for pauses of %j ms before the retries of one call, the verdict is %s", (ownWaits, verdict) => {
  const chain: RetryChain = { calls: [], ownWaits, confirmedBy: "database", lookalikes: [] };
  expect(retryBackoffGrows.onChainEnd?.(chain, false)?.verdict).toBe(verdict);
});

test("a client with full jitter fails by chance, for fewer than one call in 5,000", () => {
  const random = createRandom(1);
  const verdictOf = (call: number) => {
    const retries = 3 + (call % 4);
    const pause = (number: number) => 100 * 2 ** number * random.fraction(call, number);
    const chain: RetryChain = {
      calls: [],
      ownWaits: Array.from({ length: retries }, (_, number) => pause(number)),
      confirmedBy: "database",
      lookalikes: [],
    };
    return retryBackoffGrows.onChainEnd?.(chain, false)?.verdict;
  };
  const failed = Array.from({ length: 50_000 }, (_, call) => verdictOf(call)).filter((verdict) => verdict === "fail");
  expect(failed.length).toBeLessThan(10);
});

describe("a run that ends", () => {
  test("makes open verdicts final and publishes them; a retry that arrives later amends its verdict", () => {
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

  test("gets a verdict for each rule that a fault should have tested", () => {
    const made = judge();
    const failed = requestEntry(0, 200);
    made.fired(firing({ requestId: failed.id, outcome: "normal", expect: ["retry.backoff_grows"] }));
    made.request(failed);
    made.conclude();
    expect(made.published).toMatchObject([{ rule: "retry.backoff_grows", verdict: "inconclusive", fault: "flt_1" }]);
    expect(made.of("retry.backoff_grows")).toEqual(["inconclusive"]);
  });

  test.each(["close", "reset"] as const)(
    "on %s publishes the verdicts on calls whose retry is missing",
    async (end) => {
      const bench = await open({ rateLimit: "1/1m" });
      const found: VerdictMessage[] = [];
      bench.onLiveEvent((event) => {
        if (event.kind === "verdict") found.push(event.verdict);
      });
      for (let time = 0; time < 2; time++) await bench.call("GET", "/v1/payments");
      expect(found).toEqual([]);
      if (end === "close") await bench.close();
      else await bench.reset();
      expect(found).toMatchObject([{ rule: "retry.happened", verdict: "inconclusive", requests: ["req_lodge_2"] }]);
    },
  );

  test("on close sends the verdicts on calls whose retry is missing to clients of the live stream too", async () => {
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
