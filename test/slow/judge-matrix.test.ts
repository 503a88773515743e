// The judge's confusion matrix: known behaviours over each HTTP library, after random delays, alone, beside 20 workers, or on a loaded machine.
// `npm run verdicts` plays 10,000 runs (`RUNS`, `SEED`) and prints the matrix. It is no part of `npm test`: it keeps every core busy on purpose.
// test/judge/behaviours.test.ts plays the behaviours without clients.

import { Worker } from "node:worker_threads";
import { expect, test } from "vitest";
import type { FaultAction } from "../../src/client/control-plane.generated.ts";
import { createRandom } from "../../src/kernel/random.ts";
import { sleep } from "../support/clients/client.ts";
import { type Client, PROGRAMS, type Send, transports } from "../support/clients/transports.ts";
import type { FoundVerdict } from "../support/clients/trial.ts";
import { type Bench, share } from "../support/sandbox.ts";

const RUNS = Number(process.env.RUNS);
const SEED = Number(process.env.SEED ?? 7);
const CONCURRENT = 24;
const DELAYS = [0, 1, 10, 100, 300, 3_000];
const SURROUNDINGS = ["alone", "beside 20 workers", "on a loaded machine"] as const;

interface Actions {
  post(key?: string): Promise<unknown>;
  get(path?: string): Promise<unknown>;
  /** A second program with the same API key. */
  other(): Promise<unknown>;
  wait(milliseconds?: number): Promise<unknown>;
  fault(action: FaultAction, times: number): Promise<void>;
}

interface Behaviour {
  name: string;
  act(actions: Actions): Promise<unknown>;
  /** The rules that fail. Any other failure is a false accusation. */
  fails: string[];
  /** Rules that two stories fit, so that an inconclusive verdict is right. */
  open?: string[];
}

const LOST: FaultAction = { type: "lost_response", as: "reset" };
const DOWN: FaultAction = { type: "status", status: 503 };
const limited = (retryAfter: number): FaultAction => ({ type: "rate_limit", retryAfter });
const repeat = async (times: number, act: (time: number) => Promise<unknown>) => {
  for (let time = 0; time < times; time++) await act(time);
};

const behaviours: Behaviour[] = [
  {
    name: "lost write, same key",
    fails: [],
    act: async ({ fault, post, wait }) => [await fault(LOST, 1), await post("a"), await wait(), await post("a")],
  },
  {
    name: "lost write, fresh key",
    fails: ["effect.single", "idempotency.key_reused"],
    act: async ({ fault, post, wait }) => [await fault(LOST, 1), await post("a"), await wait(), await post("b")],
  },
  {
    name: "lost write, no key",
    fails: ["effect.single", "idempotency.present"],
    act: async ({ fault, post, wait }) => [await fault(LOST, 1), await post(), await wait(), await post()],
  },
  {
    name: "Retry-After ignored",
    fails: ["retry_after.honoured"],
    act: async ({ fault, get, wait }) => [await fault(limited(5), 1), await get(), await wait(), await get()],
  },
  {
    name: "Retry-After honoured",
    fails: [],
    act: async ({ fault, get, wait }) => [await fault(limited(1), 1), await get(), await wait(1_020), await wait(), await get()],
  },
  {
    name: "POST without a key after a 429",
    fails: [],
    act: async ({ fault, post, wait }) => [await fault(limited(1), 1), await post(), await wait(1_020), await post()],
  },
  {
    name: "fresh key once after a 503",
    fails: [],
    open: ["idempotency.key_reused"],
    act: async ({ fault, post, wait }) => [await fault(DOWN, 1), await post("a"), await wait(), await post("b")],
  },
  {
    name: "fresh key for each of four tries",
    fails: ["idempotency.key_reused"],
    act: async ({ fault, post, wait }) => [
      await fault(DOWN, 3),
      await repeat(4, async (time) => [await post(`key-${time}`), await wait()]),
    ],
  },
  {
    name: "the same 404 four times",
    fails: ["retry.only_retryable"],
    act: ({ get, wait }) => repeat(4, async () => [await get("/customers/cus_nobody"), await wait()]),
  },
  {
    name: "the same 404 three times",
    fails: [],
    act: ({ get, wait }) => repeat(3, async () => [await get("/customers/cus_nobody"), await wait()]),
  },
  {
    name: "two pollers, one told",
    fails: [],
    open: ["retry.happened", "retry_after.honoured"],
    async act({ fault, get, other, wait }) {
      for (let round = 0; round < 3; round++)
        await get()
          .then(() => wait(150))
          .then(other)
          .then(() => wait(150));
      await fault(limited(5), 1);
      await get();
      await repeat(2, () => wait(300).then(other));
    },
  },
];

interface Run {
  behaviour: Behaviour;
  transport: string;
  delay: number;
  surroundings: (typeof SURROUNDINGS)[number];
}

const random = createRandom(SEED);
const pick = <T>(list: readonly T[], ...name: (string | number)[]): T => list[Math.floor(random.fraction(...name) * list.length)] as T;

