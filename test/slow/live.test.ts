// The live stream: which messages a client gets, in which order, and that a slow client delays nothing.

import { once } from "node:events";
import { createServer } from "node:http";
import { connect } from "node:net";
import { json } from "node:stream/consumers";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import type { LiveEvent, LiveItem, LiveMessage } from "../../src/contracts/live-messages.ts";
import { createHub } from "../../src/live/hub.ts";
import { hubOptions } from "../support/hub.ts";
import {
  attempted,
  type Bench,
  HANDSHAKE,
  lines,
  listen,
  NOON_SECONDS,
  open,
  raw,
  readRaw,
} from "../support/sandbox.ts";
import { advance, openRegistered, trigger } from "../support/webhooks.ts";

interface LiveClient {
  socket: WebSocket;
  messages: LiveMessage[];
  /** All items received so far. */
  items(): LiveItem[];
  /** Resolves with the first message that matches, whether it has been received or is yet to come. */
  message(fits: (message: LiveMessage) => boolean): Promise<LiveMessage>;
  /** Resolves when the item with this number has been received. */
  seen(seq: number): Promise<unknown>;
}

const opened: WebSocket[] = [];

afterEach(() => {
  for (const socket of opened.splice(0)) socket.terminate();
});

const liveUrl = (bench: Bench, query = "") => `ws://127.0.0.1:${bench.port}/_sandbox/live${query}`;

async function watch(url: string, options = {}): Promise<LiveClient> {
  const socket = new WebSocket(url, options);
  opened.push(socket);
  const messages: LiveMessage[] = [];
  let waiting: { fits: (message: LiveMessage) => boolean; resolve: (message: LiveMessage) => void }[] = [];
  socket.on("message", (text) => {
    const message = JSON.parse(String(text)) as LiveMessage;
    messages.push(message);
    for (const { resolve } of waiting.filter(({ fits }) => fits(message))) resolve(message);
    waiting = waiting.filter(({ fits }) => !fits(message));
  });
  await once(socket, "open");
  const message: LiveClient["message"] = (fits) =>
    new Promise((resolve) => {
      const found = messages.find(fits);
      if (found) resolve(found);
      else waiting.push({ fits, resolve });
    });
  const watcher: LiveClient = {
    socket,
    messages,
    items: () => messages.flatMap((one) => (one.type === "batch" ? one.items : [])),
    message,
    seen: (seq) => message((one) => one.type === "batch" && one.items.some((item) => item.seq === seq)),
  };
  await message(({ type }) => type === "snapshot");
  return watcher;
}

/** The status of the response that refuses an upgrade. */
function refusal(url: string, options = {}): Promise<number | undefined> {
  const socket = new WebSocket(url, options);
  return new Promise((resolve, reject) => {
    socket.on("unexpected-response", (_, answer) => resolve(answer.statusCode));
    socket.on("open", () => reject(new Error("the upgrade was accepted")));
    socket.on("error", () => {});
  });
}

const call = (bench: Bench) => bench.call("GET", "/v1/payments?limit=1");

