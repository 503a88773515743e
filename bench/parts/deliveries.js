// The cost of deliveries that are signed and recorded: their rate and CPU time, and the delay between an API response
// and its webhook.

import { call } from "../control-call.js";
import { load, request } from "../load.js";
import { cpuOf, FEW, figure, inRounds, inTurn, median, openEach, rateAndCpu, SECONDS, slice } from "../measure.js";
import { receive } from "../receiver.js";
import { KEY, POST } from "../sample-record.js";

const DUE = 3_000;
const EVENTS = 300;

const EVENT = request(
  "POST",
  "/v1/webhook-events/test",
  KEY,
  JSON.stringify({ type: "payment.succeeded", data: { amount: 1 } }),
);

const BARE = "bare node:http, POST, 16 connections";
const BARE_ONE = "bare node:http, POST, 1 connection";
const MEMORY = "deliveries, signed and recorded, memory";
const FILE = "deliveries, signed and recorded, file";
const DELAY = "median delay between the API response and its webhook";

const cases = [
  { name: BARE, server: "bare", measure: (server) => slice(server, POST, { connections: 16 }) },
  { name: MEMORY, server: "frozen", measure: (server) => deliver(server) },
  { name: FILE, server: "frozen-file", measure: (server) => deliver(server) },
];

export const deliveries = {
  name: "deliveries",
  rows: [
    rateAndCpu({ what: FILE, against: BARE, target: ">= 0.30" }),
    rateAndCpu({ what: MEMORY, against: BARE, target: ">= 0.30" }),
    { what: DELAY, against: BARE_ONE, target: "<= 3", read: ({ delay }) => ({ figure: figure(delay) }) },
  ],
  async measure() {
    const names = cases.map(({ server }) => server);
    const results = await inRounds(
      () => openEach(names),
      (servers, turns) => inTurn(cases, ({ server, measure }) => measure(servers.get(server)), turns),
      FEW,
    );
    const servers = await openEach(["bare", "frozen-file"]);
    const spans = await latency(servers.get("frozen-file"));
    const roundTrip = await load({ port: servers.get("bare").port, seconds: SECONDS, connections: 1, requests: POST });
    for (const server of servers.values()) await server.close();
    return Object.assign(results, { delay: median(spans) / median(roundTrip.latencies) });
  },
};

/** Queues deliveries to a closed port, opens the port, and advances the clock to the retries. */
export async function deliver(server, count = DUE) {
  const { port } = server;
  const closed = await receive(() => {});
  const url = `http://127.0.0.1:${closed.port}/`;
  await closed.close();
  const endpoint = await call(port, "POST", "/v1/webhooks", { url, events: ["*"] });
  await load({ port, most: count, requests: EVENT });
  await call(port, "POST", "/_sandbox/drain", { within: "60s" });
  let received = 0;
  let ended;
  const onPost = () => {
    received++;
    ended = performance.now();
  };
  const opened = await receive(onPost, closed.port);
  const before = await cpuOf(server);
  const started = performance.now();
  await call(port, "POST", "/_sandbox/clock/advance", { by: "1s" });
  // Measured up to the last delivery. The response of `advance` comes later, because it lists every delivery.
  const rate = received / ((ended - started) / 1_000);
  const cpu = ((await cpuOf(server)) - before) / received;
  await opened.close();
  if (received < count) throw new Error(`${received} of ${count} deliveries arrived`);
  await call(port, "DELETE", `/v1/webhooks/${endpoint.id}`);
  return { rate, cpu };
}

/** Milliseconds from the response of a call to the arrival of its event; 0 if the event arrives first. */
async function latency({ port }) {
  let arrived;
  const opened = await receive(() => arrived(performance.now()));
  await call(port, "POST", "/v1/webhooks", { url: `http://127.0.0.1:${opened.port}/`, events: ["*"] });
  const spans = [];
  for (let index = 0; index < EVENTS; index++) {
    const arrival = new Promise((resolve) => {
      arrived = resolve;
    });
    const { ended } = await load({ port, most: 1, connections: 1, requests: EVENT });
    spans.push(Math.max(0, (await arrival) - ended));
  }
  await opened.close();
  return spans;
}
