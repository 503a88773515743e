// Determinism: the same seed, clock and calls give the same bytes, including the order of headers. Ids are generated
// from the seed.

import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalogue } from "../../src/areas/index.ts";
import { createRandom, sortKeyIn, sortKeyOf } from "../../src/kernel/random.ts";
import { folder } from "../support/program.ts";
import { type Bench, type CallOptions, NOON, open, share } from "../support/sandbox.ts";
import { advance, type Receiver, receive, register, settle, startReceiver, trigger } from "../support/webhooks.ts";

/** The receiver of both sandboxes, because their deliveries are compared too. */
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  receiver.always((_, outgoing) => outgoing.writeHead(receiver.arrivals.length % 3 === 0 ? 500 : 200).end("seen"));
});
afterAll(() => receiver.close());

/** Makes every kind of call, and returns each whole response, and then each delivery. */
async function work(bench: Bench): Promise<string[]> {
  const responses: string[] = [];
  receiver.arrivals.splice(0);
  const say = async (method: string, path: string, options: CallOptions = {}) => {
    const { status, rawHeaders, text, body } = await bench.call(method, path, options);
    responses.push(`${method} ${path}\n${status}\n${rawHeaders.join("\n")}\n${text}`);
    return body;
  };
  const { id } = await say("POST", "/v1/webhooks", { body: { url: receiver.url, events: ["*"] } });
  for (const round of [1, 2])
    for (const { method, path, example, exampleParams } of catalogue.filter(({ id }) => id !== "webhooks.delete")) {
      const target = `/v1${path.replace(/\{(\w+)\}/g, (_, name: string) => exampleParams[name] ?? id)}`;
      const headers: Record<string, string> = round === 2 ? { "idempotency-key": target } : {};
      await say(method, target, { body: example, headers });
      await say(method, target, { body: example, headers });
      await say(method, `${target}?limit=0&x=1`, { body: "{", key: round === 1 ? "sk_test_market" : null });
      await bench.control("POST", "/clock/advance", { by: "7s" });
    }
  await bench.control("POST", "/records/payment", { merchant: "mer_lodge", amount: 5, status: "succeeded" });
  const payout = await bench.control("POST", "/records/payout", { merchant: "mer_lodge", status: "pending" });
  await bench.control("PATCH", `/records/payout/${payout.id}`, { status: "in_transit" });
  await bench.control("POST", "/clock/advance", { by: "10m" });
  await say("GET", "/v1/webhook-deliveries?limit=100");
  await say("GET", "/v1/webhooks");
  await say("GET", "/_sandbox/events?limit=100", { key: null });
  await say("DELETE", `/v1/webhooks/${id}`);
  return [
    ...responses,
    ...receiver.arrivals.map(({ url, rawHeaders, body }) => `${url} ${rawHeaders.join("|")} ${body}`),
  ];
}

/** Fails at the first entry that differs, so that the message is readable. */
function expectSame(one: string[], other: string[]) {
  for (const [index, entry] of one.entries()) expect(other[index]).toBe(entry);
  expect(other).toHaveLength(one.length);
}

describe("equal runs", () => {
  let bench: Bench;
  let first: string[];
  beforeAll(async () => {
    bench = await share();
    first = await work(bench);
  });
  afterAll(() => bench.close());

  test("of two sandboxes, one in memory and one in a file, give the same bytes, including deliveries", async () => {
    expectSame(first, await work(await open({ memory: false, db: `${folder()}/data.db` })));
    expect(receiver.arrivals.length).toBeGreaterThan(20);
  });

  test("of one sandbox, with a reset between them, give the same bytes", async () => {
    await bench.control("POST", "/reset", {});
    await bench.control("PUT", "/clock", { mode: "frozen", now: NOON });
    expectSame(first, await work(bench));
  });
});