describe("a client of the live stream", () => {
  test("gets a snapshot, then every event in order and without a gap", async () => {
    const { bench, receiver } = await openRegistered();
    const watcher = await watch(liveUrl(bench));
    expect(watcher.messages[0]).toMatchObject({
      type: "snapshot",
      seq: 1,
      sandbox: { name: "merchant-sandbox", baseUrl: bench.baseUrl, clock: { mode: "frozen", unix: NOON_SECONDS } },
    });
    expect((watcher.messages[0] as { sandbox: object }).sandbox).toEqual(await bench.control("GET", ""));

    receiver.script(500);
    const event = await trigger(bench);
    await advance(bench, "1s");
    await bench.control("PUT", "/clock", { mode: "frozen", now: "2026-02-01T00:00:00Z" });
    await bench.control("POST", "/reset", { merchant: "mer_market" });
    await bench.control("POST", "/reset", {});
    const isLast = (item: LiveItem) => item.kind === "clock" && item.clock.now === "2026-01-05T12:00:00.000Z";
    await watcher.message((one) => one.type === "batch" && one.items.some(isLast));
    const all = watcher.items();
    expect(all.map(({ seq }) => seq)).toEqual(upTo(all.length + 1, 2));
    const items = all.filter(({ kind }) => kind !== "verdict");
    expect(items.map(({ kind }) => kind)).toEqual([
      "request",
      "attempt",
      "attempt",
      "clock",
      "clock",
      "reset",
      "reset",
      "clock",
    ]);
    expect(items[0]).toMatchObject({
      request: {
        id: "req_lodge_2",
        method: "POST",
        path: "/v1/webhook-events/test",
        operation: "events.test",
        status: 200,
        merchant: "mer_lodge",
      },
    });
    expect(items[1]).toMatchObject({
      attempt: { eventId: event, attempt: 1, status: "failed", nextAttemptAt: NOON_SECONDS + 1 },
    });
    expect(items[2]).toMatchObject({
      attempt: { eventId: event, attempt: 2, status: "succeeded", nextAttemptAt: null },
    });
    expect(items.slice(3)).toMatchObject([
      { clock: { mode: "frozen", now: "2026-01-05T12:00:01.000Z", unix: NOON_SECONDS + 1 } },
      { clock: { mode: "frozen", now: "2026-02-01T00:00:00.000Z" } },
      { merchant: "mer_market" },
      { merchant: null },
      { clock: { mode: "frozen", unix: NOON_SECONDS } },
    ]);
  });

  test("that reconnects gets exactly the events that it missed", async () => {
    const bench = await open();
    const first = await watch(liveUrl(bench));
    for (let count = 0; count < 5; count++) await call(bench);
    await first.seen(5);
    first.socket.terminate();
    for (let count = 0; count < 5; count++) await call(bench);

    const second = await watch(liveUrl(bench, "?since=5"));
    await second.seen(10);
    expect(second.messages[0]).toMatchObject({ type: "snapshot", seq: 10 });
    expect(numbers(second)).toEqual([6, 7, 8, 9, 10]);
    await call(bench);
    await second.seen(11);
    expect(numbers(second)).toEqual([6, 7, 8, 9, 10, 11]);
  });

  test("with an unknown, empty or invalid position gets only new events", async () => {
    const bench = await open();
    await call(bench);
    const watchers = await Promise.all(
      ["?since=99", "", "?since=", "?since=soon"].map((query) => watch(liveUrl(bench, query))),
    );
    await call(bench);
    for (const watcher of watchers) {
      await watcher.seen(2);
      expect(numbers(watcher)).toEqual([2]);
    }
  });

  test("may send anything, which is ignored; only a message that is too long closes the connection", async () => {
    const bench = await open();
    const [loud, quiet] = [await watch(liveUrl(bench)), await watch(liveUrl(bench))];
    loud.socket.send("hello");
    loud.socket.send(Buffer.alloc(70_000));
    const [code] = await once(loud.socket, "close");
    expect(code).toBe(1009);
    await call(bench);
    await quiet.seen(1);
    expect(quiet.socket.readyState).toBe(WebSocket.OPEN);
  });

  test("is disconnected when the sandbox closes", async () => {
    const bench = await open();
    const watchers = [await watch(liveUrl(bench)), await watch(liveUrl(bench))];
    const ended = watchers.map(({ socket }) => once(socket, "close"));
    await bench.close();
    await Promise.all(ended);
    await expect(watch(liveUrl(bench))).rejects.toThrow();
  });
});

/** Fails the test if a listener of a hub throws. */
function fail(error: unknown): never {
  throw error;
}

/** A hub with a separate server. A test can publish as many events at once as a sandbox publishes in minutes. */
async function openHub() {
  const hub = createHub(hubOptions({ report: fail }));
  const server = createServer().on("upgrade", hub.acceptUpgrade);
  onTestFinished(() => hub.close());
  return { hub, url: `ws://127.0.0.1:${await listen(server)}/` };
}

const upTo = (last: number, first = 1) => Array.from({ length: last - first + 1 }, (_, index) => first + index);
const numbers = (watcher: LiveClient) => watcher.items().map(({ seq }) => seq);
const reset: LiveEvent = { kind: "reset", merchant: null };
const long: LiveEvent = { kind: "reset", merchant: "m".repeat(2_000) };

