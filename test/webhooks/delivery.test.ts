// Webhook deliveries: the request, the receiver's possible responses, retries, disabling, replays and crashes.

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { createServer as createTlsServer } from "node:https";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { httpDate } from "../../src/kernel/clock.ts";
import { verifySignature } from "../../src/webhooks/signature.ts";
import { selfSigned } from "../support/certificate.ts";
import { databaseLeftBehind, folder } from "../support/program.ts";
import { attempted, listen, NOON, NOON_SECONDS, open } from "../support/sandbox.ts";
import {
  advance,
  deliver,
  log,
  openRegistered,
  receive,
  register,
  type Step,
  settle,
  trigger,
} from "../support/webhooks.ts";

describe("a delivery", () => {
  test("is a POST of the event with the documented headers, the usual HTTP headers, and no others", async () => {
    const bench = await open();
    const receiver = await receive();
    const { secret } = await register(bench, `${receiver.url}?team=a%20b`);
    const id = await deliver(bench, "payment.succeeded", { note: "Grüße, 世界 🌍 \ud800" });
    const [arrival] = receiver.arrivals;
    const names = arrival?.rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    expect(names?.sort()).toEqual(
      [
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "host",
        "user-agent",
        "x-webhook-event",
        "x-webhook-id",
        "x-webhook-signature",
      ].sort(),
    );
    expect(arrival?.headers).toMatchObject({
      "content-type": "application/json",
      "x-webhook-id": id,
      "x-webhook-event": "payment.succeeded",
      "accept-encoding": "identity",
      "user-agent": expect.stringMatching(/^merchant-sandbox\/\d/),
      "content-length": String(arrival?.body.length),
    });
    expect(arrival?.url).toBe("/hooks?team=a%20b");
    expect(Object.keys(arrival?.event)).toEqual(["id", "object", "type", "created", "livemode", "merchantId", "data"]);
    expect(
      verifySignature({ body: arrival?.body ?? "", signature: arrival?.headers["x-webhook-signature"], secret }),
    ).toBe(true);
  });

  test("keeps its connection alive for the next delivery, and sends the same bytes on every retry", async () => {
    const { bench, receiver } = await openRegistered();
    receiver.script(500, 502, 503, 429, 400, 404);
    await trigger(bench);
    await advance(bench, "5m");
    const bodies = receiver.arrivals.map(({ body }) => body.toString());
    expect(bodies).toHaveLength(6);
    expect(new Set(bodies).size).toBe(1);
    expect(new Set(receiver.arrivals.map(({ headers }) => headers["x-webhook-id"])).size).toBe(1);
    expect(receiver.connections()).toBe(1);
  });

  test("reaches names under .localhost without DNS, and ::1 if 127.0.0.1 refuses the connection", async () => {
    const bench = await open();
    const [four, six] = [await receive("127.0.0.1"), await receive("::1")];
    await register(bench, `http://shop.localhost:${four.port}/hooks`);
    await register(bench, `http://localhost:${six.port}/hooks`);
    await register(bench, `http://[::ffff:127.0.0.1]:${four.port}/mapped`);
    await register(bench, `http://[::1]:${six.port}/six`);
    await deliver(bench);
    expect(four.arrivals.map(({ headers }) => headers.host).sort()).toEqual([
      `[::ffff:7f00:1]:${four.port}`,
      `shop.localhost:${four.port}`,
    ]);
    expect(six.arrivals.map(({ headers }) => headers.host).sort()).toEqual([
      `[::1]:${six.port}`,
      `localhost:${six.port}`,
    ]);
    expect((await log(bench)).map(({ status }) => status)).toEqual([
      "succeeded",
      "succeeded",
      "succeeded",
      "succeeded",
    ]);
  });

  test("over TLS requires a trusted certificate by default", async () => {
    const server = createTlsServer(selfSigned(), (_, outgoing) => outgoing.end("taken"));
    const url = `https://localhost:${await listen(server)}/`;
    for (const webhookInsecureTls of [false, true]) {
      const bench = await open({ webhookInsecureTls });
      await register(bench, url);
      await deliver(bench);
      const outcome = webhookInsecureTls
        ? { status: "succeeded", responseBody: "taken", errorCode: null }
        : { status: "failed", responseStatus: null, errorCode: "tls" };
      expect(await log(bench)).toMatchObject([outcome]);
      await bench.close();
    }
  });
});

