// Many suites run in one sandbox, each with its own merchant, faults, endpoint and expectations. No suite may affect
// another.

import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RuleState } from "../../src/contracts/fault.ts";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import { type Answer, type Bench, share } from "../support/sandbox.ts";
import { type Receiver, startReceiver } from "../support/webhooks.ts";

/** `npm run suites` sets SUITES to fifty; the test then runs twice. */
const SUITES = Number(process.env.SUITES ?? 10);
const RUNS = process.env.SUITES === undefined ? 1 : 2;
/** The Retry-After of faults in seconds. The judge waits this long for a retry, so it is longer than any run. */
const LATER = 60;

/** One step of a suite. All suites use the same idempotency keys, names and ids. */
type Step = "list" | "order" | "repeat" | "decline";

interface Suite {
  fixture: "lodge" | "blank";
  steps: Step[];
  /** Event-loop turns before each step. */
  pauses: number[];
  /** The number of calls before the suite starts. A reset of the suite's merchant undoes the calls. */
  noise: number;
  /** How many calls or deliveries each fault may affect. */
  faults: { limited: number; lost: number; down: number; twice: number };
  /** The rate limit; null for the default. */
  limit: number | null;
  /** The status with which the suite's receiver answers. */
  receives: 200 | 500;
}

const suites = fc.array(
  fc.record<Suite>({
    fixture: fc.constantFrom("lodge", "blank"),
    steps: fc.array(fc.constantFrom("list", "order", "order", "repeat", "decline"), { minLength: 6, maxLength: 14 }),
    pauses: fc.array(fc.nat({ max: 4 }), { minLength: 14, maxLength: 14 }),
    noise: fc.nat({ max: 3 }),
    faults: fc.record({
      limited: fc.nat({ max: 3 }),
      lost: fc.nat({ max: 2 }),
      down: fc.nat({ max: 1 }),
      twice: fc.nat({ max: 2 }),
    }),
    limit: fc.oneof(
      { weight: 4, arbitrary: fc.constant(null) },
      { weight: 1, arbitrary: fc.integer({ min: 3, max: 9 }) },
    ),
    receives: fc.constantFrom(200, 200, 500),
  }),
  { minLength: SUITES, maxLength: SUITES },
);

/** The result of a suite, without generated ids. */
interface Outcome {
  /** For each call: its status, the remaining quota, whether the response was a replay, and whether a fault fired. */
  answers: unknown[];
  requests: Record<string, number>;
  events: string[];
  /** For each received webhook: its type, and whether it was signed with the suite's secret. */
  arrivals: string[];
  attempts: Record<string, number>;
  verdicts: Record<string, number>;
  rules: Record<string, string>;
  verified: unknown;
}

const counted = (names: readonly string[]) => {
  const counts: Record<string, number> = {};
  for (const name of [...names].sort()) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
};

interface Opened {
  merchant: string;
  key: string;
  secret: string;
  place: string;
}

const order = (number: number) => ({ name: `Order ${number}`, adjustmentType: "fixed", adjustmentValue: number });

async function begin(bench: Bench, receiver: Receiver, suite: Suite, place: string): Promise<Opened> {
  const { id: merchant, apiKey: key } = await bench.control("POST", "/merchants", { fixture: suite.fixture });
  for (let noise = 0; noise < suite.noise; noise++)
    await bench.call("POST", "/v1/hospitality/pricing-rules", { key, body: order(noise) });
  await bench.control("POST", "/reset", { merchant });
  const body = { url: `${receiver.url}/${place}`, events: ["*"] };
  const { secret } = (await bench.call("POST", "/v1/webhooks", { key, body })).body;
  for (const [name, rule] of Object.entries(rulesOf(suite)))
    await bench.control("POST", "/faults", { name, ...rule, match: { ...rule.match, merchant } });
  if (suite.limit !== null) await bench.control("PUT", `/rate-limits/${merchant}`, { limit: suite.limit });
  return { merchant, key, secret, place };
}

function rulesOf({ faults: { limited, lost, down, twice } }: Suite) {
  const all = {
    limited: {
      match: { operation: "payments.list" },
      action: { type: "rate_limit", retryAfter: LATER },
      trigger: { times: limited },
    },
    lost: { match: { operation: "pricing_rules.create" }, action: { type: "lost_response" }, trigger: { times: lost } },
    down: {
      match: { operation: "bookings.decline" },
      action: { type: "status", status: 503, retryAfter: LATER },
      trigger: { times: down },
    },
    twice: {
      match: { event: "pricing_rule.created" },
      action: { type: "duplicate", copies: 2 },
      trigger: { times: twice },
    },
  };
  return Object.fromEntries(Object.entries(all).filter(([, { trigger }]) => trigger.times > 0));
}

