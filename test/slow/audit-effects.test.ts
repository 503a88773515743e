// If an audit counts effects, a correct receiver passes. A receiver that acts twice on an event, or never, fails.

import { createHmac } from "node:crypto";
import { appendFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { effectProbes, restartProbe } from "../../src/audit/effect-probes.ts";
import { probes } from "../../src/audit/probes.ts";
import { connect } from "../../src/index.ts";
import { folder, PROGRAM, run } from "../support/program.ts";
import { freePort, listen, open, shareForBlock } from "../support/sandbox.ts";

const SECRET = "whsec_0123456789abcdef";

interface Shop {
  /** The ids of events that the receiver knows. */
  known: Set<string>;
  orders: number;
  /** How often each event arrived. */
  arrivals: Map<string, number>;
}

type Handler = (id: string, shop: Shop) => number | Promise<number>;

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** A receiver that verifies signatures. For each event whose type matches `events`, `handle` returns the status. */
async function openShop(handle: Handler, events = /./) {
  const shop: Shop = { known: new Set(), orders: 0, arrivals: new Map() };
  const statusFor = async (incoming: IncomingMessage) => {
    const body = await readBody(incoming);
    const digest = createHmac("sha256", SECRET).update(body).digest("hex");
    if (incoming.headers["x-webhook-signature"] !== digest) return 401;
    const { id, type, created } = JSON.parse(body.toString("utf8"));
    if (Date.now() / 1_000 - created > 3 * 24 * 3_600) return 400;
    shop.arrivals.set(id, (shop.arrivals.get(id) ?? 0) + 1);
    return events.test(type) ? handle(id, shop) : 200;
  };
  const server = createServer(async (incoming, outgoing) => {
    outgoing.writeHead(await statusFor(incoming).catch(() => 400)).end();
  });
  return { url: `http://127.0.0.1:${await listen(server)}/`, shop };
}

const once: Handler = (id, shop) => {
  if (!shop.known.has(id)) shop.orders++;
  shop.known.add(id);
  return 200;
};

/** Receivers with one mistake each. `failed` lists the probes that must find the mistake. */
const mistakes: [mistake: string, handle: Handler, failed: string[]][] = [
  [
    "acts on each delivery",
    (_, shop) => ++shop.orders && 200,
    ["same_event_twice", "three_times", "twenty_times", "twenty_at_once", "after_error", "after_timeout"],
  ],
  [
    "stores an event's id only after its work is done",
    async (id, shop) => {
      if (shop.known.has(id)) return 200;
      await new Promise((resolve) => setTimeout(resolve, 30));
      shop.orders++;
      shop.known.add(id);
      return 200;
    },
    ["twenty_at_once"],
  ],
  [
    "remembers only the latest event, and forgets it after its first copy",
    (id, shop) => {
      if (!shop.known.has(id)) shop.orders++;
      shop.known = new Set(shop.arrivals.get(id) === 2 ? [] : [id]);
      return 200;
    },
    ["three_times", "twenty_times", "twenty_at_once"],
  ],
  [
    "acts but answers 500, and acts again on the retry",
    (id, shop) => {
      const isFirst = shop.arrivals.get(id) === 1;
      if (isFirst || !shop.known.has(id)) shop.orders++;
      if (!isFirst) shop.known.add(id);
      return isFirst ? 500 : 200;
    },
    ["valid_event", "after_error"],
  ],
  [
    "loses every third event that it has accepted",
    (id, shop) => {
      if (!shop.known.has(id) && shop.known.size % 3 !== 2) shop.orders++;
      shop.known.add(id);
      return 200;
    },
    ["raw_bytes", "burst"],
  ],
  [
    "loses the first event that it has accepted",
    (id, shop) => {
      if (!shop.known.has(id) && shop.known.size > 0) shop.orders++;
      shop.known.add(id);
      return 200;
    },
    ["valid_event"],
  ],
];

const shared = shareForBlock({ clock: "real" });

// These tests are concurrent, because an audit mostly waits for a receiver that might still act.
describe.concurrent("an audit that counts effects", () => {
  test("passes every probe with a correct receiver", async () => {
    const { url, shop } = await openShop(once);
    const found = await shared().audit({ url, secret: SECRET, effects: () => shop.orders, restart: () => {} });
    expect(found.probes.map(({ probe, verdict }) => [probe, verdict])).toEqual(
      [...probes, ...effectProbes, restartProbe].map(({ id }) => [id, "pass"]),
    );
    expect(found.verdict).toBe("pass");
    const did = Object.fromEntries(found.probes.map((probe) => [probe.probe, probe.did]));
    expect([did.bad_signature, did.burst, did.twenty_at_once]).toEqual([
      expect.stringMatching(/; acted 0 times$/),
      expect.stringMatching(/; acted 200 times$/),
      expect.stringMatching(/; acted once$/),
    ]);
  });

  test("finds each mistake of a receiver, and says how to fix it", { timeout: 120_000 }, async () => {
    const tried = mistakes.map(async ([mistake, handle, expected]) => {
      const { url, shop } = await openShop(handle);
      const found = await shared().audit({ url, secret: SECRET, effects: () => shop.orders });
      const failed = found.probes.filter(({ verdict }) => verdict === "fail");
      expect([mistake, found.verdict, failed.map(({ probe }) => probe)], JSON.stringify(failed)).toEqual([
        mistake,
        "fail",
        expect.arrayContaining(expected),
      ]);
      expect(failed.at(-1)?.why).toMatch(/unique constraint|before you answer 2xx/);
    });
    await Promise.all(tried);
  });

  test("retries a rejected copy, as the service does, in probes where only the effects matter", async () => {
    const { url, shop } = await openShop((id, one) => (one.arrivals.get(id) === 2 ? 503 : once(id, one)));
    const found = await shared().audit({ url, secret: SECRET, effects: () => shop.orders });
    const failed = found.probes.filter(({ verdict }) => verdict === "fail");
    expect(failed.map(({ probe }) => probe)).toEqual(["same_event_twice", "after_timeout"]);
  });

  test("finds a receiver that forgets its events when it restarts", async () => {
    const { url, shop } = await openShop(once);
    const restart = () => shop.known.clear();
    const found = await shared().audit({ url, secret: SECRET, effects: () => shop.orders, restart });
    expect(found.probes.filter(({ verdict }) => verdict !== "pass").map(({ probe }) => probe)).toEqual([
      "after_restart",
    ]);
  });

  test("fails if the count grows by more than the requests, and says that the count may be a sum", async () => {
    const { url, shop } = await openShop(once);
    const found = await shared().audit({ url, secret: SECRET, effects: () => shop.orders * 1_250 });
    expect(found.probes[0]).toMatchObject({ verdict: "fail", why: expect.stringContaining("instead of adding up") });
  });

  test("finds a receiver that acts again 0.9 s after its response", async () => {
    const { url, shop } = await openShop((id, one) => {
      if (one.arrivals.get(id) === 20) setTimeout(() => one.orders++, 900);
      return once(id, one);
    });
    const found = await shared().audit({ url, secret: SECRET, effects: () => shop.orders });
    expect(found.verdict, JSON.stringify(found.probes)).toBe("fail");
  });

  test("is inconclusive if no sent event changes the count, and passes with the right `event`", async () => {
    const bench = await open();
    const sandbox = connect(bench.url);
    const { url, shop } = await openShop(once, /^booking\.declined$/);
    const effects = () => shop.orders;
    const unnamed = await sandbox.audit({ url, secret: SECRET, effects });
    expect([unnamed.verdict, unnamed.probes[0]]).toEqual([
      "inconclusive",
      expect.objectContaining({ verdict: "inconclusive", why: expect.stringContaining("--event booking.created") }),
    ]);
    await expect(sandbox.audit({ url, secret: SECRET, effects, event: "booking.declined" })).rejects.toThrow(
      "npx merchant-sandbox trigger booking.declined",
    );
    await sandbox.events.trigger({ type: "booking.declined" });
    const named = await sandbox.audit({ url, secret: SECRET, effects, event: "booking.declined" });
    expect([named.verdict, shop.orders], JSON.stringify(named.probes)).toEqual(["pass", expect.any(Number)]);
  });

  test("rejects a count that is not a whole number", async () => {
    const { url } = await openShop(once);
    await expect(shared().audit({ url, secret: SECRET, effects: () => Number.NaN })).rejects.toThrow(
      "effects must return how often the receiver has acted, a whole number; received NaN.",
    );
  });

  test("accepts a number over the control API, but no command", async () => {
    const bench = shared();
    const body = { url: "http://127.0.0.1:1/", secret: SECRET, effects: "touch /tmp/owned" };
    const { status, body: refused } = await bench.call("POST", "/_sandbox/audits", { key: null, body });
    expect([status, refused.message]).toEqual([400, expect.stringContaining("effects must be")]);
    const gone = await bench.call("POST", "/_sandbox/audits/aud_9", { key: null, body: { effects: 1 } });
    expect([gone.status, gone.body.message]).toEqual([
      404,
      "No audit aud_9 waits for a count: start one with POST /audits.",
    ]);
  });
});

describe.concurrent("the command audit", () => {
  const nowhere = { MERCHANT_SANDBOX_PORT: "1" };

  /** A receiver that writes a line for each event it acts on. A DELETE makes a forgetful receiver forget all events. */
  async function openWriter(isForgetful: boolean) {
    const file = join(folder(), "orders.log");
    writeFileSync(file, "");
    const port = await freePort();
    const known = new Set<string>();
    const server = createServer(async (incoming, outgoing) => {
      const body = await readBody(incoming);
      const isRestart = incoming.method === "DELETE";
      if (isRestart && isForgetful) known.clear();
      if (isRestart) return void outgoing.end();
      const digest = createHmac("sha256", SECRET).update(body).digest("hex");
      if (incoming.headers["x-webhook-signature"] !== digest) return void outgoing.writeHead(401).end();
      const id = /evt_\w+/.exec(body.toString("utf8"))?.[0] ?? "";
      if (!known.has(id)) appendFileSync(file, `${id}\n`);
      known.add(id);
      outgoing.end();
    });
    await new Promise<void>((resolve) => void server.listen(port, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${port}/`;
    const restart = `"${process.execPath}" -e 'fetch("${url}", { method: "DELETE" })'`;
    return { url, effects: `wc -l < '${file}'`, restart };
  }

  test("runs the user's commands for the count and the restart", { timeout: 120_000 }, async () => {
    const tried = [false, true].map(async (isForgetful) => {
      const { url, effects, restart } = await openWriter(isForgetful);
      const age = isForgetful ? [] : ["--max-age", "3d"];
      const words = ["--secret", SECRET, "--effects", effects, "--restart", restart, ...age];
      const { code, out, error } = await run(["audit", url, ...words], nowhere);
      const last = isForgetful
        ? /^fail: \d+ of \d+ probes passed, 1 failed; not checked: whether it rejects old events \(--max-age\)\.$/
        : /^fail: \d+ of \d+ probes passed, 1 failed\.$/;
      expect([code, error, out.at(-1)], out.join("\n")).toEqual([1, "", expect.stringMatching(last)]);
      const failed = isForgetful ? "after_restart" : "old_event";
      expect(out.filter((line) => line.startsWith("FAIL")).map((line) => line.split(/ +/)[1])).toEqual([failed]);
    });
    await Promise.all(tried);
  });

  test("reports what a command printed instead of a number, and how a failed command ended", async () => {
    const { url } = await openWriter(false);
    const audit = (...words: string[]) => run(["audit", url, "--secret", SECRET, ...words], nowhere);
    expect(await audit("--effects", "echo many")).toMatchObject({
      code: 2,
      error:
        'merchant-sandbox: --effects "echo many" must print one whole number, how often the receiver has acted; ' +
        'it printed "many".\n',
    });
    expect(await audit("--effects", "exit 7")).toMatchObject({
      code: 1,
      error: 'merchant-sandbox: --effects "exit 7" failed: it ended with 7.\n',
    });
    expect(await audit("--restart", "true")).toMatchObject({
      code: 2,
      error: expect.stringContaining("--restart needs --effects <command>"),
    });
  });
});

describe.concurrent("a scenario", () => {
  test.each([
    [true, "pass", 0],
    [false, "fail", 3],
  ])(
    "whose receiver acts once per event (%s) has the verdict %s if effects are counted",
    async (isRight, verdict, code) => {
      const bench = await open({ clock: "real" });
      const file = join(folder(), "orders.log");
      writeFileSync(file, "");
      const known = new Set<string>();
      const server = createServer(async (incoming, outgoing) => {
        const id = /evt_\w+/.exec((await readBody(incoming)).toString("utf8"))?.[0] ?? "";
        if (!isRight || !known.has(id)) appendFileSync(file, `${id}\n`);
        known.add(id);
        outgoing.end();
      });
      const url = `http://127.0.0.1:${await listen(server)}/`;
      await bench.call("POST", "/v1/webhooks", { body: { url, events: ["payment.succeeded"] } });
      const scenario = (word: string, ...words: string[]) =>
        run(["scenario", word, "webhook-storm", "--url", bench.url, ...words]);
      const effects = ["--effects", `wc -l < '${file}'`];
      await scenario("start", ...effects);
      for (let event = 1; event <= 2; event++) await bench.control("POST", "/events", { type: "payment.succeeded" });
      await bench.control("POST", "/verify", {
        within: "20s",
        all: [{ deliveries: { match: { event: "payment.succeeded" }, count: { exactly: 6 }, final: "succeeded" } }],
      });
      const uncounted = await scenario("score");
      expect([uncounted.code, uncounted.out.join("\n")]).toEqual([
        4,
        expect.stringMatching(
          /inconclusive, 7 of 10 points: not checked: whether it acted once\.\n[\s\S]*single_effect: not/,
        ),
      ]);
      const counted = await scenario("score", ...effects);
      expect([counted.code, counted.out[0]]).toEqual([code, expect.stringContaining(`: ${verdict}, `)]);
      if (!isRight) expect(counted.out.join("\n")).toContain("The receiver acted 6 times on 2 events");
      const verified = await run(["verify", "effects:payment.succeeded", ...effects, "--url", bench.url]);
      expect([verified.code, verified.out[0]]).toEqual([code, expect.stringMatching(`^${verdict} effects: `)]);
      const { unchecked } = await bench.control("GET", "/report");
      expect(unchecked).toEqual(["whether it rejects old events"]);
    },
  );
});

test("the report and exec say if a run had webhooks, but nothing counted their effects", async () => {
  const bench = await open();
  const receiver = createServer((incoming, outgoing) => void incoming.resume().on("end", () => outgoing.end()));
  const url = `http://127.0.0.1:${await listen(receiver)}/`;
  await bench.call("POST", "/v1/webhooks", { body: { url, events: ["payment.succeeded"] } });
  await bench.control("POST", "/events", { type: "payment.succeeded" });
  await bench.control("POST", "/drain", { within: "5s" });
  const formats = ["markdown", "junit", "html"].map(async (format) => {
    const { text } = await bench.call("GET", `/_sandbox/report?format=${format}`, { key: null });
    return text.includes("not checked: whether it acted once");
  });
  expect(await Promise.all(formats)).toEqual([true, true, true]);
  const program = join(folder(), "shop.mjs");
  const post = `const post = (path, key, body) => fetch(process.env.MERCHANT_SANDBOX_URL + path, { method: "POST",
    headers: { Authorization: "Bearer " + key, "Content-Type": "application/json" }, body: JSON.stringify(body) });`;
  writeFileSync(
    program,
    `${post}
    await post("/v1/webhooks", process.env.MERCHANT_API_KEY, { url: "${url}", events: ["payment.succeeded"] });
    await post("/_sandbox/events", "", { type: "payment.succeeded" });
    await post("/_sandbox/drain", "", { within: "5s" });`,
  );
  const { code, error } = await run(["exec", "--", process.execPath, program]);
  expect([code, error]).toEqual([
    0,
    expect.stringContaining(
      "Warning: Not checked about the webhook receiver: whether it acted once, whether it rejects old events. ",
    ),
  ]);
  // This run also counts effects, so exec prints no warning.
  const counted = await run([
    "exec",
    "--",
    process.execPath,
    "-e",
    `${post}
    const check = async () => {
      await post("/v1/webhooks", process.env.MERCHANT_API_KEY, { url: "${url}", events: ["payment.succeeded"] });
      await post("/_sandbox/events", "", { type: "payment.succeeded" });
      const effects = { made: 1, match: { event: "payment.succeeded" } };
      await post("/_sandbox/verify", "", { within: "5s", all: [{ effects }] });
    };
    check();`,
  ]);
  expect([counted.code, counted.error]).toEqual([0, ""]);
});

test("after an audit inside exec, exec does not warn that no request arrived", async () => {
  const { url, shop } = await openShop(once);
  const words = ["audit", url, "--secret", SECRET, "--max-age", "3d"];
  const audit = [process.execPath, PROGRAM, ...words];
  const { code, error } = await run(["exec", "--fail-on", "verdicts", "--", ...audit]);
  // Exit code 4 comes from the audit, which is inconclusive without a count of effects.
  expect([code, error, shop.arrivals.size > 0]).toEqual([4, expect.not.stringContaining("No request arrived"), true]);
});