describe("an attempt", () => {
  const half: Step = (_, outgoing) => outgoing.writeHead(200, { "content-length": 10 }).write("half");
  test.each<[string, Step, { responseStatus: number | null; responseBody: string | null }]>([
    ["no response", "hang", { responseStatus: null, responseBody: null }],
    ["half a response", half, { responseStatus: 200, responseBody: "half" }],
  ])("that gets %s fails at the timeout", async (_, step, expected) => {
    const { bench, receiver } = await openRegistered({ webhookTimeout: "15s" });
    receiver.script(step);
    const halfRead = new Promise<void>((resolve) => {
      const onChunk = () => resolve();
      subscribe("undici:request:bodyChunkReceived", onChunk);
      onTestFinished(() => void unsubscribe("undici:request:bodyChunkReceived", onChunk));
    });
    // The timers of the sandbox wait for advanceTimersByTime(), so no real time passes.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    await trigger(bench);
    await receiver.arrived(1);
    if (expected.responseStatus !== null) await halfRead;
    await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(14_999);
    expect(await log(bench)).toEqual([]);
    vi.advanceTimersByTime(1);
    vi.useRealTimers();
    await settle(bench);
    const failure = { status: "failed", errorCode: "timeout", errorMessage: "No complete response within 15000 ms." };
    expect(await log(bench)).toMatchObject([{ attempt: 1, ...failure, ...expected }]);
  });

  test("at a port on which nothing listens fails with connection_refused", async () => {
    const bench = await open();
    const receiver = await receive();
    await receiver.close();
    await register(bench, `http://localhost:${receiver.port}/`);
    await deliver(bench);
    expect(await log(bench)).toMatchObject([
      {
        responseStatus: null,
        errorCode: "connection_refused",
        errorMessage: `Nothing listens at localhost:${receiver.port} (ECONNREFUSED).`,
      },
    ]);
  });

  test("at a host name that cannot be resolved fails with dns", async () => {
    const bench = await open({ allowWebhookHost: ["receiver.invalid"] });
    await register(bench, "http://receiver.invalid:3000/");
    await deliver(bench);
    expect(await log(bench)).toMatchObject([{ responseStatus: null, errorCode: "dns" }]);
  });

  test("reads a bounded part of an endless response, and stores its first 4 KiB", async () => {
    const { bench, receiver } = await openRegistered();
    attempted("Slow, endless or hostile receivers");
    let written = 0;
    let cutOff = () => {};
    const cut = new Promise<void>((resolve) => {
      cutOff = resolve;
    });
    receiver.script((_, outgoing) => {
      outgoing.writeHead(200);
      const pour = () => {
        written += 16_384;
        if (!outgoing.destroyed) outgoing.write("é".repeat(8_192), pour);
      };
      outgoing.on("close", cutOff);
      pour();
    });
    await deliver(bench);
    await cut;
    expect(await log(bench)).toMatchObject([
      { status: "succeeded", responseBody: "é".repeat(2_048), responseTruncated: true },
    ]);
    expect(written).toBeLessThan(64 * 1_048_576);
  });

  test("stores a response of 4 KiB whole, truncates a longer one between characters, and masks keys", async () => {
    const { bench, receiver } = await openRegistered();
    const body = async (answer: string) => {
      receiver.script({ status: 200, body: answer });
      await deliver(bench);
      const { responseBody, responseTruncated } = (await log(bench)).at(-1) ?? {};
      return [responseBody, responseTruncated];
    };
    expect(await body("x".repeat(4_096))).toEqual(["x".repeat(4_096), false]);
    expect(await body(`${"x".repeat(4_095)}é`)).toEqual(["x".repeat(4_095), true]);
    const [masked] = await body("you sent sk_live_abcdef123456");
    expect(masked).toMatch(/^you sent sk_live_\W/);
    expect(masked).not.toContain("abcdef");
  });
});

