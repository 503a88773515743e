// The webhook operations: endpoints, their secrets and health, test events, and the delivery log.

import { describe, expect, test } from "vitest";
import { NOON_SECONDS, open } from "../support/sandbox.ts";
import { advance, deliver, log, openRegistered, receive, register, settle, trigger } from "../support/webhooks.ts";

const URL = "http://localhost:3000/hooks";
const HEALTH = {
  state: "unknown",
  consecutiveFailures: 0,
  pendingDeliveries: 0,
  succeeded24h: 0,
  failed24h: 0,
  lastAttemptAt: null,
  lastSuccessAt: null,
  lastFailureAt: null,
  lastResponseStatus: null,
  lastError: null,
  disabledReason: null,
};

describe("registering", () => {
  test("responds with 201, the endpoint, its health and its secret", async () => {
    const bench = await open();
    const answer = await bench.call("POST", "/v1/webhooks", { body: { url: URL, events: ["payment.succeeded", "booking.declined"] } });
    expect(answer.status, answer.text).toBe(201);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^we_\w{16}$/),
      object: "webhook_endpoint",
      merchantId: "mer_lodge",
      status: "enabled",
      url: URL,
      events: ["payment.succeeded", "booking.declined"],
      metadata: {},
      created: NOON_SECONDS,
      livemode: false,
      health: HEALTH,
      secret: expect.stringMatching(/^whsec_[0-9a-f]{64}$/),
    });
    expect(answer.headers["x-sandbox-warning"]).toBeUndefined();
    expect(await bench.events(answer)).toEqual([]);
  });

  test("shows the secret once, never in the list or the request log", async () => {
    const bench = await open();
    const { secret } = await register(bench, URL);
    const list = await bench.call("GET", "/v1/webhooks");
    expect(list.body.data[0].url).toBe(URL);
    expect(list.text).not.toContain("ecret");
    const requests = await bench.control("GET", "/requests");
    const requestLog = await bench.control("GET", `/requests/${requests.data.at(-1).id}`);
    expect(JSON.stringify(requestLog)).not.toContain(secret);
  });

  test("removes duplicate types, and stores unknown fields", async () => {
    const bench = await open();
    const { body, headers } = await bench.call("POST", "/v1/webhooks", {
      body: { url: URL, events: ["a.b", "*", "a.b"], team: "billing", secret: "mine", previousSecret: "mine", status: "disabled" },
    });
    expect(body).toMatchObject({ events: ["a.b", "*"], team: "billing", status: "enabled" });
    expect(body.secret).toMatch(/^whsec_/);
    expect(headers["x-sandbox-unknown-fields"]).toBe("team, secret, previousSecret, status");
    const list = await bench.call("GET", "/v1/webhooks");
    expect(list.text).not.toContain("mine");
  });

  test("accepts types that are never sent, with a warning", async () => {
    const bench = await open();
    const answer = await bench.call("POST", "/v1/webhooks", { body: { url: URL, events: ["payment.suceeded", "*", "payment.failed"] } });
    expect(answer.status).toBe(201);
    expect(answer.headers["x-sandbox-warning"]).toBe("The sandbox never sends payment.suceeded. Did you mean payment.succeeded?");
  });

  test.each([
    ["no types", { url: URL, events: [] }],
    ["101 types", { url: URL, events: Array.from({ length: 101 }, (_, index) => `a.b${index}`) }],
    ["a type without a dot", { url: URL, events: ["payment"] }],
    ["a type in upper case", { url: URL, events: ["Payment.succeeded"] }],
    ["a wildcard for a prefix", { url: URL, events: ["payment.*"] }],
  ])("refuses %s", async (_, body) => {
    const bench = await open();
    const answer = await bench.call("POST", "/v1/webhooks", { body });
    expect([answer.status, answer.body.code], answer.text).toEqual([400, "validation_failed"]);
    expect((await bench.call("GET", "/v1/webhooks")).body.data).toEqual([]);
  });

  test("rejects a body without required fields, also with --bodies open", async () => {
    const bench = await open({ bodies: "open" });
    for (const [field, body] of [["url", { events: ["a.b"] }] as const, ["events", { url: URL }] as const]) {
      const answer = await bench.call("POST", "/v1/webhooks", { body });
      expect([answer.status, answer.body.code, answer.body.details.errors[0].field]).toEqual([400, "validation_failed", field]);
    }
  });
});

