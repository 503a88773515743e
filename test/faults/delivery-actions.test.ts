// The effects of fault rules on deliveries, as real receivers and the delivery log show them.

import type { ServerResponse } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { verifySignature } from "../../src/webhooks/signature.ts";
import { databaseLeftBehind, folder } from "../support/program.ts";
import { type Bench, listen, NOON_SECONDS, open } from "../support/sandbox.ts";
import {
  type Arrival,
  advance,
  deliver,
  log,
  openRegistered,
  type Receiver,
  receive,
  register,
  settle,
  trigger,
} from "../support/webhooks.ts";

/** Arms a rule with this action, and returns the id of the rule. */
async function arm(bench: Bench, action: object, rest: object = {}): Promise<string> {
  return (await bench.control("POST", "/faults", { action, ...rest })).id;
}

/** A sandbox with a registered receiver and a rule of this action. */
async function openArmed(action: object, rest?: object) {
  const registered = await openRegistered();
  return { ...registered, rule: await arm(registered.bench, action, rest) };
}

const fired = async (bench: Bench, rule: string) => (await bench.control("GET", `/faults/${rule}`)).fired;

/** The attempts as the control API shows them, oldest first. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into attempts of every shape.
async function attempts(bench: Bench): Promise<any[]> {
  return (await bench.control("GET", "/deliveries?limit=100")).data.reverse();
}

/** Collects the ids of the attempts that faults affect from now on, from the live stream. */
function touchedAttempts(bench: Bench): (string | null)[] {
  const ids: (string | null)[] = [];
  bench.onLiveEvent((event) => void (event.kind === "fault" && ids.push(event.fault.attemptId)));
  return ids;
}

const types = (receiver: Receiver) => receiver.arrivals.map(({ headers }) => headers["x-webhook-event"]);
const ids = (receiver: Receiver) => receiver.arrivals.map(({ headers }) => headers["x-webhook-id"]);

const isSigned = ({ body, headers }: Arrival, secret: string) =>
  verifySignature({ body, signature: headers["x-webhook-signature"], secret });

/** A receiver that holds its responses. `answer` sends the oldest one. */
async function patient(): Promise<{ receiver: Receiver; answer: (status?: number) => void }> {
  const receiver = await receive();
  const held: ServerResponse[] = [];
  receiver.always((_, outgoing) => held.push(outgoing));
  return { receiver, answer: (status = 200) => held.shift()?.writeHead(status).end() };
}