describe("the schedule", () => {
  const times = async (bench: Parameters<typeof log>[0]) =>
    (await log(bench)).map(({ created }) => created - NOON_SECONDS);

  test("realistic makes eight attempts in about 28 hours, with up to 10 % of jitter for each delivery", async () => {
    const bench = await open({ retrySchedule: "realistic", life: "off" });
    const receiver = await receive();
    receiver.always(500);
    await register(bench, receiver.url, ["a.b"]);
    await register(bench, receiver.url, ["c.d"]);
    await trigger(bench, "a.b");
    await trigger(bench, "c.d");
    await advance(bench, "48h");
    expect((await bench.control("GET", "/events")).data[0].deliveries).toMatchObject({ failed: 1, pending: 0 });
    const gaps = [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000];
    const seen = [];
    for (const type of ["a.b", "c.d"]) {
      const at = (await log(bench, `&type=${type}`)).map(({ created }) => created);
      const real = at.slice(1).map((time, index) => time - (at[index] ?? 0));
      for (const [index, gap] of gaps.entries()) {
        expect(real[index]).toBeGreaterThanOrEqual(Math.floor(gap * 0.9) - 1);
        expect(real[index]).toBeLessThanOrEqual(Math.ceil(gap * 1.1) + 1);
      }
      expect(real).toHaveLength(gaps.length);
      seen.push(real.join());
    }
    expect(seen[0]).not.toBe(seen[1]);
  });

  test.each([
    ["longer than the gap, in seconds", 429, "40", 40],
    ["shorter than the gap, in seconds", 503, "0", 1],
    ["a date", 503, httpDate((NOON_SECONDS + 90) * 1_000), 90],
    ["a past date", 429, httpDate((NOON_SECONDS - 90) * 1_000), 1],
    ["more than an hour", 429, "86400", 3_600],
    ["nonsense", 429, "soon", 1],
    ["ignored, because the status is 500", 500, "40", 1],
  ])("sets the time of the retry if Retry-After is %s", async (_, status, header, expected) => {
    const { bench, receiver } = await openRegistered();
    receiver.script({ status, headers: { "retry-after": header } });
    await trigger(bench);
    await advance(bench, "3h");
    expect(await times(bench)).toEqual([0, expected]);
    expect((await log(bench))[0]).toMatchObject({ nextAttemptAt: NOON_SECONDS + expected });
  });
});

describe("a replay", () => {
  test("sends the same bytes, and returns the ids of its deliveries", async () => {
    const { bench, receiver } = await openRegistered();
    const eventId = await deliver(bench);
    const [attempt] = await log(bench);
    const ofAttempt = await bench.control("POST", `/deliveries/${attempt?.id}/replay`, {});
    const ofEvent = await bench.control("POST", `/events/${eventId}/replay`, {});
    await settle(bench);
    expect(receiver.arrivals.map(({ body }) => body)).toEqual(Array(3).fill(receiver.arrivals[0]?.body));
    const replays = (await log(bench)).filter(({ trigger }) => trigger === "replay").map(({ id }) => id);
    expect(replays.sort()).toEqual([...ofAttempt.deliveries, ...ofEvent.deliveries].sort());
  });

  test("is rejected if the endpoint was deleted, or if the delivery or event does not exist", async () => {
    const { bench, id } = await openRegistered();
    await deliver(bench);
    const [attempt] = await log(bench);
    await bench.call("DELETE", `/v1/webhooks/${id}`);
    const refused = async (path: string) => {
      const { status, body } = await bench.call("POST", `/_sandbox${path}`, { body: {}, key: null });
      return [status, body.code];
    };
    expect(await refused(`/deliveries/${attempt?.id}/replay`)).toEqual([409, "invalid_state"]);
    expect(await refused("/deliveries/whd_none/replay")).toEqual([404, "resource_not_found"]);
    expect(await refused("/events/evt_none/replay")).toEqual([404, "resource_not_found"]);
    expect(await refused(`/endpoints/${id}/enable`)).toEqual([404, "resource_not_found"]);
  });
});

