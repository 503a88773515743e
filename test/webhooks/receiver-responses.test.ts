// Responses of receivers, byte by byte: their outcome, their log entry, and whether their connection is reused.

import { createServer, type Socket } from "node:net";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { createSender } from "../../src/webhooks/http/sender.ts";
import { createTargetPolicy } from "../../src/webhooks/http/target-policy.ts";
import { attempted, listen, open, shareForBlock } from "../support/sandbox.ts";
import { advance, deliver, log, register } from "../support/webhooks.ts";

/** A receiver whose `respond` writes raw bytes. Its `request` counts the requests on the connection, from 1. */
async function rawReceiver(respond: (socket: Socket, request: number) => void) {
  const sockets: Socket[] = [];
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.push(socket);
    let requests = 0;
    let text = "";
    socket.on("error", () => {});
    socket.setEncoding("latin1").on("data", (more: string) => {
      text += more;
      const length = /content-length: (\d+)\r\n(?:.*\r\n)*?\r\n/i.exec(text);
      if (!length || text.length < length.index + length[0].length + Number(length[1])) return;
      text = "";
      respond(socket, ++requests);
    });
  });
  return { url: `http://127.0.0.1:${await listen(server)}/`, connections: () => sockets.length };
}

const sender = createSender({
  targets: createTargetPolicy({ isOwn: () => false, allowedHosts: [], allowLoopback: true }),
  timeout: 10_000,
  insecureTls: false,
});
afterAll(() => sender.close());

const send = (url: string) => sender.send({ url, headers: { "Content-Length": "2" }, body: "{}" }).outcome;

const bytes = (text: string) => Buffer.from(text, "latin1");

/** Writes a response piece by piece, then closes the connection unless `isKept` is true. */
async function writeAll(socket: Socket, pieces: readonly Buffer[], isKept = false): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return;
    socket.write(piece);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (!isKept) socket.end();
}

/** The outcome of a request to a receiver that responds with these pieces and then closes the connection. */
async function outcomeOf(pieces: readonly Buffer[]) {
  const receiver = await rawReceiver((socket) => void writeAll(socket, pieces));
  return send(receiver.url);
}

/** The number of connections that two requests use if each gets this response. */
async function connectionsFor(text: string): Promise<number> {
  const receiver = await rawReceiver((socket) => void writeAll(socket, [bytes(text)], true));
  await send(receiver.url);
  // After the response, the client needs a moment to notice that its connection was closed.
  await new Promise((resolve) => setTimeout(resolve, 10));
  await send(receiver.url);
  return receiver.connections();
}

const OK = "HTTP/1.1 200 OK\r\n";

type Outcome = Awaited<ReturnType<typeof outcomeOf>>;

const readable: [string, string, Partial<Outcome>][] = [
  ["a body that ends with the connection", `${OK}\r\nall of it`, { responseBody: "all of it" }],
  [
    "204 and a length",
    `HTTP/1.1 204 No Content\r\nContent-Length: 12\r\n\r\n`,
    { responseStatus: 204, responseBody: "" },
  ],
  [
    "304 and a length",
    "HTTP/1.1 304 Not Modified\r\nContent-Length: 12\r\n\r\n",
    { responseStatus: 304, responseBody: "", errorCode: "redirect_not_followed" },
  ],
  [
    "early hints before it",
    "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" +
      "HTTP/1.1 503 No\r\nRetry-After: 7\r\nRetry-After: 9\r\nContent-Length: 0\r\n\r\n",
    { responseStatus: 503, retryAfter: "7", errorCode: "http_status" },
  ],
  [
    "a second response after it",
    `${OK}Content-Length: 2\r\n\r\nokHTTP/1.1 500 No\r\n`,
    { responseStatus: 200, responseBody: "ok" },
  ],
];

const incomplete: [string, string, Partial<Outcome>][] = [
  ["no bytes", "", { responseStatus: null, responseBody: null }],
  ["a body that is cut off", `${OK}Content-Length: 3\r\n\r\nok`, { responseStatus: 200, responseBody: "ok" }],
  [
    "chunks that are cut off",
    `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`,
    { responseStatus: 200, responseBody: "abc" },
  ],
];

const malformed: [string, string, string][] = [
  ["the format of another protocol", "SSH-2.0-OpenSSH_9.6\r\n", "it does not start with HTTP/1.1"],
  ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n", "invalid status code"],
  [
    "a status below 100",
    "HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n",
    "its status is not one that answers a request",
  ],
  [
    "100 Continue, which was not requested,",
    `HTTP/1.1 100 Continue\r\n\r\n${OK}\r\n`,
    "it sends 100 Continue, which the request does not ask for",
  ],
  ["a line without a colon", `${OK}nonsense\r\n\r\n`, "invalid header token"],
  [
    "two lengths",
    `${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc`,
    "its body is not as long as its Content-Length",
  ],
  [
    "101 and an upgrade",
    "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
    "it switches to another protocol",
  ],
  ["a chunk without a size", `${OK}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`, "invalid character in chunk size"],
  [
    "headers without end",
    `${OK}${"X-Filler: yyyyyyyyyyyyyyyy\r\n".repeat(2_000)}`,
    "its headers are longer than 16 KiB",
  ],
];

