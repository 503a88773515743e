// Generated traffic: deterministic for a seed and start, limited to the chosen kinds, and stopped in time.

import { beforeAll, describe, expect, test } from "vitest";
import type { TrafficState } from "../../src/contracts/traffic.ts";
import { createStepSchedule } from "../../src/traffic/traffic.ts";
import { parseTrafficOptions } from "../../src/traffic/traffic-options.ts";
import { type Answer, type Bench, NOON, NOON_SECONDS, open, share } from "../support/sandbox.ts";
import { advance, log, receive, register } from "../support/webhooks.ts";

const begin = (bench: Bench, wanted: object = {}) => bench.control("POST", "/traffic", wanted);
const state = async (bench: Bench, merchant = "mer_lodge"): Promise<TrafficState> =>
  (await bench.control("GET", "/traffic")).data.find((one: TrafficState) => one.merchant === merchant);
const refused = async (bench: Bench, body: object): Promise<Answer> =>
  bench.call("POST", "/_sandbox/traffic", { key: null, body });

/** Every event, oldest first, as sent. */
async function events(bench: Bench, merchant = "mer_lodge") {
  const all: { id: string; type: string; body: Answer["body"] }[] = [];
  for (let after = ""; ; ) {
    const { data, has_more } = await bench.control("GET", `/events?limit=100&merchant=${merchant}${after}`);
    all.push(...data);
    if (!has_more) return all.reverse();
    after = `&starting_after=${data.at(-1).id}`;
  }
}

