// Equal runs have equal effects, whatever the fault rules.

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

describe("equal runs", () => {
  let bench: Bench;
  let receiver: Receiver;
  beforeAll(async () => {
    bench = await share({ seed: 11 });
    receiver = await startReceiver();
  });
  afterAll(async () => {
    await bench.close();
    await receiver.close();
  });

  /** Actions that take real time. Other tests cover them. */
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
    fc.record({
      probability: fc.constantFrom(0.3, 0.6),
      seed: fc.nat({ max: 9 }),
      times: fc.integer({ min: 1, max: 4 }),
    }),
  );
  const sets = fc.array(fc.record({ action, trigger: when }), { minLength: 1, maxLength: 5 });

  /**
   * Resets the sandbox, and makes twenty calls and five events with these rules. Returns each response, each delivery
   * and the state of each rule.
   */
  async function runWith(rules: object[]): Promise<unknown[]> {
    await bench.control("POST", "/reset", {});
    await bench.control("PUT", "/clock", { mode: "frozen", now: NOON });
    receiver.arrivals.splice(0);
    await register(bench, receiver.url);
    for (const rule of rules) await bench.control("POST", "/faults", rule);
    const outcomes: unknown[] = [];
    const makeCall = async (method: string, path: string, body?: object) => {
      const headers: Record<string, string> = body ? { "idempotency-key": `${path} ${outcomes.length}` } : {};
      const answer = await bench.call(method, path, { body, headers }).catch(() => undefined);
      outcomes.push(answer ? [answer.status, answer.headers["x-sandbox-fault"], answer.text] : "no answer");
    };
    for (let round = 0; round < 10; round++) {
      await makeCall("GET", "/v1/payments?limit=1");
      await makeCall("POST", "/v1/hospitality/pricing-rules", {
        name: `Rule ${round}`,
        adjustmentType: "fixed",
        adjustmentValue: round,
      });
      if (round % 2 === 0)
        await trigger(bench, "payment.succeeded", { amount: round }).catch(() => outcomes.push("no event"));
      await settle(bench);
    }
    await advance(bench, "2h");
    outcomes.push(...receiver.arrivals.map(({ rawHeaders, body }) => `${rawHeaders.join("|")} ${body}`).sort());
    return [...outcomes, ...(await rulesOf(bench))];
  }

  test("have the same faults on each call and each delivery, whatever the rules", async () => {
    let fired = 0;
    const property = fc.asyncProperty(sets, async (rules) => {
      const first = await runWith(rules);
      fired += first.filter((one) => typeof one === "object" && (one as { fired?: number }).fired).length;
      expect(await runWith(rules)).toEqual(first);
    });
    await fc.assert(property, { numRuns: inputs(5) });
    expect(fired).toBeGreaterThan(8);
  });
});
