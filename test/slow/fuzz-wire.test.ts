// Fuzzes the socket with arbitrary bytes in arbitrary pieces. The process responds or closes the connection, reports no
// defect, and serves the next request.

import { connect } from "node:net";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type ErrorCode, errors } from "../../src/kernel/errors.ts";
import { type Change, changed, changeOf, runs } from "../support/fuzzing.ts";
import { attempted, shareForBlock } from "../support/sandbox.ts";

const RULE = JSON.stringify({ name: "Weekend", adjustmentType: "fixed", adjustmentValue: 100 });
const KEY = "Authorization: Bearer sk_test_lodge\r\n";
const HOST = "Host: localhost:PORT\r\n";
const JSON_TYPE = "Content-Type: application/json\r\n";
const half = Math.floor(RULE.length / 2);

/** Well-formed requests of all kinds. PORT stands for the port of the sandbox. */
const REQUESTS = [
  `GET /v1/payments?limit=2 HTTP/1.1\r\n${HOST}${KEY}\r\n`,
  `GET /v1/customers/cus_ines HTTP/1.1\r\n${HOST}${KEY}Connection: keep-alive\r\n\r\n`,
  `HEAD /v1/merchants/me HTTP/1.1\r\n${HOST}${KEY}\r\n`,
  `GET /v1/merchants/me HTTP/1.0\r\n${HOST}${KEY}\r\n`,
  `POST /v1/hospitality/pricing-rules HTTP/1.1\r\n${HOST}${KEY}${JSON_TYPE}` +
    `Idempotency-Key: k1\r\nContent-Length: ${RULE.length}\r\n\r\n${RULE}`,
  `POST /v1/hospitality/pricing-rules HTTP/1.1\r\n${HOST}${KEY}${JSON_TYPE}` +
    "Transfer-Encoding: chunked\r\n\r\n" +
    `${half.toString(16)}\r\n${RULE.slice(0, half)}\r\n` +
    `${(RULE.length - half).toString(16)};x=y\r\n${RULE.slice(half)}\r\n0\r\nX-Trailer: t\r\n\r\n`,
  `POST /v1/hospitality/pricing-rules HTTP/1.1\r\n${HOST}${KEY}${JSON_TYPE}` +
    `Expect: 100-continue\r\nContent-Length: ${RULE.length}\r\n\r\n${RULE}`,
  `PATCH /v1/statutory/settings HTTP/1.1\r\n${HOST}${KEY}${JSON_TYPE}Content-Length: 18\r\n\r\n{"autoRemit":true}`,
  `DELETE /v1/webhooks/we_none HTTP/1.1\r\n${HOST}${KEY}\r\n`,
  `GET /_sandbox HTTP/1.1\r\n${HOST}\r\n`,
  `POST /_sandbox/drain HTTP/1.1\r\n${HOST}${JSON_TYPE}Content-Length: 17\r\n\r\n{"within":"10ms"}`,
  `GET /_sandbox/live HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\n` +
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
  `GET /v1/payments HTTP/1.1\r\n${HOST}${KEY}` +
    "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n",
];

const TOKENS = [
  "\r\n",
  "\n",
  "\r\n\r\n",
  "\0",
  " ",
  "\t",
  ":",
  "\xff\xfe",
  "%00",
  "%",
  "//",
  "..",
  "?",
  "#",
  "{",
  "\r\nContent-Length: 0",
  "\r\nContent-Length: 5",
  "\r\nContent-Length: -1",
  "\r\nContent-Length: 99999999999999999999",
  "\r\nTransfer-Encoding: chunked",
  "\r\nTransfer-Encoding: identity, chunked",
  "\r\nHost: evil.example",
  "\r\nHost: localhost",
  "\r\nAuthorization: Basic eDp5",
  "\r\nOrigin: null",
  "\r\nIdempotency-Key: a\r\nIdempotency-Key: b",
  "\r\nContent-Encoding: gzip",
  "\r\nExpect: 200-ok",
  "\r\nUpgrade: websocket\r\nConnection: upgrade",
  "\r\nConnection: close",
  "HTTP/1.1",
  "HTTP/9.9",
  "ffffffffffffffff\r\n",
  "0\r\n\r\n",
  "x".repeat(3_000),
  `\r\nX-Long: ${"y".repeat(17_000)}`,
  "GET / HTTP/1.1\r\n\r\n",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "\x16\x03\x01\x02\x00\x01",
];

interface Exchange {
  /** Indexes into REQUESTS. The requests are sent one after another. */
  requests: number[];
  changes: Change[];
  /** Positions at which the bytes are split, as fractions. */
  cuts: number[];
  end: "finish" | "reset";
}

const exchange: fc.Arbitrary<Exchange> = fc.record({
  requests: fc.array(fc.nat({ max: REQUESTS.length - 1 }), { minLength: 1, maxLength: 3 }),
  changes: fc.array(changeOf(TOKENS), { maxLength: 5 }),
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 }),
  end: fc.constantFrom("finish", "finish", "finish", "reset"),
});

