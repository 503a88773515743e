// `listen`: registers an endpoint while it runs, and prints each attempt. And `--follow` of a list.

import { createServer } from "node:http";
import { expect, test } from "vitest";
import { verifySignature } from "../../src/webhooks/signature.ts";
import { launch } from "../support/program.ts";
import { type Bench, listen, open } from "../support/sandbox.ts";
import { advance, trigger } from "../support/webhooks.ts";

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

const endpoints = async (bench: Bench) => (await bench.call("GET", "/v1/webhooks")).body.data as { id: string; events: string[] }[];

async function forward(bench: Bench, url: string, ...words: string[]) {
  const program = launch(["listen", "--forward-to", url, ...words], { MERCHANT_SANDBOX_URL: bench.url });
  const first = await program.line((line) => line.startsWith("Delivering") || line.startsWith('{"event":"listening"'));
  return { ...program, first, secret: /whsec_\w+/.exec(first)?.[0] ?? "" };
}

test("delivers matching events, prints each attempt with its retries, and removes the endpoint at the end", async () => {
  const bench = await open();
  const { url, received } = await receiver(500);
  await bench.control("POST", "/faults", { action: { type: "status", status: 503 }, match: { operation: "webhooks.create" } });
  const { first, secret, child, ended, line } = await forward(bench, url, "--events", "payout.*", "--merchant", "lodge");
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

test("requests --follow prints the newest ones and then each new one, also after a reset that gives the same ids again", async () => {
  const bench = await open();
  const words = ["requests", "--follow", "--status", "404"];
  await bench.call("GET", "/v1/payments/pay_one");
  const { child, ended, line } = launch(words, { MERCHANT_SANDBOX_URL: bench.url });
  await line((text) => text.includes("pay_one 404"));
  await bench.control("POST", "/reset", {});
  await bench.call("GET", "/v1/payments");
  for (let count = 0; count < 150; count++) await bench.call("GET", `/v1/payments/pay_${count}`);
  await line((text) => text.includes("pay_149 404"));
  child.kill("SIGTERM");
  const { out } = await ended;
  const numbers = Array.from({ length: 150 }, (_, count) => `pay_${count}`);
  expect(out.map((text) => /\/(pay\w+) 404/.exec(text)?.[1])).toEqual(["pay_one", ...numbers]);
});

test("completes a port and an address without its protocol", async () => {
  const bench = await open();
  const { url } = await receiver();
  const { host, port } = new URL(url);
  for (const [target, full] of [
    [port, `http://localhost:${port}/`],
    [`${host}/hooks`, url],
  ] as const)
    expect((await forward(bench, target)).first).toContain(` to ${full} as we_`);
});

test("registers the endpoint again after a reset, and keeps one that was there before", async () => {
  const bench = await open();
  const { url, received } = await receiver();
  const { child, ended, line, out } = await forward(bench, url, "--json");
  await bench.control("POST", "/reset", {});
  while ((await endpoints(bench)).length === 0) await new Promise((resolve) => setTimeout(resolve, 20)); // It registers in its own time.
  await trigger(bench, "payout.paid");
  await line((text) => text.startsWith('{"event":"delivery"') && text.includes('"responseStatus":200'));
  expect([received.length, JSON.parse(out[0] ?? "").created]).toEqual([1, true]);
  const other = await forward(bench, url);
  expect(other.first).toContain("the endpoint was there before, and stays");
  other.child.kill("SIGINT");
  await other.ended;
  expect(await endpoints(bench)).toHaveLength(1);
  child.kill("SIGTERM");
  await ended;
  expect(await endpoints(bench)).toEqual([]);
});