describe("receivers that respond after random times", () => {
  /** The statuses of an event's successive attempts at an endpoint. Event n uses the entry n modulo 6. */
  const statuses = [[500, 200], [200], [503, 500, 200], [429, 429, 429], [200], [500, 500, 500]];
  const ENDPOINTS = 4;

  /**
   * Sends many events at once, so their retries are due together. One endpoint disables itself with 410. Returns all
   * that a client can read afterwards.
   */
  async function run(bench: Bench, receiver: Awaited<ReturnType<typeof receive>>): Promise<string[]> {
    receiver.arrivals.splice(0);
    const made = new Map<string, number>();
    receiver.always(({ url, event }, outgoing) => {
      const key = `${url} ${event.id}`;
      const attempt = made.get(key) ?? 0;
      made.set(key, attempt + 1);
      const { number } = event.data as { number: number };
      const script = statuses[number % statuses.length] ?? [];
      const status = url.endsWith("/3") && number === 7 && attempt > 0 ? 410 : (script[attempt] ?? 200);
      setTimeout(
        () => outgoing.writeHead(status, status === 429 ? { "retry-after": "2" } : {}).end("seen"),
        Math.random() * 12,
      );
    });
    await bench.control("POST", "/faults", {
      target: "delivery",
      match: { event: "payment.succeeded" },
      trigger: { times: 3 },
      action: { type: "duplicate", copies: 3, concurrent: true },
    });
    for (let index = 0; index < ENDPOINTS; index++) await register(bench, `${receiver.url}/${index}`, ["*"]);
    for (let number = 1; number <= 15; number++)
      await trigger(bench, number % 5 === 0 ? "payment.succeeded" : "a.b", { number });
    await settle(bench);
    const advanced = [];
    for (const by of ["1s", "2s", "30s", "10m"]) advanced.push(await advance(bench, by));
    const deliveries = await bench.call("GET", "/v1/webhook-deliveries?limit=100");
    const last = deliveries.body.data.at(-1).id;
    const logged = await bench.control("GET", "/deliveries?limit=100");
    return [
      ...advanced.map((one) => JSON.stringify(one)),
      deliveries.text,
      (await bench.call("GET", `/v1/webhook-deliveries?limit=100&starting_after=${last}`)).text,
      (await bench.call("GET", "/v1/webhooks")).text,
      JSON.stringify(await bench.control("GET", "/events?limit=100")),
      // Retries were written while the clock advanced. They must have the same order too.
      JSON.stringify(
        logged.data
          .filter(({ trigger: cause }: { trigger: string }) => cause === "retry")
          .map(({ id }: { id: string }) => id),
      ),
      ...[0, 1, 2, 3].map((index) =>
        JSON.stringify(
          receiver.arrivals
            .filter(({ url }) => url.endsWith(`/${index}`))
            .map(({ body, headers }) => [headers, String(body)]),
        ),
      ),
    ];
  }

  test("do not affect results on a frozen clock: order, ids, times and health are the same in each run", async () => {
    const receiver = await receive();
    const first = await run(await open(), receiver);
    for (let again = 0; again < 2; again++) expectSame(first, await run(await open(), receiver));
  });

  test("do not affect a change of the clock, which waits until the attempt in flight has ended", async () => {
    const receiver = await receive();
    const log = async (isInFlight: boolean) => {
      const bench = await open();
      let respond: (() => void) | undefined;
      receiver.always((_, outgoing) => {
        const isFirst = respond === undefined;
        respond = () => outgoing.writeHead(500).end();
        if (!isInFlight || !isFirst) respond();
      });
      await register(bench, receiver.url);
      const arrived = receiver.arrived(receiver.arrivals.length + 1);
      await trigger(bench);
      await arrived;
      if (!isInFlight) await settle(bench);
      const set = bench.control("PUT", "/clock", { mode: "frozen", now: "2026-01-06T12:00:00Z" });
      if (isInFlight) setTimeout(() => respond?.(), 50);
      await set;
      await settle(bench);
      return (await bench.call("GET", "/v1/webhook-deliveries")).text;
    };
    expect(await log(true)).toBe(await log(false));
  });
});

describe("another seed", () => {
  test("generates different ids, keys and secrets; everything else is the same", async () => {
    const [one, other] = [await open({ seed: 1 }), await open({ seed: 2 })];
    const create = async (bench: Bench) => {
      const { body: merchant } = await bench.call("POST", "/v1/merchants", {
        body: { name: "New", email: "new@new.example" },
      });
      const { body: webhook } = await bench.call("POST", "/v1/webhooks", {
        body: { url: receiver.url, events: ["*"] },
      });
      const login = { email: "ola@lodge.example", password: "lodge-password" };
      const { body: session } = await bench.call("POST", "/v1/merchants/login", { body: login });
      return { merchant, webhook, session };
    };
    const [first, second] = [await create(one), await create(other)];
    for (const [value, twin] of [
      [first.merchant.id, second.merchant.id],
      [first.merchant.apiKey, second.merchant.apiKey],
      [first.webhook.id, second.webhook.id],
      [first.webhook.secret, second.webhook.secret],
      [first.session.accessToken, second.session.accessToken],
    ]) {
      expect(value).not.toBe(twin);
      expect(value.length).toBe(twin.length);
    }
    const seeded = ["/v1/payments?limit=100", "/v1/merchants/me", "/v1/statutory/settings", "/v1/marketplace/orders"];
    for (const path of seeded) expect((await one.call("GET", path)).text).toBe((await other.call("GET", path)).text);
  });
});

describe("ids of a kind", () => {
  const counts = fc.integer({ min: 0, max: 62 ** 4 - 1 });

  test("sort in the order of creation, and records that belong together share a sort key", () => {
    const random = createRandom(1);
    const idOf = (count: number) => random.sortableId(sortKeyOf(count), "evt", "mer_lodge", count);
    fc.assert(
      fc.property(counts, counts, (one, other) => {
        expect(idOf(one)).toMatch(/^evt_[0-9A-Za-z]{16}$/);
        expect(idOf(one) < idOf(other)).toBe(one < other);
        expect(sortKeyIn(idOf(one))).toBe(sortKeyOf(one));
      }),
    );
  });

  test("begin again at the first sort key after the last one", () => {
    expect(sortKeyOf(62 ** 4 + 1)).toBe(sortKeyOf(1));
  });
});