/** Runs the steps. Only the step `repeat` and the retries of lost responses send an equal call again. */
async function play(bench: Bench, { key }: Opened, { steps, pauses }: Suite): Promise<unknown[]> {
  const answers: unknown[] = [];
  let orders = 0;
  const say = async (method: string, path: string, body?: object, name?: string): Promise<void> => {
    const headers: Record<string, string> = name ? { "idempotency-key": name } : {};
    const answer = await bench.call(method, path, { key, headers, ...(body ? { body } : {}) }).catch(() => undefined);
    answers.push(answer ? describeAnswer(answer) : "lost");
    if (!answer) await say(method, path, body, name);
  };
  for (const [index, step] of steps.entries()) {
    for (let turn = 0; turn < (pauses[index] ?? 0); turn++) await new Promise((resolve) => setImmediate(resolve));
    if (step === "list") await say("GET", `/v1/payments?limit=${index + 1}`);
    if (step === "decline")
      await say("POST", "/v1/hospitality/bookings/bkg_pending/decline", { reason: "full" }, `decline-${index}`);
    if (step === "order") await say("POST", "/v1/hospitality/pricing-rules", order(++orders), `order-${orders}`);
    if (step === "repeat" && orders > 0)
      await say("POST", "/v1/hospitality/pricing-rules", order(orders), `order-${orders}`);
  }
  return answers;
}

const describeAnswer = ({ status, headers }: Answer) => [
  status,
  headers["ratelimit-remaining"],
  headers["idempotent-replayed"] ?? "new",
  headers["x-sandbox-fault"] === undefined ? "untouched" : "struck",
];

async function look(
  bench: Bench,
  receiver: Receiver,
  { merchant, secret, place }: Opened,
  answers: unknown[],
): Promise<Outcome> {
  const all = async (path: string) =>
    (await bench.control("GET", `${path}?merchant=${merchant}&limit=100`)).data as Answer["body"][];
  const requests = await all("/requests");
  const events = (await all("/events")).reverse();
  const { data: verdicts } = await bench.control("GET", `/verdicts?merchant=${merchant}`);
  const rules: RuleState[] = (await bench.control("GET", "/faults")).data.filter(
    (rule: RuleState) => rule.match.merchant === merchant,
  );
  const mine = receiver.arrivals.filter(({ url }) => url === `/hooks/${place}`);
  const orders = events.filter(({ type }) => type === "pricing_rule.created").length;
  const expected = {
    merchant,
    all: [
      { requests: { match: { path: "*" }, count: { exactly: requests.length } } },
      { records: { kind: "pricing_rule", where: { "/name": { startsWith: "Order " } }, count: { exactly: orders } } },
      ...rules.map(({ id, fired }) => ({ fault: { id, fired: { exactly: fired } } })),
    ],
  };
  const { verdict, results } = await bench.control("POST", "/verify", expected);
  return {
    answers,
    requests: counted(requests.map(({ operation, status }) => `${operation} ${status}`)),
    events: events.map(({ type }) => type),
    arrivals: mine
      .map(({ event, body, headers }) => {
        const genuine = createHmac("sha256", secret).update(body).digest("hex") === headers["x-webhook-signature"];
        const owner = event.merchantId === merchant ? "mine" : "another's";
        return `${event.type} ${owner} ${genuine ? "genuine" : "forged"}`;
      })
      .sort(),
    attempts: counted((await all("/deliveries")).map(({ eventType, status }) => `${eventType} ${status}`)),
    verdicts: counted((verdicts as VerdictMessage[]).flatMap(describeVerdict)),
    rules: Object.fromEntries(
      rules.map(({ name, status, matched, fired }) => [String(name), `${status}, matched ${matched}, fired ${fired}`]),
    ),
    verified: [verdict, results.map(({ verdict, found }: { verdict: string; found: number }) => [verdict, found])],
  };
}

/** Rules whose verdicts depend on the pauses between calls, and therefore on the machine's load. */
const OF_PAUSES = ["retry.backoff_grows", "webhook.single_effect"];

/** Counts the two Retry-After rules as one, because milliseconds decide which of them gives the verdict. */
const describeVerdict = ({ rule, verdict, operation }: VerdictMessage) =>
  OF_PAUSES.includes(rule) ? [] : [`${rule.replace(/^retry_after\..*/, "retry_after")} ${verdict} ${operation}`];

/** Runs suites concurrently in one sandbox. */
async function together(all: readonly Suite[], receiver: Receiver): Promise<Outcome[]> {
  const bench = await share();
  receiver.arrivals.splice(0);
  receiver.always((arrival, outgoing) => {
    const suite = all[Number(arrival.url.split("/").at(-1))];
    outgoing.writeHead(suite?.receives ?? 404).end();
  });
  const played = await Promise.all(
    all.map(async (suite, index) => {
      const opened = await begin(bench, receiver, suite, String(index));
      return { opened, answers: await play(bench, opened, suite) };
    }),
  );
  await bench.control("POST", "/drain", { within: "20s" });
  const outcomes = await Promise.all(played.map(({ opened, answers }) => look(bench, receiver, opened, answers)));
  await bench.close();
  return outcomes;
}

describe("concurrent suites", () => {
  test("have the same requests, events and verdicts as when each runs alone", { timeout: 180_000 }, async () => {
    const receiver = await startReceiver();
    const property = fc.asyncProperty(suites, async (all) => {
      const outcomes = await together(all, receiver);
      for (const [index, suite] of all.entries()) {
        const [alone] = await together([suite], receiver);
        expect(alone?.verified).toEqual(["pass", expect.anything()]);
        expect(outcomes[index]).toEqual(alone);
      }
    });
    await fc.assert(property, { numRuns: RUNS, endOnFailure: true }).finally(receiver.close);
  });
});
