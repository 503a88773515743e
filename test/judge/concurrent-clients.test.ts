// Correct clients that make many calls at once during an outage or a rate limit: no verdict may be `fail`. Their pauses
// take real time, because the judge measures real time.

import { expect, test } from "vitest";
import { createRandom } from "../../src/kernel/random.ts";
import { correctClient, createClient } from "../support/clients/client.ts";
import { judge, requestEntry } from "../support/judge-inputs.ts";
import { type Bench, open } from "../support/sandbox.ts";

const random = createRandom(1);
const API_KEY = "sk_test_lodge";
const readsOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ method: "GET", path: `/payments?limit=${index + 1}` }));

const failuresOf = async (bench: Bench): Promise<string[]> =>
  (await bench.verdicts.list({ verdict: "fail" })).data.map(({ rule, message }) => `${rule}: ${message}`);

test("50 different reads, each retried with jittered doubling pauses during an outage, fail no rule", async () => {
  const bench = await open({ clock: "real" });
  await bench.faults.add({ action: { type: "status", status: 503 }, trigger: { times: 4, per: "idempotency_key" } });
  const statuses = await Promise.all(
    readsOf(50).map((read, number) => {
      const pause = (attempts: number) => 50 * 2 ** attempts * random.fraction("pause", number, attempts);
      return createClient(bench.baseUrl, API_KEY, { ...correctClient, pause }).send(read);
    }),
  );
  expect(new Set(statuses)).toEqual(new Set([200]));
  const { data: retried } = await bench.verdicts.list({ verdict: "pass", rule: "retry.happened" });
  expect(retried).toHaveLength(50);
  expect(await failuresOf(bench)).toEqual([]);
});

test.each([
  ["an outage", { type: "outage" }],
  ["a rate limit", { type: "rate_limit", retryAfter: 30 }],
] as const)("100 reads that get %s and are never retried fail no rule", async (_, action) => {
  const bench = await open({ clock: "real" });
  await bench.faults.add({ action, trigger: { times: null } });
  const { send } = createClient(bench.baseUrl, API_KEY, { ...correctClient, maxAttempts: 1 });
  for (const read of readsOf(100)) expect(await send(read)).toBeGreaterThanOrEqual(429);
  expect(await failuresOf(bench)).toEqual([]);
});

test("callers with one API key that give up after five tries, and then repeat the read, fail no rule", async () => {
  const bench = await open({ clock: "real" });
  await bench.faults.add({ action: { type: "status", status: 503 }, trigger: { times: null } });
  const read = { method: "GET", path: "/payments?limit=1" };
  const call = async (number: number) => {
    const { send } = createClient(bench.baseUrl, API_KEY, {
      ...correctClient,
      pause: (attempts) => 15 * 2 ** attempts * (0.5 + random.fraction("shared", number, attempts)),
    });
    for (let count = 0; count < 3; count++) await send(read);
  };
  await Promise.all([0, 1, 2, 3].map(call));
  expect(await failuresOf(bench)).toEqual([]);
});

test("calls on one connection do not prove endless retries if other callers may be retrying an equal call", () => {
  const on = (number: number) => ({ connection: { number, opened: 1e9 - 10 }, isFirst: false });
  const together = [1, 2, 3, 4].map((number) => requestEntry(0, 503, { ...on(number), duration: 5 }));
  const pooled = on(1);
  const arrivals = [30, 36, 40, 53, 71, 95, 109, 133, 157, 209, 254, 300];
  const made = judge(...together, ...arrivals.map((arrived) => requestEntry(arrived, 503, { ...pooled, duration: 1 })));
  expect(made.of("retry.bounded")).toEqual(["inconclusive"]);
});