describe("the list of endpoints", () => {
  test("has only the caller's endpoints, newest first, in pages", async () => {
    const bench = await open();
    const made = [];
    for (const path of ["a", "b", "c"]) made.unshift((await register(bench, `http://localhost:3000/${path}`)).id);
    const all = await bench.call("GET", "/v1/webhooks");
    expect(all.body.data.map(({ id }: { id: string }) => id)).toEqual(made);
    const page = await bench.call("GET", `/v1/webhooks?limit=1&starting_after=${made[0]}`);
    expect([page.body.data[0].id, page.body.data.length, page.body.has_more]).toEqual([made[1], 1, true]);
    expect((await bench.call("GET", "/v1/webhooks", { key: "sk_test_market" })).body.data).toEqual([]);
    const foreign = await bench.call("DELETE", `/v1/webhooks/${made[0]}`, { key: "sk_test_market" });
    expect([foreign.status, foreign.body.code]).toEqual([404, "resource_not_found"]);
  });

  test("shows the health of each endpoint", async () => {
    const { bench, receiver } = await openRegistered();
    const health = async () => (await bench.call("GET", "/v1/webhooks")).body.data[0].health;
    receiver.script(500, 503, 200);
    await deliver(bench);
    expect(await health()).toEqual({
      ...HEALTH,
      state: "degraded",
      consecutiveFailures: 1,
      pendingDeliveries: 1,
      failed24h: 1,
      lastAttemptAt: NOON_SECONDS,
      lastFailureAt: NOON_SECONDS,
      lastResponseStatus: 500,
      lastError: "The receiver answered 500; only 2xx accepts a delivery.",
    });
    await advance(bench, "6s");
    expect(await health()).toMatchObject({
      state: "healthy",
      consecutiveFailures: 0,
      pendingDeliveries: 0,
      succeeded24h: 1,
      failed24h: 2,
      lastAttemptAt: NOON_SECONDS + 6,
      lastSuccessAt: NOON_SECONDS + 6,
      lastFailureAt: NOON_SECONDS + 1,
      lastResponseStatus: 200,
    });
    receiver.always(500);
    await trigger(bench);
    await advance(bench, "2m");
    expect(await health()).toMatchObject({ state: "failing", consecutiveFailures: 6, pendingDeliveries: 0, failed24h: 8 });
    receiver.always(undefined);
    await deliver(bench);
    expect(await health()).toMatchObject({ state: "healthy", consecutiveFailures: 0, succeeded24h: 2 });
    await advance(bench, "25h");
    expect(await health()).toMatchObject({ state: "healthy", succeeded24h: 0, failed24h: 0, lastSuccessAt: NOON_SECONDS + 126 });
  });
});

describe("deleting an endpoint", () => {
  test("cancels its pending deliveries, keeps its log, and succeeds once", async () => {
    const { bench, receiver, id } = await openRegistered();
    receiver.always(500);
    await deliver(bench);
    const answer = await bench.call("DELETE", `/v1/webhooks/${id}`);
    expect([answer.status, answer.body]).toEqual([200, { id, object: "webhook_endpoint", deleted: true }]);
    await trigger(bench);
    await advance(bench, "1h");
    expect(receiver.arrivals).toHaveLength(1);
    expect(await log(bench)).toMatchObject([{ endpointId: id, attempt: 1, status: "failed", nextAttemptAt: null }]);
    const again = await bench.call("DELETE", `/v1/webhooks/${id}`);
    expect([again.status, again.body.code]).toEqual([404, "resource_not_found"]);
    expect((await bench.call("GET", "/v1/webhooks")).body.data).toEqual([]);
  });

  test("during an attempt lets that attempt finish, and starts no other", async () => {
    const { bench, receiver, id } = await openRegistered();
    let release = () => {};
    receiver.always((_, outgoing) => {
      release = () => outgoing.writeHead(500).end();
    });
    await trigger(bench);
    await receiver.arrived(1);
    await bench.call("DELETE", `/v1/webhooks/${id}`);
    release();
    await advance(bench, "1h");
    expect(await log(bench)).toMatchObject([{ status: "failed", responseStatus: 500, nextAttemptAt: null }]);
    expect(receiver.arrivals).toHaveLength(1);
  });
});