describe("a response", () => {
  const singly = (text: string) => [...bytes(text)].map((byte) => Buffer.from([byte]));

  test.each(readable)("with %s is accepted, whole or byte by byte", async (_, text, expected) => {
    for (const pieces of [[bytes(text)], singly(text)])
      expect(await outcomeOf(pieces)).toMatchObject({ errorCode: null, ...expected });
  });

  test.each(incomplete)("with %s fails as incomplete, and its received part is kept", async (_, text, expected) => {
    for (const pieces of [[bytes(text)], singly(text)])
      expect(await outcomeOf(pieces)).toMatchObject({
        errorCode: "reset",
        errorMessage: expect.stringMatching(
          /^The connection to 127\.0\.0\.1:\d+ closed before the response was complete\.$/,
        ),
        ...expected,
      });
  });

  test.each(malformed)("with %s is rejected with the reason, whole or byte by byte", async (name, text, reason) => {
    for (const pieces of [[bytes(text)], ...(name === "headers without end" ? [] : [singly(text)])]) {
      attempted("Slow, endless or hostile receivers");
      const { errorCode, errorMessage } = await outcomeOf(pieces);
      expect(errorCode).toBe("reset");
      expect(errorMessage?.replace(/\d+\.\d+\.\d+\.\d+:\d+/, "the receiver")).toBe(
        `The response of the receiver is not valid HTTP/1.1: ${reason}.`,
      );
    }
  });

  test("of arbitrary bytes has one of the known outcomes", async () => {
    const parts = fc.constantFrom(
      ..."HTTP/1.1 |200|\r\n|\n|: |Content-Length|Transfer-Encoding|chunked|0|5|a|Connection|close|\r\n\r\n|ff".split(
        "|",
      ),
    );
    const pieces = fc.array(
      fc.oneof(
        parts.map(bytes),
        fc.uint8Array({ maxLength: 9 }).map((some) => Buffer.from(some)),
      ),
      { maxLength: 30 },
    );
    await fc.assert(
      fc.asyncProperty(fc.boolean(), pieces, async (begins, some) => {
        attempted("Slow, endless or hostile receivers");
        const { errorCode, responseStatus } = await outcomeOf([
          Buffer.concat([begins ? bytes(OK) : Buffer.alloc(0), ...some]),
        ]);
        expect([null, "reset", "http_status", "redirect_not_followed"]).toContain(errorCode);
        expect(responseStatus ?? 200).toBeGreaterThanOrEqual(200);
      }),
      { numRuns: 60 },
    );
  });
});

describe("whatever a receiver responds", () => {
  /** A header or reason phrase with any characters except line ends. The parser may reject the response. */
  const anyText = fc.oneof(
    fc.string({ maxLength: 40 }),
    fc.constantFrom(
      "",
      "\0",
      "\t",
      "\x7f",
      "ÿ",
      "=?utf-8?q?=00?=",
      "a".repeat(2_000),
      "../..",
      "sk_live_4eC39HqLyjWDarjt",
    ),
  );
  const retryAfter = fc.oneof(
    anyText,
    fc.integer().map(String),
    fc.constantFrom(
      ...(
        "-1|-0|1e309|0x10|99999999999999999999|1.5|NaN|Infinity|" +
        "Thu, 01 Jan 1970 00:00:00 GMT|Fri, 31 Dec 9999 23:59:59 GMT"
      ).split("|"),
      ...(
        "Sat, 01 Jan 0000 00:00:00 GMT|Sat, 32 Foo 275761 00:00:00 GMT|" +
        "Thu, 01 Jan 1970|Mon|8640000000000001|,|1, 2"
      ).split("|"),
    ),
  );
  const header = fc.oneof(
    retryAfter.map((value) => `Retry-After: ${value}`),
    fc
      .tuple(
        fc.constantFrom(
          "Content-Type",
          "Content-Encoding",
          "Location",
          "Set-Cookie",
          "Date",
          "__proto__",
          "constructor",
          "X",
        ),
        anyText,
      )
      .map((pair) => pair.join(": ")),
    fc.constantFrom(
      "Content-Encoding: gzip",
      "Content-Type: text/html; charset=utf-16",
      "Connection: upgrade",
      "Content-Length: -1",
      "Content-Length: 99999999999999999999",
      "Transfer-Encoding: gzip",
    ),
    anyText,
  );
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 60 }).map((some) => Buffer.from(some)),
    fc
      .constantFrom("\0", '{"a":"\\ud800"}', "\xed\xa0\x80", "\xff\xfe", "\xf0\x9f", "\u2028", "x".repeat(9_000))
      .map((text) => Buffer.from(text, "latin1")),
  );
  const response = fc
    .tuple(
      fc.oneof(
        fc.integer({ min: 0, max: 999 }),
        fc.constantFrom(100, 101, 102, 199, 200, 299, 300, 410, 429, 503, 599, 600, 999),
      ),
      anyText,
      fc.array(header, { maxLength: 4 }),
      body,
    )
    .map(([status, reason, headers, content]) =>
      Buffer.concat([
        Buffer.from(
          [`HTTP/1.1 ${String(status).padStart(3, "0")} ${reason}`, ...headers, "", ""].join("\r\n"),
          "latin1",
        ),
        content,
      ]),
    );

  const shared = shareForBlock({ retrySchedule: "1s", webhookTimeout: 5_000, life: "off" });

  async function attemptsFor(answer: Buffer) {
    const bench = shared();
    const receiver = await rawReceiver((socket) => socket.end(answer));
    const { id } = await register(bench, receiver.url);
    try {
      await deliver(bench);
      await advance(bench, "2h");
      const attempts = await log(bench, `&endpointId=${id}`);
      const drained = await bench.control("POST", "/drain", {});
      return { attempts, drained, connections: receiver.connections() };
    } finally {
      await bench.call("DELETE", `/v1/webhooks/${id}`);
    }
  }

  test("each attempt is logged, and a delivery that fails is retried unless the status is 410", async () => {
    await fc.assert(
      fc.asyncProperty(response, async (answer) => {
        attempted("Slow, endless or hostile receivers");
        const { attempts, drained, connections } = await attemptsFor(answer);
        expect(drained).toEqual({ settled: true, pending: 0, inFlight: 0 });
        expect(attempts).toHaveLength(connections);
        const [first] = attempts;
        const isFinal = first?.status === "succeeded" || first?.responseStatus === 410;
        expect(attempts.map(({ attempt }) => attempt)).toEqual(isFinal ? [1] : [1, 2]);
      }),
      { numRuns: 80 },
    );
  });

  test.each([600, 700, 999])("the status %i is logged unchanged, and the delivery is retried", async (status) => {
    attempted("Slow, endless or hostile receivers");
    const { attempts } = await attemptsFor(bytes(`HTTP/1.1 ${status} Odd\r\nContent-Length: 0\r\n\r\n`));
    const failed = { status: "failed", responseStatus: status, errorCode: "http_status" };
    expect(attempts).toMatchObject([failed, failed]);
  });
});

