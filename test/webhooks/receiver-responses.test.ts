// What a receiver may answer, byte by byte, and when its connection is kept for the next delivery.

import { type AddressInfo, createServer, type Socket } from "node:net";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { NOT_HTTP, readAnswer } from "../../src/webhooks/http/response-parser.ts";
import { open } from "../support/sandbox.ts";
import { log, register, settle, trigger } from "../support/webhooks.ts";

interface Heard {
  status: number | undefined;
  retryAfter: string | undefined;
  body: string;
  isWhole: boolean;
  isWholeAtEnd: boolean;
  keptFor: number;
}

/** Lets an answer be read in the pieces in which it came. */
function hear(pieces: Buffer[]): Heard {
  const heard: Heard = { status: undefined, retryAfter: undefined, body: "", isWhole: false, isWholeAtEnd: false, keptFor: 0 };
  const answer = readAnswer({
    status: (status, retryAfter) => Object.assign(heard, { status, retryAfter }),
    data: (bytes) => {
      heard.body += bytes.toString("latin1");
    },
  });
  for (const piece of pieces) heard.isWhole = answer.take(piece);
  return { ...heard, isWholeAtEnd: answer.isWholeAtEnd(), keptFor: answer.keptFor() };
}

const OK = "HTTP/1.1 200 OK\r\n";
const USUALLY = 4_000;

