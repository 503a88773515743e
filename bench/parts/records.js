// What a call costs among a thousand records, a hundred thousand, and a million.

import { openFolder } from "../folder.js";
import { grownFile, power, sizes, withRecords } from "../grown.js";
import { request } from "../load.js";
import { ifMeasured, inTurn, open, rateAndCpu, slice } from "../measure.js";
import { KEY, LIST, POST } from "../record.js";

const SIZES = [1_000, 100_000, 1_000_000];
const [LEAST] = SIZES;

/** Each call asks for another record, all over the file. */
const anywhere = (size) => (n) => request("GET", `/v1/customers/cus_grown${1 + ((n * 7_919) % (size / 2))}`, KEY);

const calls = {
  "GET a record by id": anywhere,
  "GET a list of 25": () => LIST,
  "GET a list of 25 from the middle": (size) => request("GET", `/v1/payments?starting_after=pay_grown${size / 4}`, KEY),
  "POST a pricing rule": () => POST,
};

const nameOf = (what, size) => `${what}, ${power(size)} records`;

const row = (what, size) =>
  ifMeasured(rateAndCpu({ what: nameOf(what, size), against: nameOf(what, LEAST), target: "<= 1.1 of CPU time" }));

export const records = {
  name: "records",
  rows: SIZES.slice(1).flatMap((size) => Object.keys(calls).map((what) => row(what, size))),
  async measure() {
    const folder = openFolder();
    const servers = new Map();
    for (const size of sizes(...SIZES)) {
      const file = await grownFile(folder.file(`${size}.db`), withRecords(size));
      servers.set(size, await open("over", { words: [file] }));
    }
    const cases = [...servers].flatMap(([size, server]) =>
      Object.entries(calls).map(([what, request]) => ({ name: nameOf(what, size), server, request: request(size) })),
    );
    const results = await inTurn(cases, ({ server, request }) => slice(server, request));
    for (const server of servers.values()) await server.close();
    folder.remove();
    return results;
  },
};