describe("the connection", () => {
  const EMPTY = "Content-Length: 0\r\n\r\n";

  test.each([
    ["HTTP/1.1 is reused", `${OK}${EMPTY}`, 1],
    ["a keep-alive of three seconds is reused", `${OK}Keep-Alive: timeout=3, max=9\r\n${EMPTY}`, 1],
    ["a keep-alive of one second is closed", `${OK}Keep-Alive: timeout=1\r\n${EMPTY}`, 2],
    ["Connection: Close is closed", `${OK}Connection: Close\r\n${EMPTY}`, 2],
    ["a second, unrequested response is closed", `${OK}${EMPTY}HTTP/1.1 500 Not Asked For\r\n${EMPTY}`, 2],
  ])("after a response with %s", async (_, text, connections) => {
    expect(await connectionsFor(text)).toBe(connections);
  });

  /** The statuses of three deliveries sent one after the other, and the number of connections used for them. */
  async function deliverThree(respond: Parameters<typeof rawReceiver>[0], between: () => Promise<void>) {
    const bench = await open();
    const receiver = await rawReceiver(respond);
    await register(bench, receiver.url);
    for (let count = 0; count < 3; count++) {
      await deliver(bench);
      await between();
    }
    const attempts = await log(bench);
    return { statuses: attempts.map(({ responseStatus }) => responseStatus), connections: receiver.connections() };
  }
  test("can be closed by the receiver while idle, without the loss of a delivery", async () => {
    let closed = Promise.resolve();
    const respond = (socket: Socket) => {
      closed = new Promise((resolve) => socket.on("close", () => resolve()));
      socket.write(`${OK}${EMPTY}`, () => socket.end());
    };
    expect(await deliverThree(respond, () => closed)).toMatchObject({ statuses: [200, 200, 200], connections: 3 });
  });

  test("is closed after a response without a request, which does not count for the next delivery", async () => {
    let closed = Promise.resolve();
    const respond = (socket: Socket, request: number) => {
      closed = new Promise((resolve) => socket.on("close", () => resolve()));
      socket.write(request === 1 ? `${OK}${EMPTY}` : `HTTP/1.1 500 No\r\n${EMPTY}`);
      setImmediate(() => socket.write(`HTTP/1.1 500 Not Asked For\r\n${EMPTY}`));
    };
    expect(await deliverThree(respond, () => closed)).toMatchObject({ statuses: [200, 200, 200], connections: 3 });
  });
});

test("an attempt begins after it is requested, and before its receiver gets it", async () => {
  let received = 0;
  const receiver = await rawReceiver((socket) => {
    received = performance.now();
    socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  });
  const called = performance.now();
  const { began } = await send(receiver.url);
  expect([called, began, received].toSorted((one, other) => one - other)).toEqual([called, began, received]);
});
