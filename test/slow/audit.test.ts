// The audit of a receiver: correct receivers pass every probe, and each mistake is found only by the probe for it.

import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { beforeAll, describe, expect, test } from "vitest";
import { probes } from "../../src/audit/probes.ts";
import { escapedJson, goJson, pythonJson } from "../../src/kernel/json-forms.ts";
import { run } from "../support/program.ts";
import { type Answer, attempted, listen, open, shareForBlock } from "../support/sandbox.ts";
import { receive } from "../support/webhooks.ts";

const SECRET = "whsec_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/** The parts of a receiver. A receiver with a mistake replaces one part. */
interface Parts {
  read(incoming: IncomingMessage): Promise<Buffer>;
  isGenuine(body: Buffer, signature: string | undefined): boolean;
  /** The status for a body whose signature is right. */
  take(body: Buffer): number;
}

const digest = (body: Buffer) => createHmac("sha256", SECRET).update(body).digest("hex");

const DAY = 24 * 3_600;

const right: Parts = {
  async read(incoming) {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  },
  isGenuine(body, signature = "") {
    const expected = Buffer.from(digest(body));
    const received = Buffer.from(signature);
    return expected.length === received.length && timingSafeEqual(expected, received);
  },
  take(body) {
    try {
      const { created } = JSON.parse(body.toString("utf8"));
      return Date.now() / 1_000 - created < 3 * DAY ? 200 : 400;
    } catch {
      return 400;
    }
  },
};

async function answer(parts: Parts, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  try {
    const body = await parts.read(incoming);
    const signature = incoming.headers["x-webhook-signature"] as string | undefined;
    outgoing.writeHead(parts.isGenuine(body, signature) ? parts.take(body) : 401).end();
  } catch {
    outgoing.writeHead(500).end();
  }
}

/** Starts a receiver on node:http, and returns its URL. */
async function plain(changed: Partial<Parts> = {}): Promise<string> {
  const server = createServer((incoming, outgoing) => void answer({ ...right, ...changed }, incoming, outgoing));
  return `http://127.0.0.1:${await listen(server)}/hooks`;
}

const shared = shareForBlock({ clock: "real" });

/** Audits a receiver. The default sandbox uses real time, because receivers compare it with an event's `created`. */
const audit = async (url: string, secret = SECRET, bench = shared()): Promise<Answer["body"]> =>
  bench.control("POST", "/audit", { url, secret });

const verdicts = ({ probes: tried }: Answer["body"]): Record<string, string> =>
  Object.fromEntries(tried.map(({ probe, verdict }: Record<string, string>) => [probe, verdict]));

const names = probes.map(({ id }) => id);
/** The probe that is inconclusive in an audit without a count of effects. */
const unchecked = "acts_once";
const failed = (found: Answer["body"]) => names.filter((name) => verdicts(found)[name] === "fail");

/** Accepts a body without parsing it, unless its event is too old. */
const storing = (body: Buffer) => {
  const created = Number(/"created":\s*(\d+)/.exec(body.toString())?.[1] ?? Infinity);
  return Date.now() / 1_000 - created < 3 * DAY ? 202 : 400;
};

// Most of these tests are concurrent, because an audit spends most of its time waiting.
describe.concurrent("a correct receiver", () => {
  test.each([
    ["that parses each event", () => plain()],
    ["that stores the raw body of each event", () => plain({ take: storing })],
  ])("%s passes every probe, but the audit reports that acting once is unchecked", async (_, start) => {
    const found = await audit(await start());
    expect(found.probes.map(({ probe, verdict, did }: Record<string, string>) => [probe, verdict, did])).toEqual([
      ...names.map((name) => [name, "pass", expect.any(String)]),
      [unchecked, "inconclusive", "not checked: whether it acted once"],
    ]);
    expect([found.verdict, found.forgeryAccepted]).toEqual(["inconclusive", false]);
  });
});

const parsed = (body: Buffer) => JSON.parse(body.toString("utf8"));

/** A receiver that answers `otherwise` to a valid event for which `accepts` returns false. */
function taking(accepts: (event: Answer["body"]) => boolean, otherwise: number): Partial<Parts> {
  return {
    take(body) {
      const status = right.take(body);
      return status !== 200 || accepts(parsed(body)) ? status : otherwise;
    },
  };
}

