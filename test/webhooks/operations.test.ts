// The webhook operations: endpoints, their secrets and health, test events, and the delivery log.

import { describe, expect, test } from "vitest";
import { open } from "../support/sandbox.ts";
import { advance, deliver, log, openRegistered, receive, register, settle, trigger } from "../support/webhooks.ts";

const URL = "http://localhost:3000/hooks";

describe("registering", () => {
  test("removes duplicate types, and stores unknown fields", async () => {
    const bench = await open();
    const { body, headers } = await bench.call("POST", "/v1/webhooks", {
      body: {
        url: URL,
        events: ["a.b", "*", "a.b"],
        team: "billing",
        secret: "mine",
        previousSecret: "mine",
        status: "disabled",
      },
    });
    expect(body).toMatchObject({ events: ["a.b", "*"], team: "billing", status: "enabled" });
    expect(body.secret).toMatch(/^whsec_/);
    expect(headers["x-sandbox-unknown-fields"]).toBe("team, secret, previousSecret, status");
    const list = await bench.call("GET", "/v1/webhooks");
    expect(list.text).not.toContain("mine");
  });

  test("accepts types that are never sent, with a warning", async () => {
    const bench = await open();
    const answer = await bench.call("POST", "/v1/webhooks", {
      body: { url: URL, events: ["payment.suceeded", "*", "payment.failed"] },
    });
    expect(answer.status).toBe(201);
    expect(answer.headers["x-sandbox-warning"]).toBe(
      "The sandbox never sends payment.suceeded. Did you mean payment.succeeded?",
    );
  });

  test.each([
    ["an empty list of types", { url: URL, events: [] }],
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

  test("rejects a body without required fields, even with --bodies open", async () => {
    const bench = await open({ bodies: "open" });
    for (const [field, body] of [["url", { events: ["a.b"] }] as const, ["events", { url: URL }] as const]) {
      const answer = await bench.call("POST", "/v1/webhooks", { body });
      expect([answer.status, answer.body.code, answer.body.details.errors[0].field]).toEqual([
        400,
        "validation_failed",
        field,
      ]);
    }
  });
});

describe("the list of endpoints", () => {
  test("shows why the last attempt at an endpoint failed", async () => {
    const { bench, receiver } = await openRegistered();
    receiver.script(500);
    await deliver(bench);
    const { lastError } = (await bench.call("GET", "/v1/webhooks")).body.data[0].health;
    expect(lastError).toBe("The receiver answered 500; only 2xx accepts a delivery.");
  });
});

describe("deleting an endpoint", () => {
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

describe("a test event", () => {
  test("succeeds without subscribers; its data is empty by default", async () => {
    const bench = await open();
    const { status, body } = await bench.call("POST", "/v1/webhook-events/test", {
      body: { type: "payment.succeeded" },
    });
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
  test("carries the record as the change left it, and is logged with its trigger", async () => {
    const { bench, receiver, id: endpointId } = await openRegistered({}, ["booking.declined"]);
    const declined = await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline", {
      body: { reason: "Closed." },
    });
    expect(declined.status, declined.text).toBe(200);
    await settle(bench);
    const [arrival] = receiver.arrivals;
    expect(arrival?.event).toMatchObject({ type: "booking.declined", livemode: false, data: declined.body });
    expect(await log(bench)).toMatchObject([
      {
        id: expect.stringMatching(/^whd_\w{16}$/),
        endpointId,
        trigger: "event",
        responseBody: "",
        requestHeaders: { "X-Webhook-Id": arrival?.event.id, "X-Webhook-Event": "booking.declined" },
        requestBody: arrival?.body.toString(),
      },
    ]);
  });
});

describe("the delivery log", () => {
  test("filters by event, endpoint, type and status", async () => {
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
  });

  test("is paged in both directions", async () => {
    const { bench } = await openRegistered();
    for (let index = 0; index < 5; index++) await deliver(bench, "a.b");
    const whole = (await log(bench)).reverse().map(({ id }) => id);
    const page = async (query: string) => {
      const { body } = await bench.call("GET", `/v1/webhook-deliveries?type=a.b&limit=2${query}`);
      return [body.data.map(({ id }: { id: string }) => id), body.has_more];
    };
    expect(await page(`&starting_after=${whole[0]}`)).toEqual([whole.slice(1, 3), true]);
    expect(await page(`&starting_after=${whole[2]}`)).toEqual([whole.slice(3), false]);
    expect(await page(`&ending_before=${whole[4]}`)).toEqual([whole.slice(2, 4), true]);
    expect(await page(`&ending_before=${whole[2]}`)).toEqual([whole.slice(0, 2), false]);
  });
});