describe("draining", () => {
  test("waits for due and in-flight deliveries, up to its timeout", async () => {
    const { bench, receiver } = await openRegistered();
    expect(await bench.control("POST", "/drain", { within: "1s" })).toEqual({ settled: true, pending: 0, inFlight: 0 });
    let release = () => {};
    receiver.script((_, outgoing) => {
      release = () => outgoing.writeHead(500).end();
    });
    await trigger(bench);
    await receiver.arrived(1);
    expect(await bench.control("POST", "/drain", { within: "20ms" })).toEqual({
      settled: false,
      pending: 0,
      inFlight: 1,
    });
    const drained = bench.control("POST", "/drain", {});
    release();
    expect(await drained).toEqual({ settled: true, pending: 1, inFlight: 0 });
    expect(await log(bench)).toHaveLength(1);
  });

  test("does not wait for a retry that a change of the clock during an advance has put into the future", async () => {
    const { bench, receiver } = await openRegistered();
    receiver.script(500);
    await trigger(bench);
    await settle(bench);
    let release = () => {};
    receiver.script((_, outgoing) => {
      release = () => outgoing.writeHead(500).end();
    }, 500);
    const advanced = bench.call("POST", "/_sandbox/clock/advance", { key: null, body: { by: "1h" } });
    await receiver.arrived(2);
    await bench.control("PUT", "/clock", { mode: "frozen", now: NOON });
    // This event's retry is due one second later: when the advance was at its first retry.
    await trigger(bench);
    await receiver.arrived(3);
    release();
    await advanced;
    expect(await bench.control("POST", "/drain", {})).toEqual({ settled: true, pending: 2, inFlight: 0 });
    await bench.control("POST", "/clock/advance", { by: "1s" });
    expect(receiver.arrivals.length).toBeGreaterThan(3);
  });
});

describe("a slow or dead endpoint", () => {
  test("delays no other endpoint, on a running clock and on a frozen one", async () => {
    for (const clock of ["real", "2026-01-05T12:00:00Z"]) {
      const bench = await open({ clock });
      const [slow, quick] = [await receive(), await receive()];
      slow.always("hang");
      for (let index = 0; index < 99; index++) await register(bench, `${slow.url}/${index}`, ["a.b"]);
      await register(bench, quick.url, ["a.b"]);
      for (let index = 1; index <= 5; index++) {
        await trigger(bench, "a.b");
        await quick.arrived(index);
      }
      await slow.arrived(99);
      await slow.close();
      await bench.close();
    }
  });

  test("gets one delivery at a time until it responds, and then up to 64 at a time on a running clock", async () => {
    const { bench, receiver } = await openRegistered({ clock: "real" });
    let most = 0;
    const held: (() => void)[] = [];
    receiver.always((_, outgoing) => {
      held.push(() => outgoing.end());
      most = Math.max(most, held.length);
    });
    for (let index = 0; index < 80; index++) await trigger(bench);
    await receiver.arrived(1);
    expect([most, receiver.connections()]).toEqual([1, 1]);
    held.splice(0).forEach((answer) => {
      answer();
    });
    await receiver.arrived(65);
    expect(most).toBe(64);
    receiver.always(undefined);
    for (const answer of held) answer();
    await settle(bench);
    expect(receiver.arrivals).toHaveLength(80);
  });
});

describe("on a frozen clock", () => {
  test("an endpoint gets one attempt at a time, in the order of the events", async () => {
    const { bench, receiver } = await openRegistered();
    let answering = 0;
    let most = 0;
    receiver.always((_, outgoing) => {
      most = Math.max(most, ++answering);
      setTimeout(() => outgoing.end(() => void answering--), 1);
    });
    const events: string[] = [];
    for (let index = 0; index < 20; index++) events.push(await trigger(bench));
    await settle(bench);
    expect(most).toBe(1);
    expect(receiver.arrivals.map(({ headers }) => headers["x-webhook-id"])).toEqual(events);
  });
});