describe.concurrent("an audit of whether a receiver rejects old events", () => {
  test("fails no probe if the clock is frozen, because it also sends events with the machine's time", async () => {
    const found = await audit(await plain(), SECRET, await open());
    expect([found.verdict, Object.keys(verdicts(found))]).toEqual(["inconclusive", [...names, unchecked]]);
    expect(failed(found)).toEqual([]);
    expect(found.probes[0].did).toContain(
      "with the time of the sandbox clock, 2026-01-05T12:00:00.000Z, it was rejected (answered 400",
    );
  });

  test("does not mention the machine's time if the receiver rejects events of any age", async () => {
    const found = await audit(await plain({ take: () => 400 }));
    expect(found.probes[0]).toMatchObject({ verdict: "fail", did: expect.not.stringContaining("machine's time") });
  });

  const anyAge: Partial<Parts> = { take: (body) => (body.at(-1) === "}".charCodeAt(0) ? 200 : 400) };

  test("is inconclusive without --max-age if the receiver accepts old events", async () => {
    const found = await audit(await plain(anyAge));
    const old = found.probes.find(({ probe }: Record<string, string>) => probe === "old_event");
    expect([found.verdict, old.verdict, old.did, old.why]).toEqual([
      "inconclusive",
      "inconclusive",
      expect.stringMatching(/^answered 200, in \d+ ms; not checked: whether it rejects old events$/),
      expect.stringContaining("keep event ids forever. With --max-age 3d, the audit checks this."),
    ]);
  });

  test.each([
    ["3d", "pass", right],
    ["3d", "fail", anyAge],
    ["1d", "fail", right],
  ])("with --max-age %s has the verdict %s", async (maxAge, verdict, parts) => {
    const url = await plain(parts);
    const found = await shared().control("POST", "/audit", { url, secret: SECRET, maxAge });
    expect(verdicts(found).old_event).toBe(verdict);
  });

  test("rejects a maxAge that is not a duration", async () => {
    const body = { url: await plain(), secret: SECRET, maxAge: "soon" };
    const { status, body: refused } = await shared().call("POST", "/_sandbox/audit", { key: null, body });
    expect([status, refused.message]).toEqual([
      400,
      'maxAge must be a duration such as 500ms, 30s or 30d; received "soon".',
    ]);
  });
});

/** Receivers with one mistake each, and the probe that finds it. `isForgery`: the receiver accepts a forged event. */
const mistakes: [mistake: string, probe: string, isForgery: boolean, start: () => Promise<string>][] = [
  ["answers a redirect", "valid_event", false, () => plain({ take: () => 302 })],
  [
    "compares the first eight digits of the signature",
    "bad_signature",
    true,
    () =>
      plain({
        isGenuine: (body, signature = "") => signature.length === 64 && digest(body).startsWith(signature.slice(0, 8)),
      }),
  ],
  [
    "fails if the signature has another length",
    "bad_signature",
    false,
    () =>
      plain({
        isGenuine: (body, signature) =>
          signature !== undefined &&
          signature !== "" &&
          timingSafeEqual(Buffer.from(digest(body)), Buffer.from(signature)),
      }),
  ],
  [
    "checks the signature only if there is one",
    "missing_signature",
    true,
    () => plain({ isGenuine: (body, signature) => signature === undefined || right.isGenuine(body, signature) }),
  ],
  [
    "accepts any prefix of the right signature",
    "missing_signature",
    true,
    () => plain({ isGenuine: (body, signature = "") => digest(body).startsWith(signature) }),
  ],
  [
    "accepts any body with a signature that was valid before",
    "body_changed",
    true,
    () => {
      const known = new Set<string>();
      return plain({
        isGenuine(body, signature = "") {
          if (right.isGenuine(body, signature)) known.add(signature);
          return known.has(signature);
        },
      });
    },
  ],
  [
    "accepts only indented JSON",
    "raw_bytes",
    false,
    () => plain({ take: (body) => (body.includes("\n") ? right.take(body) : 400) }),
  ],
  [
    "rejects an event that it already has",
    "same_event_twice",
    false,
    () => {
      const seen = new Set<string>();
      return plain(taking(({ id }) => !seen.has(id) && Boolean(seen.add(id)), 409));
    },
  ],
  [
    "rejects an event that is older than the newest event of the record",
    "out_of_order",
    false,
    () => {
      const newest = new Map<string, number>();
      return plain(
        taking(({ created, data }) => {
          if (created < (newest.get(data.id) ?? 0)) return false;
          newest.set(data.id, created);
          return true;
        }, 409),
      );
    },
  ],
  [
    "rejects an event type that it does not know",
    "unknown_type",
    false,
    () => plain(taking(({ type }) => type.startsWith("payment."), 400)),
  ],
  [
    "rejects fields that it does not know",
    "extra_fields",
    false,
    () => plain(taking((event) => !("addedTomorrow" in event), 422)),
  ],
  ["fails if the body is not JSON", "invalid_json", false, () => plain({ take: (body) => (parsed(body) ? 200 : 400) })],
  [
    "hashes only the first chunk of the body",
    "slow_send",
    false,
    () => {
      const first = (incoming: IncomingMessage) =>
        new Promise<Buffer>((resolve) => {
          // Chunks that follow each other within 120 ms count as the first chunk.
          const chunks: Buffer[] = [];
          let pause: NodeJS.Timeout | undefined;
          const end = () => resolve(Buffer.concat(chunks));
          incoming.on("data", (chunk: Buffer) => {
            chunks.push(chunk);
            clearTimeout(pause);
            pause = setTimeout(end, 120);
          });
          incoming.on("end", end);
        });
      return plain({ read: first });
    },
  ],
  [
    "has Express's default limit of 100 KB",
    "large_body",
    false,
    () =>
      plain({
        async read(incoming) {
          const body = await right.read(incoming);
          if (body.length > 102_400) throw new Error("too large");
          return body;
        },
      }),
  ],
  [
    "handles twenty requests at a time and rejects the others",
    "burst",
    false,
    () => {
      const waiting: (() => void)[] = [];
      let pause: NodeJS.Timeout | undefined;
      const answerAll = () => {
        for (const go of waiting.splice(0)) go();
      };
      return plain({
        async read(incoming) {
          const body = await right.read(incoming);
          if (waiting.length === 20) throw new Error("too many");
          // Answers once no more requests arrive. On a busy machine requests arrive slowly, so a receiver that
          // answers at once would not reach the limit.
          clearTimeout(pause);
          pause = setTimeout(answerAll, 200);
          await new Promise<void>((resolve) => waiting.push(resolve));
          return body;
        },
      });
    },
  ],
];

