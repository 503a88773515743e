// The slowest requests under full load: the 99th percentile of reads and writes at 1, 4 and 32 connections, and the
// longest stall of each server. Writes to a file wait for the disk. So they are also compared with a server that
// appends each body to a file and waits for the disk.

import { load } from "../load.js";
import { figure, inRounds, inTurn, openEach, ratio, SECONDS, stallOf } from "../measure.js";
import { GET, POST } from "../sample-record.js";

const requests = { GET, POST };
const kinds = [
  { method: "GET", what: "GET a record by id" },
  { method: "POST", what: "POST a pricing rule" },
].flatMap(({ method, what }) =>
  [1, 4, 32].flatMap((connections) => {
    const at = `${connections} ${connections === 1 ? "connection" : "connections"}`;
    const bare = `bare node:http, ${method}, ${at}`;
    const durable = `node:http that appends to a file and syncs it, ${at}`;
    const one = (name, server, ...bases) => ({ name: `${name}, ${at}`, server, method, connections, bases });
    return [
      { ...one("", "bare"), name: bare },
      ...(method === "POST" ? [{ ...one("", "durable"), name: durable }] : []),
      one(`${what}, file`, "file", bare, ...(method === "POST" ? [durable] : [])),
      one(`${what}, memory`, "memory", bare),
    ];
  }),
);

const percentile = (sorted, share) => sorted[Math.floor(sorted.length * share)];
const longest = (results, name) => figure(Math.max(...results.get(name).map(({ stall }) => stall)), " ms");

const rowsOf = ({ name, bases }) => bases.map((base) => row(name, base));

/** The ratio of the 99th percentiles, with the ratio of the medians and the longest stalls in parentheses. */
function row(name, base) {
  return {
    what: `${name}: 99th percentile`,
    against: base,
    target: "<= 4",
    read(results) {
      const stalls = `${longest(results, name)} beside ${longest(results, base)}`;
      return {
        figure:
          `${figure(ratio(results, name, base, "p99"))} ` +
          `(median ${figure(ratio(results, name, base, "p50"))}, stalls ${stalls})`,
      };
    },
  };
}

export const tails = {
  name: "tails",
  rows: kinds.flatMap(rowsOf),
  measure: () =>
    inRounds(
      () => openEach(["bare", "durable", "file", "memory"]),
      async (servers, turns) => {
        for (const server of servers.values()) await warmUp(server);
        return inTurn(kinds, (one) => tail(servers.get(one.server), one), turns);
      },
    ),
};

/**
 * Warms up, because until V8 has compiled the hot code, its compiler shares the server's core. One request in a hundred
 * waits some milliseconds for the compiler.
 */
async function warmUp({ port }) {
  for (const request of Object.values(requests)) await load({ port, seconds: 10 * SECONDS, requests: request });
}

async function tail(server, { method, connections }) {
  // Waits until the disk and the garbage collection have finished the work of the previous server.
  await new Promise((resolve) => setTimeout(resolve, (SECONDS * 1_000) / 2));
  // The first call only starts measuring the stall.
  await stallOf(server);
  const { latencies, refused, refusal } = await load({
    port: server.port,
    seconds: SECONDS,
    requests: requests[method],
    connections,
  });
  if (refused > 0) throw new Error(`${refused} of ${latencies.length} requests were refused: ${refusal}`);
  latencies.sort((one, other) => one - other);
  return { p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99), stall: await stallOf(server) };
}