describe("rotating a secret", () => {
  test("returns the new secret, which signs from the next attempt on", async () => {
    const { bench, receiver, id, secret } = await openRegistered();
    receiver.script(500);
    await trigger(bench);
    await advance(bench, "500ms");
    const answer = await bench.call("POST", `/v1/webhooks/${id}/rotate-secret`, { headers: { "Idempotency-Key": "k" } });
    expect([answer.status, answer.body]).toEqual([
      200,
      { id, object: "webhook_endpoint", secret: expect.stringMatching(/^whsec_[0-9a-f]{64}$/), rotated: NOON_SECONDS },
    ]);
    expect(answer.body.secret).not.toBe(secret);
    await advance(bench, "1s");
    const [first, second] = receiver.arrivals;
    expect(second?.body).toEqual(first?.body);
    expect(second?.headers["x-webhook-signature"]).not.toBe(first?.headers["x-webhook-signature"]);
    const again = await bench.call("POST", `/v1/webhooks/${id}/rotate-secret`, { headers: { "Idempotency-Key": "k" } });
    expect(again.body.secret).not.toBe(answer.body.secret);
    expect((await bench.call("POST", "/v1/webhooks/we_none/rotate-secret")).status).toBe(404);
  });
});

describe("a test event", () => {
  test("goes to the enabled endpoints that subscribe to its type, and returns their ids", async () => {
    const bench = await open();
    const receiver = await receive();
    const wanting = [await register(bench, receiver.url, ["booking.declined"]), await register(bench, receiver.url, ["*"])];
    await register(bench, receiver.url, ["payment.failed"]);
    await register(bench, receiver.url, ["*"], "sk_test_market");
    const data = { amount: 12_500, nested: { ключ: [1, null] } };
    const answer = await bench.call("POST", "/v1/webhook-events/test", { body: { type: "booking.declined", data } });
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        object: "event",
        id: expect.stringMatching(/^evt_\w{16}$/),
        type: "booking.declined",
        data,
        livemode: false,
        created: NOON_SECONDS,
        deliveries: expect.arrayContaining(wanting.map(({ id }) => ({ endpointId: id }))),
      },
    ]);
    expect(answer.body.deliveries).toHaveLength(2);
    await settle(bench);
    expect(receiver.arrivals).toHaveLength(2);
    expect((await log(bench)).map(({ trigger }) => trigger)).toEqual(["test", "test"]);
  });

  test("succeeds without subscribers; its data is empty by default", async () => {
    const bench = await open();
    const { status, body } = await bench.call("POST", "/v1/webhook-events/test", { body: { type: "payment.succeeded" } });
    expect([status, body.data, body.deliveries]).toEqual([200, {}, []]);
    const odd = await bench.call("POST", "/v1/webhook-events/test", { body: { type: "made.up" } });
    expect([odd.status, odd.headers["x-sandbox-warning"]]).toEqual([200, "The sandbox never sends made.up."]);
  });

  test.each([
    [{}],
    [{ type: "*" }],
    [{ type: "Payment.x" }],
    [{ type: "payment.succeeded", data: [] }],
    [{ type: "payment.succeeded", data: null }],
  ])("rejects %j", async (body) => {
    const bench = await open();
    const answer = await bench.call("POST", "/v1/webhook-events/test", { body });
    expect([answer.status, answer.body.code]).toEqual([400, "validation_failed"]);
  });
});