describe("duplicate", () => {
  test("delivers the same bytes again in sequence, and shows each copy in the log and on the live stream", async () => {
    const bench = await open();
    const touched = touchedAttempts(bench);
    const { receiver, answer } = await patient();
    const { secret } = await register(bench, receiver.url);
    const rule = await arm(bench, { type: "duplicate", copies: 3 });
    const id = await trigger(bench);
    for (const count of [1, 2, 3]) {
      await receiver.arrived(count);
      expect(receiver.arrivals).toHaveLength(count);
      answer();
    }
    await settle(bench);
    expect(ids(receiver)).toEqual([id, id, id]);
    expect(new Set(receiver.arrivals.map(({ body }) => body.toString())).size).toBe(1);
    expect(receiver.arrivals.every((arrival) => isSigned(arrival, secret))).toBe(true);
    expect(receiver.connections()).toBe(1);
    const logged = await attempts(bench);
    expect(logged).toMatchObject([
      { status: "succeeded", attempt: 1, maxAttempts: 6, fault: { id: rule, copy: 0 } },
      { status: "succeeded", attempt: 1, maxAttempts: 1, fault: { id: rule, copy: 1 } },
      { status: "succeeded", attempt: 1, maxAttempts: 1, fault: { id: rule, copy: 2 } },
    ]);
    expect(touched.sort()).toEqual(logged.map(({ id: attempt }) => attempt).sort());
    expect(await fired(bench, rule)).toBe(1);
    expect(await bench.control("POST", "/drain", {})).toEqual({ settled: true, pending: 0, inFlight: 0 });
  });

  test("with concurrent sends all copies at once on separate connections", async () => {
    const bench = await open();
    const { receiver, answer } = await patient();
    await register(bench, receiver.url);
    await arm(bench, { type: "duplicate", copies: 4, concurrent: true });
    await trigger(bench);
    await receiver.arrived(4);
    expect(receiver.connections()).toBe(4);
    for (let count = 0; count < 4; count++) answer();
    await settle(bench);
    expect((await log(bench)).map(({ status }) => status)).toEqual([
      "succeeded",
      "succeeded",
      "succeeded",
      "succeeded",
    ]);
  });

  test("logs copies in the order of their originals, whatever the order of endpoints", async () => {
    const bench = await open();
    const receiver = await receive();
    await arm(bench, { type: "duplicate", copies: 3 }, { trigger: { times: 2 } });
    // The endpoint that subscribes to every type gets the event first, although it was registered after the endpoint
    // that names the type.
    const [named, all] = [
      await register(bench, receiver.url, ["payment.succeeded"]),
      await register(bench, receiver.url),
    ];
    await deliver(bench);
    const order = [all.id, named.id, all.id, all.id, named.id, named.id];
    expect((await log(bench)).map(({ endpointId }) => endpointId)).toEqual(order);
  });

  test.each([0, 1])("logs copies in the order of their originals if receiver %i responds first", async (first) => {
    const bench = await open();
    await arm(bench, { type: "duplicate", copies: 3 }, { trigger: { times: 2, skip: 2 } });
    const receivers = [await patient(), await patient()] as const;
    const eventTypes = ["payment.succeeded", "payment.failed"];
    const endpoints = [];
    for (const [index, { receiver }] of receivers.entries())
      endpoints.push(await register(bench, receiver.url, [`${eventTypes[index]}`]));
    // A receiver's second event waits until the receiver has responded to the first.
    for (const type of [...eventTypes, ...eventTypes]) await trigger(bench, type);
    for (const { receiver, answer } of first === 0 ? receivers : receivers.toReversed())
      for (const count of [1, 2, 3, 4]) {
        await receiver.arrived(count);
        answer();
      }
    await settle(bench);
    const [one, other] = endpoints.map(({ id }) => id);
    const copies = (await log(bench)).filter(({ maxAttempts }) => maxAttempts === 1);
    expect(copies.map(({ endpointId }) => endpointId)).toEqual([one, one, other, other]);
  });

  test("with a gap waits for this time between copies", async () => {
    const { bench, receiver } = await openArmed({ type: "duplicate", copies: 3, gap: "10s" });
    await deliver(bench);
    expect(receiver.arrivals).toHaveLength(1);
    await advance(bench, "9s");
    expect(receiver.arrivals).toHaveLength(1);
    await advance(bench, "1s");
    expect(receiver.arrivals).toHaveLength(2);
    await advance(bench, "1h");
    expect((await log(bench)).map(({ created }) => created - NOON_SECONDS)).toEqual([0, 10, 20]);
  });

  test("retries the original, but not its copies", async () => {
    const { bench, receiver } = await openArmed({ type: "duplicate" });
    receiver.script(500, 500, 200);
    await trigger(bench);
    await advance(bench, "1h");
    expect((await attempts(bench)).map(({ attempt, status, fault }) => [attempt, status, fault?.copy])).toEqual([
      [1, "failed", 0],
      [1, "failed", 1],
      [2, "succeeded", undefined],
    ]);
    expect(receiver.arrivals).toHaveLength(3);
  });

  test("applies the delivery's other faults to its copies", async () => {
    const { bench, receiver, secret } = await openRegistered();
    const touched = touchedAttempts(bench);
    const [twice, forged] = [await arm(bench, { type: "duplicate" }), await arm(bench, { type: "signature" })];
    await deliver(bench);
    expect(receiver.arrivals.map((arrival) => isSigned(arrival, secret))).toEqual([false, false]);
    const logged = await attempts(bench);
    expect(logged.map(({ fault }) => fault.effects.map(({ id }: { id: string }) => id))).toEqual([
      [twice, forged],
      [twice, forged],
    ]);
    expect(touched).toHaveLength(4);
  });
});

