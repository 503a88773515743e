// Tries each built-in scenario with a correct client or receiver and with a faulty one, each with its own merchant.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ScenarioState } from "../../src/contracts/scenario.ts";
import { correctClient, createClient, type RetryBehaviour, sleep } from "../support/clients/client.ts";
import { correctReceiver, openReceiver, type Receiver, type ReceiverBehaviour } from "../support/clients/receiver.ts";
import { type Bench, call, control, share } from "../support/sandbox.ts";

/** `running` has a real clock, for client scenarios. `frozen` has a clock that the test advances, for receivers. */
let running: Bench;
let frozen: Bench;

beforeAll(async () => {
  running = await share({ clock: "real" });
  frozen = await share({ webhookTimeout: "5500ms" });
});

afterAll(() => Promise.all([running.close(), frozen.close()]));

interface Tried {
  scenario: string;
  /** The bug of the client or receiver. */
  bug: string;
  /** The rules that the faulty client or receiver must fail, and no others. */
  fails: string[];
}

interface Merchant {
  merchant: string;
  apiKey: string;
}

/** Arms the scenario for a new merchant, runs the actions, and returns the state of the scenario. */
async function tryOn(
  { url }: Bench,
  name: string,
  run: (merchant: Merchant) => Promise<unknown>,
): Promise<ScenarioState> {
  const { id: merchant, apiKey } = await control(url, "POST", "/merchants", { fixture: "lodge" });
  const armed = await control(url, "POST", `/scenarios/${name}`, { merchant });
  expect(armed).toMatchObject({ armed: true, merchant, score: 0, verdict: "inconclusive" });
  await run({ merchant, apiKey });
  return control(url, "GET", `/scenarios/${name}?merchant=${merchant}`);
}

const failed = ({ expectations }: ScenarioState) =>
  [
    ...new Set(
      expectations.flatMap(({ verdicts }) =>
        verdicts.filter(({ verdict }) => verdict === "fail").map(({ rule }) => rule),
      ),
    ),
  ].sort();

function expectFullScore({ score, points, verdict, message, faults }: ScenarioState): void {
  expect({ verdict, score, message }).toMatchObject({ verdict: "pass", score: points });
  for (const fault of faults) expect(fault.fired).toBeGreaterThan(0);
}

function expectFailure(state: ScenarioState, fails: readonly string[]): void {
  expect(state.verdict, state.message).toBe("fail");
  expect(state.score).toBeLessThan(state.points);
  expect(failed(state)).toEqual([...fails].sort());
}

const pricing = {
  method: "POST",
  path: "/hospitality/pricing-rules",
  body: { name: "Low season", adjustmentType: "fixed", adjustmentValue: 5 },
};
const payroll = {
  method: "POST",
  path: "/employees/payroll",
  body: {
    periodStart: "2026-02-01",
    periodEnd: "2026-02-28",
    payDate: "2026-02-26",
    currency: "EUR",
    items: [{ employeeId: "emp_marta", employeeName: "Marta", grossAmount: 250_000 }],
  },
};
const payments = { method: "GET", path: "/payments" };
/**
 * After a Retry-After of one second, the judge waits 4 s for a retry. After this many milliseconds, it no longer waits.
 */
const GONE_AFTER = 5_500;

/** The correct client, with delays that vary less, so that the duration of the tests is predictable. */
const sound: RetryBehaviour = {
  ...correctClient,
  pause: (tries, retryAfter) =>
    retryAfter === undefined
      ? 300 * 2 ** (tries - 1) * (0.75 + Math.random() / 2)
      : retryAfter * 1_000 + Math.random() * 50,
};

interface ClientCase extends Tried {
  request?: typeof pricing | typeof payroll;
  habits: Partial<RetryBehaviour>;
  /** Makes more calls as the faulty client. */
  afterwards?(send: ReturnType<typeof createClient>["send"]): Promise<unknown>;
}

