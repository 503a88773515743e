// The cost of the request log after a thousand to ten million rows. The log is bounded, so its cost must not grow after
// the first ten thousand rows.

import { copyFileSync, statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { openFolder } from "../folder.js";
import { grownFile, openOver, power, sizes } from "../grown-database.js";
import { request } from "../load.js";
import { figure, ifMeasured, inRounds, inTurn, rateAndCpu, slice } from "../measure.js";
import { GET, KEY, RECORD } from "../sample-record.js";
import { bundle } from "../variants.js";

const SIZES = [1_000, 100_000, 1_000_000, 10_000_000];
const [LEAST, BOUNDED] = SIZES;
const AT_ONCE = 1_000;

const control = (path) => request("GET", `/_sandbox/requests${path}`);

/**
 * The requests, as functions of the number of the newest row. The calls of the control API come first, because they add
 * no rows to the log.
 */
const calls = {
  "the newest 25 requests": () => control("?limit=25"),
  "25 older requests": (last) => control(`?limit=25&starting_after=req_lodge_${last - 500}`),
  "one request": (last) => control(`/req_lodge_${last - 500}`),
  "GET a record by id": () => GET,
};

const nameOf = (what, size) => `${what}, ${power(size)} rows written`;

const row = (what, size) =>
  ifMeasured(rateAndCpu({ what: nameOf(what, size), against: nameOf(what, LEAST), target: "<= 1.1 of CPU time" }));

/** Compares a figure after this many rows with the figure after 100,000 rows, when the log has long been full. */
const grown = (what, field, size) =>
  ifMeasured({
    what: nameOf(what, size),
    against: nameOf(what, BOUNDED),
    target: "<= 1.1",
    read: ({ left }) => ({ figure: figure(left.get(size)[field] / left.get(BOUNDED)[field]) }),
  });

const WRITING = "CPU time of writing a row";
const FILE = "size of the file";
const KEPT = "rows kept";

export const requestLog = {
  name: "request-log",
  rows: [
    ...SIZES.slice(1).flatMap((size) => Object.keys(calls).map((what) => row(what, size))),
    ...SIZES.slice(2).flatMap((size) => [
      grown(WRITING, "cpu", size),
      grown(FILE, "bytes", size),
      grown(KEPT, "kept", size),
    ]),
  ],
  async measure() {
    const folder = openFolder();
    const left = await written(folder);
    const files = new Map([...left].map(([size, { file }]) => [size, file]));
    const results = new Map();
    // The kinds of calls are measured one after another, because the last kind adds rows.
    for (const [what, request] of Object.entries(calls)) {
      const cases = [...left].map(([size, { last }]) => ({ name: nameOf(what, size), size, text: request(last) }));
      const measured = await inRounds(
        () => openOver(files),
        (servers, turns) => inTurn(cases, ({ size, text }) => slice(servers.get(size), text), turns),
      );
      for (const [name, slices] of measured) results.set(name, slices);
    }
    folder.remove();
    for (const size of left.keys()) for (const what of [WRITING, FILE, KEPT]) results.set(nameOf(what, size), []);
    return Object.assign(results, { left });
  },
};

/** Writes rows through the store, and copies the file when it reaches each size. */
async function written(folder) {
  const { openDatabase, openRequestLog } = await import(pathToFileURL(await bundle("request-log", ENTRY)).href);
  const database = openDatabase(await grownFile(folder.file("request-log.db"), () => ""));
  const rows = openRequestLog(database);
  const left = new Map();
  let count = 0;
  let before = { count: 0, cpu: process.cpuUsage() };
  for (const size of sizes(...SIZES)) {
    while (count < size) {
      for (let more = 0; more < AT_ONCE; more++) rows.add(entry(rows.next()));
      rows.flush();
      count += AT_ONCE;
    }
    const used = process.cpuUsage(before.cpu);
    const cpu = (used.user + used.system) / (count - before.count);
    left.set(size, { cpu, last: rows.last(), ...copyOf(database, folder.file(`${size}.db`)) });
    before = { count, cpu: process.cpuUsage() };
  }
  rows.close();
  database.close();
  return left;
}

const ENTRY = `export { openDatabase } from "./src/store/sqlite/database.ts";
export { openRequestLog } from "./src/store/request-log/request-log.ts";`;

function copyOf({ sql, file }, copy) {
  sql.prepare("pragma wal_checkpoint(truncate)").all();
  copyFileSync(file, copy);
  return {
    file: copy,
    bytes: statSync(copy).size,
    kept: sql.prepare("select count(*) from request_log").pluck().get(),
  };
}

/** A row as a GET of a record writes it. */
const entry = (sequence) => ({
  sequence,
  id: `req_lodge_${sequence}`,
  at: 1_767_614_400_000 + sequence,
  merchant: "mer_lodge",
  operation: "customers.get",
  method: "GET",
  path: "/v1/customers/cus_zoe",
  search: "",
  status: 200,
  duration: 0.2,
  key: "odge",
  requestHeaders: { host: "127.0.0.1:4747", authorization: KEY.Authorization },
  requestBody: "",
  responseHeaders: { "Content-Type": "application/json", "X-Request-Id": `req_${sequence}` },
  responseBody: RECORD,
});