describe("reorder", () => {
  const send = async (bench: Bench, count: number) => {
    const made: string[] = [];
    for (let number = 0; number < count; number++) made.push(await trigger(bench));
    return made;
  };

  test("holds a batch and delivers it in reverse, each delivery after the previous one has completed", async () => {
    const bench = await open();
    const { receiver, answer } = await patient();
    await register(bench, receiver.url);
    const rule = await arm(bench, { type: "reorder", batch: 3 });
    const [first, second] = await send(bench, 2);
    expect(await bench.control("POST", "/drain", {})).toEqual({ settled: true, pending: 2, inFlight: 0 });
    expect(receiver.arrivals).toEqual([]);
    const [third, fourth] = await send(bench, 2);
    await receiver.arrived(1);
    for (const count of [1, 2, 3, 4]) {
      await receiver.arrived(count);
      answer();
    }
    await settle(bench);
    const order = ids(receiver).filter((id) => id !== fourth);
    expect(order).toEqual([third, second, first]);
    expect((await attempts(bench)).filter(({ fault }) => fault?.id === rule)).toHaveLength(3);
    expect(await fired(bench, rule)).toBe(3);
  });

  test("with order=shuffle never keeps the original order, and repeats its order for the same seed", async () => {
    const orders: number[][] = [];
    for (const seed of [1, 1, 2, 3]) {
      const { bench, receiver } = await openRegistered({ seed });
      await arm(bench, { type: "reorder", batch: 5, order: "shuffle" });
      const made = await send(bench, 5);
      await settle(bench);
      orders.push(ids(receiver).map((id) => made.indexOf(id ?? "")));
    }
    for (const order of orders) {
      expect([...order].sort()).toEqual([0, 1, 2, 3, 4]);
      expect(order).not.toEqual([0, 1, 2, 3, 4]);
    }
    expect(orders[0]).toEqual(orders[1]);
    expect(new Set(orders.map(String)).size).toBeGreaterThan(1);
  });

  test("sends an incomplete batch after `hold`, or when its rule is removed", async () => {
    const { bench, receiver } = await openRegistered({ life: "off" });
    await arm(bench, { type: "reorder", batch: 3, hold: "30s" });
    const made = await send(bench, 2);
    await advance(bench, "29s");
    expect(receiver.arrivals).toEqual([]);
    await advance(bench, "1s");
    expect(ids(receiver)).toEqual(made.reverse());
    await bench.control("DELETE", "/faults");
    const rule = await arm(bench, { type: "reorder" });
    const [alone] = await send(bench, 1);
    await bench.control("DELETE", `/faults/${rule}`);
    await receiver.arrived(3);
    expect(ids(receiver)[2]).toBe(alone);
  });

  test("releases the held deliveries when its rule is removed, or all rules are removed", async () => {
    const { bench, receiver } = await openRegistered();
    for (const remove of [(id: string) => `/faults/${id}`, () => "/faults"]) {
      const before = receiver.arrivals.length;
      const id = await arm(bench, { type: "reorder", batch: 3 });
      await send(bench, 1);
      await bench.control("POST", "/drain", { within: "5s" });
      expect(receiver.arrivals).toHaveLength(before);
      await bench.control("DELETE", remove(id));
      await receiver.arrived(before + 1);
    }
  });

  test("collects a separate batch for each endpoint", async () => {
    const { bench, receiver } = await openRegistered();
    const other = await receive();
    await register(bench, other.url);
    await arm(bench, { type: "reorder" }, { trigger: { times: 2, per: "endpoint" } });
    const made = await send(bench, 2);
    await settle(bench);
    expect(ids(receiver)).toEqual([...made].reverse());
    expect(ids(other)).toEqual([...made].reverse());
  });
});

