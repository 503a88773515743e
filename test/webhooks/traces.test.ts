// The trace of an action: from a call with `traceparent` to the calls that an Express receiver makes back.

import { createServer } from "node:http";
import express from "express";
import { expect, test } from "vitest";
import { parseTraceparent } from "../../src/kernel/trace-context.ts";
import { type Bench, listen, open } from "../support/sandbox.ts";
import { advance, log, openRegistered, receive, register, settle, trigger } from "../support/webhooks.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER = "00f067aa0ba902b7";
const TRACEPARENT = `00-${TRACE}-${CALLER}-01`;
const RULE = { name: "Spring", adjustmentType: "fixed", adjustmentValue: -500, startDate: "2026-03-01" };

/** An app whose receiver calls the service back before it responds. */
async function appWith(bench: Bench, headersOf: (received: Record<string, string>) => Record<string, string>) {
  const app = express();
  const traceparents: string[] = [];
  app.post("/hooks", async (request, response) => {
    const headers = request.headers as Record<string, string>;
    traceparents.push(headers.traceparent ?? "none");
    await bench.call("POST", "/v1/hospitality/pricing-rules", { body: RULE, headers: headersOf(headers) });
    response.sendStatus(200);
  });
  const port = await listen(createServer(app));
  await register(bench, `http://127.0.0.1:${port}/hooks`, ["booking.declined"]);
  return traceparents;
}

async function decline(bench: Bench, traceparent?: string) {
  const answer = await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", {
    body: {},
    ...(traceparent !== undefined && { headers: { traceparent } }),
  });
  await settle(bench);
  return String(answer.headers["x-sandbox-request-id"]);
}

/** Each step of an action as a text: its depth, its kind, and how it was attributed. */
const stepsOf = async (bench: Bench, id: string) =>
  (await bench.traces.get({ id })).steps.map(({ kind, depth, attributedBy }) =>
    attributedBy === null ? `${depth} ${kind}` : `${depth} ${kind} by ${attributedBy}`,
  );

const calledBack = (by: string) => ["0 request", "1 event", "2 delivery", `3 request by ${by}`, "4 event"];

test("a receiver's call with the traceparent of its delivery counts as a call back", async () => {
  const bench = await open({ traceDeliveries: true });
  const traceparents = await appWith(bench, ({ traceparent = "" }) => ({ traceparent }));
  const request = await decline(bench, TRACEPARENT);
  expect(await stepsOf(bench, TRACE)).toEqual(calledBack("trace"));
  expect(parseTraceparent(traceparents[0])).toMatchObject({ traceId: TRACE, flags: "01" });
  const { trace, steps } = await bench.traces.get({ id: request });
  expect(trace).toBe(TRACE);
  // Each step leads to the same action.
  for (const { id } of steps) expect((await bench.traces.get({ id })).steps).toEqual(steps);
  expect((await bench.requests.get({ id: request })).trace).toBe(TRACE);
  expect((await bench.events.get({ id: String(steps[1]?.id) })).trace).toBe(TRACE);
  expect((await bench.deliveries.list({})).data[0]?.trace).toBe(TRACE);
});

test("a receiver's call in another span of the trace counts as a call back of the open delivery", async () => {
  const bench = await open({ traceDeliveries: true });
  await appWith(bench, () => ({ traceparent: `00-${TRACE}-${"ab".repeat(8)}-01` }));
  await decline(bench, TRACEPARENT);
  // The app's next call has the traceparent of its first call, so it is not a call back.
  await bench.call("GET", "/v1/payments", { headers: { traceparent: TRACEPARENT } });
  expect(await stepsOf(bench, TRACE)).toEqual([...calledBack("trace"), "0 request"]);
});

test("a write without a traceparent counts as a call back by its time of arrival", async () => {
  const bench = await open();
  const traceparents = await appWith(bench, () => ({}));
  await decline(bench, TRACEPARENT);
  expect(traceparents).toEqual(["none"]);
  expect(await stepsOf(bench, TRACE)).toEqual(calledBack("time"));
  const { steps } = await bench.traces.get({ id: TRACE });
  expect((await bench.traces.get({ id: String(steps[3]?.id) })).steps).toEqual(steps);
});

test("a call with a trace of its own counts as a call back only during the delivery", async () => {
  const bench = await open();
  const own = (digit: string) => `00-${digit.repeat(32)}-${CALLER}-01`;
  await appWith(bench, () => ({ traceparent: own("a") }));
  await decline(bench, TRACEPARENT);
  await bench.call("POST", "/v1/hospitality/pricing-rules", { body: RULE, headers: { traceparent: own("b") } });
  await bench.call("POST", "/v1/hospitality/pricing-rules", { body: RULE, headers: { traceparent: TRACEPARENT } });
  expect(await stepsOf(bench, TRACE)).toEqual([...calledBack("time"), "0 request", "1 event"]);
});

