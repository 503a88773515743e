// The cost of a delivery and of a write while many deliveries wait for an endpoint that never responds.

import { openFolder } from "../folder.js";
import { grownFile, openOver, power, sizes, withBacklog } from "../grown-database.js";
import { FEW, ifMeasured, inRounds, inTurn, rateAndCpu, slice } from "../measure.js";
import { POST } from "../sample-record.js";
import { deliver } from "./deliveries.js";

const SIZES = [1_000, 100_000, 1_000_000];
const [LEAST] = SIZES;
/** The number of deliveries that are sent at a time. */
const BATCH = 1_000;

const calls = {
  "a delivery": (server) => deliver(server, BATCH),
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
    const files = new Map();
    for (const size of sizes(...SIZES)) files.set(size, await grownFile(folder.file(`${size}.db`), withBacklog(size)));
    const cases = [...files.keys()].flatMap((size) =>
      Object.entries(calls).map(([what, measure]) => ({ name: nameOf(what, size), size, measure })),
    );
    const results = await inRounds(
      () => openOver(files, "frozen-over"),
      (servers, turns) => inTurn(cases, ({ size, measure }) => measure(servers.get(size)), turns),
      FEW,
    );
    folder.remove();
    return results;
  },
};
