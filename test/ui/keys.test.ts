// The dashboard's input: keys in chunks of any size, filters, and the digest of the live stream.

import { once } from "node:events";
import { createServer } from "node:http";
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import {
  type FilterFacts,
  filterProblem,
  readRowFilter,
  requestFacts,
  requestVocabulary,
} from "../../src/client/row-filter.ts";
import type { LiveItem, LiveMessage } from "../../src/contracts/live-messages.ts";
import { createHub } from "../../src/live/hub.ts";
import { isPaste, textOf } from "../../ui/panes/overlays/field.ts";
import { createKeyReader, readKeys, reportOf } from "../../ui/terminal/read-keys.ts";
import { anyText } from "../support/fuzzing.ts";
import { hubOptions } from "../support/hub.ts";
import { attempted, request, requested } from "../support/live-rows.ts";
import { listen } from "../support/sandbox.ts";

describe("keys", () => {
  test.each([
    ["jjk", ["j", "j", "k"]],
    ["\x1b[A\x1b[B\x1b[C\x1b[D", ["up", "down", "right", "left"]],
    ["\x1bOA\x1bOB", ["up", "down"]],
    ["\x1b[H\x1b[F\x1b[1~\x1b[4~\x1bOH\x1bOF", ["home", "end", "home", "end", "home", "end"]],
    ["\x1b[5~\x1b[6~\x1b[3~", ["pageup", "pagedown", "delete"]],
    ["\r\n\t\x7f\b ", ["enter", "enter", "tab", "backspace", "backspace", "space"]],
    ["\x03\x04\x15\x1a\x0c", ["ctrl-c", "ctrl-d", "ctrl-u", "ctrl-z", "ctrl-l"]],
    ["\x1b[Z", ["shift-tab"]],
    ["\x1b", ["escape"]],
    ["\x1bq", ["escape", "q"]],
    ["/é日🏨", ["/", "é", "日", "🏨"]],
  ])("the bytes %j are the keys %j", (piece, names) => {
    expect(readKeys(piece)).toEqual(names);
  });

  test.each([
    ["a function key", "\x1b[15~"],
    ["a function key of the Linux console", "\x1b[[A"],
    ["an arrow with a modifier", "\x1b[1;5A"],
    ["a mouse report", "\x1b[<0;12;7M"],
    ["a change of focus", "\x1b[I"],
    ["a report of the cursor's position", "\x1b[24;80R"],
    ["a C1 control character", "\x9b"],
    ["half a surrogate pair", "\ud83c"],
  ])("%s is ignored, and the keys around it are not", (_, sequence) => {
    expect(readKeys(`a${sequence}b`)).toEqual(["a", "b"]);
  });

  /** The keys of input that arrives in pieces. No piece ends with an escape, because a lone escape is a key. */
  function readSplit(bytes: Buffer, cuts: readonly number[]): string[] {
    const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].filter(
      (place) => bytes[place - 1] !== 0x1b,
    );
    const edges = [0, ...places.toSorted((one, other) => one - other), bytes.length];
    const read = createKeyReader();
    return edges.slice(1).flatMap((end, index) => read(bytes.subarray(edges[index], end)));
  }

  const piece = fc.constantFrom(
    "j",
    "G",
    " ",
    "\r",
    "\t",
    "\x03",
    "\x7f",
    "é",
    "日",
    "🏨",
    "\x1b[A",
    "\x1bOB",
    "\x1b[5~",
    "\x1b[Z",
    "\x1b[1;5C",
    "\x1b[[B",
    "\x1b]11;rgb:ffff/ffff/ffff\x07",
    "\x1b]4;1;rgb:cdcd/0000/0000\x1b\\",
  );

  test("are the same however the input is split, except after an escape", () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.array(fc.nat(60), { maxLength: 8 }), (pieces, cuts) => {
        const bytes = Buffer.from(pieces.join(""));
        expect(readSplit(bytes, cuts)).toEqual(readKeys(bytes.toString()));
      }),
    );
  });

  test("a report of the terminal is kept apart from the keys around it, and types no text", () => {
    const keys = readKeys("a\x1b]11;rgb:ffff/ffff/ffff\x07b\x1b]4;1;rgb:cd/00/00\x1b\\c");
    expect(keys.map((key) => reportOf(key) ?? textOf(key))).toEqual([
      "a",
      "11;rgb:ffff/ffff/ffff",
      "b",
      "4;1;rgb:cd/00/00",
      "c",
    ]);
    expect(keys.map(textOf)).toEqual(["a", undefined, "b", undefined, "c"]);
  });

  test("an escape at the end of a chunk is a key at once", () => {
    const read = createKeyReader();
    expect(read(Buffer.from("\x1b"))).toEqual(["escape"]);
    expect(read(Buffer.from("\x1b["))).toEqual([]);
    expect(read(Buffer.from("Aj"))).toEqual(["up", "j"]);
  });

  test("no key types a control character, whatever the input", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 12 }), { maxLength: 5 }), (pieces) => {
        const read = createKeyReader();
        for (const name of pieces.flatMap((bytes) => read(Buffer.from(bytes)))) {
          expect(name).not.toMatch(/\p{Cc}|\p{Cs}/u);
          if (!isPaste(name)) expect([...(textOf(name) ?? "x")]).toHaveLength(1);
        }
      }),
    );
  });

  test("pasted text is one key however the input is split, and never triggers a key binding", () => {
    fc.assert(
      fc.property(anyText(), fc.array(fc.nat(60), { maxLength: 8 }), (text, cuts) => {
        const bytes = Buffer.from(`j\x1b[200~${text.replaceAll("\x1b", "")}\x1b[201~k`);
        const keys = readSplit(bytes, cuts);
        expect([keys.length, keys[0], keys[2]]).toEqual([3, "j", "k"]);
        expect(isPaste(keys[1] as string)).toBe(true);
      }),
    );
  });

  test("pasted text enters an input as one line", () => {
    const keys = createKeyReader()(Buffer.from("\x1b[200~curl -X POST \\\r\n  http://127.0.0.1\t\x07\x1b[201~"));
    expect(keys.map(textOf)).toEqual(["curl -X POST \\ http://127.0.0.1"]);
  });
});

