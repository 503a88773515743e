// What a delivery costs: how many a second, signed and recorded, and how soon after the answer the receiver hears of an effect.

import { createServer } from "node:http";
import { bytes, load } from "./load.js";
import { median, open, SECONDS, SLICES, table } from "./measure.js";

const OWED = 3_000;
const EVENTS = 300;

export async function deliveries() {
  const [bare, sandbox] = await Promise.all([open("bare"), open("frozen")]);
  const rates = { bare: [], sandbox: [] };
  for (let turn = 0; turn < Math.min(SLICES, 5); turn++) {
    rates.bare.push((await load({ port: bare.port, seconds: SECONDS, connections: 16, requests: () => postTo(bare.port) })).rate);
    rates.sandbox.push(await drainRate(sandbox));
  }
  const heard = await latency(sandbox.port);
  const roundTrip = await load({ port: bare.port, seconds: SECONDS, connections: 1, requests: () => postTo(bare.port) });
  bare.child.disconnect();
  sandbox.child.disconnect();
  const rate = median(rates.sandbox) / median(rates.bare);
  const soon = median(heard) / median(roundTrip.latencies);
  return table(
    ["delivery", "ratio", "target"],
    [
      ["deliveries a second, signed and recorded, against bare node:http", rate.toFixed(2), ">= 0.40"],
      ["from the API's answer to the receiver's socket, against a bare loopback POST", soon.toFixed(2), "<= 3"],
    ],
  );
}

const postTo = (port) => bytes("POST", "/hooks", {}, JSON.stringify({ amount: 1 })).replace(":PORT", `:${port}`);

/** Lets a heap of deliveries fail at a closed door, opens it, and plays the second until their retry. */
async function drainRate({ port }) {
  await call(port, "POST", "/_sandbox/reset", {});
  const door = await receiver(() => {});
  const url = `http://127.0.0.1:${door.port}/`;
  await door.close();
  await call(port, "POST", "/v1/webhooks", { url, events: ["*"] });
  for (let sent = 0; sent < OWED; sent += 100)
    await Promise.all(
      Array.from({ length: 100 }, () => call(port, "POST", "/v1/webhook-events/test", { type: "payment.succeeded", data: { amount: 1 } })),
    );
  await call(port, "POST", "/_sandbox/drain", { within: "60s" });
  let received = 0;
  const opened = await receiver(() => received++, door.port);
  const started = performance.now();
  await call(port, "POST", "/_sandbox/clock/advance", { by: "1s" });
  const rate = received / ((performance.now() - started) / 1_000);
  await opened.close();
  if (received < OWED) throw new Error(`${received} of ${OWED} deliveries arrived`);
  return rate;
}

/** Milliseconds from the answer of a call to the arrival of its event. */
async function latency(port) {
  await call(port, "POST", "/_sandbox/reset", {});
  let arrived;
  const opened = await receiver(() => arrived(performance.now()));
  await call(port, "POST", "/v1/webhooks", { url: `http://127.0.0.1:${opened.port}/`, events: ["*"] });
  const spans = [];
  for (let index = 0; index < EVENTS; index++) {
    const arrival = new Promise((resolve) => {
      arrived = resolve;
    });
    await call(port, "POST", "/v1/webhook-events/test", { type: "payment.succeeded" });
    const answered = performance.now();
    spans.push(Math.max(0, (await arrival) - answered));
  }
  await opened.close();
  return spans;
}

async function receiver(heard, port = 0) {
  const server = createServer((incoming, outgoing) => {
    heard();
    incoming.resume();
    incoming.on("end", () => outgoing.writeHead(200, { "Content-Length": 0 }).end());
  });
  await new Promise((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    port: server.address().port,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

async function call(port, method, path, body) {
  const headers = { "Content-Type": "application/json", Authorization: "Bearer sk_test_lodge" };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}