function runOf(number: number, surroundings: Run["surroundings"]): Run {
  const isProgram = random.fraction("program", surroundings, number) < 0.04;
  const names = Object.keys(transports).filter((name) => PROGRAMS.includes(name) === isProgram);
  const behaviour = behaviours[number % behaviours.length] as Behaviour;
  return {
    behaviour,
    transport: pick(names, "transport", surroundings, number),
    delay: pick(DELAYS, "delay", surroundings, number),
    surroundings,
  };
}

async function play(bench: Bench, { behaviour, transport, delay, surroundings }: Run): Promise<FoundVerdict[]> {
  const { merchant, apiKey } = await bench.merchants.mint({ fixture: "blank" });
  const headers = { authorization: `Bearer ${apiKey}` };
  const open = transports[transport] as () => Client;
  const [client, second] = [open(), open()];
  const get = (send: Send, path = "/payments") => send({ method: "GET", url: bench.baseUrl + path, headers }).catch(() => {});
  const post = (key?: string) =>
    client
      .send({
        method: "POST",
        url: `${bench.baseUrl}/hospitality/pricing-rules`,
        headers: { ...headers, "content-type": "application/json", ...(key ? { "idempotency-key": key } : {}) },
        body: JSON.stringify({ name: "Low", adjustmentType: "fixed", adjustmentValue: 5 }),
      })
      .catch(() => {});
  const workers = surroundings === "beside 20 workers" ? startWorkers(bench, headers) : undefined;
  await behaviour.act({
    post,
    get: (path) => get(client.send, path),
    other: () => get(second.send),
    wait: (milliseconds = delay) => sleep(milliseconds),
    async fault(action, times) {
      await bench.faults.add({ action, trigger: { times }, match: { merchant, operation: ["pricing_rules.create", "payments.list"] } });
    },
  });
  const { verdicts } = await bench.verdicts.list({ merchant });
  await workers?.stop();
  client.close();
  second.close();
  await bench.merchants.remove({ id: merchant });
  return verdicts;
}

/** 20 workers with the same API key, which read another path. */
function startWorkers({ baseUrl }: Bench, headers: Record<string, string>) {
  let isOver = false;
  const client = transports["http.Agent with keep-alive"]?.();
  const workers = Array.from({ length: 20 }, async (_, number) => {
    for (let round = 0; !isOver; round++) {
      await client?.send({ method: "GET", url: `${baseUrl}/merchants/me`, headers }).catch(() => {});
      await sleep(100 + 200 * random.fraction("worker", number, round));
    }
  });
  return {
    async stop() {
      isOver = true;
      await Promise.all(workers);
      client?.close();
    },
  };
}

type Outcome = "pass" | "fail" | "inconclusive";

function outcomeOf({ fails, open = [] }: Behaviour, found: readonly FoundVerdict[]): { outcome: Outcome; isRight: boolean } {
  const failed = [...new Set(found.filter(({ verdict }) => verdict === "fail").map(({ rule }) => rule))].sort();
  const unsure = found.filter(({ rule, verdict }) => verdict === "inconclusive" && !open.includes(rule));
  const outcome = failed.length > 0 ? "fail" : unsure.length > 0 ? "inconclusive" : "pass";
  return { outcome, isRight: outcome === "inconclusive" || failed.join() === fails.join() };
}

/** Keeps every core busy. */
function loadMachine() {
  const workers = Array.from({ length: 4 }, () => new Worker("for (;;);", { eval: true }));
  return () => Promise.all(workers.map((worker) => worker.terminate()));
}

test.runIf(RUNS > 0)("each behaviour gets its verdict, whatever the client, the delay and the load", { timeout: 36_000_000 }, async () => {
  const bench = await share({ clock: "real" });
  const counts = new Map(behaviours.map(({ name }) => [name, { pass: 0, fail: 0, inconclusive: 0, wrong: 0 }]));
  const wrong: string[] = [];
  for (const surroundings of SURROUNDINGS) {
    const stop = surroundings === "on a loaded machine" ? loadMachine() : undefined;
    let next = 0;
    const playAll = async () => {
      for (let number = next++; number < RUNS / SURROUNDINGS.length; number = next++) {
        const run = runOf(number, surroundings);
        const found = await play(bench, run);
        const { outcome, isRight } = outcomeOf(run.behaviour, found);
        const row = counts.get(run.behaviour.name);
        if (row) row[outcome]++;
        if (isRight) continue;
        if (row) row.wrong++;
        const said = found.filter(({ verdict }) => verdict === "fail").map(({ rule, says }) => `${rule}: ${says}`);
        wrong.push(`${run.behaviour.name}, ${run.transport}, ${run.delay} ms, ${surroundings}: ${said.join(" ") || "no failure"}`);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENT }, playAll));
    await stop?.();
  }
  await bench.close();
  const rows = [...counts].map(([behaviour, count]) => ({ behaviour, ...count }));
  console.table(rows);
  expect(wrong).toEqual([]);
  const unsure = rows.reduce((sum, { inconclusive }) => sum + inconclusive, 0);
  expect(unsure / RUNS).toBeLessThan(0.02);
});