describe("generated traffic", () => {
  test("follows the rate in sandbox time: nothing while the clock is frozen, all of it when the clock advances", async () => {
    const bench = await open({ life: "off" });
    const started = await begin(bench, { rate: "2/s", for: "1m" });
    expect(started).toMatchObject({
      merchant: "mer_lodge",
      rate: "2/s",
      for: "1m",
      status: "running",
      happened: 0,
      byKind: {},
    });
    expect(started.startedAt).toBe("2026-01-05T12:00:00.000Z");
    await advance(bench, "0s");
    expect((await state(bench)).happened).toBe(0);
    await advance(bench, "30s");
    expect(await state(bench)).toMatchObject({ status: "running", happened: 60 });
    await advance(bench, "1h");
    const { status, happened, byKind, nextAt } = await state(bench);
    expect([status, happened, nextAt]).toEqual(["done", 120, null]);
    expect(Object.values(byKind).reduce((sum, count) => sum + count, 0)).toBe(120);
    const times = (await events(bench)).map(({ body }) => body.created - NOON_SECONDS);
    expect(times.length).toBeGreaterThan(60);
    expect(times).toEqual([...times].sort((one, other) => one - other));
    expect([times[0], times.at(-1)]).toEqual([
      expect.toSatisfy((time) => time <= 5),
      expect.toSatisfy((time) => time >= 50 && time < 60),
    ]);
  });

  test("is delivered, signed and logged like any other event, each at its own time", async () => {
    const bench = await open();
    const receiver = await receive();
    await register(bench, receiver.url, ["payment.succeeded"]);
    await begin(bench, { rate: "1/s", mix: { payment: 1 }, for: "1m" });
    const { attempts } = await bench.control("POST", "/clock/advance", { by: "1m" });
    const sent = (await events(bench)).filter(({ type }) => type === "payment.succeeded");
    expect(sent.length).toBeGreaterThan(10);
    expect(receiver.arrivals.map(({ event }) => event)).toEqual(sent.map(({ body }) => body));
    expect(attempts.map(({ eventId }: { eventId: string }) => eventId)).toEqual(sent.map(({ id }) => id));
    expect((await log(bench)).map(({ status, created }) => [status, created])).toEqual(
      sent.map(({ body }) => ["succeeded", body.created]),
    );
  });

  test("settles what is pending when it starts, and leaves other records that it did not make as they are", async () => {
    const bench = await open();
    const seeded = async () => (await bench.call("GET", "/v1/payments?limit=100&starting_after=pay_pending")).text;
    const before = await seeded();
    await begin(bench, { rate: "1/s", mix: { payment: 1, booking: 1 } });
    await advance(bench, "2m");
    expect(await seeded()).toBe(before);
    expect((await bench.control("GET", "/records/payment/pay_pending?merchant=mer_lodge")).status).toMatch(
      /succeeded|failed/,
    );
    expect((await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline")).status).toBe(200);
  });
});

test("pays the staff as often as the merchant's settings say, once a period", async () => {
  const bench = await open();
  await bench.control("PATCH", "/records/statutory_settings/sts_settings", {
    merchant: "mer_lodge",
    payFrequency: "weekly",
  });
  await begin(bench, { rate: "2/d", mix: { payroll: 1 } });
  await advance(bench, "70d");
  const created = (await events(bench)).filter(({ type }) => type === "payroll.created").map(({ body }) => body.data);
  const starts = created.map(({ periodStart }) => Date.parse(periodStart) / 86_400_000);
  expect(starts.length).toBeGreaterThanOrEqual(5);
  for (const { periodStart, periodEnd } of created)
    expect(Date.parse(periodEnd) - Date.parse(periodStart)).toBe(6 * 86_400_000);
  expect(starts).toEqual([...new Set(starts)].toSorted((one, other) => one - other));
});

describe("equal starts", () => {
  const run = async (bench: Bench, merchant?: string) => {
    await begin(bench, { rate: "3/s", for: "40s", merchant });
    await advance(bench, "40s");
    return (await events(bench, merchant)).map(({ body }) => body);
  };
  let first: Answer["body"][];
  beforeAll(async () => {
    const bench = await share();
    first = await run(bench).finally(bench.close);
  });

  test("generate equal records and events: in two sandboxes, and in one after a reset", async () => {
    expect(first.length).toBeGreaterThan(80);
    const one = await open();
    expect(await run(one)).toEqual(first);
    await one.control("POST", "/reset", {});
    await one.control("PUT", "/clock", { mode: "frozen", now: NOON });
    expect(await run(one)).toEqual(first);
  });

  test("do not depend on the size of the clock's steps", async () => {
    const bench = await open();
    await begin(bench, { rate: "3/s", for: "40s" });
    for (const by of ["1ms", "999ms", "333ms", "10s", "20s", "8s", "667ms"]) await advance(bench, by);
    expect((await events(bench)).map(({ body }) => body)).toEqual(first);
  });

  test("generate different ones with another seed, and so does a second start", async () => {
    const other = await run(await open({ seed: 7 }));
    const amounts = (bodies: Answer["body"][]) => bodies.map(({ data }) => data.amount);
    expect(amounts(other)).not.toEqual(amounts(first));
    const bench = await open();
    await run(bench);
    const again = (await run(bench)).slice(first.length);
    expect(amounts(again)).not.toEqual(amounts(first));
  });
});

describe("the mix", () => {
  test("sets the kinds and their frequency", async () => {
    const bench = await open();
    await begin(bench, { rate: "10/s", mix: { payment: 3, booking: 1, payout: 0 }, for: "1m" });
    await advance(bench, "1m");
    const { byKind } = await state(bench);
    expect(Object.keys(byKind).sort()).toEqual(["booking", "payment"]);
    expect(byKind.payment).toBeGreaterThan(400);
    expect(byKind.payment).toBeLessThan(500);
  });

  // The others need an occasion: takings, a member whose period ends, a new period, a paid payroll run, the end of a
  // quarter.
  const always = ["payment", "booking", "marketplace_order", "customer", "sync_log"];

  test.each(always)("with %s only, emits only its events", async (kind) => {
    const bench = await open();
    await begin(bench, { rate: "1/s", mix: { [kind]: 1 }, for: "1m", merchant: "mer_blank" });
    await advance(bench, "1m");
    expect(await state(bench, "mer_blank")).toMatchObject({ status: "done", happened: 60, byKind: { [kind]: 60 } });
    const objects = new Set((await events(bench, "mer_blank")).map(({ body }) => body.data.object));
    // A stay is paid; an order is paid to the marketplace.
    expect(new Set([...objects].filter((object) => object !== "payment" || kind !== "booking"))).toEqual(
      new Set([kind]),
    );
  });

  test("by default holds the kinds that the merchant has", async () => {
    const bench = await open();
    const kindsOf = async (merchant: string) => Object.keys((await begin(bench, { merchant })).mix).sort();
    expect(await kindsOf("mer_stage")).toEqual(["customer", "membership_renewal", "payment", "payout", "sync_log"]);
    expect(await kindsOf("mer_market")).toEqual(["customer", "marketplace_order", "payment", "payout", "sync_log"]);
  });

  test("of payouts alone pays out nothing without takings", async () => {
    const bench = await open();
    await begin(bench, { rate: "1/s", mix: { payout: 1 }, for: "1m", merchant: "mer_blank" });
    await advance(bench, "1m");
    expect(await state(bench, "mer_blank")).toMatchObject({ status: "done", happened: 0, byKind: {} });
  });
});

describe("invalid options are rejected, with a suggestion", () => {
  test.each([
    [{ rate: "0/s" }, "rate must be a number per unit of time"],
    [{ rate: "101/s" }, "rate must lie between 1/d and 100/s"],
    [{ rate: "1/25h" }, "rate must lie between 1/d and 100/s"],
    [{ mix: { payments: 1 } }, "Did you mean payment?"],
    [{ mix: { zebra: 1 } }, "Allowed: payment, booking"],
    [{ mix: { payment: -1 } }, "mix.payment must be at least 0"],
    [{ mix: { payment: 0 } }, "at least one kind"],
    [{ for: "soon" }, "for must be a duration"],
    [{ for: "1s", rate: "1/m" }, "long enough"],
    [{ merchant: "mer_blank" }, "has no records yet"],
  ])("%j", async (body, says) => {
    const bench = await open();
    const answer = await refused(bench, body);
    expect([answer.status, answer.body.code, answer.body.message]).toEqual([
      400,
      "validation_failed",
      expect.stringContaining(says),
    ]);
    expect((await bench.control("GET", "/traffic")).data).toEqual([]);
  });

  test("an unknown merchant", async () => {
    const answer = await refused(await open(), { merchant: "mer_lodgy" });
    expect([answer.status, answer.body.message]).toEqual([
      404,
      "There is no merchant mer_lodgy. Did you mean mer_lodge?",
    ]);
  });
});

describe("traffic ends", () => {
  const happened = async (bench: Bench, merchant?: string) => (await events(bench, merchant)).length;

  test("when it is stopped, for one merchant or for all; its state remains readable", async () => {
    const bench = await open();
    for (const merchant of ["mer_lodge", "mer_market", "mer_stage"]) await begin(bench, { merchant, rate: "1/s" });
    await advance(bench, "10s");
    const { data } = await bench.control("DELETE", "/traffic?merchant=mer_market");
    expect(data).toMatchObject([{ merchant: "mer_market", status: "stopped", happened: 10, nextAt: null }]);
    await advance(bench, "10s");
    expect([(await state(bench, "mer_market")).happened, (await state(bench)).happened]).toEqual([10, 20]);
    const rest = await bench.control("DELETE", "/traffic");
    expect(rest.data.map(({ merchant }: TrafficState) => merchant)).toEqual(["mer_lodge", "mer_stage"]);
    await advance(bench, "1h");
    expect((await state(bench)).happened).toBe(20);
    expect((await bench.control("DELETE", "/traffic")).data).toEqual([]);
  });

  test("when another run replaces it", async () => {
    const bench = await open();
    await begin(bench, { rate: "10/s" });
    await begin(bench, { rate: "1/s", mix: { customer: 1 } });
    await advance(bench, "1m");
    expect((await bench.control("GET", "/traffic")).data).toMatchObject([{ rate: "1/s", happened: 60 }]);
    expect(await happened(bench)).toBe(60);
  });

  test("on a reset of everything or of its merchant, but not of another", async () => {
    const bench = await open();
    for (const merchant of ["mer_lodge", "mer_market"]) await begin(bench, { merchant, rate: "1/s" });
    await bench.control("POST", "/reset", { merchant: "mer_lodge" });
    expect((await bench.control("GET", "/traffic")).data).toMatchObject([
      { merchant: "mer_market", status: "running" },
    ]);
    await advance(bench, "10s");
    expect([await happened(bench), (await state(bench, "mer_market")).happened]).toEqual([0, 10]);
    await bench.control("POST", "/reset", {});
    await advance(bench, "1h");
    expect((await bench.control("GET", "/traffic")).data).toEqual([]);
    expect(await happened(bench, "mer_market")).toBe(0);
  });

  test("when its merchant is deleted, or a snapshot is restored", async () => {
    const bench = await open();
    const { merchant } = await bench.control("POST", "/merchants", { fixture: "lodge" });
    await begin(bench, { merchant, rate: "100/s" });
    await advance(bench, "1s");
    await bench.control("DELETE", `/merchants/${merchant}`);
    await advance(bench, "1m");
    expect((await bench.control("GET", "/traffic")).data).toEqual([]);

    await bench.control("PUT", "/snapshots/before");
    await begin(bench, { rate: "1/s" });
    await advance(bench, "1m");
    await bench.control("POST", "/snapshots/before/restore");
    await advance(bench, "1m");
    expect(await happened(bench)).toBe(0);
  });

  test("when the sandbox stops; on a running clock, it happens in real time", async () => {
    const bench = await open({ clock: "real" });
    const receiver = await receive();
    await register(bench, receiver.url);
    await begin(bench, { rate: "100/s", mix: { customer: 1 } });
    await receiver.arrived(5);
    await bench.close();
    const { length } = receiver.arrivals;
    await new Promise((resolve) => setImmediate(resolve));
    expect(receiver.arrivals).toHaveLength(length);
    expect(bench.defects).toEqual([]);
  });
});

test("advancing through a long period of traffic does not block other requests, and can be interrupted", async () => {
  const bench = await open();
  await begin(bench, { rate: "100/s", mix: { customer: 1 } });
  const played = advance(bench, "15m");
  expect((await bench.call("GET", "/v1/merchants/me")).status).toBe(200);
  const [stopped] = (await bench.control("DELETE", "/traffic")).data;
  expect(stopped).toMatchObject({ status: "stopped", happened: expect.toSatisfy((count) => count < 90_000) });
  expect((await played).now).toBe("2026-01-05T12:15:00.000Z");
  expect((await state(bench)).happened).toBe(stopped.happened);
});

test("without a duration there is always a next step", () => {
  const { count, gap } = parseTrafficOptions({ rate: "2/s" }, { merchant: "mer_lodge", has: () => true });
  const schedule = createStepSchedule({ length: gap, count, chance: () => 0.5 }, 0);
  for (let step = 0; step < 200_000; step++) schedule.step(step * gap);
  expect(schedule.due(100_000_000)).toBe(100_000_250);
  const day = parseTrafficOptions({ rate: "100/s", for: "1d" }, { merchant: "mer_lodge", has: () => true });
  expect(day.count).toBe(8_640_000);
});

test("setting the clock moves the traffic with it: a jump forward skips it, a jump back does not end it", async () => {
  const bench = await open();
  await begin(bench, { rate: "1/s", mix: { customer: 1 } });
  await bench.control("PUT", "/clock", { mode: "frozen", now: "2026-03-05T12:00:00Z" });
  await advance(bench, "0s");
  expect((await state(bench)).happened).toBe(1);
  await bench.control("PUT", "/clock", { mode: "frozen", now: "2020-01-01T00:00:00Z" });
  await advance(bench, "60s");
  expect((await state(bench)).happened).toBeGreaterThan(58);
  expect((await state(bench)).happened).toBeLessThan(63);
  expect((await events(bench)).at(-1)?.body.created).toBeLessThan(Date.UTC(2020, 0, 1) / 1000 + 61);
});