describe("delay", () => {
  test("by a duration sends the delivery when the duration has passed, without a second delay", async () => {
    const { bench, receiver, rule } = await openArmed({ type: "delay", by: "90s" });
    await deliver(bench);
    expect(await bench.control("POST", "/drain", {})).toEqual({ settled: true, pending: 1, inFlight: 0 });
    await advance(bench, "89s");
    expect(receiver.arrivals).toEqual([]);
    await advance(bench, "1s");
    expect(receiver.arrivals).toHaveLength(1);
    expect(await attempts(bench)).toMatchObject([
      { created: NOON_SECONDS + 90, status: "succeeded", fault: { id: rule, effects: [{ effect: { by: 90_000 } }] } },
    ]);
    expect(await fired(bench, rule)).toBe(1);
  });

  test("of a retry is added to the gap of the retry schedule", async () => {
    const { bench, receiver } = await openArmed({ type: "delay", by: "10s" }, { match: { attempt: 2 } });
    receiver.script(500);
    await trigger(bench);
    await advance(bench, "1m");
    expect((await log(bench)).map(({ created }) => created - NOON_SECONDS)).toEqual([0, 11]);
  });

  test("until before_response makes the call's response wait for the delivery, but not other calls", async () => {
    const bench = await open();
    const { receiver, answer } = await patient();
    await register(bench, receiver.url, ["payment.succeeded"]);
    await arm(bench, { type: "delay", until: "before_response" });
    let answered = false;
    const call = trigger(bench).then((id) => {
      answered = true;
      return id;
    });
    await receiver.arrived(1);
    await trigger(bench, "payout.paid");
    expect(answered).toBe(false);
    answer();
    expect(ids(receiver)).toEqual([await call]);
    expect(await log(bench)).toMatchObject([{ status: "succeeded", responseStatus: 200 }]);
    const next = await trigger(bench);
    await receiver.arrived(2);
    expect(ids(receiver)[1]).toBe(next);
    answer();
  });

  test("until before_response waits for the first attempt even if it fails, and not for the retry", async () => {
    const { bench, receiver } = await openRegistered({ retrySchedule: "10s,10s" });
    receiver.script(500);
    await arm(bench, { type: "delay", until: "before_response" });
    await trigger(bench);
    expect(await log(bench)).toMatchObject([{ status: "failed", nextAttemptAt: NOON_SECONDS + 10 }]);
    await advance(bench, "10s");
    expect(await log(bench)).toMatchObject([{ status: "failed" }, { status: "succeeded" }]);
  });

  test("until before_response affects no event without a call that waits, such as a trigger or a replay", async () => {
    const { bench } = await openRegistered();
    await bench.scenarios.start({ name: "webhook-before-response" });
    const score = async () => {
      await settle(bench);
      const { message, faults } = await bench.scenarios.get({ name: "webhook-before-response" });
      return { message, fired: faults.map((fault) => fault.fired) };
    };
    await bench.events.trigger({ type: "customer.created" });
    expect(await score()).toEqual({
      message: "0 of 10 points: webhook.genuine_taken, webhook.ack_fast not decided; 1 of its faults has not fired.",
      fired: [0],
    });
    const id = await trigger(bench);
    await bench.events.replay({ id });
    expect(await score()).toEqual({ message: "10 of 10 points: everything expected was found.", fired: [1] });
  });

  test("until before_response waits for a busy endpoint no longer than the timeout of an attempt", async () => {
    const bench = await open({ webhookTimeout: "200ms" });
    const { receiver } = await patient();
    await register(bench, receiver.url);
    await trigger(bench);
    await receiver.arrived(1);
    await arm(bench, { type: "delay", until: "before_response" });
    const id = await trigger(bench);
    await receiver.arrived(2);
    expect(ids(receiver)[1]).toBe(id);
  });

  test("until after another type sends the delivery once the same endpoint has accepted that type", async () => {
    const { bench, receiver } = await openArmed(
      { type: "delay", until: { after: "payout.paid" } },
      { match: { event: "payment.succeeded" } },
    );
    receiver.script(500);
    await trigger(bench, "payment.succeeded");
    await advance(bench, "1h");
    expect(receiver.arrivals).toEqual([]);
    await deliver(bench, "payout.paid");
    expect(types(receiver)).toEqual(["payout.paid"]);
    await advance(bench, "1s");
    expect(types(receiver)).toEqual(["payout.paid", "payout.paid", "payment.succeeded"]);
  });

  test("until after an unsubscribed type waits for another endpoint of the merchant, at most for a day", async () => {
    const bench = await open({ life: "off" });
    const [receiver, other] = [await receive(), await receive()];
    await register(bench, receiver.url, ["payment.succeeded"]);
    await register(bench, other.url, ["payout.paid"]);
    await arm(
      bench,
      { type: "delay", until: { after: "payout.paid" } },
      { match: { event: "payment.*" }, trigger: { times: 2 } },
    );
    await trigger(bench);
    await trigger(bench, "payout.paid", {}, "sk_test_market");
    await settle(bench);
    expect(receiver.arrivals).toEqual([]);
    await deliver(bench, "payout.paid");
    expect(receiver.arrivals).toHaveLength(1);
    await trigger(bench);
    await advance(bench, "23h");
    expect(receiver.arrivals).toHaveLength(1);
    await advance(bench, "1h");
    expect(receiver.arrivals).toHaveLength(2);
  });
});