const clients: ClientCase[] = [
  {
    scenario: "rate-limit-burst",
    bug: "ignores Retry-After",
    habits: { pause: () => 300 },
    fails: ["retry_after.honoured"],
  },
  {
    scenario: "lost-response",
    bug: "repeats without a key",
    habits: { keyOf: () => undefined, pause: () => 400 },
    fails: ["effect.single", "idempotency.present"],
  },
  {
    scenario: "brownout",
    bug: "waits equally long before each retry",
    // The pauses are long, so that the delays of a busy machine are a small part of each pause.
    habits: { pause: () => 4_000 },
    fails: ["retry.backoff_grows"],
  },
  {
    scenario: "maintenance-window",
    bug: "never retries",
    habits: { maxAttempts: 1 },
    afterwards: async (send) => [await sleep(GONE_AFTER), await send(payments)],
    fails: ["retry.happened"],
  },
  {
    scenario: "payroll-day",
    bug: "changes the body for each attempt",
    request: payroll,
    habits: { bodyOf: (body, tries) => ({ ...body, sentAt: tries }) },
    fails: ["idempotency.body_stable"],
  },
];

describe.concurrent("a client under", () => {
  const callIn =
    ({ request = pricing }: ClientCase, habits: RetryBehaviour, afterwards?: ClientCase["afterwards"]) =>
    async (merchant: Merchant) => {
      const { send } = createClient(running.baseUrl, merchant.apiKey, habits);
      await send(request);
      await afterwards?.(send);
    };

  test.each(clients)("$scenario gets all points if it is correct", async (tried) => {
    expectFullScore(await tryOn(running, tried.scenario, callIn(tried, sound)));
  });

  // These tests run one at a time: on a busy machine, the judge may see equal pauses as different.
  test.sequential.each(clients)("$scenario fails only $fails if it $bug", async (tried) => {
    expectFailure(
      await tryOn(running, tried.scenario, callIn(tried, { ...sound, ...tried.habits }, tried.afterwards)),
      tried.fails,
    );
  });
});

interface ReceiverCase extends Tried {
  habits: Partial<ReceiverBehaviour>;
}

const receivers: ReceiverCase[] = [
  {
    scenario: "webhook-storm",
    bug: "rejects an event that it has already received",
    habits: { duplicateStatus: 409 },
    fails: ["webhook.duplicate_acked"],
  },
  {
    scenario: "webhook-storm",
    bug: "acts each time",
    habits: { actsAgain: true, keyOf: () => crypto.randomUUID() },
    fails: ["webhook.single_effect"],
  },
  {
    scenario: "webhook-before-response",
    bug: "rejects an event about a record that it does not know yet",
    habits: { firstStatus: () => 404 },
    fails: ["webhook.genuine_taken"],
  },
  {
    scenario: "webhook-before-response",
    bug: "waits for its own call to return",
    habits: { delay: 6_000 },
    fails: ["webhook.ack_fast"],
  },
  {
    scenario: "out-of-order",
    bug: "rejects events that come out of order",
    habits: { firstStatus: (type, before) => (type === "payout.paid" && !before.has("payout.created") ? 409 : 200) },
    fails: ["webhook.genuine_taken"],
  },
  {
    scenario: "forged-webhook",
    bug: "checks no signature",
    habits: { isGenuine: () => true },
    fails: ["webhook.forgery_rejected"],
  },
  {
    scenario: "forged-webhook",
    bug: "verifies the parsed and re-serialised body",
    habits: { signedBytes: (body) => Buffer.from(JSON.stringify(JSON.parse(body.toString()))) },
    fails: ["webhook.forgery_rejected", "webhook.genuine_taken"],
  },
  {
    scenario: "secret-rotation",
    bug: "rejects the old secret at once",
    habits: { trusts: (secret) => [secret] },
    fails: ["webhook.genuine_taken"],
  },
  {
    scenario: "secret-rotation",
    bug: "keeps using the old secret",
    habits: { trusts: (secret, former) => [former ?? secret] },
    fails: ["webhook.genuine_taken"],
  },
  {
    scenario: "secret-rotation",
    bug: "checks no signature",
    habits: { isGenuine: () => true },
    fails: ["webhook.forgery_rejected"],
  },
];

/** Only events that the receiver does not cause itself, because its own events would cause a loop. */
const EVENTS = ["payment.succeeded", "payout.created", "payout.paid", "booking.declined"];

interface ReceiverTrial extends Merchant {
  bench: Bench;
  receiver: Receiver;
  endpoint: string;
}