describe("a business event", () => {
  test("carries the record as of the change, and is logged with its cause", async () => {
    const bench = await open();
    const receiver = await receive();
    const { id: endpointId } = await register(bench, receiver.url, ["booking.declined"]);
    const declined = await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", { body: { reason: "Closed." } });
    expect(declined.status, declined.text).toBe(200);
    await settle(bench);
    const [arrival] = receiver.arrivals;
    expect(arrival?.event).toMatchObject({ type: "booking.declined", livemode: false, data: declined.body });
    expect(await log(bench)).toEqual([
      {
        id: expect.stringMatching(/^whd_\w{16}$/),
        object: "webhook_delivery",
        merchantId: "mer_lodge",
        eventId: arrival?.event.id,
        eventType: "booking.declined",
        endpointId,
        url: receiver.url,
        trigger: "event",
        attempt: 1,
        maxAttempts: 6,
        status: "succeeded",
        responseStatus: 200,
        responseBody: "",
        responseTruncated: false,
        errorCode: null,
        errorMessage: null,
        durationMs: 0,
        requestHeaders: expect.objectContaining({ "X-Webhook-Id": arrival?.event.id, "X-Webhook-Event": "booking.declined" }),
        requestBody: arrival?.body.toString(),
        nextAttemptAt: null,
        livemode: false,
        created: NOON_SECONDS,
      },
    ]);
  });

  test("is not emitted by a failed call", async () => {
    const { bench, receiver } = await openRegistered();
    expect((await bench.call("POST", "/v1/hospitality/bookings/bkg_confirmed/decline", { body: {} })).status).toBe(409);
    await settle(bench);
    expect(receiver.arrivals).toEqual([]);
  });
});

describe("the delivery log", () => {
  test("filters by event, endpoint, type and status, and rejects an invalid status", async () => {
    const bench = await open();
    const receiver = await receive();
    const a = await register(bench, `${receiver.url}/a`, ["a.b"]);
    const b = await register(bench, `${receiver.url}/b`, ["*"]);
    receiver.script(500, 500);
    const first = await deliver(bench, "a.b");
    const second = await trigger(bench, "c.d");
    await advance(bench, "10s");
    const count = async (query: string) => (await log(bench, query)).length;
    expect(await count("")).toBe(5);
    expect(await count(`&eventId=${first}`)).toBe(4);
    expect(await count(`&eventId=${second}`)).toBe(1);
    expect(await count(`&endpointId=${a.id}`)).toBe(2);
    expect(await count(`&endpointId=${b.id}&type=a.b`)).toBe(2);
    expect(await count("&type=c.d")).toBe(1);
    expect(await count("&status=failed")).toBe(2);
    expect(await count(`&status=succeeded&endpointId=${b.id}`)).toBe(2);
    expect(await count("&status=aborted&eventId=evt_none")).toBe(0);
    const wrong = await bench.call("GET", "/v1/webhook-deliveries?status=lost");
    expect([wrong.status, wrong.body.code]).toEqual([400, "validation_failed"]);
    expect(wrong.body.message).toContain('"lost"');
  });

  test("is paged in both directions, newest first, with filters", async () => {
    const bench = await open();
    const receiver = await receive();
    await register(bench, receiver.url, ["a.b"]);
    await register(bench, receiver.url, ["a.b"]);
    for (let index = 0; index < 5; index++) {
      await trigger(bench, "a.b");
      await advance(bench, "1s");
    }
    const whole = (await log(bench)).reverse().map(({ id }) => id);
    expect(whole).toHaveLength(10);
    const page = async (query: string) => {
      const { body } = await bench.call("GET", `/v1/webhook-deliveries?type=a.b&limit=4${query}`);
      return [body.data.map(({ id }: { id: string }) => id), body.has_more];
    };
    expect(await page("")).toEqual([whole.slice(0, 4), true]);
    expect(await page(`&starting_after=${whole[3]}`)).toEqual([whole.slice(4, 8), true]);
    expect(await page(`&starting_after=${whole[7]}`)).toEqual([whole.slice(8), false]);
    expect(await page(`&ending_before=${whole[8]}`)).toEqual([whole.slice(4, 8), true]);
    expect(await page(`&ending_before=${whole[2]}`)).toEqual([whole.slice(0, 2), false]);
    const foreign = await bench.call("GET", `/v1/webhook-deliveries?starting_after=${whole[0]}`, { key: "sk_test_market" });
    expect([foreign.status, foreign.body.code]).toEqual([400, "invalid_cursor"]);
    expect(await log(bench, "", "sk_test_market")).toEqual([]);
  });
});
