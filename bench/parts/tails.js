// The slowest requests under full load: the 99th percentile of reads and writes at 1, 4 and 32 connections, and the longest stall of each server.

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
    const base = `bare node:http, ${method}, ${at}`;
    return [
      { name: base, server: "bare", method, connections },
      { name: `${what}, file, ${at}`, server: "file", method, connections, base },
      { name: `${what}, memory, ${at}`, server: "memory", method, connections, base },
    ];
  }),
);

const percentile = (sorted, share) => sorted[Math.floor(sorted.length * share)];
const longest = (results, name) => figure(Math.max(...results.get(name).map(({ stall }) => stall)), " ms");

/** The ratio of the 99th percentiles, and beside it that of the medians and the longest stalls. */
function row({ name, base }) {
  return {
    what: `${name}: 99th percentile`,
    against: base,
    target: "<= 4",
    read(results) {
      const stalls = `${longest(results, name)} beside ${longest(results, base)}`;
      return {
        figure: `${figure(ratio(results, name, base, "p99"))} (median ${figure(ratio(results, name, base, "p50"))}, stalls ${stalls})`,
      };
    },
  };
}

export const tails = {
  name: "tails",
  rows: kinds.filter(({ base }) => base).map(row),
  measure: () =>
    inRounds(
      () => openEach(["bare", "file", "memory"]),
      (servers, turns) => inTurn(kinds, (one) => tail(servers.get(one.server), one), turns),
    ),
};

async function tail(server, { method, connections }) {
  // The first question only starts the measurement.
  await stallOf(server);
  const { latencies, refused, refusal } = await load({ port: server.port, seconds: SECONDS, requests: requests[method], connections });
  if (refused > 0) throw new Error(`${refused} of ${latencies.length} requests were refused: ${refusal}`);
  latencies.sort((one, other) => one - other);
  return { p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99), stall: await stallOf(server) };
}
