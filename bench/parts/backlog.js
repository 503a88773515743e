// What a delivery and a write cost while many deliveries wait for an endpoint that answers nobody.

import { openFolder } from "../folder.js";
import { grownFile, power, sizes, withBacklog } from "../grown.js";
import { FEW, ifMeasured, inTurn, open, rateAndCpu, slice } from "../measure.js";
import { POST } from "../record.js";
import { deliver } from "./deliveries.js";

const SIZES = [1_000, 100_000, 1_000_000];
const [LEAST] = SIZES;
/** So many are sent at a time. */
const OWED = 1_000;

const calls = {
  "a delivery": (server) => deliver(server, OWED),
  "POST a pricing rule": (server) => slice(server, POST),
};

const nameOf = (what, size) => `${what}, ${power(size)} that wait`;

const row = (what, size) =>
  ifMeasured(rateAndCpu({ what: nameOf(what, size), against: nameOf(what, LEAST), target: "<= 1.1 of CPU time" }));

export const backlog = {
  name: "backlog",
  rows: SIZES.slice(1).flatMap((size) => Object.keys(calls).map((what) => row(what, size))),
  async measure() {
    const folder = openFolder();
    const servers = new Map();
    for (const size of sizes(...SIZES)) {
      const file = await grownFile(folder.file(`${size}.db`), withBacklog(size));
      servers.set(size, await open("frozen-over", { words: [file] }));
    }
    const cases = [...servers].flatMap(([size, server]) =>
      Object.entries(calls).map(([what, measure]) => ({ name: nameOf(what, size), measure: () => measure(server) })),
    );
    const results = await inTurn(cases, ({ measure }) => measure(), FEW);
    for (const server of servers.values()) await server.close();
    folder.remove();
    return results;
  },
};
