// Properties of any set of fault rules: no rule outlives its duration or a reset, and equal runs have equal effects.

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseArguments } from "../../src/cli/arguments.ts";
import { fault, ruleOf } from "../../src/cli/commands/fault.ts";
import type { RuleState } from "../../src/contracts/fault.ts";
import { actions } from "../../src/faults/rule-schema.ts";
import { inputs } from "../support/fuzzing.ts";
import { type Bench, NOON, share } from "../support/sandbox.ts";
import { advance, type Receiver, register, settle, startReceiver, trigger } from "../support/webhooks.ts";

const rulesOf = async (bench: Bench): Promise<RuleState[]> => (await bench.control("GET", "/faults")).data;

describe("a rule applies", () => {
  const keys = { mer_lodge: "sk_test_lodge", mer_market: "sk_test_market" };
  type Merchant = keyof typeof keys;
  const merchants = Object.keys(keys) as Merchant[];

  interface Alive {
    id: string;
    merchant: Merchant | undefined;
    /** The second at which it expires. */
    end: number;
  }
  interface World {
    now: number;
    rules: Alive[];
  }

  /** Applies one step to the sandbox and to the expected state. */
  type Step = (bench: Bench, world: World) => Promise<void>;

  const add = fc.record({ ttl: fc.option(fc.integer({ min: 1, max: 20 })), merchant: fc.option(fc.constantFrom(...merchants)) }).map(
    ({ ttl, merchant }): Step =>
      async (bench, world) => {
        const rule = {
          match: merchant === null ? {} : { merchant },
          trigger: { times: null },
          action: { type: "status", status: 503 },
          ...(ttl === null ? {} : { ttl: `${ttl}s` }),
        };
        const { id } = await bench.control("POST", "/faults", rule);
        world.rules.push({ id, merchant: merchant ?? undefined, end: ttl === null ? Number.POSITIVE_INFINITY : world.now + ttl });
      },
  );
  const pass = fc.integer({ min: 1, max: 12 }).map(
    (seconds): Step =>
      async (bench, world) => {
        await advance(bench, `${seconds}s`);
        world.now += seconds;
        world.rules = world.rules.filter(({ end }) => end > world.now);
      },
  );
  const reset = fc.option(fc.constantFrom(...merchants)).map(
    (merchant): Step =>
      async (bench, world) => {
        await bench.control("POST", "/reset", merchant === null ? {} : { merchant });
        world.rules = merchant === null ? [] : world.rules.filter((rule) => rule.merchant !== merchant);
      },
  );
  const remove = fc.nat().map(
    (place): Step =>
      async (bench, world) => {
        const [gone] = world.rules.splice(place % Math.max(1, world.rules.length), 1);
        if (gone) await bench.control("DELETE", `/faults/${gone.id}`);
      },
  );
  const steps = fc.array(
    fc.oneof(
      { weight: 4, arbitrary: add },
      { weight: 3, arbitrary: pass },
      { weight: 1, arbitrary: reset },
      { weight: 1, arbitrary: remove },
    ),
    { minLength: 5, maxLength: 25 },
  );

  test("until it expires, is removed, or its merchant is reset, and affects no later call", async () => {
    const bench = await share();
    const property = fc.asyncProperty(steps, async (taken) => {
      await bench.control("POST", "/reset", {});
      const world: World = { now: 0, rules: [] };
      for (const step of taken) {
        await step(bench, world);
        const armed = (await rulesOf(bench)).filter(({ status }) => status === "armed").map(({ id }) => id);
        expect(armed.sort()).toEqual(world.rules.map(({ id }) => id).sort());
        for (const merchant of merchants) {
          const struck = world.rules.some((rule) => rule.merchant === undefined || rule.merchant === merchant);
          const { status } = await bench.call("GET", "/v1/merchants/me", { key: keys[merchant] });
          expect([merchant, status]).toEqual([merchant, struck ? 503 : 200]);
        }
      }
    });
    await fc.assert(property, { numRuns: inputs(15) }).finally(bench.close);
  });
});

describe("equal runs", () => {
  let bench: Bench;
  let receiver: Receiver;
  beforeAll(async () => {
    bench = await share({ seed: 11 });
    receiver = await startReceiver("127.0.0.1", 0);
  });
  afterAll(async () => {
    await bench.close();
    await receiver.close();
  });

  /** These take real time and have their own test. */
  const REAL = ["latency", "transport"];
  const action = fc.constantFrom(...actions.filter(({ type }) => !REAL.includes(type))).map(({ example }) => {
    const words = example.replaceAll("'", "").split(" ");
    const { positionals, flags } = parseArguments(words, { name: "fault add", sandboxOptions: [], flags: fault.flags });
    return ruleOf(positionals[0] ?? "", [], flags).action;
  });
  const when = fc.oneof(
    fc.record({ times: fc.integer({ min: 1, max: 4 }), skip: fc.nat({ max: 3 }) }),
    fc.record({ every: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ probability: fc.constantFrom(0.2, 0.5, 0.8) }),
    fc.record({ probability: fc.constantFrom(0.3, 0.6), seed: fc.nat({ max: 9 }), times: fc.integer({ min: 1, max: 4 }) }),
  );
  const sets = fc.array(fc.record({ action, trigger: when }), { minLength: 1, maxLength: 5 });

  /** Runs twenty calls and six events with these rules from the fixtures; returns the outcome of each, and the firings of each rule. */
  async function day(rules: object[]): Promise<unknown[]> {
    await bench.control("POST", "/reset", {});
    await bench.control("PUT", "/clock", { mode: "frozen", now: NOON });
    receiver.arrivals.splice(0);
    await register(bench, receiver.url);
    for (const rule of rules) await bench.control("POST", "/faults", rule);
    const told: unknown[] = [];
    const say = async (method: string, path: string, body?: object) => {
      const headers: Record<string, string> = body ? { "idempotency-key": `${path} ${told.length}` } : {};
      const answer = await bench.call(method, path, { body, headers }).catch(() => undefined);
      told.push(answer ? [answer.status, answer.headers["x-sandbox-fault"], answer.text] : "no answer");
    };
    for (let round = 0; round < 10; round++) {
      await say("GET", "/v1/payments?limit=1");
      await say("POST", "/v1/hospitality/pricing-rules", { name: `Rule ${round}`, adjustmentType: "fixed", adjustmentValue: round });
      if (round % 2 === 0) await trigger(bench, "payment.succeeded", { amount: round }).catch(() => told.push("no event"));
      await settle(bench);
    }
    await advance(bench, "2h");
    told.push(...receiver.arrivals.map(({ rawHeaders, body }) => `${rawHeaders.join("|")} ${body}`).sort());
    return [...told, ...(await rulesOf(bench))];
  }

  test("with equal calls and equal rules have equal faults, call by call and delivery by delivery", async () => {
    let fired = 0;
    const property = fc.asyncProperty(sets, async (rules) => {
      const first = await day(rules);
      fired += first.filter((one) => typeof one === "object" && (one as { fired?: number }).fired).length;
      expect(await day(rules)).toEqual(first);
    });
    await fc.assert(property, { numRuns: inputs(12) });
    expect(fired).toBeGreaterThan(8);
  });
});