describe("drop", () => {
  test("sends nothing, logs the attempt as dropped, and retries by the schedule", async () => {
    const { bench, receiver } = await openRegistered();
    const touched = touchedAttempts(bench);
    const rule = await arm(bench, { type: "drop", attempts: 2 }, { name: "lost" });
    const id = await trigger(bench);
    await advance(bench, "1s");
    expect(receiver.connections()).toBe(0);
    await advance(bench, "1h");
    expect(ids(receiver)).toEqual([id]);
    const logged = await attempts(bench);
    expect(logged).toMatchObject([
      {
        status: "failed",
        errorCode: "dropped",
        responseStatus: null,
        nextAttemptAt: NOON_SECONDS + 1,
        fault: { id: rule, name: "lost" },
      },
      {
        status: "failed",
        errorCode: "dropped",
        responseStatus: null,
        nextAttemptAt: NOON_SECONDS + 6,
        fault: { id: rule },
      },
      { status: "succeeded", errorCode: null, fault: null, created: NOON_SECONDS + 6 },
    ]);
    expect(logged[0].fault.wouldHaveSent).toEqual({ headers: logged[2].requestHeaders, body: logged[2].requestBody });
    expect(touched).toEqual([logged[0].id, logged[1].id]);
  });

  test("of all attempts fails the delivery, but not the next delivery", async () => {
    const { bench, receiver } = await openArmed({ type: "drop", attempts: "all" });
    await trigger(bench);
    const next = await trigger(bench);
    await advance(bench, "1h");
    expect(ids(receiver)).toEqual([next]);
    expect((await attempts(bench)).filter(({ errorCode }) => errorCode === "dropped")).toHaveLength(6);
  });
});