describe("each mistake is found by its probe and by no other", () => {
  const results = new Map<string, Answer["body"]>();

  beforeAll(async () => {
    const waiting = [...mistakes];
    const work = async () => {
      for (let next = waiting.shift(); next; next = waiting.shift()) results.set(next[0], await audit(await next[3]()));
    };
    await Promise.all([work(), work(), work(), work()]);
  });

  test.each(mistakes)("a receiver that %s fails the probe %s", (mistake, probe, isForgery) => {
    const found = results.get(mistake);
    expect([failed(found), found.forgeryAccepted, found.verdict], JSON.stringify(found.probes)).toEqual([
      [probe],
      isForgery,
      "fail",
    ]);
  });

  test("every probe has a receiver that fails it", () => {
    const found = [...mistakes.map(([, probe]) => probe), "old_event"];
    expect([...new Set(found)].sort()).toEqual([...names].sort());
  });
});

describe.concurrent("a receiver that verifies the parsed and re-serialised body", () => {
  const reserialising = (write: (value: unknown) => string) =>
    plain({ isGenuine: (body, signature) => right.isGenuine(Buffer.from(write(parsed(body))), signature) });

  test.each<[string, (value: unknown) => string]>([
    ["JavaScript's JSON.stringify", JSON.stringify],
    ["JSON.stringify with two spaces", (value) => JSON.stringify(value, null, 2)],
    ["PHP's json_encode", (value) => escapedJson(value)],
    ["Python's json.dumps", (value) => pythonJson(value)],
    ["Go's json.Marshal of a map", (value) => goJson(value)],
  ])("with %s fails, and is told to verify the raw bytes", async (_, write) => {
    const { probes: tried, verdict } = await audit(await reserialising(write));
    // The sandbox indents the first event by two spaces, so a receiver that does the same accepts that event.
    if (verdicts({ probes: tried }).valid_event === "fail") expect(tried[0].why).toMatch(/^The signature is that of/);
    const found = tried.find(({ probe }: Record<string, string>) => probe === "raw_bytes");
    expect([verdict, found.verdict]).toEqual(["fail", "fail"]);
    expect(found.why).toMatch(/^The signature is that of the parsed and re-serialised body: verify the raw bytes\./);
  });
});

