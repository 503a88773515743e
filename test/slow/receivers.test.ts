// `receive` and `listen`: each registers an endpoint while it runs, and prints its deliveries or attempts.

import { createHmac } from "node:crypto";
import { once } from "node:events";
import { readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { expect, test } from "vitest";
import { readWebhooks } from "../../src/compare/read-recording.ts";
import { verifySignature } from "../../src/webhooks/signature.ts";
import { folder, launch, type Program, runCommand } from "../support/program.ts";
import { attempted, type Bench, type CallOptions, call, listen, open } from "../support/sandbox.ts";
import { advance, deliver, log, settle, trigger } from "../support/webhooks.ts";

interface Receiving extends Program {
  /** The id of the registered endpoint. */
  id: string;
  stop(): Promise<void>;
}

async function receive(bench: Bench, ...words: string[]): Promise<Receiving> {
  const program = launch(["receive", "--port", "0", ...words], { MERCHANT_SANDBOX_URL: bench.url });
  const first = await program.line((line) => line.startsWith("Receiving"));
  return {
    ...program,
    id: /as (we_\w+)\./.exec(first)?.[1] ?? "",
    async stop() {
      program.child.kill("SIGINT");
      expect(await program.ended).toMatchObject({ code: 0, error: "" });
    },
  };
}

const endpoints = async (bench: Bench, key = "sk_test_lodge") =>
  (await bench.call("GET", "/v1/webhooks", { key })).body.data;
const attempts = async (bench: Bench) =>
  (await log(bench)).map(({ attempt, status, responseStatus }) => [attempt, status, responseStatus]);

test("`receive` registers an endpoint, verifies and prints deliveries, and removes the endpoint at exit", async () => {
  const bench = await open();
  const receiving = await receive(bench);
  expect(receiving.out[0]).toMatch(
    /^Receiving all events of mer_lodge at http:\/\/localhost:\d+\/ as we_\w+\. Press Ctrl-C to stop and remove the endpoint\.$/,
  );
  expect(await endpoints(bench)).toMatchObject([{ id: receiving.id, events: ["*"], status: "enabled" }]);
  const event = await trigger(bench, "payment.succeeded", { amount: 5 });
  await receiving.line((line) => line === "  }");
  expect(receiving.out[1]).toBe(`payment.succeeded ${event} signature ok, responding with 200`);
  const body = JSON.parse(receiving.out.slice(2).join("\n"));
  expect(body).toMatchObject({ id: event, type: "payment.succeeded", data: { amount: 5 } });
  await settle(bench);
  await receiving.stop();
  expect(await endpoints(bench)).toEqual([]);
  expect(await attempts(bench)).toEqual([[1, "succeeded", 200]]);
});

test("`receive` redacts the secrets of a delivery, and escapes control characters", async () => {
  const bench = await open();
  const receiving = await receive(bench);
  await trigger(bench, "a.b", {
    pin: 77331199,
    note: "https://x.example/?access%5Ftoken=hidden-away",
    text: "\u001b[2J\u202e",
  });
  await receiving.line((line) => line === "  }");
  const shown = receiving.out.slice(2).join("\n");
  expect(JSON.parse(shown).data).toMatchObject({
    pin: "…redacted…",
    note: "https://x.example/?access%5Ftoken=…redacted…",
  });
  expect(shown).toContain("\\u001b[2J");
  for (const hidden of ["\u001b", "\u202e"]) expect(shown).not.toContain(hidden);
  await receiving.stop();
});

test("`receive` takes the merchant and the event types from --merchant and --events", async () => {
  const bench = await open();
  const receiving = await receive(bench, "--merchant", "market", "--events", "payout.paid,payroll.created");
  expect(receiving.out[0]).toContain("Receiving payout.paid, payroll.created of mer_market");
  expect(await endpoints(bench, "sk_test_market")).toMatchObject([{ events: ["payout.paid", "payroll.created"] }]);
  await trigger(bench, "payout.paid", {}, "sk_test_market");
  await trigger(bench, "payout.failed", {}, "sk_test_market");
  await trigger(bench, "payout.paid");
  await settle(bench);
  await receiving.stop();
  expect(receiving.out.filter((line) => line.includes("signature"))).toHaveLength(1);
});

test("`receive --slow 10m` responds after the webhook timeout", async () => {
  const bench = await open({ webhookTimeout: "50ms", retrySchedule: "1h" });
  const receiving = await receive(bench, "--slow", "10m");
  await deliver(bench);
  const [attempt] = await log(bench);
  expect(attempt).toMatchObject({ attempt: 1, status: "failed", errorCode: "timeout", responseStatus: null });
  await receiving.stop();
});

test.each([
  ["--fail", "2", [500, 500, 200], "enabled"],
  ["--status", "410", [410], "disabled"],
])("`receive %s %s` responds with %j and leaves the endpoint %s", async (option, value, responses, status) => {
  const bench = await open();
  const receiving = await receive(bench, option, value);
  await trigger(bench);
  await advance(bench, "1h");
  expect((await log(bench)).map(({ responseStatus }) => responseStatus)).toEqual(responses);
  expect(receiving.out.filter((line) => line.includes("responding")).map((line) => Number(line.slice(-3)))).toEqual(
    responses,
  );
  expect(await endpoints(bench)).toMatchObject([{ id: receiving.id, status }]);
  await receiving.stop();
});

test("`receive --secret` registers no endpoint, and reports a delivery signed with another secret", async () => {
  const bench = await open();
  const { body: other } = await bench.call("POST", "/v1/webhooks", {
    body: { url: "http://localhost:3000/", events: ["a.b"] },
  });
  const receiving = await receive(bench, "--secret", other.secret);
  const url = /at (\S+),/.exec(receiving.out[0] ?? "")?.[1] ?? "";
  expect(await endpoints(bench)).toHaveLength(1);
  await bench.call("POST", "/v1/webhooks", { body: { url, events: ["c.d"] } });
  await trigger(bench, "c.d");
  expect(await receiving.line((line) => line.includes("SIGNATURE"))).toMatch(
    /^SIGNATURE WRONG, responding with 401: \d+ bytes that are not shown$/,
  );
  await settle(bench);
  await receiving.stop();
});

const SIGNATURE = {
  "webhook.signature.key": "base64 digest of the id and body, keyed with the secret without its prefix",
  "webhook.signature.prefix": "v1=",
} as const;
const FLAGS = Object.entries(SIGNATURE).flatMap(([id, value]) => ["--assume", `${id}=${value}`]);

test("`receive` verifies signatures in the form that the sandbox's assumptions set", async () => {
  const bench = await open({ assumptions: SIGNATURE });
  const receiving = await receive(bench);
  await trigger(bench, "a.b");
  expect(await receiving.line((line) => line.includes("a.b"))).toMatch(/signature ok, responding with 200$/);
  await receiving.stop();
});

test.each([
  ["accepts a base64 signature if flags set this form", FLAGS, /signature ok, responding with 200$/],
  ["rejects a base64 signature without flags", [], /^SIGNATURE WRONG, responding with 401/],
])("`receive --secret` %s", async (_, words, says) => {
  const bench = await open();
  const receiving = await receive(bench, "--secret", "whsec_ab", ...words);
  const url = /at (\S+),/.exec(receiving.out[0] ?? "")?.[1] ?? "";
  const signature = `v1=${createHmac("sha256", "ab").update("evt_1.{}").digest("base64")}`;
  const headers = { "x-webhook-id": "evt_1", "x-webhook-event": "a.b", "x-webhook-signature": signature };
  await fetch(url, { method: "POST", body: "{}", headers });
  expect(await receiving.line((line) => /signature/i.test(line))).toMatch(says);
  await receiving.stop();
});

test("`receive` does not print the body of an unsigned request, and --fail does not count the request", async () => {
  const bench = await open();
  const receiving = await receive(bench, "--fail", "1");
  const [{ url }] = await endpoints(bench);
  const unsigned: Record<string, string>[] = [
    {},
    { "X-Webhook-Signature": "0".repeat(64), "X-Webhook-Event": "forged" },
  ];
  for (const headers of unsigned) {
    attempted("Forged webhooks to `receive`");
    const posted = await fetch(url, { method: "POST", body: "forged\nforged", headers });
    expect(posted.status).toBe(401);
  }
  await deliver(bench);
  expect(await attempts(bench)).toEqual([[1, "failed", 500]]);
  expect(receiving.out.slice(1, 3)).toEqual([
    "NO SIGNATURE, responding with 401: 13 bytes that are not shown",
    "SIGNATURE WRONG, responding with 401: 13 bytes that are not shown",
  ]);
  expect(receiving.out.filter((line) => line.includes("forged"))).toEqual([]);
  await receiving.stop();
});

test("`receive` reads at most a mebibyte, and rejects requests of web pages and for other hosts", async () => {
  const bench = await open();
  const receiving = await receive(bench);
  const [{ url }] = await endpoints(bench);
  const post = (options: CallOptions) => call(url, "POST", "/", { key: null, ...options });
  attempted("Forged webhooks to `receive`", 3);
  const large = "x".repeat(8 * 1_048_576);
  expect((await post({ body: large, chunked: 65_536 })).status).toBe(413);
  expect(await receiving.line((line) => line.startsWith("Refused"))).toBe(
    "Refused a request of more than 1048576 bytes, responding with 413",
  );
  expect((await post({ body: "{}", headers: { host: "evil.example" } })).status).toBe(403);
  expect((await post({ body: "{}", headers: { origin: "http://evil.example" } })).status).toBe(403);
  await receiving.line((line) => line.includes("from a web page of http://evil.example, responding with 403"));
  await receiving.stop();
});

test("`receive --accept-unsigned` logs unverified requests for any host, but rejects those of web pages", async () => {
  const file = join(folder(), "received.jsonl");
  const receiving = await receive(await open(), "--accept-unsigned", "--log", file);
  const url = /at (\S+),/.exec(receiving.out[0] ?? "")?.[1] ?? "";
  const body = '{"id":"evt_1","type":"payment.succeeded","data":{}}';
  const post = (headers: Record<string, string>) => call(url, "POST", "/in", { key: "sk_live_mine", body, headers });
  expect((await post({ host: "tunnel.example", "x-webhook-id": "evt_1", "x-webhook-signature": "f00d" })).status).toBe(
    200,
  );
  expect((await post({ origin: "http://evil.example" })).status).toBe(403);
  const logged = readFileSync(file, "utf8");
  expect(
    logged
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ).toEqual([
    expect.objectContaining({
      method: "POST",
      url: "/in",
      body,
      status: 200,
      headers: expect.objectContaining({ "x-webhook-id": "evt_1" }),
    }),
  ]);
  expect(logged).not.toContain("sk_live_");
  expect(readWebhooks(logged, "received.jsonl")).toMatchObject([
    { entry: "received.jsonl#1", text: body, status: 200 },
  ]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await receiving.stop();
});

test("`receive` passes every probe of an audit, and exits with 0 after the sandbox has stopped", async () => {
  const bench = await open();
  const receiving = await receive(bench);
  const [{ url }] = await endpoints(bench);
  const audited = await runCommand(bench.url, "audit", url);
  expect([audited.code, audited.out.at(-1)]).toEqual([
    4,
    expect.stringMatching(/^inconclusive: (\d+) of \1 probes passed, 0 failed; not checked: whether it acted once/),
  ]);
  const withOption = await runCommand(bench.url, "audit", url, "--webhook-timeout", "1s");
  expect([withOption.code, withOption.error]).toEqual([2, expect.stringContaining("leave out --webhook-timeout")]);
  await bench.close();
  await once(receiving.child.stderr as Readable, "data");
  receiving.child.kill("SIGINT");
  const error = expect.stringMatching(/^merchant-sandbox: Waiting for http:\S+: [^\n]+\.\n$/);
  expect(await receiving.ended).toMatchObject({ code: 0, error });
});

test("`receive` registers its endpoint again after a reset of all data or of its merchant", async () => {
  const bench = await open();
  const receiving = await receive(bench);
  for (const body of [{}, { merchant: "mer_lodge" }, {}]) {
    const before = receiving.out.length;
    await bench.control("POST", "/reset", body);
    // `receive` registers its endpoint again some time after the reset.
    while ((await endpoints(bench)).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await trigger(bench, "payout.paid");
    await receiving.line((line) => receiving.out.indexOf(line, before) >= before && line.startsWith("payout.paid"));
    await settle(bench);
  }
  expect(receiving.out.filter((line) => line.includes("signature ok, responding with 200"))).toHaveLength(3);
  await receiving.stop();
  expect(await endpoints(bench)).toEqual([]);
});

test("`receive` exits with 5 if the port is in use", async () => {
  const bench = await open();
  const port = await listen(createServer(), "localhost");
  const ended = await runCommand(bench.url, "receive", "--port", String(port));
  expect([ended.code, ended.error]).toEqual([5, expect.stringContaining("Choose another with --port <n>.")]);
  expect(await endpoints(bench)).toEqual([]);
});

/** A receiver that answers with these statuses in turn, then with 200. */
async function receiver(...statuses: number[]) {
  const received: { body: string; signature: string }[] = [];
  const server = createServer((incoming, outgoing) => {
    let body = "";
    incoming.on("data", (chunk) => {
      body += chunk;
    });
    incoming.on("end", () => {
      received.push({ body, signature: String(incoming.headers["x-webhook-signature"]) });
      outgoing.writeHead(statuses.shift() ?? 200).end();
    });
  });
  return { url: `http://localhost:${await listen(server, "localhost")}/hooks`, received };
}

async function forward(bench: Bench, url: string, ...words: string[]) {
  const program = launch(["listen", "--forward-to", url, ...words], { MERCHANT_SANDBOX_URL: bench.url });
  const first = await program.line((line) => line.startsWith("Delivering") || line.startsWith('{"event":"listening"'));
  return { ...program, first, secret: /whsec_\w+/.exec(first)?.[0] ?? "" };
}

test("`listen` delivers matching events, prints each attempt, and removes its endpoint at exit", async () => {
  const bench = await open();
  const { url, received } = await receiver(500);
  await bench.control("POST", "/faults", {
    action: { type: "status", status: 503 },
    match: { operation: "webhooks.create" },
  });
  const { first, secret, child, ended, line } = await forward(
    bench,
    url,
    "--events",
    "payout.*",
    "--merchant",
    "lodge",
  );
  expect(first).toMatch(
    /^Delivering payout\..* of mer_lodge to http:\S+ as we_\w+, signed with whsec_\w+\. Press Ctrl-C to stop and remove/,
  );
  await trigger(bench, "payment.succeeded");
  const event = await trigger(bench, "payout.paid");
  await line((text) => / 1\/\d 500 .* next at /.test(text));
  await advance(bench, "1h");
  await line((text) => text.includes(event) && / 2\/\d 200 .* delivered$/.test(text));
  expect(received).toHaveLength(2);
  expect(received.every((one) => verifySignature({ ...one, body: Buffer.from(one.body), secret }))).toBe(true);
  const requests = (await bench.control("GET", "/requests")).data as { operation: string }[];
  expect(requests.map(({ operation }) => operation)).not.toContain("webhooks.create");
  child.kill("SIGINT");
  const { code, out, error } = await ended;
  expect([code, error, out.filter((text) => text.includes("payment.succeeded"))]).toEqual([0, "", []]);
  expect(await endpoints(bench)).toEqual([]);
});

test("`listen --forward-to` accepts a port, and a URL without http://", async () => {
  const bench = await open();
  const { url } = await receiver();
  const { host, port } = new URL(url);
  for (const [target, full] of [
    [port, `http://localhost:${port}/`],
    [`${host}/hooks`, url],
  ] as const)
    expect((await forward(bench, target)).first).toContain(` to ${full} as we_`);
});

test("`listen` keeps its secret if a reset gives its endpoint another id", async () => {
  const bench = await open();
  await bench.endpoints.register({ url: "http://localhost:3999/other" });
  const { child, ended } = await forward(bench, (await receiver()).url);
  const [before] = (await bench.endpoints.list()).data;
  await bench.control("POST", "/reset", {});
  // `listen` registers its endpoint again some time after the reset.
  while ((await endpoints(bench)).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  const [after] = (await bench.endpoints.list()).data;
  expect([after?.url, after?.secret, after?.id === before?.id]).toEqual([before?.url, before?.secret, false]);
  child.kill("SIGTERM");
  await ended;
  expect(await endpoints(bench)).toEqual([]);
});

test("`listen` registers its endpoint again after a reset, and keeps an endpoint that already existed", async () => {
  const bench = await open();
  const { url, received } = await receiver();
  const { child, ended, line, out } = await forward(bench, url, "--json");
  await bench.control("POST", "/reset", {});
  // `listen` registers its endpoint again some time after the reset.
  while ((await endpoints(bench)).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  await trigger(bench, "payout.paid");
  await line((text) => text.startsWith('{"event":"delivery"') && text.includes('"responseStatus":200'));
  expect([received.length, JSON.parse(out[0] ?? "").created]).toEqual([1, true]);
  const other = await forward(bench, url);
  expect(other.first).toContain("the endpoint already existed, and is kept.");
  other.child.kill("SIGINT");
  await other.ended;
  const changing = await forward(bench, url, "--secret", "whsec_other", "--events", "payout.*");
  expect(changing.first).toContain("the endpoint already existed, and keeps its new events and secret.");
  changing.child.kill("SIGINT");
  await changing.ended;
  expect(await endpoints(bench)).toHaveLength(1);
  child.kill("SIGTERM");
  await ended;
  expect(await endpoints(bench)).toEqual([]);
});