describe("signature", () => {
  const ways = ["missing", "wrong_secret", "previous_secret", "body_changed", "reserialised", "malformed"];

  test.each(ways)("as %s sends no valid signature, and logs what would have been sent", async (as) => {
    const { bench, receiver, id: endpointId, secret: previous } = await openRegistered();
    const { body: rotated } = await bench.call("POST", `/v1/webhooks/${endpointId}/rotate-secret`);
    await arm(bench, { type: "signature", as });
    await deliver(bench, "payment.succeeded", { amount: 5 });
    const [arrival] = receiver.arrivals as [Arrival];
    const signature = arrival.headers["x-webhook-signature"];
    expect(isSigned(arrival, rotated.secret)).toBe(false);
    expect(isSigned(arrival, previous)).toBe(as === "previous_secret");
    expect(arrival.headers["content-length"]).toBe(String(arrival.body.length));
    const [{ fault, requestHeaders, requestBody }] = await attempts(bench);
    const meant = fault.wouldHaveSent;
    expect(requestHeaders["X-Webhook-Signature"]).toBe(signature);
    expect(requestBody).toBe(arrival.body.toString());
    expect(
      verifySignature({ body: meant.body, signature: meant.headers["X-Webhook-Signature"], secret: rotated.secret }),
    ).toBe(true);
    if (as === "missing") expect(signature).toBeUndefined();
    else expect(signature).toMatch(as === "malformed" ? /^[0-9a-f]{32}$/ : /^[0-9a-f]{64}$/);
    if (as === "reserialised") {
      const reserialised = { ...arrival, body: Buffer.from(JSON.stringify(arrival.event)) };
      expect(isSigned(reserialised, rotated.secret)).toBe(true);
    }
    if (as === "body_changed") {
      expect(signature).toBe(meant.headers["X-Webhook-Signature"]);
      expect(arrival.event).toEqual({ ...JSON.parse(meant.body), tampered: true });
    } else expect(requestBody).toBe(meant.body);
  });

  test("as previous_secret signs with an unknown secret if the endpoint's secret was never rotated", async () => {
    const { bench, receiver, secret } = await openArmed({ type: "signature", as: "previous_secret" });
    await deliver(bench);
    expect(receiver.arrivals.map((arrival) => isSigned(arrival, secret))).toEqual([false]);
    expect(receiver.arrivals[0]?.headers["x-webhook-signature"]).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe("payload", () => {
  async function delivered(
    action: object,
    data: object = { amount: 5, lines: [{ net: 1 }, { net: 2 }], note: "世界" },
  ) {
    const { bench, receiver, secret } = await openArmed({ type: "payload", ...action });
    await deliver(bench, "payment.succeeded", data);
    const [arrival] = receiver.arrivals as [Arrival];
    const [attempt] = await attempts(bench);
    expect(isSigned(arrival, secret)).toBe(true);
    expect(arrival.headers["content-length"]).toBe(String(arrival.body.length));
    expect(attempt.requestBody).toBe(arrival.body.toString());
    expect((await log(bench))[0]?.requestBody).toBe(arrival.body.toString());
    const meant = attempt.fault.wouldHaveSent;
    expect(verifySignature({ body: meant.body, signature: meant.headers["X-Webhook-Signature"], secret })).toBe(true);
    return { arrival, meant: JSON.parse(meant.body), text: meant.body as string };
  }

  test("as evolve sends the record as a later version of the API might", async () => {
    const { bench, receiver, secret } = await openArmed({ type: "payload", as: "evolve" });
    await bench.call("POST", "/v1/hospitality/bookings/bkg_pending/decline");
    const [arrival] = await receiver.arrived(1);
    const { event } = arrival as Arrival;
    expect(isSigned(arrival as Arrival, secret)).toBe(true);
    const added = { by: "a later version" };
    expect(event).toMatchObject({ type: "booking.declined", addedLater: added, livemode: false });
    expect(event.data).toMatchObject({
      id: "bkg_pending",
      object: "booking",
      status: "added_later",
      addedLater: added,
    });
  });

  test("with a patch sets existing and new values, and signs the changed body", async () => {
    const patch = {
      "/data/amount": 777,
      "/data/lines/1/net": null,
      "/data/lines/-": "last",
      "/data/more/a~1b": [1],
      "/livemode": true,
    };
    const { arrival, meant } = await delivered({ patch });
    const data = { ...meant.data, amount: 777, lines: [{ net: 1 }, { net: null }, "last"], more: { "a/b": [1] } };
    expect(arrival.event).toEqual({ ...meant, livemode: true, data });
    expect(Object.keys(arrival.event)).toEqual(Object.keys(meant));
    expect(arrival.headers["x-webhook-event"]).toBe("payment.succeeded");
  });

  test("with a patch cannot change the prototypes of objects", async () => {
    const { arrival } = await delivered({
      patch: { "/__proto__/polluted": 1, "/data/constructor/prototype/polluted": 1 },
    });
    expect(arrival.body.toString()).toMatch(/"__proto__": \{\s+"polluted": 1\s+\}/);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test.each<[string, object, (text: string) => string]>([
    ["unknown_type", { as: "unknown_type" }, (text) => text.replace('"payment.succeeded"', '"sandbox.unheard_of"')],
    [
      "extra_field (the default)",
      {},
      (text) => text.replace(/\n}$/, `,\n  "addedLater": {\n    "by": "a later version"\n  }\n}`),
    ],
    ["reformat", { as: "reformat" }, (text) => JSON.stringify(JSON.parse(text))],
    ["invalid_json", { as: "invalid_json" }, (text) => `${text.slice(0, -1)},,}`],
    ["truncate", { as: "truncate" }, (text) => text.slice(0, Math.ceil(text.length / 2))],
  ])("as %s changes the body, and sends it with the right Content-Length", async (_, action, change) => {
    const { arrival, meant, text } = await delivered(action, { amount: 5 });
    expect(arrival.body.toString()).toBe(change(text));
    expect(arrival.headers["x-webhook-event"]).toBe(arrival.event?.type ?? meant.type);
    expect(arrival.headers["x-webhook-id"]).toBe(meant.id);
  });

  test("affects only one attempt, so the retry sends the original event", async () => {
    const { bench, receiver, secret } = await openArmed({ type: "payload", as: "invalid_json" });
    receiver.script(400);
    await trigger(bench);
    await advance(bench, "1s");
    expect(receiver.arrivals.map(({ event }) => event?.type)).toEqual([undefined, "payment.succeeded"]);
    expect(receiver.arrivals.every((arrival) => isSigned(arrival, secret))).toBe(true);
  });
});

describe("transport", () => {
  /** A receiver that records each chunk, responds to complete requests, and records how each connection ended. */
  async function listening() {
    const pieces: string[] = [];
    const ended: string[] = [];
    const server = createServer((socket) => {
      let received = "";
      socket.setEncoding("latin1");
      socket.on("data", (piece: string) => {
        pieces.push(piece);
        received += piece;
        const cut = received.indexOf("\r\n\r\n") + 4;
        const length = Number(/content-length: (\d+)/i.exec(received)?.[1]);
        if (cut > 3 && received.length - cut >= length) socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        if (cut > 3 && received.length - cut >= length) received = "";
      });
      socket.on("error", () => {});
      socket.on("close", () => ended.push(received === "" ? "answered" : received));
    });
    return { url: `http://127.0.0.1:${await listen(server)}/hooks`, pieces, ended };
  }

  test("as slow_send sends the complete body in chunks before the timeout", async () => {
    // slow_send takes half of the timeout; the other half allows for a busy machine.
    const bench = await open({ webhookTimeout: "2s" });
    const { url, pieces } = await listening();
    const { secret } = await register(bench, url);
    await arm(bench, { type: "transport" });
    await deliver(bench);
    expect(pieces.length).toBeGreaterThan(4);
    const body = pieces.join("").split("\r\n\r\n")[1] ?? "";
    const [{ status, requestHeaders, requestBody }] = await attempts(bench);
    expect({ status, requestBody }).toEqual({ status: "succeeded", requestBody: body });
    expect(verifySignature({ body, signature: requestHeaders["X-Webhook-Signature"], secret })).toBe(true);
  });

  test("as wrong_content_type sends JSON with another content type", async () => {
    const { bench, receiver, secret } = await openArmed({ type: "transport", as: "wrong_content_type" });
    await deliver(bench);
    expect(receiver.arrivals[0]?.headers["content-type"]).toBe("text/plain");
    expect(receiver.arrivals.map((arrival) => isSigned(arrival, secret))).toEqual([true]);
    const [{ fault }] = await attempts(bench);
    expect(fault.wouldHaveSent.headers["Content-Type"]).toBe("application/json");
  });

  test("as abort_mid_body closes the connection after half of the body, and the delivery is retried", async () => {
    const bench = await open();
    const { url, ended } = await listening();
    await register(bench, url);
    await arm(bench, { type: "transport", as: "abort_mid_body" });
    await deliver(bench);
    await advance(bench, "1s");
    const logged = await attempts(bench);
    const { body } = logged[0].fault.wouldHaveSent;
    expect(ended[0]?.split("\r\n\r\n")[1]).toBe(body.slice(0, Math.ceil(body.length / 2)));
    expect(logged).toMatchObject([
      { status: "failed", errorCode: "reset", responseStatus: null, nextAttemptAt: NOON_SECONDS + 1 },
      { status: "succeeded", fault: null },
    ]);
    expect(logged[0].errorMessage).toBe("A fault rule cut the connection in the middle of the body.");
  });
});

describe("matching", () => {
  test("uses the merchant, event type, endpoint, attempt and event content", async () => {
    const { bench, receiver, secret } = await openRegistered();
    const other = await receive();
    const { id: endpoint, secret: otherSecret } = await register(bench, other.url);
    const match = {
      merchant: "mer_lodge",
      event: ["payment.*"],
      endpoint,
      attempt: { gte: 2, lte: 2 },
      body: { "/data/amount": { gte: 10 } },
    };
    const rule = await arm(bench, { type: "signature" }, { match, trigger: { times: null } });
    receiver.always((arrival, outgoing) => outgoing.writeHead(arrival.headers["x-seen"] ? 200 : 500).end());
    other.always(500);
    await trigger(bench, "payment.succeeded", { amount: 10 });
    await trigger(bench, "payment.succeeded", { amount: 9 });
    await trigger(bench, "payout.paid", { amount: 10 });
    await advance(bench, "6s");
    const wrong = [...receiver.arrivals, ...other.arrivals].filter(
      (arrival) => !isSigned(arrival, secret) && !isSigned(arrival, otherSecret),
    );
    expect(wrong).toHaveLength(1);
    expect(wrong[0]?.event).toMatchObject({ type: "payment.succeeded", data: { amount: 10 } });
    expect((await attempts(bench)).filter(({ fault }) => fault !== null)).toMatchObject([
      { endpointId: endpoint, attempt: 2, trigger: "retry", fault: { id: rule } },
    ]);
  });

  test("with the trigger per event lets a rule fire once for each event", async () => {
    const { bench, receiver, secret } = await openArmed({ type: "signature" }, { trigger: { per: "event" } });
    receiver.script(500);
    for (let count = 0; count < 2; count++) await trigger(bench);
    await advance(bench, "1s");
    expect(receiver.arrivals.map((arrival) => isSigned(arrival, secret))).toEqual([false, false, true]);
  });

  test("counts deliveries in the order of their due times, whichever endpoint is served first", async () => {
    const { bench } = await openRegistered();
    for (let count = 0; count < 3; count++) await register(bench, (await receive()).url);
    await arm(bench, { type: "drop" }, { trigger: { every: 3 } });
    for (let count = 0; count < 6; count++) await trigger(bench);
    await settle(bench);
    const dropped = (await attempts(bench)).filter(({ errorCode }) => errorCode === "dropped");
    expect(dropped).toHaveLength(8);
    const endpoints = (await bench.call("GET", "/v1/webhooks")).body.data.map(({ id }: { id: string }) => id).sort();
    const events = [...new Set((await log(bench)).map(({ eventId }) => eventId))];
    const owed = events.flatMap((eventId) => endpoints.map((endpointId: string) => `${eventId} ${endpointId}`));
    const hit = dropped.map(({ eventId, endpointId }) => owed.indexOf(`${eventId} ${endpointId}`) + 1);
    expect(hit.sort((one, other) => one - other)).toEqual([3, 6, 9, 12, 15, 18, 21, 24]);
  });
});

describe("a held delivery", () => {
  test("survives a crash, but its rule does not", async () => {
    const at = folder();
    const { bench: before, receiver, secret } = await openRegistered({ memory: false, db: join(at, "sandbox.db") });
    await arm(before, { type: "delay", by: "1h" });
    await arm(before, { type: "reorder", batch: 9, hold: "2h" }, { trigger: { times: 2 } });
    await arm(before, { type: "signature" });
    const [late, first, second] = [await trigger(before), await trigger(before), await trigger(before)];
    await settle(before);
    const db = databaseLeftBehind(at);
    await before.close();
    const after = await open({ memory: false, db, trust: true });
    expect((await after.control("GET", "/faults")).data).toEqual([]);
    await advance(after, "1h");
    expect(ids(receiver)).toEqual([late]);
    await advance(after, "1h");
    expect(ids(receiver)).toEqual([late, second, first]);
    expect(receiver.arrivals.map((arrival) => isSigned(arrival, secret))).toEqual([false, true, true]);
    expect(
      (await attempts(after)).map(({ fault }) => fault.effects.map(({ action }: { action: string }) => action)),
    ).toEqual([["delay", "signature"], ["reorder"], ["reorder"]]);
  });

  test("is not delivered to a deleted endpoint", async () => {
    const { bench, receiver, id: endpointId } = await openArmed({ type: "reorder", hold: "1m" });
    await deliver(bench);
    await bench.call("DELETE", `/v1/webhooks/${endpointId}`);
    await advance(bench, "1h");
    expect(receiver.arrivals).toEqual([]);
    expect(await bench.control("POST", "/drain", {})).toEqual({ settled: true, pending: 0, inFlight: 0 });
  });
});