const FACTS: FilterFacts = {
  text: "GET /v1/payments?limit=25 429 mer_lodge req_17 payments.list",
  fields: {
    id: "req_17",
    method: "GET",
    path: "/v1/payments?limit=25",
    status: 429,
    ms: 120.5,
    merchant: "mer_lodge",
    time: "2026-01-05T12:04:30.250Z",
    key: null,
  },
};

const passes = (filter: string, facts = FACTS) => readRowFilter(filter)(facts);

describe("a filter", () => {
  test.each([
    "",
    "payments",
    "status:429",
    "status:4xx",
    "ms>100",
    "ms<121 ms>120",
    '"mer_lodge req"',
    'merchant:"lodge"',
    "key:",
    "time:12:04",
    "time>12:04 time<12:05",
    "time>12:04:30 time<12:04:31",
    "time>2026-01-05T12 time<2026-01-06",
    '"GET /v1',
  ])("%j matches", (filter) => {
    expect(passes(filter)).toBe(true);
  });

  test.each([
    "stage",
    "status:200",
    "status:4xx method:post",
    "ms>120.5",
    "ms<100",
    "!status:4xx",
    '"lodge mer"',
    "key:x",
    "time:04:30",
    "time>12:04:31",
    "time<12:04:30",
    "time>2026-01-06",
    "time>",
    "nobody:here",
  ])("%j does not match", (filter) => {
    expect(passes(filter)).toBe(false);
  });

  test("compares all digits of a number, and only the first digit of a class", () => {
    const at = (status: number) => ({ text: "", fields: { status } });
    const found = (filter: string) => [40, 404, 440, 4_040].filter((status) => passes(filter, at(status)));
    expect(["status:404", "status:4xx", "status:4", "status:40", "status:"].map(found)).toEqual([
      [404],
      [404, 440],
      [],
      [40],
      [40, 404, 440, 4_040],
    ]);
  });

  test("finds rows by their marks, such as is:cut", () => {
    const rows = [
      request(1),
      request(2, { status: 0, fault: "flt_1" }),
      request(3, { replayOf: "req_1" }),
      request(4, { status: 404 }),
      request(5, { fault: "flt_2" }),
      request(6, { ignored: "expand" }),
    ].map((one) => ({ id: one.id, facts: requestFacts(one) }));
    const found = (filter: string) => rows.filter(({ facts }) => passes(filter, facts)).map(({ id }) => id);
    expect(found("is:cut")).toEqual(["req_2"]);
    expect(found("is:fault")).toEqual(["req_2", "req_5"]);
    expect(found("is:replay")).toEqual(["req_3"]);
    expect(found("is:ignored")).toEqual(["req_6"]);
    expect(found("is:FAILED !is:cut")).toEqual(["req_4"]);
    expect(found("cut")).toEqual(["req_2"]);
  });

  test.each([
    [
      "colour:red",
      "There is no field colour:. " +
        "The fields are id:, method:, path:, status:, ms:, time:, operation:, merchant:, key:, fault:, sequence:",
    ],
    ["status:404 !nobody:here", /^There is no field nobody:\. /],
    ["size>3", /^There is no field size:\. /],
    ["status:abc", "status: takes a number, or a class such as 4xx, not abc"],
    ["time>noon", "time: takes a time such as 12:04, 12:04:30 or 2026-01-05T12:04, not noon"],
    ["is:broken", "There is no mark is:broken. The marks are is:cut, is:fault, is:replay, is:failed"],
  ])("with %s has a problem that names the valid fields or values", (filter, problem) => {
    expect(filterProblem(filter, requestVocabulary)).toMatch(problem);
  });

  test.each([
    "",
    "red",
    "status:",
    "is:",
    "is:fa",
    "http://127.0.0.1",
    '"colour:red"',
    "!",
    "Status:404",
    "time>1",
    "time>2026-01-05T1",
  ])("%j has no problem", (filter) => {
    expect(filterProblem(filter, requestVocabulary)).toBeUndefined();
  });

  const facts = fc.record({
    text: fc.string(),
    fields: fc.record({
      status: fc.integer({ min: 100, max: 599 }),
      ms: fc.double({ min: 0, max: 1e6, noNaN: true }),
      path: fc.string(),
    }),
  });
  test("accepts any text", () => {
    fc.assert(fc.property(anyText(), facts, (filter, row) => typeof passes(filter, row) === "boolean"));
  });
});

