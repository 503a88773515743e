// Many webhook endpoints, all of one merchant, or each of a different merchant: the cost of a delivery, and the
// duration of a call that queues a delivery for each endpoint.

import { call } from "../control-call.js";
import { load, request } from "../load.js";
import { cpuOf, open } from "../measure.js";
import { receive } from "../receiver.js";
import { percentiles, timed } from "./timed.js";

/** The number of deliveries in one measurement. */
const SENT = 3_000;
const EVENT = JSON.stringify({ type: "payment.succeeded", data: { amount: 1 } });

const eventOf = (key) => request("POST", "/v1/webhook-events/test", { Authorization: `Bearer ${key}` }, EVENT);

/** The cost of a delivery with `count` endpoints, all of one merchant or each of a different merchant. */
export async function measureEndpoints(count, { isOneMerchant }) {
  const server = await open("file");
  const receiver = await countingReceiver();
  const keys = isOneMerchant ? ["sk_test_lodge"] : await merchants(server, count);
  for (let number = 0; number < count; number++)
    await register(server, keys[number % keys.length], `${receiver.url}/${number}`);
  const calls = SENT / (count / keys.length);
  const latencies = [];
  const send = async () => {
    const all = receiver.after(SENT);
    const sending = { port: server.port, most: calls, requests: (number) => eventOf(keys[number % keys.length]) };
    // One call at a time if each call queues many deliveries.
    const result = await load({ ...sending, connections: isOneMerchant ? 1 : 16 });
    latencies.push(...result.latencies);
    await all;
  };
  await send();
  latencies.length = 0;
  const cost = await timed(() => cpuOf(server), SENT, send);
  await receiver.close();
  await server.close();
  return { ...cost, ...percentiles(latencies) };
}

async function countingReceiver() {
  let [received, expected, end] = [0, 0, () => {}];
  const opened = await receive(() => {
    if (++received === expected) end();
  });
  return {
    url: `http://127.0.0.1:${opened.port}`,
    /** Resolves after this many more deliveries. */
    after: (more) =>
      new Promise((resolve) => {
        [expected, end] = [received + more, resolve];
      }),
    close: opened.close,
  };
}

async function merchants({ port }, count) {
  const keys = [];
  while (keys.length < count) keys.push((await call(port, "POST", "/_sandbox/merchants", {})).apiKey);
  return keys;
}

async function register({ port }, key, url) {
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${key}` };
  const body = JSON.stringify({ url, events: ["*"] });
  const answer = await fetch(`http://127.0.0.1:${port}/v1/webhooks`, { method: "POST", headers, body });
  if (!answer.ok) throw new Error(`POST /v1/webhooks: ${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
}
