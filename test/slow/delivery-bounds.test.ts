// Limits of deliveries. A receiver whose calls cause more deliveries to it can neither fill the disk nor stop the
// sandbox. No delivery of an accepted write is dropped.

import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { expect, test } from "vitest";
import { folder } from "../support/program.ts";
import { attempted, type Bench, open } from "../support/sandbox.ts";
import { openRegistered, receive, register, settle, trigger } from "../support/webhooks.ts";

const EVENT = { type: "payment.succeeded", data: { amount: 1 } };
const MOST_ENDPOINTS = 100;
const MOST_PENDING = 100_000;

const pendingOf = async (bench: Bench): Promise<number> => (await bench.control("GET", "")).pendingDeliveries;

test("a merchant has at most a hundred endpoints, not counting deleted endpoints", async () => {
  const bench = await open();
  const url = (number: number) => `http://127.0.0.1:4999/${number}`;
  const { id: first } = await register(bench, url(0));
  for (let number = 1; number < MOST_ENDPOINTS; number++) await register(bench, url(number));
  attempted("Unbounded growth", 2);
  const body = { url: url(MOST_ENDPOINTS), events: ["*"] };
  const refused = [
    await bench.call("POST", "/v1/webhooks", { body }),
    await bench.call("PUT", "/_sandbox/endpoints", { key: null, body: { url: body.url, merchant: "lodge" } }),
  ];
  for (const answer of refused) {
    expect([answer.status, answer.body.code]).toEqual([409, "invalid_state"]);
    expect(answer.body.message).toContain("DELETE /v1/webhooks/{id}");
  }
  // The control API finds the endpoint that already exists at this URL.
  expect((await bench.control("PUT", "/endpoints", { url: url(0), merchant: "lodge" })).created).toBe(false);
  await register(bench, body.url, ["*"], "sk_test_market");
  await bench.call("DELETE", `/v1/webhooks/${first}`);
  await register(bench, body.url);
});

test("a receiver that registers an endpoint and triggers an event for each delivery reaches a limit", async () => {
  const bench = await open({ clock: "real", retrySchedule: "1h" });
  const receiver = await receive();
  const met = new Map<string, number>();
  /** Makes a call, and counts its path and status. A call that is in flight when the test ends has the status 0. */
  const post = async (path: string, body: object) => {
    const { status } = await bench.call("POST", path, { body }).catch(() => ({ status: 0 }));
    met.set(`${path} ${status}`, (met.get(`${path} ${status}`) ?? 0) + 1);
  };
  receiver.always(async (_, outgoing) => {
    await post("/v1/webhooks", { url: `${receiver.url}/${receiver.arrivals.length}`, events: ["*"] });
    await post("/v1/webhook-events/test", EVENT);
    outgoing.writeHead(200).end();
  });
  await register(bench, receiver.url);
  await trigger(bench);
  attempted("Unbounded growth");
  await receiver.arrived(150);
  const asked = performance.now();
  expect((await bench.call("GET", "/v1/payments")).status).toBe(200);
  expect(performance.now() - asked).toBeLessThan(2_000);
  expect(met.get("/v1/webhooks 201")).toBe(MOST_ENDPOINTS - 1);
  expect(met.get("/v1/webhooks 409")).toBeGreaterThan(0);
  expect(await pendingOf(bench)).toBeLessThanOrEqual(MOST_PENDING);
  receiver.always(200);
});

test("a receiver whose call causes its next delivery is stopped after five hundred events in a row", async () => {
  const bench = await open({ clock: "real", rateLimit: "none" });
  const receiver = await receive();
  let calls = 0;
  let stop: (message: string) => void = () => {};
  const refusal = new Promise<string>((resolve) => {
    stop = resolve;
  });
  receiver.always(async (_, outgoing) => {
    calls++;
    const answer = await bench.call("POST", "/v1/webhook-events/test", { body: EVENT });
    outgoing.writeHead(200).end();
    if (answer.status !== 200) stop(answer.body.message);
  });
  await register(bench, receiver.url);
  attempted("Unbounded growth");
  await trigger(bench);
  expect(await refusal).toMatch(
    /^This call is part of a feedback loop: 500 times in a row, .* most recently of evt_\w+\./,
  );
  expect(calls).toBe(500);
  // The loop has ended. A later event is delivered, and starts a new loop.
  receiver.always(200);
  await settle(bench);
  await trigger(bench);
  await receiver.arrived(501);
});