async function openHub() {
  const hub = createHub(hubOptions());
  const server = createServer().on("upgrade", hub.acceptUpgrade);
  const socket = new WebSocket(`ws://127.0.0.1:${await listen(server)}/?digest=1`);
  onTestFinished(() => {
    socket.terminate();
    hub.close();
  });
  const messages: LiveMessage[] = [];
  const waiting: (() => void)[] = [];
  socket.on("message", (text) => {
    messages.push(JSON.parse(String(text)) as LiveMessage);
    for (const look of waiting.splice(0)) look();
  });
  await once(socket, "open");
  /** Resolves when the newest message is the digest that ends with this event. */
  const told = async (seq: number) => {
    for (;;) {
      const last = messages.at(-1);
      if (last?.type === "digest" && last.seq === seq) return;
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  const digests = () => messages.filter((message) => message.type === "digest");
  return { hub, socket, told, digests, items: (): LiveItem[] => digests().flatMap(({ items }) => items) };
}

const idsOf = (items: readonly LiveItem[]) =>
  items.flatMap((item) => {
    if (item.kind === "request") return item.request.id;
    return item.kind === "attempt" ? item.attempt.id : [];
  });

describe("a digest", () => {
  test("has the newest items of each kind, in order, and exact counts", async () => {
    const { hub, told, items, digests } = await openHub();
    for (let number = 1; number <= 500; number++) {
      hub.publish(requested(number));
      if (number % 50 === 0) hub.publish(attempted(number));
    }
    await told(510);
    const ids = idsOf(items());
    expect(ids.filter((id) => id.startsWith("req_"))).toEqual(
      Array.from({ length: 60 }, (_, index) => `req_${441 + index}`),
    );
    expect(ids.filter((id) => id.startsWith("whd_"))).toEqual(
      Array.from({ length: 10 }, (_, index) => `whd_${(index + 1) * 50}`),
    );
    const numbers = items().map(({ seq }) => seq);
    expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
    expect(digests().at(-1)?.made).toMatchObject({ requests: 500, attempts: 10 });
  });

  test("includes the requests and deliveries that match the subscribed filters", async () => {
    const { hub, socket, told, items } = await openHub();
    socket.send(JSON.stringify({ requests: "status:5xx", deliveries: "result:failed" }));
    // The pong arrives after the subscription was read, because the socket handles its messages in order.
    socket.ping();
    await once(socket, "pong");
    for (let number = 1; number <= 400; number++) {
      hub.publish(requested(number, number === 7 || number === 9 ? { status: 503 } : {}));
      hub.publish(attempted(number, number === 8 ? { status: "failed" } : {}));
    }
    await told(800);
    const ids = idsOf(items());
    expect(ids).toHaveLength(123);
    expect(ids.slice(0, 3)).toEqual(["req_7", "whd_8", "req_9"]);
  });

  test("never omits a reset", async () => {
    const { hub, told, items } = await openHub();
    for (let number = 1; number <= 200; number++) hub.publish({ kind: "reset", merchant: null });
    await told(200);
    expect(items()).toHaveLength(200);
  });
});