describe("more events than the hub keeps", () => {
  test("are replaced by a gap message, after which the numbers continue", async () => {
    const { hub, url } = await openHub();
    for (let said = 0; said < 12_000; said++) hub.publish(reset);
    const watcher = await watch(`${url}?since=1`);
    await watcher.seen(12_000);
    const [snapshot, gap] = watcher.messages;
    expect(snapshot).toMatchObject({ type: "snapshot", seq: 12_000 });
    expect(gap).toMatchObject({ type: "gap", from: 2 });
    const { to } = gap as { to: number };
    expect(numbers(watcher)).toEqual(upTo(12_000, to + 1));
    expect(numbers(watcher).length).toBeGreaterThanOrEqual(5_000);
    hub.publish(reset);
    await watcher.seen(12_001);
  });

  test("are missed only by a client that stops reading, which later gets a gap message", async () => {
    const { hub, url } = await openHub();
    const [sleeper, awake] = [await watch(url), await watch(url)];
    sleeper.socket.pause();
    let said = 0;
    // The hub does not notice that a client has stopped reading until the buffers of the socket are full.
    for (let round = 0; round < 16; round++) {
      for (let count = 0; count < 1_000; count++, said++) hub.publish(long);
      await awake.seen(said);
    }
    expect(numbers(awake)).toEqual(upTo(said));
    expect(awake.messages.map(({ type }) => type)).not.toContain("gap");
    sleeper.socket.resume();
    const { from, to } = (await sleeper.message(({ type }) => type === "gap")) as { from: number; to: number };
    await sleeper.seen(said);
    expect(numbers(sleeper)).toEqual([...upTo(from - 1), ...upTo(said, to + 1)]);
  });
});

describe("clients that do not read", () => {
  /** The memory of this process. It includes the unread bytes in the sockets of the hub and of the clients. */
  const unread = () => process.memoryUsage().external + process.memoryUsage().heapUsed;

  test("occupy bounded memory in total; the slowest are disconnected, and other clients miss nothing", async () => {
    const { hub, url } = await openHub();
    attempted("Live-stream clients that do not read", 80);
    const sleepers = Array.from({ length: 80 }, () => new WebSocket(url));
    opened.push(...sleepers);
    await Promise.all(sleepers.map((socket) => once(socket, "open")));
    for (const socket of sleepers) socket.pause();
    const awake = await watch(url);
    const before = unread();
    let said = 0;
    for (let round = 0; round < 4; round++) {
      for (let count = 0; count < 4_000; count++, said++) hub.publish(long);
      await awake.seen(said);
      expect(unread() - before).toBeLessThan(250 * 1_048_576);
    }
    expect(numbers(awake)).toEqual(upTo(said));
    const slowest = Promise.race(sleepers.map((socket) => once(socket, "close")));
    for (const socket of sleepers) socket.resume();
    const [code, reason] = await slowest;
    expect(`${code} ${reason}`).toBe("1013 Too many unread messages; reconnect with ?since= to go on.");
  });

  test("are limited, like all clients, to a hundred; the next client is rejected with a message", async () => {
    const bench = await open();
    await Promise.all(Array.from({ length: 100 }, () => watch(liveUrl(bench))));
    const socket = new WebSocket(liveUrl(bench));
    attempted("Live-stream clients that do not read");
    const [, answer] = await once(socket, "unexpected-response");
    expect([answer.statusCode, await json(answer)]).toMatchObject([
      503,
      {
        code: "sandbox_unavailable",
        message: "100 clients already watch the live stream. Close one of them.",
      },
    ]);
    opened[0]?.terminate();
    await once(opened[0] as WebSocket, "close");
    await expect.poll(() => watch(liveUrl(bench)).then(() => "accepted")).toBe("accepted");
  });
});

test("a client that does not read delays no request, and later gets the same events as other clients", async () => {
  const bench = await open();
  const [sleeper, awake] = [await watch(liveUrl(bench)), await watch(liveUrl(bench))];
  sleeper.socket.pause();
  const answers = await Promise.all(upTo(300).map(() => call(bench)));
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  await awake.seen(300);
  expect(sleeper.items()).toEqual([]);
  sleeper.socket.resume();
  await sleeper.seen(300);
  expect(numbers(sleeper)).toEqual(upTo(300));
  expect(awake.items()).toEqual(sleeper.items());
});

/** With these headers, a browser lets no page of another site read the response, and does not treat it as HTML. */
const NEVER_A_PAGE = { "x-content-type-options": "nosniff", "cross-origin-resource-policy": "same-origin" };

test("an accepted upgrade names only the stream's subprotocol, and has the usual security headers", async () => {
  const bench = await open();
  const secret = `bearer.${Buffer.from("open-sesame").toString("base64url")}`;
  for (const [offered, chosen] of [
    [["merchant-sandbox", secret], "merchant-sandbox"],
    [[secret, "merchant-sandbox"], "merchant-sandbox"],
    [[secret], undefined],
  ] as const) {
    attempted("Responses read by a web page");
    const socket = connect(bench.port, "127.0.0.1");
    const offer = `Sec-WebSocket-Protocol: ${offered.join(", ")}`;
    const head = ["GET /_sandbox/live HTTP/1.1", `Host: 127.0.0.1:${bench.port}`, ...HANDSHAKE, offer];
    socket.write([...head, "", ""].join("\r\n"));
    const { status, headers } = readRaw(String((await once(socket, "data"))[0]));
    expect([status, headers["sec-websocket-protocol"]]).toEqual([101, chosen]);
    expect(headers).toMatchObject(NEVER_A_PAGE);
    socket.destroy();
  }
});

