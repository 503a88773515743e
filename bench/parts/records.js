// The cost of a call among a thousand, a hundred thousand and a million records.

import { openFolder } from "../folder.js";
import { grownFile, openOver, power, sizes, withRecords } from "../grown-database.js";
import { request } from "../load.js";
import { ifMeasured, inRounds, inTurn, rateAndCpu, SLICES, slice } from "../measure.js";
import { KEY, LIST, POST } from "../sample-record.js";

const SIZES = [1_000, 100_000, 1_000_000];
const [LEAST] = SIZES;
/** More slices than in other parts, because the sizes differ little in cost. */
const TURNS = SLICES * 2;

/** Each call reads a different record. The records are spread over the whole file. */
const anywhere = (size) => (n) => request("GET", `/v1/customers/cus_grown${1 + ((n * 7_919) % (size / 2))}`, KEY);

const calls = {
  "GET a record by id": anywhere,
  "GET a list of 25": () => LIST,
  "GET a list of 25 from the middle": (size) => request("GET", `/v1/payments?starting_after=pay_grown${size / 4}`, KEY),
  "POST a pricing rule": () => POST,
};

const nameOf = (what, size) => `${what}, ${power(size)} records`;

/** Reads of records all over the file miss the caches of SQLite and of the CPU, so they may cost more. */
const targetOf = (what) => `<= ${calls[what] === anywhere ? 1.2 : 1.1} of CPU time`;

const row = (what, size) =>
  ifMeasured(rateAndCpu({ what: nameOf(what, size), against: nameOf(what, LEAST), target: targetOf(what) }));

export const records = {
  name: "records",
  rows: SIZES.slice(1).flatMap((size) => Object.keys(calls).map((what) => row(what, size))),
  async measure() {
    const folder = openFolder();
    const files = new Map();
    for (const size of sizes(...SIZES)) files.set(size, await grownFile(folder.file(`${size}.db`), withRecords(size)));
    const cases = [...files.keys()].flatMap((size) =>
      Object.entries(calls).map(([what, request]) => ({ name: nameOf(what, size), size, request: request(size) })),
    );
    const results = await inRounds(
      () => openOver(files),
      (servers, turns) => inTurn(cases, ({ size, request }) => slice(servers.get(size), request), turns),
      TURNS,
    );
    folder.remove();
    return results;
  },
};