const answers: [string, string, Partial<Heard>][] = [
  ["no body", `${OK}Content-Length: 0\r\n\r\n`, { status: 200, body: "", isWhole: true, keptFor: USUALLY }],
  ["a body", `${OK}content-length:2\r\n\r\nok`, { body: "ok", isWhole: true, keptFor: USUALLY }],
  ["a body without its end", `${OK}Content-Length: 3\r\n\r\nok`, { body: "ok", isWhole: false, isWholeAtEnd: false }],
  ["a body that ends with the connection", `${OK}\r\nall of it`, { body: "all of it", isWhole: false, isWholeAtEnd: true }],
  ["no reason phrase", "HTTP/1.1 204\r\n\r\n", { status: 204, isWhole: true, keptFor: USUALLY }],
  ["a status that has no body", "HTTP/1.1 304 Not Modified\r\nContent-Length: 12\r\n\r\n", { status: 304, body: "", isWhole: true }],
  [
    "chunks",
    `${OK}Transfer-Encoding: Chunked\r\n\r\n3;name="v"\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n`,
    { body: "abc0123456789", isWhole: true, keptFor: USUALLY },
  ],
  ["chunks without their end", `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n`, { body: "abc", isWhole: false, isWholeAtEnd: false }],
  ["a coding that nobody knows", `${OK}Transfer-Encoding: gzip\r\n\r\nxyz`, { body: "xyz", isWholeAtEnd: true }],
  [
    "hints before the answer itself",
    `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 503 No\r\nRetry-After: 7\r\nRetry-After: 9\r\nContent-Length: 0\r\n\r\n`,
    { status: 503, retryAfter: "7", isWhole: true },
  ],
  ["a connection that is to be closed", `${OK}Connection: Close\r\nContent-Length: 0\r\n\r\n`, { isWhole: true, keptFor: 0 }],
  ["HTTP/1.0", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", { isWhole: true, keptFor: 0 }],
  ["HTTP/1.0, kept", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", { keptFor: USUALLY }],
  ["a connection that is soon closed", `${OK}Keep-Alive: timeout=3, max=9\r\nContent-Length: 0\r\n\r\n`, { keptFor: 2_000 }],
  ["a connection that is closed at once", `${OK}Keep-Alive: timeout=1\r\nContent-Length: 0\r\n\r\n`, { keptFor: 0 }],
  ["more than was asked for", `${OK}Content-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n`, { body: "ok", isWhole: true, keptFor: 0 }],
];

const refused: [string, string][] = [
  ["another protocol", "SSH-2.0-OpenSSH_9.6\r\n"],
  ["another version", "HTTP/2.0 200 OK\r\n\r\n"],
  ["a status of two digits", "HTTP/1.1 20 OK\r\n\r\n"],
  ["a line without a colon", `${OK}nonsense\r\n\r\n`],
  ["a space before the colon", `${OK}Content-Length : 0\r\n\r\n`],
  ["a folded header", `${OK}X: a\r\n b\r\nContent-Length: 0\r\n\r\n`],
  ["a bare line feed in a header", `${OK}X: a\nContent-Length: 0\r\n\r\n`],
  ["a zero in a header", `${OK}X: a\0\r\n\r\n`],
  ["two lengths", `${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc`],
  ["a length and chunks", `${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`],
  ["a length below nothing", `${OK}Content-Length: -1\r\n\r\n`],
  ["another protocol to go on with", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"],
  ["a chunk without a size", `${OK}Transfer-Encoding: chunked\r\n\r\nxyz\r\n`],
  ["a chunk longer than it says", `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n`],
  ["a chunk that ends with a bare line feed", `${OK}Transfer-Encoding: chunked\r\n\r\n2\nab\n0\n\n`],
  ["a head without end", `${OK}${"X: y\r\n".repeat(5_000)}`],
  ["a line before a chunk without end", `${OK}Transfer-Encoding: chunked\r\n\r\n1;${"x".repeat(5_000)}`],
];

describe("an answer", () => {
  const bytes = (text: string) => Buffer.from(text, "latin1");
  const singly = (text: string) => [...bytes(text)].map((byte) => Buffer.from([byte]));

  test.each(answers)("with %s is read as what it is", (_, text, expected) => {
    expect(hear([bytes(text)])).toMatchObject(expected);
  });

  test.each(answers)("with %s is the same in whatever pieces it comes", (name, text) => {
    const whole = hear([bytes(text)]);
    const cuts = fc.array(fc.nat(text.length), { maxLength: 8 }).map((places) => [0, ...places.sort((a, b) => a - b), text.length]);
    fc.assert(
      fc.property(cuts, (places) => {
        const pieces = places.slice(1).map((to, index) => bytes(text).subarray(places[index], to));
        const heard = hear(pieces);
        // What comes after the end in a piece of its own is the connection's to notice.
        if (name === "more than was asked for") expect(heard.body).toBe(whole.body);
        else expect(heard).toEqual(whole);
      }),
    );
  });

  test.each(refused)("that is %s is refused, at once or byte by byte", (_, text) => {
    const isNotHttp = expect.objectContaining({ code: NOT_HTTP });
    expect(() => hear([bytes(text)])).toThrow(isNotHttp);
    expect(() => hear(singly(text))).toThrow(isNotHttp);
  });

  test("of any bytes is read or refused, and never anything else", () => {
    const parts = fc.constantFrom(
      ..."HTTP/1.1 |200|\r\n|\n|: |Content-Length|Transfer-Encoding|chunked|0|5|a|Connection|close|\r\n\r\n|ff".split("|"),
    );
    const pieces = fc.array(
      fc.oneof(
        parts.map(bytes),
        fc.uint8Array({ maxLength: 9 }).map((some) => Buffer.from(some)),
      ),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(fc.boolean(), pieces, (begins, some) => {
        try {
          hear(begins ? [bytes(OK), ...some] : some);
        } catch (error) {
          expect(error).toMatchObject({ code: NOT_HTTP });
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

const stops: (() => void)[] = [];

afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** A receiver of bare bytes: `answer` is told which connection asks, and for how many times it has. */
async function bare(answer: (socket: Socket, connection: number, request: number) => void) {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    const connection = sockets.push(socket);
    let requests = 0;
    let text = "";
    socket.on("error", () => {});
    socket.setEncoding("latin1").on("data", (more: string) => {
      text += more;
      const length = /content-length: (\d+)\r\n(?:.*\r\n)*?\r\n/i.exec(text);
      if (!length || text.length < length.index + length[0].length + Number(length[1])) return;
      text = "";
      answer(socket, connection, ++requests);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, connections: () => sockets.length };
}

describe("a connection", () => {
  /** What becomes of three deliveries, one after the other, and over how many connections they came. */
  async function three(answer: Parameters<typeof bare>[0], { between = async () => {} } = {}) {
    const bench = await open();
    const receiver = await bare(answer);
    await register(bench, receiver.url);
    for (let count = 0; count < 3; count++) {
      await trigger(bench);
      await settle(bench);
      await between();
    }
    const attempts = await log(bench);
    return { statuses: attempts.map(({ responseStatus }) => responseStatus), attempts, connections: receiver.connections() };
  }
  const answering = (text: string) => (socket: Socket) => void socket.write(text);
  const EMPTY = `${OK}Content-Length: 0\r\n\r\n`;

  test("is kept as long as answers are whole", async () => {
    expect(await three(answering(EMPTY))).toMatchObject({ statuses: [200, 200, 200], connections: 1 });
    expect(await three(answering(`${OK}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n`))).toMatchObject({ connections: 1 });
  });

  test.each([
    ["is to be closed", (socket: Socket) => void socket.end(`${OK}Connection: close\r\nContent-Length: 0\r\n\r\n`)],
    ["is to be closed and is not", answering(`${OK}Connection: close\r\nContent-Length: 0\r\n\r\n`)],
    ["ends with the answer", (socket: Socket) => void socket.end(OK.concat("\r\nall of it"))],
    ["brings more than an answer", answering(`${EMPTY}HTTP/1.1 500 Not Asked For\r\nContent-Length: 0\r\n\r\n`)],
  ])("that %s is not used again", async (_, answer) => {
    expect(await three(answer)).toMatchObject({ statuses: [200, 200, 200], connections: 3 });
  });

  test("that the receiver closes while nothing is under way costs no delivery", async () => {
    let closed = Promise.resolve();
    const answer = (socket: Socket) => {
      closed = new Promise((resolve) => socket.on("close", () => resolve()));
      socket.write(EMPTY, () => socket.end());
    };
    expect(await three(answer, { between: () => closed })).toMatchObject({ statuses: [200, 200, 200], connections: 3 });
  });

  test("that says something before it is asked says nothing of the next delivery", async () => {
    let closed = Promise.resolve();
    const answer = (socket: Socket, _: number, request: number) => {
      closed = new Promise((resolve) => socket.on("close", () => resolve()));
      socket.write(request === 1 ? EMPTY : "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n");
      setImmediate(() => socket.write("HTTP/1.1 500 Nobody Asked\r\nContent-Length: 0\r\n\r\n"));
    };
    expect(await three(answer, { between: () => closed })).toMatchObject({ statuses: [200, 200, 200], connections: 3 });
  });

  test("that breaks in the middle of an answer tells what came of it", async () => {
    const { attempts } = await three((socket) => void socket.end(`${OK}Content-Length: 9\r\n\r\nhalf`));
    expect(attempts[0]).toMatchObject({ status: "failed", errorCode: "reset", responseStatus: 200, responseBody: "half" });
  });

  test("over which no HTTP comes is told of with the reason", async () => {
    const { attempts } = await three(answering(`${OK}Content-Length: many\r\n\r\n`));
    expect(attempts[0]).toMatchObject({
      errorCode: "reset",
      errorMessage: expect.stringMatching(/^What 127\.0\.0\.1:\d+ answered is not HTTP\/1\.1: its length is no number\.$/),
    });
  });
});