/** Regression tests, which run first. */
const CORPUS: Exchange[] = [
  // All requests in one piece, except the WebSocket handshake.
  { requests: REQUESTS.map((_, place) => place).filter((place) => place !== 11), changes: [], cuts: [], end: "finish" },
  // A client of the control API that disconnects in the middle of its body.
  { requests: [10], changes: [], cuts: [0.9], end: "reset" },
  // A damaged WebSocket handshake, which once got a page as its response.
  { requests: [11], changes: [{ what: "flip", at: 0.45, size: 1, token: "" }], cuts: [], end: "finish" },
  // A client that makes other requests, offers HTTP/2 and disconnects. Its responses once failed, because the socket
  // had no listeners.
  { requests: [7, 1, 12], changes: [], cuts: [0], end: "reset" },
  { requests: [5, 7, 12], changes: [], cuts: [0, 0, 0, 0], end: "reset" },
  { requests: [5, 4, 0], changes: [], cuts: [0.1, 0.2, 0.3, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8, 0.9], end: "finish" },
];

function bytesOf({ requests, changes }: Exchange, port: number): Buffer {
  const text = requests.map((place) => REQUESTS[place]).join("");
  return changed(Buffer.from(text.replaceAll("PORT", String(port)), "latin1"), changes);
}

function piecesOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [
    0,
    ...cuts.map((cut) => Math.floor(cut * bytes.length)).sort((one, other) => one - other),
    bytes.length,
  ];
  return places.slice(1).map((place, index) => bytes.subarray(places[index], place));
}

const TIME_LIMIT = 60_000;

/**
 * Sends the pieces one event-loop turn apart, and returns everything received. Returns undefined if the connection is
 * not closed within the time limit.
 */
function send(port: number, pieces: Buffer[], end: Exchange["end"]): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    const chunks: Buffer[] = [];
    const timeout = setTimeout(() => {
      socket.destroy();
      resolve(undefined);
    }, TIME_LIMIT);
    socket.on("data", (chunk: Buffer) => chunks.push(chunk));
    socket.on("end", () => socket.end());
    socket.on("error", () => {});
    socket.on("close", () => {
      clearTimeout(timeout);
      resolve(Buffer.concat(chunks).toString("latin1"));
    });
    const next = ([piece, ...rest]: Buffer[]) => {
      if (socket.destroyed) return;
      if (piece === undefined) {
        if (end === "reset") socket.resetAndDestroy();
        else socket.end();
        return;
      }
      socket.write(piece);
      setImmediate(() => next(rest));
    };
    socket.on("connect", () => {
      socket.setNoDelay(true);
      next(pieces);
    });
  });
}

interface RawResponse {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/**
 * Splits the bytes into responses. A body has the length in Content-Length, unless the next response or the end follows
 * the headers directly.
 */
function answersIn(received: string): RawResponse[] {
  const answers: RawResponse[] = [];
  for (let place = 0; place < received.length; ) {
    const cut = received.indexOf("\r\n\r\n", place);
    const [start = "", ...lines] = received.slice(place, cut < 0 ? undefined : cut).split("\r\n");
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(start)?.[1] ?? Number.NaN);
    if (Number.isNaN(status)) throw new Error(`not the start of a response: ${JSON.stringify(start.slice(0, 200))}`);
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
    );
    if (status === 101) return [...answers, { status, headers, body: "" }];
    place = cut + 4;
    const isBare = status === 100 || received.startsWith("HTTP/1.1 ", place);
    const length = isBare ? 0 : Number(headers["content-length"] ?? 0);
    answers.push({ status, headers, body: received.slice(place, place + length) });
    place += length;
  }
  return answers;
}

function expectSound({ status, headers, body }: RawResponse): void {
  if (status < 400) return;
  expect(status).toBeLessThan(500);
  expect(headers["content-type"]).toBe("application/json");
  if (body === "") return;
  const { error, message, code, details } = JSON.parse(body);
  const known = errors[code as ErrorCode];
  expect([status, error]).toEqual([known?.status, known?.error]);
  expect([typeof message, typeof details]).toEqual(["string", "object"]);
}

const shared = shareForBlock({ rateLimit: "none" });

test("any bytes get a response or a closed connection, and the next request is served", async () => {
  const bench = shared();
  const statuses = new Set<number>();
  const property = fc.asyncProperty(exchange, async (drawn) => {
    const bytes = bytesOf(drawn, bench.port);
    const label = `${JSON.stringify(bytes.toString("latin1")).slice(0, 2_000)} cut at ${drawn.cuts}`;
    attempted("Malformed input");
    const received = await send(bench.port, piecesOf(bytes, drawn.cuts), drawn.end);
    expect(received, label).toBeDefined();
    // A reset may truncate the responses anywhere.
    if (drawn.end === "finish")
      for (const answer of answersIn(received ?? "")) {
        statuses.add(answer.status);
        expect(() => expectSound(answer), `${label}: ${answer.status} ${answer.body.slice(0, 500)}`).not.toThrow();
      }
    expect(bench.defects.splice(0), label).toEqual([]);
    expect((await bench.call("GET", "/v1/merchants/me")).status, label).toBe(200);
  });
  await fc.assert(property, runs(150, CORPUS));
  for (const status of [200, 400, 404]) expect(statuses).toContain(status);
});
