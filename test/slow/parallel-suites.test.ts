// Fifty suites at once in one sandbox, each with a merchant, faults, a webhook endpoint and expectations of its own: each is as if it were alone.

import { createHmac } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { RuleState } from "../../src/contracts/fault.ts";
import type { VerdictMessage } from "../../src/contracts/verdict.ts";
import { type Answer, type Bench, share } from "../support/sandbox.ts";
import { type Receiver, startReceiver } from "../support/webhooks.ts";

const SUITES = 50;
/** Longer than any run of this test: the judge leaves open what was told to wait for that long. */
const LATER = 60;

/** What a suite does, one call after the other; everybody uses the same keys, names and ids. */
type Step = "list" | "order" | "repeat" | "decline";

interface Suite {
  fixture: "lodge" | "blank";
  steps: Step[];
  /** Turns of the event loop before each step. */
  pauses: number[];
  /** Calls before the suite begins, which its own reset undoes. */
  noise: number;
  /** How often each kind of thing goes wrong for it. */
  faults: { limited: number; lost: number; down: number; twice: number };
  /** The requests that its window has, where that is not the usual one. */
  limit: number | null;
  /** What its receiver answers. */
  receives: 200 | 500;
}

const suites = fc.array(
  fc.record<Suite>({
    fixture: fc.constantFrom("lodge", "blank"),
    steps: fc.array(fc.constantFrom("list", "order", "order", "repeat", "decline"), { minLength: 6, maxLength: 14 }),
    pauses: fc.array(fc.nat({ max: 4 }), { minLength: 14, maxLength: 14 }),
    noise: fc.nat({ max: 3 }),
    faults: fc.record({ limited: fc.nat({ max: 3 }), lost: fc.nat({ max: 2 }), down: fc.nat({ max: 1 }), twice: fc.nat({ max: 2 }) }),
    limit: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.integer({ min: 3, max: 9 }) }),
    receives: fc.constantFrom(200, 200, 500),
  }),
  { minLength: SUITES, maxLength: SUITES },
);

/** What came of a suite, without the ids that are its own. */
interface Outcome {
  /** Of each call: its status, what its window had left, whether it was a replay, whether a rule struck it. */
  answers: unknown[];
  requests: Record<string, number>;
  events: string[];
  /** What arrived: its type, and whether the suite's own secret signed it. */
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
  const { merchant, apiKey: key } = await bench.control("POST", "/merchants", { fixture: suite.fixture });
  for (let noise = 0; noise < suite.noise; noise++) await bench.call("POST", "/v1/hospitality/pricing-rules", { key, body: order(noise) });
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
    limited: { match: { operation: "payments.list" }, action: { type: "rate_limit", retryAfter: LATER }, trigger: { times: limited } },
    lost: { match: { operation: "pricing_rules.create" }, action: { type: "lost_response" }, trigger: { times: lost } },
    down: {
      match: { operation: "bookings.decline" },
      action: { type: "status", status: 503, retryAfter: LATER },
      trigger: { times: down },
    },
    twice: { match: { event: "pricing_rule.created" }, action: { type: "duplicate", copies: 2 }, trigger: { times: twice } },
  };
  return Object.fromEntries(Object.entries(all).filter(([, { trigger }]) => trigger.times > 0));
}

/** Plays the steps, and repeats what lost its answer under its key; no two calls are the same but for that. */
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
    if (step === "decline") await say("POST", "/v1/hospitality/bookings/bkg_pending/decline", { reason: "full" }, `decline-${index}`);
    if (step === "order") await say("POST", "/v1/hospitality/pricing-rules", order(++orders), `order-${orders}`);
    if (step === "repeat" && orders > 0) await say("POST", "/v1/hospitality/pricing-rules", order(orders), `order-${orders}`);
  }
  return answers;
}

const describeAnswer = ({ status, headers }: Answer) => [
  status,
  headers["ratelimit-remaining"],
  headers["idempotent-replayed"] ?? "new",
  headers["x-sandbox-fault"] === undefined ? "untouched" : "struck",
];