describe.concurrent("an audit of a receiver with a wrong secret", () => {
  const verifying = (secretOf: () => string) =>
    plain({
      isGenuine: (body, signature) => signature === createHmac("sha256", secretOf()).update(body).digest("hex"),
    });
  const withSecret = (secret: string) => verifying(() => secret);

  test.each([
    ["without its prefix", SECRET.slice("whsec_".length), "the secret without its whsec_"],
    ["with a line break after it", `${SECRET}\n`, "the secret and the line break after it"],
  ])("recognises the right secret %s", async (_, secret, what) => {
    const [genuine] = (await audit(await withSecret(secret))).probes;
    expect([genuine.verdict, genuine.why]).toEqual([
      "fail",
      `The receiver verifies with ${what}: give it this endpoint's secret, unchanged.`,
    ]);
  });

  test.each(["real", "2026-01-05T12:00:00Z"])(
    "recognises another endpoint's secret, and the secret before the last rotation, if the clock is %s",
    async (clock) => {
      const bench = await open({ clock });
      const register = async (url: string) =>
        (await bench.call("POST", "/v1/webhooks", { body: { url, events: ["payment.succeeded"] } })).body;
      const other = await register(await plain());
      let secret = other.secret;
      const url = await verifying(() => secret);
      const own = await register(url);
      const found = await bench.control("POST", "/audit", { url });
      expect(found.probes[0].why).toContain(`verifies with the secret of the endpoint ${other.id} of mer_lodge`);
      secret = own.secret;
      await bench.call("POST", `/v1/webhooks/${own.id}/rotate-secret`, { body: {} });
      const after = await bench.control("POST", "/audit", { url });
      expect(after.probes[0].why).toContain(`verifies with the secret of ${own.id} before its last rotation`);
    },
  );

  test("advises to check the secret if no known secret matches", async () => {
    const [genuine] = (await audit(await withSecret("whsec_elsewhere"))).probes;
    expect(genuine.why).toMatch(/^Check the secret first: /);
  });
});