/** For each scenario, the actions that cause deliveries to the receiver. */
const actionsOf: Record<string, (trial: ReceiverTrial) => Promise<unknown>> = {
  "webhook-storm": async (trial) => {
    await testEvent(trial, "payment.succeeded");
    // The copies are due by the sandbox clock, so even on the slowest machine each call of the receiver is answered
    // before the next copy.
    for (let copies = 1; copies <= 3; copies++) {
      const delivered = { match: { merchant: trial.merchant }, count: { exactly: copies }, final: "succeeded" };
      await control(trial.bench.url, "POST", "/verify", { within: "20s", all: [{ deliveries: delivered }] });
      await trial.receiver.settled();
      await control(trial.bench.url, "POST", "/clock/advance", { by: "300ms" });
    }
  },
  "webhook-before-response": ({ bench, apiKey }) =>
    call(bench.url, "POST", "/v1/hospitality/bookings/bkg_pending/decline", { key: apiKey, body: {} }),
  "out-of-order": async (trial) => [
    await testEvent(trial, "payout.created"),
    await testEvent(trial, "payout.paid"),
    await later(trial),
  ],
  "forged-webhook": async (trial) => {
    for (let event = 1; event <= 5; event++) await testEvent(trial, "payment.succeeded");
    await later(trial);
  },
  "secret-rotation": async (trial) => {
    const { bench, apiKey, endpoint, receiver } = trial;
    await testEvent(trial, "payment.succeeded");
    await later(trial);
    const { body } = await call(bench.url, "POST", `/v1/webhooks/${endpoint}/rotate-secret`, { key: apiKey, body: {} });
    receiver.previous = receiver.secret;
    receiver.secret = body.secret;
    for (let event = 1; event <= 2; event++) await testEvent(trial, "payment.succeeded");
    await later(trial);
  },
};

const testEvent = ({ bench, apiKey }: ReceiverTrial, type: string) =>
  call(bench.url, "POST", "/v1/webhook-events/test", { key: apiKey, body: { type, data: { amount: 5 } } });

/** Advances the clock until retries and held deliveries are due. */
const later = ({ bench }: ReceiverTrial) => control(bench.url, "POST", "/clock/advance", { by: "10s" });

async function receiveUnder(scenario: string, bug: Partial<ReceiverBehaviour>): Promise<ScenarioState> {
  // webhook-storm needs a clock that no other test advances, so it has its own sandbox.
  const own = scenario === "webhook-storm" ? await share({}) : undefined;
  const bench = own ?? frozen;
  const state = await tryOn(bench, scenario, async ({ merchant, apiKey }) => {
    const act = (key: string) =>
      call(bench.url, "POST", `/v1${pricing.path}`, {
        key: apiKey,
        body: pricing.body,
        headers: { "idempotency-key": key },
      });
    const receiver = await openReceiver({ ...correctReceiver, ...bug }, act);
    const { body } = await call(bench.url, "POST", "/v1/webhooks", {
      key: apiKey,
      body: { url: receiver.url, events: EVENTS },
    });
    receiver.secret = body.secret;
    await actionsOf[scenario]?.({ bench, merchant, apiKey, receiver, endpoint: body.id });
    // The receiver responds before it acts, so this waits for the receiver's calls. The judge must see all of them.
    await receiver.settled();
    await control(bench.url, "POST", "/drain", { within: "30s" });
    receiver.close();
  });
  await own?.close();
  return state;
}

describe.concurrent("a receiver under", () => {
  test.each(Object.keys(actionsOf))("%s gets all points if it is correct", async (scenario) => {
    expectFullScore(await receiveUnder(scenario, {}));
  });

  test.each(receivers)("$scenario fails only $fails if it $bug", async ({ scenario, habits, fails }) => {
    expectFailure(await receiveUnder(scenario, habits), fails);
  });
});

test("every scenario is tested, and has the name of its file", async () => {
  const files = readdirSync(join(import.meta.dirname, "../../fixtures/scenarios")).map((file) =>
    file.replace(/\.json$/, ""),
  );
  const { data } = await control(running.url, "GET", "/scenarios");
  const names = [...new Set((data as ScenarioState[]).map(({ name }) => name))];
  expect(names.sort()).toEqual(files.sort());
  expect([...new Set([...clients, ...receivers].map(({ scenario }) => scenario))].sort()).toEqual(files);
});