test("an action without a trace begins with its call, or with an event that no call caused", async () => {
  const bench = await open();
  await appWith(bench, () => ({}));
  const request = await decline(bench);
  expect(await bench.traces.get({ id: request })).toMatchObject({ trace: null, has_more: false });
  expect(await stepsOf(bench, request)).toEqual(calledBack("time"));
  const event = await bench.control("POST", "/events", { type: "payment.succeeded" });
  expect(await stepsOf(bench, event.id)).toEqual(["0 event"]);
  expect(await stepsOf(bench, "f".repeat(32))).toEqual([]);
  const unknown = await bench.call("GET", "/_sandbox/traces/req_lodge_999");
  expect([unknown.status, unknown.body.message]).toEqual([
    404,
    expect.stringContaining("No request, event or delivery req_lodge_999 is logged, and it is not a trace id"),
  ]);
});

test("a trace of many calls lists 200 steps, and says that there are more", async () => {
  const bench = await open();
  const headers = { traceparent: TRACEPARENT };
  await Promise.all(Array.from({ length: 201 }, () => bench.call("GET", "/v1/payments?limit=1", { headers })));
  const { steps, has_more } = await bench.traces.get({ id: TRACE });
  expect([steps.length, has_more]).toEqual([200, true]);
});

test("a trace stays when its merchant is removed, and is deleted by a reset", async () => {
  const bench = await open();
  const { id: merchant, apiKey } = await bench.merchants.add({ name: "passing", fixture: "lodge" });
  const receiver = await receive();
  receiver.always((_, outgoing) => {
    const back = bench.call("POST", "/v1/hospitality/pricing-rules", { key: apiKey, body: RULE });
    void back.then(() => outgoing.end());
  });
  await register(bench, receiver.url, ["booking.declined"], apiKey);
  const answer = await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", {
    key: apiKey,
    body: {},
    headers: { traceparent: TRACEPARENT },
  });
  await settle(bench);
  expect(await stepsOf(bench, TRACE)).toEqual(calledBack("time"));
  await bench.merchants.remove({ id: merchant });
  expect(await stepsOf(bench, TRACE)).toEqual(calledBack("time"));
  expect(await stepsOf(bench, String(answer.headers["x-sandbox-request-id"]))).toEqual(calledBack("time"));
  await bench.reset();
  expect(await stepsOf(bench, TRACE)).toEqual([]);
});

test("each attempt of a delivery and of its replay has its own span in the trace of the call", async () => {
  const bench = await open({ traceDeliveries: true });
  const receiver = await receive();
  receiver.script(500, 500);
  await register(bench, receiver.url);
  await decline(bench, `00-${TRACE}-${CALLER}-02`);
  await advance(bench, "10s");
  const [attempt] = (await bench.deliveries.list({})).data;
  await bench.deliveries.replay({ id: String(attempt?.id) });
  await settle(bench);
  const sent = receiver.arrivals.map(({ headers }) => parseTraceparent(headers.traceparent));
  expect(sent.map((one) => [one?.traceId, one?.flags])).toEqual(Array(4).fill([TRACE, "02"]));
  expect(new Set([CALLER, ...sent.map((one) => one?.spanId)]).size).toBe(5);
  const headers = (await log(bench)).map(({ requestHeaders }) => requestHeaders.traceparent);
  expect(headers).toEqual(receiver.arrivals.map(({ headers }) => headers.traceparent));
});

test.each([
  ["no traceparent", undefined],
  ["a malformed traceparent", "00-4bf9-00f067aa0ba902b7-01"],
  ["an all-zero trace id", `00-${"0".repeat(32)}-${CALLER}-01`],
  ["an all-zero span id", `00-${TRACE}-${"0".repeat(16)}-01`],
  ["a traceparent in upper case", TRACEPARENT.toUpperCase()],
  ["the invalid version ff", `ff-${TRACE}-${CALLER}-01`],
  ["more fields than version 00 allows", `${TRACEPARENT}-00`],
])("a call with %s has no trace, and its deliveries have no traceparent", async (_, traceparent) => {
  const { bench, receiver } = await openRegistered({ traceDeliveries: true });
  const request = await decline(bench, traceparent);
  expect((await bench.requests.get({ id: request })).trace).toBeNull();
  expect(receiver.arrivals.map(({ headers }) => headers.traceparent)).toEqual([undefined]);
});

test("the fields of version 00 are read from a traceparent of a later version", async () => {
  const { bench, receiver } = await openRegistered({ traceDeliveries: true });
  await decline(bench, `cc-${TRACE}-${CALLER}-ff-more`);
  expect(receiver.arrivals[0]?.headers.traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-03$`));
});

test("without traceDeliveries, a delivery of a traced call has no traceparent", async () => {
  const { bench, receiver } = await openRegistered();
  await decline(bench, TRACEPARENT);
  await trigger(bench);
  await settle(bench);
  expect(receiver.arrivals.map(({ headers }) => headers.traceparent)).toEqual([undefined, undefined]);
});