async function look(bench: Bench, receiver: Receiver, { merchant, secret, place }: Opened, answers: unknown[]): Promise<Outcome> {
  const all = async (path: string) => (await bench.control("GET", `${path}?merchant=${merchant}&limit=100`)).data as Answer["body"][];
  const requests = await all("/requests");
  const events = (await all("/events")).reverse();
  const { verdicts } = await bench.control("GET", `/verdicts?merchant=${merchant}`);
  const rules: RuleState[] = (await bench.control("GET", "/faults")).data.filter((rule: RuleState) => rule.match.merchant === merchant);
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
        return `${event.type} ${event.merchantId === merchant ? "mine" : "another's"} ${genuine ? "genuine" : "forged"}`;
      })
      .sort(),
    attempts: counted((await all("/deliveries")).map(({ eventType, status }) => `${eventType} ${status}`)),
    verdicts: counted((verdicts as VerdictMessage[]).flatMap(describeVerdict)),
    rules: Object.fromEntries(rules.map(({ name, status, seen, fired }) => [String(name), `${status}, seen ${seen}, fired ${fired}`])),
    verified: [verdict, results.map(({ verdict, found }: { verdict: string; found: number }) => [verdict, found])],
  };
}

/** How long a busy machine makes the pauses between calls decides of these. */
const OF_PAUSES = ["retry.backoff_grows", "retry.jittered", "webhook.single_effect"];

/** The two rules about Retry-After part the same finding by milliseconds. */
const describeVerdict = ({ rule, verdict, operation }: VerdictMessage) =>
  OF_PAUSES.includes(rule) ? [] : [`${rule.replace(/^retry_after\..*/, "retry_after")} ${verdict} ${operation}`];

/** Lets suites run side by side in one sandbox, from the first call to the last. */
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

/** What must come of a suite's steps, worked out without a sandbox. */
function foretold({ fixture, steps, faults: { limited, lost, down }, limit }: Suite) {
  const left = { limited, lost, down };
  const take = (name: keyof typeof left) => left[name] > 0 && left[name]-- > 0;
  const statuses: (number | "lost")[] = [];
  const events: string[] = [];
  let orders = 0;
  let made = 0;
  let declined = false;
  const orderOnce = (number: number): void => {
    const isNew = number > made;
    made = Math.max(made, number);
    if (isNew) events.push("pricing_rule.created");
    const isLost = take("lost");
    statuses.push(isLost ? "lost" : 200);
    if (isLost) orderOnce(number);
  };
  for (const step of steps) {
    if (step === "list") statuses.push(take("limited") ? 429 : 200);
    if (step === "order") orderOnce(++orders);
    if (step === "repeat" && orders > 0) orderOnce(orders);
    if (step !== "decline") continue;
    if (take("down")) statuses.push(503);
    else if (fixture === "blank") statuses.push(404);
    else {
      statuses.push(declined ? 409 : 200);
      if (!declined) events.push("booking.declined");
      declined = true;
    }
  }
  return limit === null ? { statuses, events } : undefined;
}

describe("fifty suites side by side", () => {
  test("hear, see and are told what each would be alone, to the last request, event and verdict", { timeout: 180_000 }, async () => {
    const receiver = await startReceiver("127.0.0.1", 0);
    const property = fc.asyncProperty(suites, async (all) => {
      const outcomes = await together(all, receiver);
      for (const [index, suite] of all.entries()) {
        const outcome = outcomes[index];
        const told = foretold(suite);
        if (told) {
          expect(outcome?.answers.map((answer) => (Array.isArray(answer) ? answer[0] : answer))).toEqual(told.statuses);
          expect(outcome?.events).toEqual(told.events);
        }
        expect(outcome?.verified).toEqual(["pass", expect.anything()]);
        const [alone] = await together([suite], receiver);
        expect(outcome).toEqual(alone);
      }
    });
    await fc.assert(property, { numRuns: 2, endOnFailure: true }).finally(receiver.close);
  });
});