describe("an upgrade is rejected", () => {
  test("for an Origin that is not exactly the sandbox's own, and for a missing token", async () => {
    const bench = await open();
    for (const origin of [`https://localhost:${bench.port}`, `http://localhost:${bench.port + 1}`]) {
      attempted("A web page opens the live stream");
      expect([origin, await refusal(liveUrl(bench), { origin })]).toEqual([origin, 403]);
    }
    await watch(liveUrl(bench), { origin: `http://localhost:${bench.port}` });
    const locked = await open({ controlToken: "open-sesame" });
    expect(await refusal(liveUrl(locked), { headers: { authorization: "Bearer sk_test_lodge" } })).toBe(403);
    await watch(liveUrl(locked), { headers: { authorization: "Bearer open-sesame" } });
  });

  test("at any other path, before a 101 is sent", async () => {
    const bench = await open();
    for (const path of ["/", "/v1/payments", "/_sandbox", "/_sandbox/live/", "/_sandbox/Live"]) {
      attempted("A web page opens the live stream");
      expect([path, await refusal(`ws://127.0.0.1:${bench.port}${path}`)]).toEqual([path, 404]);
    }
    const [, answer] = await once(new WebSocket(`ws://127.0.0.1:${bench.port}/v1/payments`), "unexpected-response");
    expect(await json(answer)).toMatchObject({
      code: "route_not_found",
      message: "Only /_sandbox/live accepts WebSocket connections.",
    });
  });

  test("with a live key in its target, a header or a subprotocol, and the key is not sent back", async () => {
    const bench = await open();
    const tail = "4eC39HqLyjWDarjtT1zdp7dc";
    const key = `sk_live_${tail}`;
    const encoded = Buffer.from(key).toString("base64url");
    const places: [query: string, protocol: string, headers: Record<string, string>][] = [
      [`?key=${key}`, "merchant-sandbox", {}],
      [`?key=${key.replaceAll("_", "%5f")}`, "merchant-sandbox", {}],
      ["", key, {}],
      ["", `bearer.${encoded}`, {}],
      ["", "merchant-sandbox", { "x-key": key }],
      ["", "merchant-sandbox", { authorization: `Bearer ${key}` }],
      ["", "merchant-sandbox", { authorization: `Basic ${Buffer.from(`${key}:`).toString("base64")}` }],
    ];
    for (const [query, protocol, headers] of places) {
      attempted("Live keys");
      const lost = new WebSocket(liveUrl(bench, query), protocol, { headers });
      const [, answer] = await once(
        lost.on("error", () => {}),
        "unexpected-response",
      );
      const body = await json(answer);
      expect([protocol, answer.statusCode, body]).toEqual([
        protocol,
        403,
        expect.objectContaining({ code: "live_key_refused" }),
      ]);
      for (const trace of [tail, encoded]) expect(JSON.stringify([body, answer.rawHeaders])).not.toContain(trace);
    }
  });

  test("by the WebSocket library in the form of an API error", async () => {
    const bench = await open();
    const head = [
      "GET /_sandbox/live HTTP/1.1",
      `Host: 127.0.0.1:${bench.port}`,
      ...HANDSHAKE,
      "Sec-WebSocket-Protocol: a,,b",
    ];
    const { status, headers, body } = readRaw(await raw(bench.port, [...head, "", ""].join("\r\n")));
    expect([status, body.code, body.message]).toEqual([
      400,
      "malformed_http",
      expect.stringContaining("Sec-WebSocket-Protocol"),
    ]);
    expect(headers).toMatchObject(NEVER_A_PAGE);
  });

  test("with 404 if it is a plain request", async () => {
    const bench = await open();
    const answer = readRaw(
      await raw(bench.port, lines("GET /_sandbox/live HTTP/1.1", `Host: 127.0.0.1:${bench.port}`)),
    );
    expect([answer.status, answer.body.code]).toEqual([404, "route_not_found"]);
  });
});

test("a closed hub accepts no upgrade", async () => {
  const hub = createHub(hubOptions({ report: fail }));
  hub.close();
  const socket = connect((await open()).port, "127.0.0.1");
  await once(socket, "connect");
  void hub.acceptUpgrade({ url: "/" } as never, socket, Buffer.alloc(0));
  await once(socket, "close");
  expect(socket.destroyed).toBe(true);
});