describe("an audit", () => {
  test("names the request, the actual and the expected response, and the reason of a failure", async () => {
    const { probes: tried } = await audit(await plain(taking(({ type }) => type.startsWith("payment."), 400)));
    expect(tried.find(({ probe }: Record<string, string>) => probe === "unknown_type")).toEqual({
      probe: "unknown_type",
      verdict: "fail",
      sent: "an event of a type that does not exist yet",
      did: expect.stringMatching(/^answered 400, in \d+ ms$/),
      should: "answer 2xx",
      why: expect.stringMatching(/./),
    });
    expect(tried.at(-2).did).toMatch(/^answered 200 ×200, the slowest in \d+ ms$/);
  });

  test("fails the forgery probes if the receiver checks no signature", async () => {
    const found = await audit(await plain({ isGenuine: () => true }));
    expect(failed(found)).toEqual(["bad_signature", "missing_signature", "body_changed"]);
    expect(found.forgeryAccepted).toBe(true);
    const unread = await audit(await plain({ isGenuine: () => true, take: () => 202 }));
    expect(failed(unread)).toEqual(["bad_signature", "missing_signature", "body_changed", "invalid_json"]);
  });

  test("leaves all later probes inconclusive if the receiver rejects genuine events", async () => {
    const found = await audit(await plain(), "whsec_another");
    expect(failed(found)).toEqual(["valid_event"]);
    expect(names.filter((name) => verdicts(found)[name] === "inconclusive")).toEqual(names.slice(1));
    expect(found.probes[1].did).toMatch(/^answered 401 ×3, the slowest in \d+ ms, as it did to a genuine event$/);
    expect(found.probes[5].did).toBe("was not tried: the receiver did not accept a genuine event");
  });

  test("leaves the burst inconclusive if connections stay in the system's listen backlog", async () => {
    let most = Infinity;
    let arrived = 0;
    // Simulates connections left in the listen backlog: the last requests of the burst are never read.
    const url = await plain({
      async read(incoming) {
        if (++arrived > most) await new Promise(() => {});
        return right.read(incoming);
      },
    });
    await audit(url);
    [most, arrived] = [arrived - 50, 0];
    // Within four seconds, even a busy machine answers the other connections.
    const found = await audit(url, SECRET, await open({ clock: "real", webhookTimeout: "4s" }));
    expect([found.verdict, failed(found), verdicts(found).burst]).toEqual(["inconclusive", [], "inconclusive"]);
    expect(found.probes.at(-2).did).toMatch(/ \(50 of 200 connections waited in the system's listen backlog\)$/);
  });

  test("sends nothing more after the client that started the audit has disconnected", async () => {
    const bench = await open({ webhookTimeout: 600_000 });
    const receiver = await receive();
    const held: ServerResponse[] = [];
    receiver.always((_, outgoing) => void held.push(outgoing));
    attempted("Work for callers that have gone");
    const left = request(`${bench.url}/_sandbox/audit`, {
      method: "POST",
      headers: { "content-type": "application/json" },
    });
    left.on("error", () => {}).end(JSON.stringify({ url: receiver.url, secret: SECRET }));
    await receiver.arrived(1);
    left.destroy();
    await bench.control("GET", "/clock");
    for (const outgoing of held) outgoing.end();
    for (let turns = 0; turns < 20; turns++) await bench.control("GET", "/clock");
    expect(receiver.arrivals).toHaveLength(1);
  });

  test("tries nothing more once the receiver is down", async () => {
    const server = createServer((incoming, outgoing) => {
      outgoing.setHeader("connection", "close");
      if (incoming.headers["x-webhook-signature"] === undefined) server.close();
      void answer(right, incoming, outgoing);
    });
    const found = await audit(`http://127.0.0.1:${await listen(server)}/hooks`);
    expect(failed(found)).toEqual(["missing_signature"]);
    const later = found.probes.slice(names.indexOf("missing_signature") + 1, names.length);
    expect([...new Set(later.map(({ did }: Record<string, string>) => did))]).toEqual([
      "was not tried: the receiver has been down since missing_signature",
    ]);
  });

  test("is inconclusive if nothing listens at the address", async () => {
    // If the sandbox opened after the receiver had closed, it could get the receiver's port.
    const bench = await open();
    const receiver = await receive();
    await receiver.close();
    const found = await audit(receiver.url, SECRET, bench);
    expect([found.verdict, found.forgeryAccepted, failed(found)]).toEqual(["inconclusive", false, []]);
    expect(found.probes[0].did).toMatch(/^Nothing listens at 127\.0\.0\.1:\d+ \(ECONNREFUSED\)/);
  });
});

test("the secret must be given if no endpoint is registered for the URL", async () => {
  const { status, body } = await shared().call("POST", "/_sandbox/audit", {
    key: null,
    body: { url: "http://localhost:3000/hooks" },
  });
  expect([status, body.code]).toEqual([404, "resource_not_found"]);
  expect(body.message).toBe(
    "No endpoint is registered at http://localhost:3000/hooks: pass its receiver's secret, as in `--secret whsec_...`.",
  );
});

test.each([
  ["http://example.com/hooks", "webhook_url_not_local"],
  ["http://169.254.169.254/", "webhook_url_not_local"],
  ["ftp://localhost/", "invalid_webhook_url"],
  ["the sandbox itself", "invalid_webhook_url"],
])("an audit of %s is rejected", async (given, code) => {
  const bench = shared();
  const url = given === "the sandbox itself" ? `${bench.url}/v1/webhooks` : given;
  const { status, body } = await bench.call("POST", "/_sandbox/audit", { key: null, body: { url, secret: SECRET } });
  expect([status, body.code]).toEqual([400, code]);
});

test("an audit adds no delivery, event or request to the logs", async () => {
  const bench = await open();
  await audit(await plain(), SECRET, bench);
  for (const path of ["/deliveries", "/events", "/requests"])
    expect((await bench.control("GET", path)).data).toEqual([]);
});

test("the command audit accepts a port, with or without a path, as the receiver's address", async () => {
  const nowhere = { MERCHANT_SANDBOX_PORT: "1" };
  const { port, close } = await receive();
  await close();
  for (const [target, url] of [
    [`${port}`, `http://localhost:${port}/`],
    [`${port}/hooks`, `http://localhost:${port}/hooks`],
    [`localhost:${port}/hooks`, `http://localhost:${port}/hooks`],
  ] as const) {
    const { error } = await run(["audit", target], nowhere);
    expect(error).toContain(`No sandbox runs here that knows the secret of ${url}: `);
  }
});

test("the command audit starts its own sandbox if none runs and the secret is given", async () => {
  const nowhere = { MERCHANT_SANDBOX_PORT: "1" };
  const { url, close } = await receive();
  await close();
  const { code, out, error } = await run(["audit", url, "--secret", "whsec_x", "--json"], nowhere);
  expect([code, error]).toEqual([4, ""]);
  expect(JSON.parse(out[0] ?? "").probes.length).toBeGreaterThan(5);
  expect(await run(["audit", url], nowhere)).toMatchObject({
    code: 1,
    error:
      `merchant-sandbox: No sandbox runs here that knows the secret of ${url}: add --secret whsec_…, ` +
      "or start one with npx merchant-sandbox.\n",
  });
});