test("deleting an endpoint with a hundred thousand replays of one event takes at most 30 s", async () => {
  const db = join(folder(), "sandbox.db");
  const { bench: first, id } = await openRegistered({ memory: false, db, retrySchedule: "1h" });
  await trigger(first);
  await settle(first);
  await first.close();
  const insert = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${MOST_PENDING - 1})
    insert into deliveries (merchant, endpoint, event, trigger, replay, state, allowed, due, created)
    select merchant, endpoint, event, 'replay', i, 'pending', 1, created + 7200000, created from deliveries, n`;
  new Sqlite(db).exec(insert).close();
  const bench = await open({ memory: false, db, retrySchedule: "1h" });
  attempted("Requests that block the process");
  const asked = performance.now();
  expect((await bench.call("DELETE", `/v1/webhooks/${id}`)).status).toBeLessThan(300);
  // If each delivery searched all deliveries of the event, this would take minutes.
  expect(performance.now() - asked).toBeLessThan(30_000);
  expect(await pendingOf(bench)).toBe(0);
});

test("with a hundred thousand pending deliveries, a write that adds one gets 503, and none is lost", async () => {
  const db = join(folder(), "sandbox.db");
  const first = await open({ memory: false, db, retrySchedule: "1h" });
  const receiver = await receive();
  receiver.always(500);
  const { id } = await register(first, receiver.url);
  const acknowledged = await trigger(first);
  await settle(first);
  await first.close();
  const rows = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${MOST_PENDING - 2})`;
  const insert = `${rows} insert into events (id, merchant, type, created, origin, body)
    select id || i, merchant, type, created, origin, body from events, n;
    insert into deliveries (merchant, endpoint, event, trigger, replay, state, allowed, due, created)
    select d.merchant, d.endpoint, e.sequence, 'test', 0, 'pending', 6, d.created + 7200000, d.created
      from deliveries d, events e
    where e.sequence <> d.event`;
  new Sqlite(db).exec(insert).close();

  const bench = await open({ memory: false, db, retrySchedule: "1h" });
  expect(await pendingOf(bench)).toBe(MOST_PENDING - 1);
  const last = await bench.call("POST", "/v1/webhook-events/test", { body: EVENT });
  expect([last.status, last.body.deliveries]).toEqual([200, [{ endpointId: id }]]);
  await settle(bench);
  const before = await bench.control("GET", "/events");
  const writes = [
    () => bench.call("POST", "/v1/webhook-events/test", { body: EVENT }),
    () =>
      bench.call("PATCH", "/_sandbox/records/payment/pay_pending", {
        key: null,
        body: { status: "succeeded", merchant: "mer_lodge" },
      }),
    () => bench.call("POST", `/_sandbox/events/${acknowledged}/replay`, { key: null, body: {} }),
  ];
  for (const write of writes) {
    attempted("Unbounded growth");
    const answer = await write();
    expect([answer.status, answer.body.code], answer.text).toEqual([503, "sandbox_unavailable"]);
    expect(answer.body.message).toContain("100,000 deliveries are pending");
  }
  expect(await pendingOf(bench)).toBe(MOST_PENDING);
  expect(await bench.control("GET", "/events")).toEqual(before);
  // A write of another merchant, which has no endpoint, gets no 5xx.
  const rule = { name: "Weekend", adjustmentType: "fixed", adjustmentValue: 1 };
  expect(
    (await bench.call("POST", "/v1/hospitality/pricing-rules", { body: rule, key: "sk_test_market" })).status,
  ).toBeLessThan(500);
  // After the endpoint is deleted, writes are accepted again.
  await bench.call("DELETE", `/v1/webhooks/${id}`);
  expect(await pendingOf(bench)).toBe(0);
  expect((await bench.call("POST", "/v1/webhook-events/test", { body: EVENT })).status).toBe(200);
});