describe("after a crash", () => {
  test("an interrupted attempt is logged as aborted, is repeated, and uses up no allowed attempt", async () => {
    const at = folder();
    const {
      bench: before,
      receiver,
      id: endpointId,
      secret,
    } = await openRegistered({ memory: false, db: join(at, "sandbox.db"), retrySchedule: "2s" });
    receiver.always("hang");
    const eventId = await trigger(before);
    await receiver.arrived(1);
    const after = await open({ memory: false, db: databaseLeftBehind(at), trust: true, retrySchedule: "2s" });
    receiver.always(500);
    await settle(after);
    await advance(after, "1h");
    expect(await log(after)).toMatchObject([
      {
        eventId,
        endpointId,
        attempt: 1,
        maxAttempts: 2,
        trigger: "test",
        status: "aborted",
        responseStatus: null,
        nextAttemptAt: NOON_SECONDS,
      },
      { eventId, attempt: 2, maxAttempts: 3, trigger: "retry", status: "failed", nextAttemptAt: NOON_SECONDS + 2 },
      { eventId, attempt: 3, maxAttempts: 3, trigger: "retry", status: "failed", nextAttemptAt: null },
    ]);
    const [first, ...others] = receiver.arrivals;
    for (const { body, headers } of others) {
      expect(body).toEqual(first?.body);
      expect(verifySignature({ body, signature: headers["x-webhook-signature"], secret })).toBe(true);
    }
  });

  test("an interrupted attempt is logged, but not repeated if the endpoint has sent 410 meanwhile", async () => {
    const at = folder();
    const { bench: before, receiver } = await openRegistered({
      memory: false,
      db: join(at, "sandbox.db"),
      clock: "real",
    });
    // On a running clock, an endpoint that responds gets several deliveries at a time.
    receiver.script(200, "hang", 410);
    await Promise.all([trigger(before), trigger(before), trigger(before)]);
    await receiver.arrived(3);
    await expect.poll(async () => (await log(before)).length).toBe(2);
    const after = await open({ memory: false, db: databaseLeftBehind(at), trust: true });
    await advance(after, "1h");
    const sent = receiver.arrivals[1];
    // On a running clock, the order of the log depends on real times, so the attempts are found by status.
    const logged = await log(after);
    const [gone, cutOff] = ["failed", "aborted"].map((status) => logged.find((attempt) => attempt.status === status));
    expect(gone).toMatchObject({ status: "failed", responseStatus: 410, nextAttemptAt: null });
    expect(cutOff).toMatchObject({
      attempt: 1,
      status: "aborted",
      nextAttemptAt: null,
      requestBody: sent?.body.toString(),
    });
    expect(cutOff?.requestHeaders).toMatchObject({ "X-Webhook-Signature": sent?.headers["x-webhook-signature"] });
    expect(receiver.arrivals).toHaveLength(3);
  });

  test("a sandbox that now listens on the receiver's port delivers nothing to itself", async () => {
    const at = folder();
    const { bench: before, receiver } = await openRegistered({ memory: false, db: join(at, "sandbox.db") });
    receiver.script(500);
    await deliver(before);
    const file = databaseLeftBehind(at);
    await receiver.close();
    const after = await open({ memory: false, db: file, port: receiver.port, trust: true });
    await advance(after, "1s");
    expect((await log(after)).at(-1)).toMatchObject({
      attempt: 2,
      status: "failed",
      responseStatus: null,
      errorCode: "target_not_allowed",
    });
  });
});

describe("a reset", () => {
  test("drops deliveries that are in flight or pending", async () => {
    const { bench, receiver } = await openRegistered();
    receiver.script("hang", 500);
    await trigger(bench);
    await receiver.arrived(1);
    await bench.control("POST", "/reset", {});
    expect(await bench.control("POST", "/drain", { within: "1ms" })).toEqual({
      settled: true,
      pending: 0,
      inFlight: 0,
    });
    await advance(bench, "1h");
    expect(await log(bench)).toEqual([]);
    expect(receiver.arrivals).toHaveLength(1);
    await register(bench, receiver.url);
    await trigger(bench);
    await advance(bench, "1s");
    expect(receiver.arrivals).toHaveLength(3);
    expect(await log(bench)).toMatchObject([{ status: "failed" }, { status: "succeeded" }]);
  });
});
